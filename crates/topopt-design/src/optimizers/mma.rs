//! The method of moving asymptotes.

mod caution;
mod dual;

use topopt_linalg::{
    Approximation, ApproximationSums, AsymptoteRules, Backend, BackendError, MovingAsymptotes,
    Space,
};

use crate::root::find_root_from;
use crate::{Function, Memory, Optimizer, Settings, SolveError, Subproblem};
use caution::Caution;
use dual::{Dual, weights};

/// MMA and GCMMA: the next design minimizes convex separable approximations of objective and
/// constraints \[Svanberg1987\]; the globally convergent one makes these more convex until none
/// is below its function at the design that it leads to \[Svanberg2002\].
///
/// Functions are scaled by what they change over the ranges of the variables, so that results do
/// not depend on units. Where no design meets the constraints, the one that misses them by the
/// least is sought.
pub struct Mma<B: MovingAsymptotes> {
    rules: AsymptoteRules,
    is_globally_convergent: bool,
    is_scaled: bool,
    /// Whether a limit of the design alone, where it is the only one, is met by each next design.
    meets_limit: bool,
    /// Whether a projection becomes sharper in the course of the run, which bends functions within
    /// the move limit.
    is_sharpened: bool,
    caution: Caution,
    variables: Space,
    /// Largest minus smallest design variables.
    ranges: B::Vector,
    /// L and U of the last design, and those of this one.
    asymptotes: [B::Vector; 2],
    moved: [B::Vector; 2],
    limits: [B::Vector; 2],
    /// The last two designs before this one, the last one first; fewer at the beginning.
    before: Vec<B::Vector>,
}

/// Curvatures per variable: that of MMA, as a share of the mean slope and without scaling, and that
/// with which GCMMA begins, as a share of the mean slope.
const CURVATURE: f64 = 1e-7;
const UNSCALED_CURVATURE: f64 = 1e-5;
const FIRST_CURVATURE: f64 = 0.1;
/// Most approximations for a design in GCMMA.
const ATTEMPTS: usize = 15;
/// How far a function may lie above its approximation, as a share of its change over all ranges.
const ABOVE: f64 = 1e-7;

/// First change of a limit, and largest distance of a constraint from it, as shares of it.
const LIMIT_STEP: f64 = 0.01;
const LIMIT_ACCURACY: f64 = 1e-5;

/// Names of what a checkpoint holds.
const DESIGNS: [&str; 2] = ["mma_last", "mma_before_last"];
const ASYMPTOTES: [&str; 2] = ["mma_lower", "mma_upper"];
const CAUTION: &str = "mma_caution";

