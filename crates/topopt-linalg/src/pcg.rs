//! Preconditioned conjugate gradients, [Ratnakar2022, Alg. 1], stopped on the relative residual;
//! flexible [Notay2000] where the preconditioner is not linear.

use std::ops::ControlFlow;

use crate::{Backend, BackendError, LinearOperator, Preconditioner};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgOptions {
    /// Relative residual ||f - A u|| / ||f|| to reach.
    pub tolerance: f64,
    /// Most iterations of one solve.
    pub max_iterations: usize,
}

/// Why a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The residual is below the tolerance.
    Converged,
    /// The iterations ran out.
    IterationLimit,
    /// Rounding keeps the residual above the tolerance: more iterations would not help.
    Stagnated,
    /// A direction d with d^T A d <= 0: the operator is not positive definite.
    Indefinite,
    /// A number that is NaN or infinite.
    NotFinite,
    /// The caller asked to stop.
    Interrupted,
}

/// Result of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgOutcome {
    /// Iterations done, one application of A each.
    pub iterations: usize,
    /// Relative residual reached: computed anew from u if converged or stagnated, else the
    /// recursive one.
    pub relative_residual: f64,
    /// Why it ended.
    pub reason: StopReason,
    /// How often the preconditioner became stronger.
    pub strengthened: usize,
}

/// Where a solve stands, told at every stop test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgProgress {
    /// Iterations done.
    pub iterations: usize,
    /// Relative residual (recursive).
    pub relative_residual: f64,
}

/// Called at every stop test of a solve; a break ends it with [`StopReason::Interrupted`].
pub type Monitor<'a> = dyn FnMut(PcgProgress) -> ControlFlow<()> + 'a;

/// The system A u = f and its preconditioner.
pub struct System<'a, B: Backend> {
    /// Where it lives.
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
}

/// Iterations after each of which the preconditioner is asked to become stronger, if as many more
/// would not do at their pace.
const PATIENCE: usize = 16;
/// How far below the target the recursive residual goes, so that the true one meets it; and where that
/// did not.
const SAFETY: [f64; 2] = [0.99, 0.5];

