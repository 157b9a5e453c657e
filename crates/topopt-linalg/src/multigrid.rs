//! Multigrid cycles over a hierarchy of operators, on any backend.

use std::sync::Mutex;

use crate::chebyshev::Chebyshev;
use crate::{Backend, BackendError, LinearOperator, Preconditioner};

/// A prolongation P and its transpose.
pub trait Transfer<B: Backend>: Send + Sync {
    /// coarse = P^T fine.
    fn restrict(&self, fine: &B::Vector, coarse: &mut B::Vector);

    /// fine += P coarse.
    fn prolong_add(&self, coarse: &B::Vector, fine: &mut B::Vector);
}

/// What a hierarchy offers to the cycle; level 0 is the finest. Numbers may change from solve to
/// solve, the structure does not.
pub trait Hierarchy<B: Backend>: Send + Sync {
    /// Number of levels, at least 2.
    fn n_levels(&self) -> usize;

    /// The operator A of a level.
    fn operator(&self, level: usize) -> &dyn LinearOperator<B>;

    /// The inverse of the block diagonal of A, on all levels but the last.
    fn inverse_diagonal(&self, level: usize) -> &dyn LinearOperator<B>;

    /// The transfer between `level` and `level` + 1.
    fn transfer(&self, level: usize) -> &dyn Transfer<B>;

    /// x = A^-1 b on the last level.
    fn solve_last(&self, b: &B::Vector, x: &mut B::Vector);
}

/// The K-cycle \[NotayVassilevski2008\]: on every level below the finest two steps of flexible conjugate
/// gradients, preconditioned by the cycle of that level. It is no linear operator, so the outer
/// iteration has to be flexible.
pub struct KCycle<B: Backend, H: Hierarchy<B>> {
    hierarchy: H,
    work: Vec<Mutex<Work<B>>>,
}

/// Work vectors of a level, but for the last.
struct Work<B: Backend> {
    smoother: Chebyshev<B>,
    r: B::Vector,
    coarse_b: B::Vector,
    coarse_x: B::Vector,
    /// Of conjugate gradients on the level below.
    c: [B::Vector; 2],
    v: [B::Vector; 2],
}

/// Degree of the Chebyshev smoother.
const DEGREE: usize = 2;
/// Steps of the power method, at first and after changes.
const POWER_STEPS: [usize; 2] = [15, 5];
/// The second step on a level is left out where the first reduced the residual by this.
const GOOD_ENOUGH: f64 = 0.25;

impl<B: Backend, H: Hierarchy<B>> KCycle<B, H> {
    /// The cycle over `hierarchy`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, hierarchy: H) -> Result<Self, BackendError> {
        let level_work = |level: usize| {
            let n = hierarchy.operator(level).dimension();
            let coarse = hierarchy.operator(level + 1).dimension();
            let wave: Vec<f64> = (0..n).map(|i| (i as f64 * 1.9).sin() + 0.1).collect();
            let start = backend.upload(&wave, 1)?;
            let zeros = || backend.zeros(coarse);
            Ok(Mutex::new(Work {
                smoother: Chebyshev::new(backend, n, DEGREE, start)?,
                r: backend.zeros(n)?,
                coarse_b: zeros()?,
                coarse_x: zeros()?,
                c: [zeros()?, zeros()?],
                v: [zeros()?, zeros()?],
            }))
        };
        let work = (0..hierarchy.n_levels() - 1).map(level_work).collect::<Result<_, _>>()?;
        Ok(Self { hierarchy, work })
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &H {
        &self.hierarchy
    }

    /// Changes the hierarchy by `change` and adapts the smoothers.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn update(
        &mut self,
        backend: &B,
        change: impl FnOnce(&mut H) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        change(&mut self.hierarchy)?;
        for (level, work) in self.work.iter_mut().enumerate() {
            let smoother = &mut lock(work).smoother;
            let steps = POWER_STEPS[usize::from(smoother.is_set())];
            let a = self.hierarchy.operator(level);
            smoother.update(backend, a, self.hierarchy.inverse_diagonal(level), steps)?;
        }
        Ok(())
    }

    /// x = one cycle of `level` for A x = b, from zero.
    fn cycle(&self, backend: &B, level: usize, b: &B::Vector, x: &mut B::Vector) {
        let a = self.hierarchy.operator(level);
        let diagonal = self.hierarchy.inverse_diagonal(level);
        let transfer = self.hierarchy.transfer(level);
        let mut work = lock(&self.work[level]);
        let Work { smoother, r, coarse_b, coarse_x, c, v } = &mut *work;
        smoother.smooth(backend, a, diagonal, b, x, true);
        a.apply(x, r);
        backend.axpby(1.0, b, -1.0, r); // r = b - A x
        transfer.restrict(r, coarse_b);
        if level + 2 == self.hierarchy.n_levels() {
            self.hierarchy.solve_last(coarse_b, coarse_x);
        } else {
            self.two_steps(backend, level + 1, coarse_b, coarse_x, c, v);
        }
        transfer.prolong_add(coarse_x, x);
        smoother.smooth(backend, a, diagonal, b, x, false);
    }

    /// Two steps of flexible conjugate gradients for A x = b on `level`, from zero; b is changed.
    fn two_steps(
        &self,
        backend: &B,
        level: usize,
        b: &mut B::Vector,
        x: &mut B::Vector,
        c: &mut [B::Vector; 2],
        v: &mut [B::Vector; 2],
    ) {
        // A device that fails gives zeros here and tells of it in the outer iteration.
        let dot = |x: &B::Vector, y: &B::Vector| backend.value(&backend.dot(x, y)).unwrap_or(0.0);
        let a = self.hierarchy.operator(level);
        let ([c1, c2], [v1, v2]) = (c, v);
        self.cycle(backend, level, b, c1);
        a.apply(c1, v1);
        let (rho1, alpha1) = (dot(c1, v1), dot(c1, b));
        if rho1 <= 0.0 {
            return backend.fill(0.0, x);
        }
        let before = dot(b, b);
        backend.axpby(-alpha1 / rho1, v1, 1.0, b); // the residual
        backend.copy(c1, x);
        if dot(b, b) <= GOOD_ENOUGH * GOOD_ENOUGH * before {
            return backend.axpby(0.0, c1, alpha1 / rho1, x);
        }
        self.cycle(backend, level, b, c2);
        a.apply(c2, v2);
        let (gamma, beta, alpha2) = (dot(c2, v1), dot(c2, v2), dot(c2, b));
        let rho2 = beta - gamma * gamma / rho1;
        if rho2 <= 0.0 {
            return backend.axpby(0.0, c1, alpha1 / rho1, x);
        }
        let first = alpha1 / rho1 - gamma * alpha2 / (rho1 * rho2);
        backend.axpby(alpha2 / rho2, c2, first, x);
    }
}

impl<B: Backend, H: Hierarchy<B>> Preconditioner<B> for KCycle<B, H> {
    fn name(&self) -> &'static str {
        "multigrid"
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn apply(&self, backend: &B, r: &B::Vector, z: &mut B::Vector) {
        self.cycle(backend, 0, r, z);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
