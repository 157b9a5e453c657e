//! Designs to start from, which take the initial volume.

use topopt_fem::AveragingError;
use topopt_linalg::{BackendError, Pointwise, Space};

use crate::scaled::Scaled;
use crate::{Chain, DesignSpace, DesignTransform, Measures};

/// The design variables of a design that is uniform in the design elements and takes the initial
/// volume by the density that `transform` makes of it, `[n_inputs]`, as `Backend::download` gives
/// it. A part that is stamped starts as a sheet in its middle, whatever volume that takes.
///
/// # Errors
/// [`AveragingError`] if the device or a filter fails.
pub fn uniform<B: Pointwise>(
    backend: &B,
    space: &DesignSpace,
    transform: &mut Chain<B>,
) -> Result<Vec<f64>, AveragingError> {
    if transform.is_identity() {
        return Ok(space.uniform());
    }
    let start = Start::new(backend, space, transform)?;
    if let Some(sheet) = space.sheet() {
        let filled = transform.inputs_for(sheet.middle().to_vec());
        let filled = backend.upload(&filled, transform.inputs())?;
        return start.within_bounds(&filled, transform.inputs());
    }
    start.meet(&start.ceiling, space.initial_volume_fraction, transform)
}

/// The design variables of the densities `design`, `[n_elements]`, brought within the bounds and
/// scaled to take the initial volume by the density that `transform` makes of them, `[n_inputs]`.
/// Passive elements take their values. As [`uniform`] gives them.
///
/// # Errors
/// [`AveragingError`] if the device or a filter fails.
pub fn scaled<B: Pointwise>(
    backend: &B,
    design: &[f64],
    space: &DesignSpace,
    transform: &mut Chain<B>,
) -> Result<Vec<f64>, AveragingError> {
    let start = Start::new(backend, space, transform)?;
    let mut design = transform.inputs_for(design.to_vec());
    design.iter_mut().for_each(|x| *x = x.max(LEAST));
    let design = backend.upload(&design, transform.inputs())?;
    let mut within = backend.zeros(transform.inputs())?;
    let limits = [&start.floor, &start.ceiling];
    backend.scale_within(1.0, &design, limits, &mut within);
    if !transform.is_identity() {
        return start.meet(&within, 1.0, transform);
    }

    let designs = Scaled { backend, candidate: &within, limits };
    let scale = designs.bisect(start.measures.volumes(), start.target)?;
    let mut design = design;
    designs.write(scale, &mut design);
    Ok(backend.download(&design)?)
}

/// The smallest variable of a given design before it is scaled: factors bring nothing back from 0.
const LEAST: f64 = 1e-3;

/// Bounds and volume that a start keeps.
struct Start<'s, B: Pointwise> {
    backend: &'s B,
    floor: B::Vector,
    ceiling: B::Vector,
    measures: Measures<B>,
    target: f64,
}

impl<'s, B: Pointwise> Start<'s, B> {
    fn new(
        backend: &'s B,
        space: &DesignSpace,
        transform: &Chain<B>,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            backend,
            floor: backend.upload(&transform.inputs_for(space.floor()), transform.inputs())?,
            ceiling: backend.upload(&transform.inputs_for(space.ceiling()), transform.inputs())?,
            measures: Measures::new(backend, space)?,
            target: space.initial_volume(),
        })
    }

    /// The `candidate` within the bounds.
    fn within_bounds(
        &self,
        candidate: &B::Vector,
        space: Space,
    ) -> Result<Vec<f64>, AveragingError> {
        let mut design = self.backend.zeros(space)?;
        self.backend.scale_within(1.0, candidate, [&self.floor, &self.ceiling], &mut design);
        Ok(self.backend.download(&design)?)
    }

    /// The design among those scaled from `candidate` that meets the volume.
    fn meet(
        &self,
        candidate: &B::Vector,
        scale: f64,
        transform: &mut Chain<B>,
    ) -> Result<Vec<f64>, AveragingError> {
        let Self { backend, floor, ceiling, measures, target } = self;
        let mut design = backend.zeros(transform.inputs())?;
        let mut density = backend.zeros(transform.outputs())?;
        let designs = Scaled { backend: *backend, candidate, limits: [floor, ceiling] };
        designs.meet::<AveragingError>((scale, None), *target, &mut design, &mut |x| {
            transform.forward(backend, x, &mut density)?;
            Ok(measures.volume(backend, &density)? - target)
        })?;
        Ok(backend.download(&design)?)
    }
}

#[cfg(test)]
mod tests {
    use topopt_linalg::Cpu;

    use super::*;

    #[test]
    fn any_design_is_scaled_to_the_volume_within_the_bounds() {
        let space = DesignSpace::uneven();
        let measures = Measures::new(&Cpu, &space).unwrap();
        let given: Vec<f64> = (0..500).map(|e| (e as f64).sin() + 0.4).collect();
        let design = super::scaled(&Cpu, &given, &space, &mut Chain::identity(500)).unwrap();
        assert!((measures.volume_fraction(&Cpu, &design).unwrap() - 0.4).abs() < 1e-13);
        assert!(space.solid.iter().all(|&e| design[e as usize] == 1.0));
        assert!(space.void.iter().all(|&e| design[e as usize] == 0.01));
        assert!(design.iter().all(|rho| (0.01..=1.0).contains(rho)));
        let free = (0..500).filter(|&e| 0.011 < design[e] && design[e] < 0.999);
        let scales: Vec<f64> = free.map(|e| design[e] / given[e].clamp(0.01, 1.0)).collect();
        assert!(scales.len() > 100);
        assert!(scales.iter().all(|scale| (scale / scales[0] - 1.0).abs() < 1e-14));
    }
}