impl<B: Backend> Pcg<B> {
    /// Work vectors for operators of dimension `n`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, n: usize) -> Result<Self, BackendError> {
        let zeros = || backend.zeros(n);
        Ok(Self { r: zeros()?, z: zeros()?, d: zeros()?, q: zeros()? })
    }

    /// Solves A u = f from the start value in `u`, which is improved in place.
    ///
    /// When the recursive residual meets the tolerance the true one is computed; if that does not,
    /// it takes the other's place and conjugate gradients go on. `monitor` is called at every stop
    /// test and may break off.
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
        let System { backend, a, f, .. } = *system;
        let norm_f = backend.value(&backend.dot(f, f))?.sqrt();
        if norm_f == 0.0 {
            backend.fill(0.0, u);
            return Ok(outcome(0, 0.0, StopReason::Converged));
        }
        let (mut iterations, mut strengthened) = (0, 0);
        let mut previous = f64::INFINITY;
        loop {
            // r = f - A u
            a.apply(u, &mut self.z);
            backend.copy(f, &mut self.r);
            backend.axpby(-1.0, &self.z, 1.0, &mut self.r);
            let residual = backend.value(&backend.dot(&self.r, &self.r))?.sqrt() / norm_f;
            let progress = PcgProgress { iterations, relative_residual: residual };
            let ended = match residual {
                _ if monitor(progress).is_break() => Some(StopReason::Interrupted),
                x if !x.is_finite() => Some(StopReason::NotFinite),
                x if x <= options.tolerance => Some(StopReason::Converged),
                x if x > 0.5 * previous => Some(StopReason::Stagnated),
                _ => None,
            };
            if let Some(reason) = ended {
                return Ok(PcgOutcome { strengthened, ..outcome(iterations, residual, reason) });
            }
            let goes_on = previous.is_finite();
            previous = residual;
            let mut run = self.descend(system, norm_f, u, options, (progress, goes_on), monitor)?;
            iterations = run.iterations;
            strengthened += run.strengthened;
            run.strengthened = strengthened;
            if run.reason != StopReason::Converged {
                return Ok(run);
            }
        }
    }

    /// Conjugate gradients from r = f - A u until the recursive residual meets the tolerance, at the
    /// beginning or going on: the first direction is then conjugate to the last.
    fn descend(
        &mut self,
        system: &System<B>,
        norm_f: f64,
        u: &mut B::Vector,
        options: PcgOptions,
        (begin, goes_on): (PcgProgress, bool),
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let System { backend, a, m, .. } = *system;
        let Self { r, z, d, q } = self;
        let mut pace_since = begin.relative_residual;
        let mut delta = m.apply_and_dot(backend, r, z); // z = M^-1 r, delta = r . z
        if goes_on {
            let (zq, dq) = (backend.dot(z, q), backend.dot(d, q));
            backend.cg_direction(-1.0, [&zq, &dq], z, d); // d = z - beta d, q = A d as it was left
        } else {
            backend.copy(z, d); // d = z
        }
        let target = SAFETY[usize::from(goes_on)] * options.tolerance;
        let (mut iterations, mut strengthened) = (begin.iterations, 0);
        loop {
            let dq = a.apply_to_direction(backend, d, q); // q = A d
            let rr = backend.cg_step([&delta, &dq], d, q, u, r); // u += alpha d, r -= alpha q, alpha = delta / dq
            iterations += 1;
            let last = iterations >= options.max_iterations;
            if last || iterations.is_multiple_of(m.check_interval(backend)) {
                let relative_residual = backend.value(&rr)?.sqrt() / norm_f;
                let progress = PcgProgress { iterations, relative_residual };
                let reason = match relative_residual {
                    _ if backend.value(&dq)? <= 0.0 => Some(StopReason::Indefinite),
                    x if !x.is_finite() => Some(StopReason::NotFinite),
                    x if x <= target => Some(StopReason::Converged),
                    _ if monitor(progress).is_break() => Some(StopReason::Interrupted),
                    _ => last.then_some(StopReason::IterationLimit),
                };
                if let Some(reason) = reason {
                    let outcome = outcome(iterations, relative_residual, reason);
                    return Ok(PcgOutcome { strengthened, ..outcome });
                }
                if iterations.is_multiple_of(PATIENCE) {
                    let is_slow = relative_residual.powi(2) > options.tolerance * pace_since;
                    strengthened += usize::from(is_slow && m.strengthen());
                    pace_since = relative_residual;
                }
            }
            let delta_new = m.apply_and_dot(backend, r, z); // z = M^-1 r
            if m.is_linear() {
                backend.cg_direction(1.0, [&delta_new, &delta], z, d); // d = z + beta d
            } else {
                // Flexible: beta = z . (r - r_old) / delta, where r - r_old = -alpha q.
                backend.cg_direction(-1.0, [&backend.dot(q, z), &dq], z, d);
            }
            delta = delta_new;
        }
    }
}

