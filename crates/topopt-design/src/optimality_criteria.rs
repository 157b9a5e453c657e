//! The optimality-criteria update of densities under a volume constraint.

use topopt_fem::AveragingError;
use topopt_linalg::{Backend, BackendError, Pointwise, Space};

use crate::root::find_root;
use crate::{DesignSpace, DesignTransform};

/// x_e <- x_e B_e^eta within move limits and bounds, B_e = -dC_e / (lambda dV_e)
/// [Ratnakar2022, Eq. 2.8-2.9], dV_e the derivative of the volume by the design variable x_e.
///
/// Where x is the density, dV_e is the volume of the element, and lambda comes by bisection until
/// the volume is met to rounding. Where a [`DesignTransform`] makes the density from x, the
/// linearized volume gives a first lambda, from which that of the volume itself is found.
pub struct OptimalityCriteria<B: Backend> {
    move_limit: f64,
    damping: f64,
    target: f64,
    design_volume: f64,
    /// v_e of design elements, 0 of others: the volume constraint.
    weights: B::Vector,
    /// dV_e; where a transform makes the density, anew in each update and then overwritten.
    volume_gradient: B::Vector,
    floor: B::Vector,
    ceiling: B::Vector,
    lower: B::Vector,
    upper: B::Vector,
    /// Overwritten between updates.
    candidate: B::Vector,
}

/// Relative accuracy at which the volume counts as met.
const VOLUME_ACCURACY: f64 = 1e-14;
/// The same where a transform makes the density.
const TRANSFORMED_VOLUME_ACCURACY: f64 = 1e-10;
/// Logarithm of a factor at which every design variable is at a limit.
const LARGEST_LOG: f64 = 460.0;

