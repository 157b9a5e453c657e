//! Mirror descent with a latent variable.

use topopt_linalg::{BackendError, Pointwise, Space};

use super::volume_like;
use crate::root::find_root_from;
use crate::scaled::ACCURACY;
use crate::{Dependence, Memory, Optimizer, SolveError, Subproblem};

/// SiMPL, the sigmoidal mirror descent with a projected latent variable \[Kim2024, Keith2024\]:
///
/// $$\psi \leftarrow \psi - \alpha (g + \mu), \quad x_e = l_e + (u_e - l_e) / (1 + e^{-\psi_e}),$$
///
/// with the bounds l and u of the design variables, $g_e = (df/dx_e) / (dV/dx_e)$, and the least
/// $\mu \ge 0$ that keeps the volume V within its limit. The sigmoid keeps designs in their bounds.
///
/// Derivatives divided by the derivative of the volume, which equals the element's volume, are a
/// gradient in L2: a step does not depend on how the mesh is graded. The ratio
/// also cancels what a transform from x to the density takes from both. In place of the volume any
/// one constraint serves that depends on the density alone and grows with it.
///
/// The step size alpha is that of Barzilai and Borwein \[BarzilaiBorwein1988\] in the geometry of
/// the sigmoid. It is halved until the [`LineSearch`] is content, so that f falls in every
/// iteration as far as it is known; each trial takes a solve.
pub struct Simpl<B: Pointwise> {
    variables: Space,
    line_search: LineSearch,
    /// psi, and that of a trial.
    latent: B::Vector,
    moved: B::Vector,
    /// The design before this one.
    before: B::Vector,
    last: Option<Step>,
    /// g.
    gradient: B::Vector,
    scratch: [B::Vector; 2],
}

/// When a trial x' from x with the step size alpha is good enough.
///
/// Where the volume is linear, the step minimizes df/dx (x' - x) + D(x', x) / alpha, with the
/// Bregman divergence D of the sigmoid's entropy, weighted by dV/dx. There df/dx (x' - x) is
/// -(D(x', x) + D(x, x')) / alpha, and a form of that which is also below 0 elsewhere stands in its
/// place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineSearch {
    /// f(x') <= f(x) + 1e-4 df/dx (x' - x) \[Armijo1966\].
    #[default]
    Armijo,
    /// f(x') <= f(x) + df/dx (x' - x) + D(x', x) / alpha: f is below what the step minimizes.
    Bregman,
}

/// The last step as the next step size sees it.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Sum of dV/dx (psi' - psi) (x' - x).
    distance: f64,
    /// df/dx (x' - x).
    slope: f64,
}

/// Share of the expected decrease that Armijo's rule asks for.
const SHARE: f64 = 1e-4;
/// Rise of the objective, as a share of itself, that counts as none, since solves are not exact.
const RISE: f64 = 1e-7;
/// How far above its limit, as a share of it, a volume counts as met.
const MET: f64 = 1e-6;
/// Most trials for a design.
const TRIALS: usize = 15;
/// The largest alpha mu.
const LARGEST_SHIFT: f64 = 1e12;

/// Latent variables end here, at 6e-6 of the range from a bound: from further out it would take too
/// many steps to come back.
const LARGEST_LATENT: f64 = 12.0;

/// Names of what a checkpoint holds.
const BEFORE: &str = "simpl_before";
const STEP: &str = "simpl_step";

