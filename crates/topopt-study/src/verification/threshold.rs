//! Which elements are solid.

use topopt_mesh::numbers::shown;

use super::compared::Compared;
use crate::finding::Finding;
use crate::model::Model;

/// A design of solid and void elements beside the densities that it is made from.
pub(super) struct Thresholded {
    /// The smallest density that is solid.
    pub threshold: f64,
    /// In the order of the problem, \[n_elements\].
    pub is_solid: Vec<bool>,
    /// Volume of material.
    pub volume: Compared,
    /// Share of material in the design elements.
    pub volume_fraction: Compared,
}

impl Thresholded {
    /// Makes elements of `density`, \[n_elements\] in the order of the problem, solid from
    /// `threshold` on; without one, from that on which comes closest to the volume. Elements that
    /// the case keeps void stay void.
    ///
    /// # Errors
    /// A finding if no element is solid.
    pub fn new(model: &Model, density: Vec<f64>, threshold: Option<f64>) -> Result<Self, Finding> {
        let space = &model.space;
        let threshold = threshold.unwrap_or_else(|| that_keeps_volume(&density, &space.volumes));
        let mut is_solid: Vec<bool> = density.iter().map(|&rho| rho >= threshold).collect();
        space.void.iter().for_each(|&e| is_solid[e as usize] = false);

        if !is_solid.contains(&true) {
            let largest = density.iter().copied().fold(0.0, f64::max);
            let message = format!(
                "no element has a density of {} or more: the largest is {largest:.4}",
                shown(threshold)
            );
            return Err(Finding::new(message)
                .remedy("give a smaller `--threshold`, or leave it out to keep the volume"));
        }

        let sum = |volumes: &[f64], value: &dyn Fn(usize) -> f64| -> f64 {
            volumes.iter().enumerate().map(|(e, volume)| value(e) * volume).sum()
        };
        let solid = |e: usize| f64::from(u8::from(is_solid[e]));
        let design_volumes = space.design_volumes();
        let total: f64 = design_volumes.iter().sum();
        let compared = |volumes: &[f64], scale: f64| {
            Compared::new(sum(volumes, &|e| density[e]) / scale, sum(volumes, &solid) / scale)
        };

        Ok(Self {
            threshold,
            volume: compared(&space.volumes, 1.0),
            volume_fraction: compared(&design_volumes, total),
            is_solid,
        })
    }
}

/// The density from which on elements have to be solid for their volume to be closest to that of
/// the material.
fn that_keeps_volume(density: &[f64], volumes: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..density.len()).collect();
    order.sort_by(|&a, &b| density[b].total_cmp(&density[a]));
    let target: f64 = density.iter().zip(volumes).map(|(rho, v)| rho * v).sum();
    let (mut volume, mut best, mut error) = (0.0, 1.0, f64::INFINITY);
    for equal in order.chunk_by(|&a, &b| density[a] == density[b]) {
        volume += equal.iter().map(|&e| volumes[e]).sum::<f64>();
        if (volume - target).abs() < error {
            (best, error) = (density[equal[0]], (volume - target).abs());
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_volume_is_kept_as_well_as_it_can_be() {
        // Target 0.9 + 0.5 + 0.2 * 2 = 1.8: the two densest have 2, three have 4.
        assert_eq!(that_keeps_volume(&[0.2, 0.9, 0.5], &[2.0, 1.0, 1.0]), 0.5);
        // Equal densities stand or fall together.
        assert_eq!(that_keeps_volume(&[0.4, 0.4, 0.4], &[1.0; 3]), 0.4);
        assert_eq!(that_keeps_volume(&[1.0, 0.001, 1.0], &[1.0, 5.0, 1.0]), 1.0);
    }
}