impl<B: Pointwise> OptimalityCriteria<B> {
    /// `move_limit` m and `damping` eta as in Eq. 2.8 (0.2 and 0.5 in the thesis).
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        space: &DesignSpace,
        move_limit: f64,
        damping: f64,
    ) -> Result<Self, BackendError> {
        let elements = Space::elements(space.volumes.len());
        let weights = space.design_volumes();
        let design_volume: f64 = weights.iter().sum();
        Ok(Self {
            move_limit,
            damping,
            target: space.volume_fraction * design_volume,
            design_volume,
            weights: backend.upload(&weights, elements)?,
            volume_gradient: backend.upload(&space.volumes, elements)?,
            floor: backend.upload(&space.floor(), elements)?,
            ceiling: backend.upload(&space.ceiling(), elements)?,
            lower: backend.zeros(elements)?,
            upper: backend.zeros(elements)?,
            candidate: backend.zeros(elements)?,
        })
    }

    /// Share of the design elements' volume that `density` takes.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn volume_fraction(&self, backend: &B, density: &B::Vector) -> Result<f64, BackendError> {
        Ok(backend.value(&backend.dot(&self.weights, density))? / self.design_volume)
    }

    /// The measure of non-discreteness \[Sigmund2007\], sum 4 rho (1 - rho) v / sum v over design
    /// elements: 0 where all are solid or empty, 1 where all are half full.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn grey_level(&mut self, backend: &B, density: &B::Vector) -> Result<f64, BackendError> {
        backend.multiply(&self.weights, density, &mut self.candidate);
        let squares = backend.value(&backend.dot(&self.candidate, density))?; // sum v rho^2
        Ok(4.0 * (self.volume_fraction(backend, density)? - squares / self.design_volume))
    }

    /// The design that is uniform in the design elements and meets the volume by its density, which
    /// `transform` makes; \[n_elements\].
    ///
    /// # Errors
    /// [`AveragingError`] if the device or `transform` fails.
    pub fn uniform(
        &mut self,
        backend: &B,
        space: &DesignSpace,
        transform: &mut dyn DesignTransform<B>,
    ) -> Result<Vec<f64>, AveragingError> {
        self.free_limits(backend);
        backend.copy(&self.ceiling, &mut self.candidate);
        let mut design = backend.zeros(Space::elements(space.volumes.len()))?;
        self.meet_volume(backend, transform, space.volume_fraction, &mut design)?;
        Ok(backend.download(&design)?)
    }

    /// `design`, \[n_elements\], brought within the bounds and scaled to meet the volume: its own,
    /// or that of the density that `transform` makes of it. Passive elements take their values.
    ///
    /// # Errors
    /// [`AveragingError`] if the device or `transform` fails.
    pub fn scaled(
        &mut self,
        backend: &B,
        design: &[f64],
        transform: Option<&mut dyn DesignTransform<B>>,
    ) -> Result<Vec<f64>, AveragingError> {
        self.free_limits(backend);
        let mut design = backend.upload(design, Space::elements(design.len()))?;
        backend.scale_within(1.0, &design, [&self.lower, &self.upper], &mut self.candidate);
        match transform {
            Some(transform) => self.meet_volume(backend, transform, 1.0, &mut design)?,
            None => {
                let scale = self.bisect(backend, &self.weights, self.target)?;
                let limits = [&self.lower, &self.upper];
                backend.scale_within(scale, &self.candidate, limits, &mut design);
            }
        }
        Ok(backend.download(&design)?)
    }

    /// Writes the next design to `next`. Positive `sensitivities`, which the weight of material or
    /// rounding makes, count as 0: such material goes as fast as the move limit lets it. If no
    /// design within the move limits meets the volume, the
    /// nearest one is taken.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn update(
        &mut self,
        backend: &B,
        density: &B::Vector,
        sensitivities: &B::Vector,
        next: &mut B::Vector,
    ) -> Result<(), BackendError> {
        self.set_limits(backend, density, next);
        self.set_candidate(backend, density, sensitivities, next);
        let scale = self.bisect(backend, &self.weights, self.target)?;
        backend.scale_within(scale, &self.candidate, [&self.lower, &self.upper], next);
        Ok(())
    }

    /// The first half of an update where a transform makes the density: with `transform` having made
    /// `density` from `design` in its last forward, finds the factor that
    /// [`OptimalityCriteria::meet_volume`] starts from, at which the linearized volume is met.
    /// `sensitivities` are by the design variables, and as in [`OptimalityCriteria::update`].
    ///
    /// # Errors
    /// [`AveragingError`] if the device or `transform` fails.
    pub(crate) fn prepare(
        &mut self,
        backend: &B,
        transform: &mut dyn DesignTransform<B>,
        [design, density]: [&B::Vector; 2],
        sensitivities: &B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<f64, AveragingError> {
        transform.backward(backend, &self.weights, &mut self.volume_gradient)?;
        self.set_limits(backend, design, scratch);
        self.set_candidate(backend, design, sensitivities, scratch);
        // V(x') = V(x) + dV (x' - x) = target
        let linear = backend.value(&backend.dot(&self.volume_gradient, design))?;
        let volume = backend.value(&backend.dot(&self.weights, density))?;
        Ok(self.bisect(backend, &self.volume_gradient, self.target - volume + linear)?)
    }

    /// The second half: writes the next design to `next`, whose density by `transform` meets the
    /// volume, or comes nearest to it within the move limits.
    ///
    /// # Errors
    /// [`AveragingError`] if the device or `transform` fails.
    pub(crate) fn meet_volume(
        &mut self,
        backend: &B,
        transform: &mut dyn DesignTransform<B>,
        scale: f64,
        next: &mut B::Vector,
    ) -> Result<(), AveragingError> {
        let Self { candidate, lower, upper, weights, volume_gradient: scratch, target, .. } = self;
        let accuracy = TRANSFORMED_VOLUME_ACCURACY * *target;
        // Volume in excess of the target, by the logarithm of the factor.
        let mut excess = |log: f64| {
            backend.scale_within(log.exp(), candidate, [lower, upper], next);
            transform.forward(backend, next, scratch)?;
            Ok::<_, AveragingError>(backend.value(&backend.dot(weights, scratch))? - *target)
        };
        let mut near = [scale.ln(), excess(scale.ln())?];
        let mut step: f64 = if near[1] < 0.0 { 0.05 } else { -0.05 };
        loop {
            if near[1].abs() <= accuracy || near[0] * step.signum() >= LARGEST_LOG {
                return Ok(());
            }
            let log = (near[0] + step).clamp(-LARGEST_LOG, LARGEST_LOG);
            let far = [log, excess(log)?];
            if (far[1] > 0.0) != (near[1] > 0.0) {
                let [low, high] = if step > 0.0 { [near, far] } else { [far, near] };
                return find_root(low, high, accuracy, excess);
            }
            (near, step) = (far, 4.0 * step);
        }
    }

    /// lower = floor, upper = ceiling.
    fn free_limits(&mut self, backend: &B) {
        backend.copy(&self.floor, &mut self.lower);
        backend.copy(&self.ceiling, &mut self.upper);
    }

    /// lower = max(floor, x - m), upper = min(ceiling, x + m).
    fn set_limits(&mut self, backend: &B, density: &B::Vector, scratch: &mut B::Vector) {
        let bounds = [&self.floor, &self.ceiling];
        for (sign, limit) in [(-1.0, &mut self.lower), (1.0, &mut self.upper)] {
            backend.fill(sign * self.move_limit, scratch);
            backend.axpby(1.0, density, 1.0, scratch);
            backend.scale_within(1.0, scratch, bounds, limit);
        }
    }

    /// candidate = x (-dC / dV)^eta, the next design but for the factor lambda^-eta. Where dV is 0,
    /// so is dC, and the element is passive: 0 / 0 counts as 0.
    fn set_candidate(
        &mut self,
        backend: &B,
        density: &B::Vector,
        sensitivities: &B::Vector,
        scratch: &mut B::Vector,
    ) {
        let candidate = &mut self.candidate;
        backend.divide(sensitivities, &self.volume_gradient, scratch);
        backend.positive_part(-1.0, scratch, candidate);
        backend.power(1.0, candidate, self.damping, scratch);
        backend.multiply(density, scratch, candidate);
    }

    /// The factor lambda^-eta at which the sum of `weights` times the next design is `target`.
    fn bisect(&self, backend: &B, weights: &B::Vector, target: f64) -> Result<f64, BackendError> {
        let volume = |scale: f64| {
            let bounds = [&self.lower, &self.upper];
            backend.value(&backend.dot_scaled_within(scale, &self.candidate, bounds, weights))
        };
        let (mut low, mut high) = (0.0, 1.0);
        while volume(high)? < target {
            low = high;
            high *= 16.0;
            if high > 1e200 {
                return Ok(high); // out of reach: everything at its upper limit
            }
        }
        loop {
            let middle = 0.5 * (low + high);
            let found = volume(middle)?;
            let met = (found - target).abs() <= VOLUME_ACCURACY * target;
            if met || middle <= low || middle >= high || high < 1e-200 {
                return Ok(middle);
            }
            if found < target { low = middle } else { high = middle }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topopt_linalg::Cpu;

    fn space() -> DesignSpace {
        let volumes = (0..500).map(|e| 1.0 + (e % 5) as f64 * 0.3).collect();
        DesignSpace {
            density_min: 0.01,
            volume_fraction: 0.4,
            volumes,
            solid: (0..500).step_by(50).map(|e| e as u32).collect(),
            void: (7..500).step_by(40).map(|e| e as u32).collect(),
        }
    }

    fn update(density: &Vec<f64>, sensitivities: &Vec<f64>) -> (Vec<f64>, f64) {
        let mut oc = OptimalityCriteria::new(&Cpu, &space(), 0.2, 0.5).unwrap();
        let mut next = vec![f64::NAN; 500];
        oc.update(&Cpu, density, sensitivities, &mut next).unwrap();
        let fraction = oc.volume_fraction(&Cpu, &next).unwrap();
        (next, fraction)
    }

    #[test]
    fn meets_the_volume_bounds_and_move_limits() {
        let space = space();
        let mut density = space.uniform();
        for round in 0..6 {
            let slope = |e: usize| -10f64.powi((e % 7) as i32 - 3) * (1.0 + (e as f64).sin());
            let sensitivities: Vec<f64> = (0..500).map(|e| slope(e + round)).collect();
            let (next, fraction) = update(&density, &sensitivities);
            assert!((fraction - 0.4).abs() < 1e-13, "{fraction}");
            for e in 0..500 {
                let [solid, void] = [&space.solid, &space.void].map(|s| s.contains(&(e as u32)));
                let range = if solid { 1.0..=1.0 } else { 0.01..=if void { 0.01 } else { 1.0 } };
                assert!(range.contains(&next[e]), "{e}: {}", next[e]);
                assert!((next[e] - density[e]).abs() <= 0.2 + 1e-15);
            }
            density = next;
        }
    }

    #[test]
    fn elements_between_limits_share_one_multiplier() {
        // Eq. 2.9: where no limit binds, -dC_e / v_e (rho_e / rho_new)^(1/eta) = lambda for all.
        let density = space().uniform();
        let sensitivities: Vec<f64> = (0..500).map(|e| -2.0 - 0.3 * (e as f64).sin()).collect();
        let (next, _) = update(&density, &sensitivities);
        let volumes = &space().volumes;
        let free =
            |e: &usize| (next[*e] - density[*e]).abs() < 0.199 && next[*e] < 1.0 && next[*e] > 0.01;
        let lambdas: Vec<f64> = (0..500)
            .filter(free)
            .map(|e| -sensitivities[e] / volumes[e] * (density[e] / next[e]).powi(2))
            .collect();
        assert!(lambdas.len() > 300);
        assert!(lambdas.iter().all(|l| (l / lambdas[0] - 1.0).abs() < 1e-12));
    }

    #[test]
    fn any_design_is_scaled_to_the_volume_within_the_bounds() {
        let space = space();
        let mut oc = OptimalityCriteria::new(&Cpu, &space, 0.2, 0.5).unwrap();
        let given: Vec<f64> = (0..500).map(|e| (e as f64).sin() + 0.4).collect();
        let design = oc.scaled(&Cpu, &given, None).unwrap();
        assert!((oc.volume_fraction(&Cpu, &design).unwrap() - 0.4).abs() < 1e-13);
        assert!(space.solid.iter().all(|&e| design[e as usize] == 1.0));
        assert!(space.void.iter().all(|&e| design[e as usize] == 0.01));
        assert!(design.iter().all(|rho| (0.01..=1.0).contains(rho)));
        let free = (0..500).filter(|&e| 0.011 < design[e] && design[e] < 0.999);
        let scales: Vec<f64> = free.map(|e| design[e] / given[e].clamp(0.01, 1.0)).collect();
        assert!(scales.len() > 100);
        assert!(scales.iter().all(|scale| (scale / scales[0] - 1.0).abs() < 1e-14));
    }

    #[test]
    fn volume_out_of_reach_takes_the_nearest() {
        let low = vec![0.01; 500];
        let (next, fraction) = update(&low, &vec![-1.0; 500]);
        assert!(next.iter().zip(&space().densities(0.21)).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(fraction < 0.4);
        let (zero, _) = update(&low, &vec![0.0; 500]);
        assert!(zero.iter().all(|v| v.is_finite()));
    }
}
