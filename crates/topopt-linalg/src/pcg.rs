//! Preconditioned conjugate gradients, [Ratnakar2022, Alg. 1], stopped on the relative residual;
//! flexible [Notay2000] where the preconditioner is not linear.

mod course;
#[cfg(test)]
mod tests;

use course::{Course, has_failed};

use crate::{
    Backend, BackendError, Correction, LinearOperator, LowerPrecision, Monitor, PcgOptions,
    PcgOutcome, PcgProgress, Preconditioner, Space, StopReason,
};

/// The system A u = f and its preconditioner.
pub struct System<'a, B: Backend> {
    /// Backend of the system.
    pub backend: &'a B,
    /// The operator, symmetric positive definite.
    pub a: &'a dyn LinearOperator<B>,
    /// The preconditioner.
    pub m: &'a dyn Preconditioner<B>,
    /// The right-hand side.
    pub f: &'a B::Vector,
}

/// The work vectors of a solve, kept from one solve to the next.
pub struct Pcg<B: Backend> {
    r: B::Vector,
    z: B::Vector,
    d: B::Vector,
    q: B::Vector,
    /// r . M^-1 r of the last two iterations, the later one first.
    delta: [B::Scalar; 2],
    dq: B::Scalar,
    rr: B::Scalar,
}

/// State in which conjugate gradients begin with the true residual.
struct Restart {
    at: PcgProgress,
    /// Relative residual to reach.
    target: f64,
    /// The first direction is conjugate to the last one; false at the beginning of a solve.
    keeps_direction: bool,
    /// Relative residuals from which the pace is judged, after few and after many iterations.
    since: [f64; 2],
}

/// Number of iterations after which the preconditioner is asked to become stronger, if as many more
/// would not do at their pace.
const PATIENCE: usize = 16;
/// Number of iterations after which the preconditioner is asked to give way to a simpler one, if as
/// many more would not do at their pace.
const LAST_PATIENCE: usize = 8 * PATIENCE;
/// Factors of the target for the recursive residual, so that the true one meets it: at first, and
/// after it did not.
const SAFETY: [f64; 2] = [0.99, 0.5];