impl<B: MovingAsymptotes> Mma<B> {
    /// MMA for design variables of the space `variables`. Each moves by at most the share
    /// `move_limit` of its range.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, variables: Space, move_limit: f64) -> Result<Self, BackendError> {
        let vector = || backend.zeros(variables);
        let pair = || Ok::<_, BackendError>([vector()?, vector()?]);
        Ok(Self {
            rules: AsymptoteRules { initial: 0.5, shrink: 0.7, grow: 1.2, move_limit },
            is_globally_convergent: false,
            is_scaled: true,
            meets_limit: false,
            is_sharpened: false,
            caution: Caution::default(),
            variables,
            ranges: vector()?,
            asymptotes: pair()?,
            moved: pair()?,
            limits: pair()?,
            before: Vec::new(),
        })
    }

    /// GCMMA in place of MMA.
    #[must_use]
    pub fn globally_convergent(self) -> Self {
        Self { is_globally_convergent: true, ..self }
    }

    /// Functions as they are, without scaling: the iterates of \[Svanberg2007\], whose objective
    /// should lie between 1 and 100 and whose constraints are such that their multipliers are below
    /// 1000.
    #[must_use]
    pub fn unscaled(self) -> Self {
        Self { is_scaled: false, ..self }
    }

    /// Asymptotes and limits of the design of `problem`, of the moves that `caution` lets.
    fn move_asymptotes(&mut self, problem: &Subproblem<B>, caution: Caution) {
        let Subproblem { backend, design, bounds: [floor, ceiling], .. } = *problem;
        backend.copy(floor, &mut self.ranges);
        backend.axpby(1.0, ceiling, -1.0, &mut self.ranges);

        let [lower, upper] = &mut self.moved;
        for (old, new) in self.asymptotes.iter().zip([&mut *lower, &mut *upper]) {
            backend.copy(old, new);
        }
        let before = match &self.before[..] {
            [last, first] => Some([last, first]),
            _ => None,
        };
        let [smallest, largest] = &mut self.limits;
        let move_limit = caution.share * self.rules.move_limit;
        backend.move_asymptotes(
            &AsymptoteRules { move_limit, ..self.rules },
            design,
            before,
            problem.bounds,
            [lower, upper],
            [smallest, largest],
        );
    }

    /// sum_j |g_j| r_j of all functions, which are scaled by it; infinite for those with a limit
    /// that do not change to first order: no next design follows from them. 1 for others of that
    /// kind.
    ///
    /// An objective that does not change, beside the largest of other functions, is scaled as these
    /// are: their multipliers add up to it, and compare with those of other constraints.
    fn changes(
        &self,
        problem: &Subproblem<B>,
        scratch: &mut B::Vector,
    ) -> Result<Vec<f64>, BackendError> {
        let backend = problem.backend;
        let mut changes = Vec::new();
        for function in problem.functions() {
            let mut change = 0.0;
            for sign in [1.0, -1.0] {
                backend.positive_part(sign, &function.gradient, scratch);
                change += backend.value(&backend.dot(scratch, &self.ranges))?;
            }
            changes.push(change);
        }

        let sharing = problem.constraints.iter().zip(&changes[1..]);
        let smallest = sharing.map(|(f, change)| change / f.share).fold(f64::INFINITY, f64::min);
        if changes[0] == 0.0 && smallest.is_finite() {
            changes[0] = smallest;
        }
        let scale = |(change, function): (f64, &Function<B>)| match function {
            _ if change > 0.0 => change,
            Function { limit, share, .. } if *share == 0.0 && limit.is_finite() => f64::INFINITY,
            _ => 1.0,
        };
        Ok(changes.into_iter().zip(problem.functions()).map(scale).collect())
    }

    /// Writes the design that minimizes the approximations with these `scales` and `curvatures`,
    /// `[m + 1]`, and with limits `raised` by so much, to `next`. Returns it with the scaled
    /// multipliers of the constraints.
    fn minimize(
        &self,
        problem: &Subproblem<B>,
        scales: &[f64],
        curvatures: &[f64],
        raised: f64,
        next: &mut B::Vector,
    ) -> Result<(ApproximationSums, Vec<f64>), BackendError> {
        let Subproblem { backend, design, bounds, constraints, .. } = *problem;
        let functions = problem.functions().zip(scales.iter().zip(curvatures));
        let approximation = Approximation {
            design,
            bounds,
            asymptotes: self.moved.each_ref(),
            limits: self.limits.each_ref(),
            functions: functions.map(|(f, (&s, &rho))| (&f.gradient, s, rho)).collect(),
        };

        let base = base(constraints, &scales[1..]);
        let values: Vec<f64> = constraints
            .iter()
            .zip(&scales[1..])
            .map(|(f, scale)| scale * (f.value - f.limit - raised - f.share * base))
            .collect();
        let mut evaluate =
            |weights: &[f64]| backend.minimize_approximation(&approximation, weights, None);
        let (shares, share_cost) = shares(constraints, scales);
        let dual = Dual { values: &values, shares: &shares, share_cost, evaluate: &mut evaluate };
        let multipliers = dual.solve()?;
        let at = weights(multipliers.iter().copied());
        Ok((backend.minimize_approximation(&approximation, &at, Some(next))?, multipliers))
    }

    /// Minimizes with the one limit raised or lowered so that the constraint itself, which a sharp
    /// projection bends, meets it at the design. Returns the scaled multipliers.
    fn minimize_at_limit(
        &self,
        problem: &mut Subproblem<B>,
        scales: &[f64],
        curvatures: &[f64],
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        let limit = problem.constraints[0].limit;
        let mut multipliers = Vec::new();
        let size = limit.abs();
        find_root_from(
            0.0,
            |_| LIMIT_STEP * size,
            size,
            LIMIT_ACCURACY * size,
            |raised| {
                multipliers = self.minimize(problem, scales, curvatures, raised, next)?.1;
                Ok::<_, SolveError>(problem.others.constraint(0, next)? - limit)
            },
        )?;
        Ok(multipliers)
    }

    /// Writes a design to `next` at which no function is above its approximation, as far as
    /// attempts go. Returns the scaled multipliers of the constraints.
    fn minimize_conservatively(
        &self,
        problem: &mut Subproblem<B>,
        scales: &[f64],
        mut curvatures: Vec<f64>,
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        let values: Vec<f64> = problem.functions().map(|function| function.value).collect();
        let mut multipliers = Vec::new();
        for _ in 0..ATTEMPTS {
            let sums;
            (sums, multipliers) = self.minimize(problem, scales, &curvatures, 0.0, next)?;
            // Values of different stages are not compared.
            if problem.others.begin_a_stage() {
                break;
            }
            let found = problem.others.values(next)?;

            let mut is_conservative = true;
            for (i, (found, value)) in found.iter().zip(&values).enumerate() {
                let above = scales[i] * (found - value) - sums.changes[i];
                if above > ABOVE {
                    let needed = curvatures[i] + above / sums.distance.max(f64::MIN_POSITIVE);
                    curvatures[i] = (10.0 * curvatures[i]).min(1.1 * needed);
                    is_conservative = false;
                }
            }
            if is_conservative {
                break;
            }
        }
        Ok(multipliers)
    }
}