impl<B: Pointwise> Simpl<B> {
    /// The optimizer of design variables of the space `variables`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, variables: Space) -> Result<Self, BackendError> {
        let vector = || backend.zeros(variables);
        Ok(Self {
            line_search: LineSearch::default(),
            latent: vector()?,
            moved: vector()?,
            before: vector()?,
            variables,
            last: None,
            gradient: vector()?,
            scratch: [vector()?, vector()?],
        })
    }

    /// Replaces the line search, Armijo's by default.
    #[must_use]
    pub fn with_line_search(self, line_search: LineSearch) -> Self {
        Self { line_search, ..self }
    }

    /// gradient = g. Both derivatives are taken by x as a share of its range, so that they vanish
    /// where the bounds agree, as they do together where nothing depends on x: 0 / 0 counts as 0.
    fn set_gradient(&mut self, problem: &Subproblem<B>) {
        let Subproblem { backend, objective, constraints, .. } = *problem;
        let Self { moved, gradient, scratch: [ranges, weights], .. } = self;
        set_ranges(problem, ranges);
        backend.multiply(ranges, &objective.gradient, moved);
        backend.multiply(ranges, &constraints[0].gradient, weights);
        backend.divide(moved, weights, ranges);

        backend.positive_part(1.0, ranges, gradient);
        backend.positive_part(-1.0, ranges, moved);
        backend.axpby(-1.0, moved, 1.0, gradient);
    }

    /// The step size to begin with: that of Barzilai and Borwein; without a step
    /// before, latent variables move by 1 in the mean over the volume.
    fn first_size(&mut self, problem: &Subproblem<B>) -> Result<f64, BackendError> {
        let Subproblem { backend, design, objective, constraints, .. } = *problem;
        let [moved, ranges] = &mut self.scratch;
        if let Some(Step { distance, slope }) = self.last {
            backend.copy(design, moved);
            backend.axpby(-1.0, &self.before, 1.0, moved);
            let curvature = backend.value(&backend.dot(&objective.gradient, moved))? - slope;
            let size = (distance / curvature).abs();
            if size.is_normal() {
                return Ok(size);
            }
        }

        set_ranges(problem, ranges);
        let mut change = 0.0;
        for sign in [1.0, -1.0] {
            backend.positive_part(sign, &objective.gradient, moved);
            change += backend.value(&backend.dot(moved, ranges))?;
        }
        let size = backend.value(&backend.dot(&constraints[0].gradient, ranges))? / change;
        Ok(if size.is_normal() { size } else { 1.0 })
    }

    /// Writes the design of step size `size` to `next`. Returns mu.
    fn step(
        &mut self,
        problem: &mut Subproblem<B>,
        size: f64,
        next: &mut B::Vector,
    ) -> Result<f64, SolveError> {
        let Subproblem { backend, design, bounds, constraints, others, .. } = problem;
        let (backend, bounds, moved, volume) =
            (*backend, *bounds, &mut self.moved, &constraints[0]);
        backend.copy(&self.latent, moved);
        backend.axpby(-size, &self.gradient, 1.0, moved);

        // V(x') = V(x) + dV (x' - x), which is V itself where that is linear.
        let linear = backend.value(&backend.dot(&volume.gradient, design))?;
        let target = volume.limit - volume.value + linear;
        let mut shift = 0.0;
        let mut excess = |trial: f64| {
            shift = trial;
            backend.sigmoid(trial, LARGEST_LATENT, moved, bounds, next);
            Ok::<_, SolveError>(backend.value(&backend.dot(&volume.gradient, next))? - target)
        };
        meet(0.0, ACCURACY * volume.limit, &mut excess)?;

        if !others.is_linear(0) {
            let start = shift;
            let mut excess = |trial: f64| {
                shift = trial;
                backend.sigmoid(trial, LARGEST_LATENT, moved, bounds, next);
                Ok(others.constraint(0, next)? - volume.limit)
            };
            meet(start, ACCURACY * volume.limit, &mut excess)?;
        }
        Ok(-shift / size)
    }

    /// Measures the step to `next`; leaves psi' in `moved`.
    fn measure(&mut self, problem: &Subproblem<B>, next: &B::Vector) -> Result<Step, BackendError> {
        let Subproblem { backend, design, bounds, objective, constraints, .. } = *problem;
        let Self { latent, moved, scratch: [weighted, change], .. } = self;
        let dot = |x: &B::Vector, y: &B::Vector| backend.value(&backend.dot(x, y));
        backend.logit(LARGEST_LATENT, next, bounds, moved);

        backend.copy(next, change);
        backend.axpby(-1.0, design, 1.0, change);
        backend.multiply(change, &constraints[0].gradient, weighted);
        let distance = dot(weighted, moved)? - dot(weighted, latent)?;
        Ok(Step { distance, slope: dot(&objective.gradient, change)? })
    }

    /// D(x', x) of a step that has been measured: the sum of dV/dx ((x' - l) (psi' - psi) - (u - l)
    /// (S(psi') - S(psi))), where S is the integral of the sigmoid.
    fn divergence(
        &mut self,
        problem: &Subproblem<B>,
        next: &B::Vector,
    ) -> Result<f64, BackendError> {
        let Subproblem { backend, bounds: [floor, _], constraints, .. } = *problem;
        let Self { latent, moved, scratch: [weighted, other], .. } = self;
        let dot = |x: &B::Vector, y: &B::Vector| backend.value(&backend.dot(x, y));
        backend.copy(next, other);
        backend.axpby(-1.0, floor, 1.0, other);
        backend.multiply(other, &constraints[0].gradient, weighted);
        let first = dot(weighted, moved)? - dot(weighted, latent)?;

        set_ranges(problem, other);
        backend.multiply(other, &constraints[0].gradient, weighted);
        backend.softplus(moved, other);
        let after = dot(weighted, other)?;
        backend.softplus(latent, other);
        Ok(first - (after - dot(weighted, other)?))
    }

    /// Halves the step size until a trial is good enough, or as often as allowed. Where the volume
    /// must shrink first, and where a stage begins, values do not compare. Returns the step and mu.
    fn search(
        &mut self,
        problem: &mut Subproblem<B>,
        next: &mut B::Vector,
    ) -> Result<(Step, f64), SolveError> {
        let (value, volume) = (problem.objective.value, &problem.constraints[0]);
        let is_blind = problem.others.begin_a_stage() || volume.value > (1.0 + MET) * volume.limit;
        let mut size = self.first_size(problem)?;
        let mut trials = 1;
        loop {
            let multiplier = self.step(problem, size, next)?;
            let step = self.measure(problem, next)?;
            if is_blind || trials == TRIALS {
                return Ok((step, multiplier));
            }

            let fall = match self.line_search {
                LineSearch::Armijo => SHARE * step.distance,
                LineSearch::Bregman => step.distance - self.divergence(problem, next)?,
            };
            let found = problem.others.values(next)?[0];
            if found <= value - fall / size + RISE * value.abs() {
                return Ok((step, multiplier));
            }
            (size, trials) = (0.5 * size, trials + 1);
        }
    }
}