impl<B: Backend> Pcg<B> {
    /// Work vectors for operators of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, space: Space) -> Result<Self, BackendError> {
        let zeros = || backend.zeros(space);
        let scalar = || backend.scalar();
        Ok(Self {
            r: zeros()?,
            z: zeros()?,
            d: zeros()?,
            q: zeros()?,
            delta: [scalar(), scalar()],
            dq: scalar(),
            rr: scalar(),
        })
    }

    /// Solves A u = f from the start value in `u`, which is improved in place.
    ///
    /// When the recursive residual meets the tolerance the true one is computed; if that does not,
    /// it takes the other's place and conjugate gradients continue. `monitor` is called at every
    /// stop test and may break off.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails. Everything that a solve can end with otherwise is a
    /// [`PcgOutcome`].
    pub fn solve(
        &mut self,
        system: &System<B>,
        u: &mut B::Vector,
        options: PcgOptions,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let System { backend, m, f, .. } = *system;
        let norm_f = backend.value(&backend.dot(f, f))?.sqrt();
        if norm_f == 0.0 {
            backend.fill(0.0, u);
            return Ok(outcome(0, 0.0, StopReason::Converged));
        }

        let mut course = Course::new(m.lower_precision());
        let mut done = outcome(0, 0.0, StopReason::Converged);
        loop {
            let residual = self.true_residual(system, u)? / norm_f;
            done.products += 1;
            let at = PcgProgress { iterations: done.iterations, relative_residual: residual };
            let ended = match residual {
                _ if monitor(at).is_break() => Some(StopReason::Interrupted),
                x if !x.is_finite() => Some(StopReason::NotFinite),
                x if x <= options.tolerance => Some(StopReason::Converged),
                _ => course.has_stagnated(residual).then_some(StopReason::Stagnated),
            };
            if let Some(reason) = ended {
                return Ok(PcgOutcome { relative_residual: residual, reason, ..done });
            }

            // The recursive residual has drifted from the true one, which takes its place.
            let keeps_direction = course.restart(residual);
            let run = match course.lower {
                None => {
                    let target = SAFETY[usize::from(keeps_direction)] * options.tolerance;
                    let since = [residual; 2];
                    let mut restart = Restart { at, target, keeps_direction, since };
                    self.descend(system, norm_f, u, options, &mut restart, monitor)?
                }
                Some(by) => {
                    let (left, since) = (course.left, &mut course.since);
                    let task = Correction { norm_f, options, at, left, keeps_direction, since };
                    self.corrected(system, u, by, task, monitor)?
                }
            };

            done.iterations = run.iterations;
            done.strengthened += run.strengthened;
            done.products += run.products;
            if !course.goes_on(&run) {
                let PcgOutcome { relative_residual, reason, .. } = run;
                return Ok(PcgOutcome { relative_residual, reason, ..done });
            }
        }
    }

    /// Adds a correction of less precision, for the residual r, to u, unless it failed.
    fn corrected(
        &mut self,
        system: &System<B>,
        u: &mut B::Vector,
        by: &dyn LowerPrecision<B>,
        task: Correction,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let run = by.correct(&self.r, &mut self.z, task, monitor)?;
        if !has_failed(&run) {
            system.backend.axpby(1.0, &self.z, 1.0, u);
        }
        Ok(run)
    }

    /// Whether a solve had better begin with `u` than with zero: u is nearer to the solution in the
    /// norm of A, which each iteration lessens, where u . A u < 2 u . f. False where `u` has numbers
    /// that are not finite.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn is_start(&mut self, system: &System<B>, u: &B::Vector) -> Result<bool, BackendError> {
        let System { backend, a, f, .. } = *system;
        a.apply(u, &mut self.z);
        let energy = backend.value(&backend.dot(u, &self.z))?;
        Ok(energy < 2.0 * backend.value(&backend.dot(u, f))?)
    }

    /// Computes r = f - A u; returns ||r||.
    fn true_residual(&mut self, system: &System<B>, u: &B::Vector) -> Result<f64, BackendError> {
        let System { backend, a, f, .. } = *system;
        let Self { r, z, .. } = self;
        a.apply(u, z);
        backend.copy(f, r);
        backend.axpby(-1.0, z, 1.0, r);
        Ok(backend.value(&backend.dot(r, r))?.sqrt())
    }

    /// Writes `e`, with which A e is so near the right-hand side, the residual of a solve in more
    /// precision, as `task` asks. That solve adds it to its solution and computes its residual.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn correct(
        &mut self,
        system: &System<B>,
        e: &mut B::Vector,
        task: Correction,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let Correction { norm_f, options, at, left, keeps_direction, since } = task;
        system.backend.copy(system.f, &mut self.r);
        system.backend.fill(0.0, e);

        let target = (left * at.relative_residual).max(0.5 * options.tolerance);
        let mut restart = Restart { at, target, keeps_direction, since: *since };
        let outcome = self.descend(system, norm_f, e, options, &mut restart, monitor)?;
        *since = restart.since;
        Ok(PcgOutcome { products: 0, ..outcome })
    }

    /// Conjugate gradients from the residual r of u until the recursive residual meets the target.
    fn descend(
        &mut self,
        system: &System<B>,
        norm_f: f64,
        u: &mut B::Vector,
        options: PcgOptions,
        restart: &mut Restart,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let System { backend, m, .. } = *system;
        let Restart { target, at: PcgProgress { iterations: before, .. }, .. } = *restart;
        let [since, last_since] = &mut restart.since;
        let mut iterations = before;
        let mut strengthened = 0;
        let mut recording = None;

        self.first_direction(system, restart.keeps_direction);
        self.step(system, u);
        iterations += 1;

        loop {
            let last = iterations >= options.max_iterations;
            if last || iterations.is_multiple_of(m.check_interval(backend)) {
                let relative_residual = backend.value(&self.rr)?.sqrt() / norm_f;
                let progress = PcgProgress { iterations, relative_residual };

                let reason = match relative_residual {
                    _ if backend.value(&self.dq)? <= 0.0 => Some(StopReason::Indefinite),
                    x if !x.is_finite() => Some(StopReason::NotFinite),
                    x if x <= target => Some(StopReason::Converged),
                    _ if monitor(progress).is_break() => Some(StopReason::Interrupted),
                    _ => last.then_some(StopReason::IterationLimit),
                };
                if let Some(reason) = reason {
                    let products = iterations - before;
                    let outcome = outcome(iterations, relative_residual, reason);
                    return Ok(PcgOutcome { strengthened, products, ..outcome });
                }

                // At this pace, `PATIENCE` iterations more lead to residual^2 / `since`.
                if iterations.is_multiple_of(PATIENCE) {
                    let is_slow = relative_residual.powi(2) > options.tolerance * *since;
                    strengthened += usize::from(is_slow && m.strengthen());
                    *since = relative_residual;
                }
                if iterations.is_multiple_of(LAST_PATIENCE) {
                    let is_slow = relative_residual.powi(2) > options.tolerance * *last_since;
                    *last_since = relative_residual;
                    if is_slow && m.give_way() {
                        strengthened += 1;
                        recording = None; // it holds the other one
                        self.first_direction(system, false);
                        self.step(system, u);
                        iterations += 1;
                        continue;
                    }
                }
            }

            let left = options.max_iterations - iterations;
            iterations += self.advance(system, u, iterations, left, &mut recording);
        }
    }

    /// Iterates after `done` iterations, `left` being allowed: up to the next stop test, recorded
    /// and repeated as a whole, if that is a whole interval between two tests; else once. Returns
    /// the number of iterations.
    fn advance(
        &mut self,
        system: &System<B>,
        u: &mut B::Vector,
        done: usize,
        left: usize,
        recording: &mut Option<B::Recording>,
    ) -> usize {
        let System { backend, m, .. } = *system;
        let interval = m.check_interval(backend);
        // After an even number of iterations `delta` is where it was.
        if interval.is_multiple_of(2) && done.is_multiple_of(interval) && interval <= left {
            backend.repeat(recording, &mut || self.iterate(system, u, interval));
            return interval;
        }
        self.iterate(system, u, 1);
        1
    }

    fn iterate(&mut self, system: &System<B>, u: &mut B::Vector, n: usize) {
        for _ in 0..n {
            self.next_direction(system);
            self.step(system, u);
        }
    }

    /// d and delta from r; with `keeps_direction`, d is conjugate to the last one.
    fn first_direction(&mut self, system: &System<B>, keeps_direction: bool) {
        let System { backend, m, .. } = *system;
        let Self { r, z, d, q, delta, .. } = self;
        m.apply_and_dot(backend, r, z, &mut delta[0]); // z = M^-1 r, delta = r . z
        if keeps_direction {
            let (zq, dq) = (backend.dot(z, q), backend.dot(d, q));
            backend.cg_direction(-1.0, [&zq, &dq], z, d); // d = z - beta d, q = A d as it was left
        } else {
            backend.copy(z, d); // d = z
        }
    }

    /// The direction after a step.
    fn next_direction(&mut self, system: &System<B>) {
        let System { backend, m, .. } = *system;
        let Self { r, z, d, q, delta, dq, .. } = self;
        delta.swap(0, 1);
        let [delta, last] = delta;
        m.apply_and_dot(backend, r, z, delta); // z = M^-1 r
        if m.is_linear() {
            backend.cg_direction(1.0, [delta, last], z, d); // d = z + beta d
        } else {
            // Flexible: beta = z . (r - r_old) / delta, where r - r_old = -alpha q.
            backend.cg_direction(-1.0, [&backend.dot(q, z), dq], z, d);
        }
    }

    /// u += alpha d, r -= alpha A d, alpha = delta / d . A d.
    fn step(&mut self, system: &System<B>, u: &mut B::Vector) {
        let System { backend, a, .. } = *system;
        let Self { r, d, q, delta, dq, rr, .. } = self;
        a.apply_to_direction(backend, d, q, dq); // q = A d
        backend.cg_step([&delta[0], dq], d, q, u, r, rr);
    }
}

fn outcome(iterations: usize, relative_residual: f64, reason: StopReason) -> PcgOutcome {
    PcgOutcome { iterations, products: 0, relative_residual, reason, strengthened: 0 }
}