/// A number below the largest of the functions that share it by as much as they can change, at most
/// 0: what is minimized besides is the distance from it, which may not be negative.
fn base<B: Backend>(constraints: &[Function<B>], scales: &[f64]) -> f64 {
    let sharing = constraints.iter().zip(scales).filter(|(f, _)| f.share > 0.0);
    sharing.map(|(f, scale)| (f.value - f.limit - 1.0 / scale) / f.share).fold(0.0, f64::min)
}

/// Scaled shares a_i of the constraints in the largest one, and its cost: it is scaled as they are.
fn shares<B: Backend>(constraints: &[Function<B>], scales: &[f64]) -> (Vec<f64>, f64) {
    let scaled = constraints.iter().zip(&scales[1..]).map(|(f, scale)| scale * f.share);
    let scaled: Vec<f64> = scaled.collect();
    let size = scaled.iter().copied().fold(0.0, f64::max);
    if size == 0.0 {
        return (scaled, 1.0);
    }
    (scaled.into_iter().map(|share| share / size).collect(), scales[0] / size)
}

impl<B: MovingAsymptotes> Optimizer<B> for Mma<B> {
    fn enter(&mut self, settings: &Settings) {
        self.rules.move_limit = settings.move_limit.unwrap_or(self.rules.move_limit);
        self.meets_limit = settings.half_width.is_some();
        self.is_sharpened = settings.sharpness.is_some();
    }

    fn is_cautious(&self) -> bool {
        self.caution.share < 1.0
    }

    fn next(
        &mut self,
        problem: &mut Subproblem<B>,
        next: &mut B::Vector,
    ) -> Result<Vec<f64>, SolveError> {
        let backend = problem.backend;
        let caution = if self.is_sharpened { self.caution.after(problem) } else { self.caution };
        self.move_asymptotes(problem, caution);
        let changes = self.changes(problem, next)?;

        let n = self.variables.points as f64;
        let scales_and_slopes = changes.iter().map(|change| match change {
            _ if change.is_infinite() => (0.0, 0.0),
            _ if self.is_scaled => (1.0 / change, 1.0 / n),
            _ => (1.0, change / n),
        });
        let (scales, slopes): (Vec<f64>, Vec<f64>) = scales_and_slopes.unzip();
        let mut multipliers = if self.is_globally_convergent {
            let curvatures = slopes.iter().map(|slope| FIRST_CURVATURE * slope).collect();
            self.minimize_conservatively(problem, &scales, curvatures, next)?
        } else {
            let curvature = if self.is_scaled { CURVATURE / n } else { UNSCALED_CURVATURE };
            let curvatures = slopes.iter().map(|slope| if *slope > 0.0 { curvature } else { 0.0 });
            let curvatures: Vec<_> = curvatures.collect();
            let others = &problem.others;
            let is_exact = self.meets_limit && problem.constraints.len() == 1;
            match is_exact && others.is_of_design(0) && !others.is_linear(0) {
                true => self.minimize_at_limit(problem, &scales, &curvatures, next)?,
                false => self.minimize(problem, &scales, &curvatures, 0.0, next)?.1,
            }
        };
        for (multiplier, scale) in multipliers.iter_mut().zip(&scales[1..]) {
            *multiplier *= scale / scales[0];
        }

        // From here on nothing fails, except for want of room before anything is kept.
        let mut last = match self.before.len() {
            2 => self.before.remove(1),
            _ => backend.zeros(self.variables)?,
        };
        backend.copy(problem.design, &mut last);
        self.before.insert(0, last);
        std::mem::swap(&mut self.asymptotes, &mut self.moved);
        self.caution = caution;
        Ok(multipliers)
    }

    fn memory(&self) -> Vec<(&'static str, &B::Vector)> {
        let designs = DESIGNS.into_iter().zip(&self.before);
        let asymptotes = ASYMPTOTES.into_iter().zip(&self.asymptotes);
        designs.chain(asymptotes).collect()
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![(CAUTION, vec![self.caution.share, self.caution.missed])]
    }

    fn restore(&mut self, backend: &B, memory: &Memory) -> Result<(), BackendError> {
        let variables = self.variables;
        if let Some(&[share, missed]) = memory.numbers(CAUTION) {
            self.caution = Caution { share, missed };
        }
        let upload =
            |name: &str| memory.vector(name).map(|values| backend.upload(values, variables));
        let designs = DESIGNS.into_iter().filter_map(upload);
        self.before = designs.collect::<Result<_, _>>()?;
        for (name, vector) in ASYMPTOTES.into_iter().zip(&mut self.asymptotes) {
            if let Some(found) = upload(name) {
                *vector = found?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
