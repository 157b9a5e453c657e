//! The optimality-criteria update under a volume constraint.

use topopt_linalg::{BackendError, Pointwise, Space};

use super::moves::Moves;
use super::volume_like;
use crate::scaled::Scaled;
use crate::{Dependence, Memory, Optimizer, Settings, SolveError, Subproblem};

/// $x_e \leftarrow x_e B_e^\eta$ within move limits and bounds, $B_e = -dC_e / (\lambda dV_e)$
/// [Ratnakar2022, Eq. 2.8-2.9], dV_e the derivative of the volume by the design variable x_e.
///
/// Where the volume is linear in x, lambda comes by bisection until the volume is met to rounding.
/// Where a transform makes the density from x, the linearized volume gives a first lambda, from
/// which that of the volume itself is found. In place of the volume any one constraint serves that
/// depends on the density alone and grows with it.
///
/// Positive sensitivities, which the weight of material, an output of a mechanism or rounding
/// makes, count as 0: such material goes as fast as the move limit lets it. If no design within the
/// move limits meets the volume, the nearest one is taken.
pub struct OptimalityCriteria<B: Pointwise> {
    move_limit: f64,
    /// Move limits of every variable, where they adapt.
    moves: Option<Moves<B>>,
    damping: f64,
    lower: B::Vector,
    upper: B::Vector,
    candidate: B::Vector,
}

/// The smallest B_e.
const LEAST: f64 = 1e-10;

impl<B: Pointwise> OptimalityCriteria<B> {
    /// The optimizer of design variables of the space `variables`, with `move_limit` m and
    /// `damping` eta of Eq. 2.8 (0.2 and 0.5 in the thesis).
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        variables: Space,
        move_limit: f64,
        damping: f64,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            move_limit,
            moves: None,
            damping,
            lower: backend.zeros(variables)?,
            upper: backend.zeros(variables)?,
            candidate: backend.zeros(variables)?,
        })
    }

    /// Adapts the move limit of each variable: it falls where the variable goes back and forth, so
    /// that designs with a sharp projection do not oscillate. Where no gradient is, variables
    /// change as the others do on the whole.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn adaptive(self, backend: &B, variables: Space) -> Result<Self, BackendError> {
        Ok(Self { moves: Some(Moves::new(backend, variables)?), ..self })
    }

    /// lower = max(floor, x - m, x 1e-10^eta), upper = min(ceiling, x + m): B_e counts as 1e-10 at
    /// least, so that a density that is allowed to be 0 comes back from it [BendsoeSigmund2004].
    fn set_limits(&mut self, problem: &Subproblem<B>, scratch: &mut B::Vector) {
        let Subproblem { backend, design, bounds, .. } = *problem;
        for (sign, limit) in [(-1.0, &mut self.lower), (1.0, &mut self.upper)] {
            match &self.moves {
                Some(moves) => backend.axpby(sign, moves.limits(), 0.0, scratch),
                None => backend.fill(sign * self.move_limit, scratch),
            }
            backend.axpby(1.0, design, 1.0, scratch);
            backend.scale_within(1.0, scratch, bounds, limit);
        }
        let least = LEAST.powf(self.damping);
        backend.scale_within(least, design, [&self.lower, bounds[1]], scratch);
        std::mem::swap(&mut self.lower, scratch);
    }

    /// candidate = x (-dC / dV)^eta, the next design except for the factor lambda^-eta. Where dV is
    /// 0 the element is passive, and its limits agree: 0 / 0 counts as 0.
    fn set_candidate(
        &mut self,
        problem: &Subproblem<B>,
        scratch: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Subproblem { backend, design, objective, constraints, .. } = *problem;
        let candidate = &mut self.candidate;
        if let Some(moves) = &mut self.moves {
            return moves.set_candidate(problem, self.damping, candidate, scratch);
        }
        backend.divide(&objective.gradient, &constraints[0].gradient, scratch);
        backend.positive_part(-1.0, scratch, candidate);
        backend.power(1.0, candidate, self.damping, scratch);
        backend.multiply(design, scratch, candidate);
        Ok(())
    }

    /// lambda of the factor lambda^-eta.
    fn multiplier(&self, scale: f64) -> f64 {
        scale.powf(-1.0 / self.damping).min(f64::MAX)
    }

    /// Writes the design s times candidate within the limits that meets the volume. Returns the
    /// multiplier.
    fn meet(&self, problem: &mut Subproblem<B>, next: &mut B::Vector) -> Result<f64, SolveError> {
        let Subproblem { backend, design, constraints, others, .. } = problem;
        let (candidate, limits) = (&self.candidate, [&self.lower, &self.upper]);
        let designs = Scaled { backend: *backend, candidate, limits };
        let volume = &constraints[0];

        if others.is_linear(0) {
            let scale = designs.bisect(&volume.gradient, volume.limit)?;
            designs.write(scale, next);
            return Ok(self.multiplier(scale));
        }

        // V(x') = V(x) + dV (x' - x) = target
        let linear = backend.value(&backend.dot(&volume.gradient, design))?;
        let scale = designs.bisect(&volume.gradient, volume.limit - volume.value + linear)?;
        let slope = designs.slope(&volume.gradient, scale)?;
        let first = (scale, Some(slope).filter(|slope| *slope > 0.0));
        let scale = designs.meet::<SolveError>(first, volume.limit, next, &mut |x| {
            Ok(others.constraint(0, x)? - volume.limit)
        })?;
        Ok(self.multiplier(scale))
    }

    /// Writes the same of the sum of `terms`, each with its factor, in place of the candidate.
    pub(super) fn meet_sum<'v>(
        &mut self,
        problem: &mut Subproblem<B>,
        terms: impl Iterator<Item = (f64, &'v B::Vector)>,
        next: &mut B::Vector,
    ) -> Result<(), SolveError>
    where
        B: 'v,
    {
        problem.backend.fill(0.0, &mut self.candidate);
        terms.for_each(|(a, x)| problem.backend.axpby(a, x, 1.0, &mut self.candidate));
        self.meet(problem, next)?;
        Ok(())
    }
}

