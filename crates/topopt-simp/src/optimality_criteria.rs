//! The optimality-criteria update of densities under a volume constraint.

use topopt_linalg::{Backend, BackendError};

/// What designs are allowed: bounds of the density, the volume they may take.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignSpace {
    /// Smallest density of a design element, 0 < density_min < 1.
    pub density_min: f64,
    /// Share of the volume of the design elements that material may take.
    pub volume_fraction: f64,
    /// Volume of every element, \[n_elements\], > 0.
    pub volumes: Vec<f64>,
    /// Elements that stay solid, outside the volume constraint.
    pub solid: Vec<u32>,
    /// Elements that stay at `density_min`, outside the volume constraint; none of them is solid.
    pub void: Vec<u32>,
}

impl DesignSpace {
    /// The uniform start: the volume fraction everywhere, 1 in solid elements, `density_min` in void.
    pub fn uniform(&self) -> Vec<f64> {
        self.densities(self.volume_fraction)
    }

    /// Volumes of the design elements, 0 for solid and void ones, \[n_elements\].
    pub fn design_volumes(&self) -> Vec<f64> {
        let mut volumes = self.volumes.clone();
        self.solid.iter().chain(&self.void).for_each(|&e| volumes[e as usize] = 0.0);
        volumes
    }

    /// `design` in design elements, what the others are bound to in those.
    fn densities(&self, design: f64) -> Vec<f64> {
        let mut values = vec![design; self.volumes.len()];
        self.solid.iter().for_each(|&e| values[e as usize] = 1.0);
        self.void.iter().for_each(|&e| values[e as usize] = self.density_min);
        values
    }
}

/// rho_e <- rho_e B_e^eta within move limits and bounds, B_e = -dC_e / (lambda v_e)
/// [Ratnakar2022, Eq. 2.8-2.9], lambda by bisection until the volume is met to rounding.
pub struct OptimalityCriteria<B: Backend> {
    move_limit: f64,
    damping: f64,
    target: f64,
    design_volume: f64,
    /// v_e
    volumes: B::Vector,
    /// v_e of design elements, 0 of others: the volume constraint.
    weights: B::Vector,
    floor: B::Vector,
    ceiling: B::Vector,
    lower: B::Vector,
    upper: B::Vector,
    candidate: B::Vector,
}

/// Relative accuracy at which the volume counts as met.
const VOLUME_ACCURACY: f64 = 1e-14;

impl<B: Backend> OptimalityCriteria<B> {
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
        let n = space.volumes.len();
        let weights = space.design_volumes();
        let design_volume: f64 = weights.iter().sum();
        Ok(Self {
            move_limit,
            damping,
            target: space.volume_fraction * design_volume,
            design_volume,
            volumes: backend.upload(&space.volumes, 1)?,
            weights: backend.upload(&weights, 1)?,
            floor: backend.upload(&space.densities(space.density_min), 1)?,
            ceiling: backend.upload(&space.densities(1.0), 1)?,
            lower: backend.zeros(n)?,
            upper: backend.zeros(n)?,
            candidate: backend.zeros(n)?,
        })
    }

    /// Share of the design elements' volume that `density` takes.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn volume_fraction(&self, backend: &B, density: &B::Vector) -> Result<f64, BackendError> {
        Ok(backend.value(&backend.dot(&self.weights, density))? / self.design_volume)
    }

    /// Writes the next design to `next`. Positive `sensitivities`, which the weight of material or
    /// rounding makes, count as 0: such material goes as fast as the move limit lets it. If no design within the move limits meets the volume, the
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
        let scale = self.bisect(backend)?;
        backend.scale_within(scale, &self.candidate, [&self.lower, &self.upper], next);
        Ok(())
    }

    /// lower = max(floor, rho - m), upper = min(ceiling, rho + m).
    fn set_limits(&mut self, backend: &B, density: &B::Vector, scratch: &mut B::Vector) {
        let bounds = [&self.floor, &self.ceiling];
        for (sign, limit) in [(-1.0, &mut self.lower), (1.0, &mut self.upper)] {
            backend.fill(sign * self.move_limit, scratch);
            backend.axpby(1.0, density, 1.0, scratch);
            backend.scale_within(1.0, scratch, bounds, limit);
        }
    }

    /// candidate = rho (-dC / v)^eta, the next density but for the factor lambda^-eta.
    fn set_candidate(
        &mut self,
        backend: &B,
        density: &B::Vector,
        sensitivities: &B::Vector,
        scratch: &mut B::Vector,
    ) {
        let candidate = &mut self.candidate;
        backend.divide(sensitivities, &self.volumes, scratch);
        backend.positive_part(-1.0, scratch, candidate);
        backend.power(1.0, candidate, self.damping, scratch);
        backend.multiply(density, scratch, candidate);
    }

    /// The factor lambda^-eta at which the volume meets its target.
    fn bisect(&self, backend: &B) -> Result<f64, BackendError> {
        let volume = |scale: f64| {
            let bounds = [&self.lower, &self.upper];
            backend.value(&backend.dot_scaled_within(scale, &self.candidate, bounds, &self.weights))
        };
        let (mut low, mut high) = (0.0, 1.0);
        while volume(high)? < self.target {
            low = high;
            high *= 16.0;
            if high > 1e200 {
                return Ok(high); // out of reach: everything at its upper limit
            }
        }
        loop {
            let middle = 0.5 * (low + high);
            let found = volume(middle)?;
            let met = (found - self.target).abs() <= VOLUME_ACCURACY * self.target;
            if met || middle <= low || middle >= high || high < 1e-200 {
                return Ok(middle);
            }
            if found < self.target { low = middle } else { high = middle }
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
    fn volume_out_of_reach_takes_the_nearest() {
        let low = vec![0.01; 500];
        let (next, fraction) = update(&low, &vec![-1.0; 500]);
        assert!(next.iter().zip(&space().densities(0.21)).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(fraction < 0.4);
        let (zero, _) = update(&low, &vec![0.0; 500]);
        assert!(zero.iter().all(|v| v.is_finite()));
    }
}