/// Finds the shift <= 0 at which `excess`, which grows with it, vanishes to `accuracy`; 0 where it
/// does not exceed there. `excess` is called with it last.
fn meet(
    start: f64,
    accuracy: f64,
    excess: &mut dyn FnMut(f64) -> Result<f64, SolveError>,
) -> Result<(), SolveError> {
    if excess(0.0)? <= accuracy {
        return Ok(());
    }
    find_root_from(start, |_| 0.5, LARGEST_SHIFT, accuracy, excess)
}

/// ranges = u - l.
fn set_ranges<B: Pointwise>(problem: &Subproblem<B>, ranges: &mut B::Vector) {
    let Subproblem { backend, bounds: [floor, ceiling], .. } = *problem;
    backend.copy(floor, ranges);
    backend.axpby(1.0, ceiling, -1.0, ranges);
}

impl<B: Pointwise> Optimizer<B> for Simpl<B> {
    fn accepts(&self, constraints: &[Dependence]) -> Result<(), String> {
        volume_like("SiMPL takes", constraints)
    }

    fn next(
        &mut self,
        problem: &mut Subproblem<B>,
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        self.set_gradient(problem);
        let Subproblem { backend, design, bounds, .. } = *problem;
        backend.logit(LARGEST_LATENT, design, bounds, &mut self.latent);
        let (step, multiplier) = self.search(problem, next)?;

        // From here on nothing fails. Gradients of different stages are not compared.
        backend.copy(design, &mut self.before);
        self.last = (!problem.others.begin_a_stage()).then_some(step);
        Ok(vec![multiplier])
    }

    fn memory(&self) -> Vec<(&'static str, &B::Vector)> {
        self.last.iter().map(|_| (BEFORE, &self.before)).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        self.last.iter().map(|step| (STEP, vec![step.distance, step.slope])).collect()
    }

    fn restore(&mut self, backend: &B, memory: &Memory) -> Result<(), BackendError> {
        let (before, step) = (memory.vector(BEFORE), memory.numbers(STEP));
        if let (Some(before), Some(&[distance, slope])) = (before, step) {
            self.before = backend.upload(before, self.variables)?;
            self.last = Some(Step { distance, slope });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