fn outcome(iterations: usize, relative_residual: f64, reason: StopReason) -> PcgOutcome {
    PcgOutcome { iterations, relative_residual, reason, strengthened: 0 }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{Cost, Cpu, Diagonal};

    /// The matrix diag(shift) + tridiag(-1, 2, -1).
    struct Tridiagonal {
        shift: Vec<f64>,
    }

    impl LinearOperator<Cpu> for Tridiagonal {
        fn dimension(&self) -> usize {
            self.shift.len()
        }
        fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
            for i in 0..x.len() {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = x.get(i + 1).copied().unwrap_or(0.0);
                y[i] = (2.0 + self.shift[i]) * x[i] - left - right;
            }
        }
        fn cost(&self) -> Cost {
            Cost::default()
        }
    }

    const TIGHT: PcgOptions = PcgOptions { tolerance: 1e-12, max_iterations: 1000 };

    fn solve(
        a: &Tridiagonal,
        f: &Vec<f64>,
        u: &mut Vec<f64>,
        options: PcgOptions,
        monitor: &mut Monitor,
    ) -> PcgOutcome {
        let n = a.dimension();
        let diagonal: Vec<f64> = a.shift.iter().map(|s| (2.0 + s).abs()).collect();
        let m = Diagonal::new(&Cpu, &diagonal, n).unwrap();
        let mut pcg = Pcg::new(&Cpu, n).unwrap();
        pcg.solve(&System { backend: &Cpu, a, m: &m, f }, u, options, monitor).unwrap()
    }

    fn go_on(_: PcgProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn spread(n: usize) -> Tridiagonal {
        Tridiagonal { shift: (0..n).map(|i| (i % 7) as f64 * 100.0).collect() }
    }

    #[test]
    fn solves_to_the_true_residual() {
        let a = spread(200);
        let exact: Vec<f64> = (0..200).map(|i| (i as f64 * 0.1).sin()).collect();
        let mut f = vec![0.0; 200];
        a.apply(&exact, &mut f);
        let mut u = vec![0.0; 200];
        let result = solve(&a, &f, &mut u, TIGHT, &mut go_on);
        assert_eq!(result.reason, StopReason::Converged);
        assert!(result.relative_residual <= 1e-12 && result.iterations > 3);
        assert!(Cpu.max_difference(&u, &exact) < 1e-10);

        let again = solve(&a, &f, &mut u, TIGHT, &mut go_on);
        assert_eq!((again.iterations, again.reason), (0, StopReason::Converged), "warm start");
    }

    /// An operator whose products are a millionth too large, but for the first and those from the
    /// given one on.
    struct Inexact {
        exact: Tridiagonal,
        until: usize,
        products: AtomicUsize,
    }

    impl LinearOperator<Cpu> for Inexact {
        fn dimension(&self) -> usize {
            self.exact.dimension()
        }
        fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
            self.exact.apply(x, y);
            if (1..self.until).contains(&self.products.fetch_add(1, Ordering::Relaxed)) {
                y.iter_mut().for_each(|y| *y *= 1.0 + 1e-6);
            }
        }
        fn cost(&self) -> Cost {
            Cost::default()
        }
    }

    #[test]
    fn a_residual_that_drifted_costs_a_few_iterations_more() {
        let n = 200;
        let solve = |until| {
            let exact = Tridiagonal { shift: (0..n).map(|i| 1e-3 * i as f64).collect() };
            let a = Inexact { exact, until, products: AtomicUsize::new(0) };
            let m = Diagonal::new(&Cpu, &vec![1.0; n], n).unwrap();
            let (mut u, f) = (vec![0.0; n], vec![1.0; n]);
            let mut pcg = Pcg::new(&Cpu, n).unwrap();
            let options = PcgOptions { tolerance: 1e-8, max_iterations: 1000 };
            let system = System { backend: &Cpu, a: &a, m: &m, f: &f };
            pcg.solve(&system, &mut u, options, &mut go_on).unwrap()
        };
        let exact = solve(0);
        let drifted = solve(exact.iterations);
        assert_eq!((exact.reason, drifted.reason), (StopReason::Converged, StopReason::Converged));
        let more = drifted.iterations - exact.iterations;
        assert!(more > 0 && 2 * more <= exact.iterations, "{more} more than {}", exact.iterations);
    }

    #[test]
    fn zero_load_gives_zero() {
        let mut u = vec![1.0; 50];
        let result = solve(&spread(50), &vec![0.0; 50], &mut u, TIGHT, &mut go_on);
        assert_eq!(result.reason, StopReason::Converged);
        assert!(u.iter().all(|&u| u == 0.0));
    }

    #[test]
    fn every_other_end_is_told() {
        let f = vec![1.0; 200];
        let limit = PcgOptions { max_iterations: 3, ..TIGHT };
        let result = solve(&spread(200), &f, &mut vec![0.0; 200], limit, &mut go_on);
        assert_eq!((result.iterations, result.reason), (3, StopReason::IterationLimit));

        let unreachable = PcgOptions { tolerance: 1e-18, ..TIGHT };
        let result = solve(&spread(200), &f, &mut vec![0.0; 200], unreachable, &mut go_on);
        assert_eq!(result.reason, StopReason::Stagnated);

        let indefinite = Tridiagonal { shift: vec![-5.0; 200] };
        let result = solve(&indefinite, &f, &mut vec![0.0; 200], TIGHT, &mut go_on);
        assert_eq!(result.reason, StopReason::Indefinite);

        let nan = vec![f64::NAN; 200];
        let result = solve(&spread(200), &nan, &mut vec![0.0; 200], TIGHT, &mut go_on);
        assert_eq!(result.reason, StopReason::NotFinite);

        let mut stop_at_5 = |p: PcgProgress| match p.iterations {
            5 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let result = solve(&spread(200), &f, &mut vec![0.0; 200], TIGHT, &mut stop_at_5);
        assert_eq!((result.iterations, result.reason), (5, StopReason::Interrupted));
        let mut stop = |_: PcgProgress| ControlFlow::Break(());
        let loose = PcgOptions { tolerance: 1.0, ..TIGHT };
        let result = solve(&spread(200), &f, &mut vec![0.0; 200], loose, &mut stop);
        assert_eq!((result.iterations, result.reason), (0, StopReason::Interrupted));
    }
}