impl<B: Pointwise> Optimizer<B> for OptimalityCriteria<B> {
    fn accepts(&self, constraints: &[Dependence]) -> Result<(), String> {
        volume_like("optimality criteria take", constraints)
    }

    fn enter(&mut self, settings: &Settings) {
        self.move_limit = settings.move_limit.unwrap_or(self.move_limit);
    }

    fn next(
        &mut self,
        problem: &mut Subproblem<B>,
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        if let Some(moves) = &mut self.moves {
            moves.adapt(problem.backend, self.move_limit);
        }
        self.set_limits(problem, next);
        self.set_candidate(problem, next)?;
        let multiplier = self.meet(problem, next)?;
        if let Some(moves) = &mut self.moves {
            moves.keep(problem.backend, problem.design, next);
        }
        Ok(vec![multiplier])
    }

    fn memory(&self) -> Vec<(&'static str, &B::Vector)> {
        self.moves.iter().flat_map(Moves::memory).collect()
    }

    fn restore(&mut self, backend: &B, memory: &Memory) -> Result<(), BackendError> {
        self.moves.iter_mut().try_for_each(|moves| moves.restore(backend, memory))
    }
}

#[cfg(test)]
mod tests {
    use topopt_linalg::Cpu;

    use super::*;
    use crate::{DesignSpace, Function, Measures, OtherDesigns};

    /// The density is the design: all functions are linear.
    struct LinearFunctions;

    impl OtherDesigns<Cpu> for LinearFunctions {
        fn is_linear(&self, _: usize) -> bool {
            true
        }

        fn constraint(&mut self, _: usize, _: &Vec<f64>) -> Result<f64, SolveError> {
            unreachable!("a linear constraint is known by its gradient")
        }

        fn values(&mut self, _: &Vec<f64>) -> Result<Vec<f64>, SolveError> {
            unreachable!("optimality criteria evaluate a design once")
        }
    }

    fn update(density: &Vec<f64>, sensitivities: &[f64]) -> (Vec<f64>, f64) {
        let space = DesignSpace::uneven();
        let measures = Measures::new(&Cpu, &space).unwrap();
        let value = measures.volume(&Cpu, density).unwrap();
        let volume = Function {
            value,
            gradient: measures.volumes().clone(),
            limit: space.initial_volume(),
            share: 0.0,
        };
        let objective = Function {
            value: 1.0,
            gradient: sensitivities.to_vec(),
            limit: f64::INFINITY,
            share: 0.0,
        };

        let mut problem = Subproblem {
            backend: &Cpu,
            design: density,
            bounds: [&space.floor(), &space.ceiling()],
            objective: &objective,
            constraints: &[volume],
            others: &mut LinearFunctions,
        };

        let mut oc = OptimalityCriteria::new(&Cpu, Space::variables(500), 0.2, 0.5).unwrap();
        let mut next = vec![f64::NAN; 500];
        oc.next(&mut problem, &mut next).unwrap();
        let fraction = measures.volume_fraction(&Cpu, &next).unwrap();
        (next, fraction)
    }

    #[test]
    fn meets_the_volume_bounds_and_move_limits() {
        let space = DesignSpace::uneven();
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
        let space = DesignSpace::uneven();
        let density = space.uniform();
        let sensitivities: Vec<f64> = (0..500).map(|e| -2.0 - 0.3 * (e as f64).sin()).collect();
        let (next, _) = update(&density, &sensitivities);
        let lambdas: Vec<f64> = (0..500)
            .filter(|e| (next[*e] - density[*e]).abs() < 0.199 && next[*e] < 1.0 && next[*e] > 0.01)
            .map(|e| -sensitivities[e] / space.volumes[e] * (density[e] / next[e]).powi(2))
            .collect();
        assert!(lambdas.len() > 300);
        assert!(lambdas.iter().all(|l| (l / lambdas[0] - 1.0).abs() < 1e-12));
    }

    #[test]
    fn volume_out_of_reach_takes_the_nearest() {
        let nearest = DesignSpace::uneven().densities(0.21);
        let low = vec![0.01; 500];
        let (next, fraction) = update(&low, &vec![-1.0; 500]);
        assert!(next.iter().zip(&nearest).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(fraction < 0.4);
        let (zero, _) = update(&low, &vec![0.0; 500]);
        assert!(zero.iter().all(|v| v.is_finite()));
    }

    #[test]
    fn only_one_constraint_of_the_density_is_accepted() {
        let oc = OptimalityCriteria::new(&Cpu, Space::variables(1), 0.2, 0.5).unwrap();
        let accepts = |constraints: &[_]| Optimizer::<Cpu>::accepts(&oc, constraints);
        assert_eq!(accepts(&[Dependence::Linear]), Ok(()));
        assert_eq!(accepts(&[Dependence::Density]), Ok(()));
        assert!(accepts(&[Dependence::States]).unwrap_err().contains("of the density alone"));
        for constraints in [&[][..], &[Dependence::Linear; 2]] {
            assert!(accepts(constraints).unwrap_err().contains("exactly one"));
        }
    }
}
