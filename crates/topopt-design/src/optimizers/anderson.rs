//! Optimality criteria, accelerated.

use nalgebra::{Cholesky, DMatrix, DVector};
use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{Dependence, Memory, OptimalityCriteria, Optimizer, SolveError, Subproblem};

/// Optimality criteria as a fixed-point iteration x <- G(x), now and then accelerated by Anderson's
/// mixing \[Anderson1965, LiSuryanarayanaPaulino2020\].
///
/// Each fourth design is the mean sum theta_j G(x_j) over the last four, brought back to the
/// volume, the bounds and the move limits around the last one; the others are G(x). The theta_j, of
/// sum 1, make the residual sum theta_j (G(x_j) - x_j) small; a penalty on their squares
/// \[Scieur2016\] keeps them small where residuals hardly differ. If the objective has risen, the
/// earlier designs do not describe G here, and are dropped.
pub struct Anderson<B: Pointwise> {
    criteria: OptimalityCriteria<B>,
    variables: Space,
    /// G(x_j) and G(x_j) - x_j.
    images: Vec<B::Vector>,
    residuals: Vec<B::Vector>,
    /// The objective of the design before.
    before: Option<f64>,
}

/// Number of designs that are mixed.
const WINDOW: usize = 4;
/// The penalty on the squares of the theta_j, as a share of the mean square of the residuals.
const PENALTY: f64 = 1e-6;

/// Names of what a checkpoint holds.
const IMAGES: [&str; WINDOW] =
    ["anderson_image_0", "anderson_image_1", "anderson_image_2", "anderson_image_3"];
const RESIDUALS: [&str; WINDOW] =
    ["anderson_residual_0", "anderson_residual_1", "anderson_residual_2", "anderson_residual_3"];
const OBJECTIVE: &str = "anderson_objective";

impl<B: Pointwise> Anderson<B> {
    /// The optimizer of design variables of the space `variables`, with `move_limit` and `damping`
    /// of the criteria.
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
            criteria: OptimalityCriteria::new(backend, variables, move_limit, damping)?,
            variables,
            images: Vec::new(),
            residuals: Vec::new(),
            before: None,
        })
    }

    fn forget(&mut self) {
        self.images.clear();
        self.residuals.clear();
        self.before = None;
    }

    /// Keeps G(x) = `image`.
    fn remember(&mut self, problem: &Subproblem<B>, image: &B::Vector) -> Result<(), BackendError> {
        let Subproblem { backend, design, .. } = *problem;
        let mut residual = backend.zeros(self.variables)?;
        let mut kept = backend.zeros(self.variables)?;
        backend.copy(image, &mut kept);
        backend.copy(image, &mut residual);
        backend.axpby(-1.0, design, 1.0, &mut residual);
        self.images.push(kept);
        self.residuals.push(residual);
        self.before = Some(problem.objective.value);
        Ok(())
    }

    /// theta, `[images]`: (R + penalty) theta = 1 except for a factor, with R the products of the
    /// residuals. None where these vanish.
    fn shares(&self, backend: &B) -> Result<Option<Vec<f64>>, BackendError> {
        let k = self.residuals.len();
        let mut products = DMatrix::zeros(k, k);
        for i in 0..k {
            for j in 0..=i {
                let dot = backend.dot(&self.residuals[i], &self.residuals[j]);
                products[(i, j)] = backend.value(&dot)?;
                products[(j, i)] = products[(i, j)];
            }
        }

        let penalty = PENALTY * products.trace() / k as f64;
        (0..k).for_each(|i| products[(i, i)] += penalty);
        Ok(Cholesky::new(products).map(|factor| {
            let shares = factor.solve(&DVector::repeat(k, 1.0));
            (&shares / shares.sum()).as_slice().to_vec()
        }))
    }
}

impl<B: Pointwise> Optimizer<B> for Anderson<B> {
    fn accepts(&self, constraints: &[Dependence]) -> Result<(), String> {
        Optimizer::<B>::accepts(&self.criteria, constraints)
    }

    fn next(
        &mut self,
        problem: &mut Subproblem<B>,
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        let multipliers = self.criteria.next(problem, next)?;
        let value = problem.objective.value;
        if self.before.is_some_and(|before| value > before) {
            self.forget();
        }

        self.remember(problem, next)?;
        if self.images.len() == WINDOW {
            if let Some(shares) = self.shares(problem.backend)? {
                let images = shares.into_iter().zip(&self.images);
                // The multiplier of the criteria stays: that of a mean of designs is worse.
                self.criteria.meet_sum(problem, images, next)?;
            }
            self.forget();
        }
        // G of different stages are different maps.
        if problem.others.begin_a_stage() {
            self.forget();
        }
        Ok(multipliers)
    }

    fn memory(&self) -> Vec<(&'static str, &B::Vector)> {
        let images = IMAGES.into_iter().zip(&self.images);
        images.chain(RESIDUALS.into_iter().zip(&self.residuals)).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.before.iter().map(|before| (OBJECTIVE, vec![*before])).collect()
    }

    fn restore(&mut self, backend: &B, memory: &Memory) -> Result<(), BackendError> {
        let variables = self.variables;
        let upload =
            |name: &str| memory.vector(name).map(|values| backend.upload(values, variables));
        self.images = IMAGES.into_iter().filter_map(upload).collect::<Result<_, _>>()?;
        self.residuals = RESIDUALS.into_iter().filter_map(upload).collect::<Result<_, _>>()?;
        self.before = memory.numbers(OBJECTIVE).and_then(|numbers| numbers.first().copied());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use topopt_linalg::Cpu;

    use super::*;
    use crate::optimizers::convex::Bars;

    /// Steps of optimality criteria with this damping leave a constant share of the distance.
    const SLOW: f64 = 0.1;

    #[test]
    fn the_optimum_comes_in_fewer_steps_within_bounds_and_volume() {
        for power in [1.0, 1.5] {
            let bars = Bars::new(power);
            let mut anderson = Anderson::new(&Cpu, Space::variables(40), 0.2, SLOW).unwrap();
            let mut criteria =
                OptimalityCriteria::new(&Cpu, Space::variables(40), 0.2, SLOW).unwrap();
            let least = bars.objective(&bars.optimum());
            let optimizers: [&mut dyn Optimizer<Cpu>; 2] = [&mut criteria, &mut anderson];
            let [plain, mixed] = optimizers.map(|optimizer| {
                let designs = bars.designs(optimizer, &bars.start(), 60);
                for x in &designs[1..] {
                    assert!((bars.volume(x) / bars.limit - 1.0).abs() < 1e-9);
                    let [floor, ceiling] = &bars.bounds;
                    assert!((0..40).all(|j| (floor[j]..=ceiling[j]).contains(&x[j])));
                }
                designs.iter().position(|x| bars.objective(x) < (1.0 + 1e-9) * least)
            });
            assert!(2 * mixed.unwrap() < plain.unwrap_or(60), "{mixed:?} {plain:?}");
        }
    }

    #[test]
    fn a_restored_optimizer_goes_on_to_the_same_bits() {
        let make = || {
            let anderson = Anderson::new(&Cpu, Space::variables(40), 0.2, SLOW).unwrap();
            Box::new(anderson) as Box<dyn Optimizer<Cpu>>
        };
        Bars::new(1.5).check_memory(&make, 9);
    }
}
