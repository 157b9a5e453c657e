//! Multigrid cycles over a hierarchy of operators, on any backend.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::chebyshev::{Dot, Spectrum};
use crate::level_smoother::{LevelSmoother, Matrices};
use crate::{
    Backend, BackendError, InverseDiagonal, LinearOperator, PatchRelaxation, Preconditioner, noise,
};

/// A prolongation P and its transpose.
pub trait Transfer<B: Backend>: Send + Sync {
    /// coarse = P^T fine.
    fn restrict(&self, fine: &B::Vector, coarse: &mut B::Vector);

    /// fine += P coarse.
    fn prolong_add(&self, coarse: &B::Vector, fine: &mut B::Vector);
}

/// Levels of a multigrid method with their operators, smoothers and transfers; level 0 is the
/// finest. Numbers may change from solve to solve, the structure does not.
pub trait Hierarchy<B: Backend>: Send + Sync {
    /// Number of levels, at least 2.
    fn n_levels(&self) -> usize;

    /// The operator A of a level.
    fn operator(&self, level: usize) -> &dyn LinearOperator<B>;

    /// The inverse of a block diagonal D, which smooths, on all levels except the last.
    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<B>;

    /// Upper bound of the eigenvalues of D^-1 A, whatever its numbers are; none where it has to be
    /// estimated whenever they change.
    fn largest_eigenvalue(&self, _level: usize) -> Option<f64> {
        None
    }

    /// Whether single eigenvalues of D^-1 A may lie far beyond all others, as those of flat
    /// elements that lie in many blocks of D. Those that an estimate misses make a smoother grow.
    fn has_outliers(&self) -> bool {
        false
    }

    /// The operator of a level in patches, where these smooth it.
    fn patches(&self, _level: usize) -> Option<&dyn PatchRelaxation<B>> {
        None
    }

    /// The transfer between `level` and `level` + 1.
    fn transfer(&self, level: usize) -> &dyn Transfer<B>;

    /// x = A^-1 b on the last level.
    fn solve_last(&self, b: &B::Vector, x: &mut B::Vector);

    /// out = x^T y of vectors of a level, over all ranks where these share it.
    fn dot_into(
        &self,
        backend: &B,
        _level: usize,
        x: &B::Vector,
        y: &B::Vector,
        out: &mut B::Scalar,
    ) {
        backend.dot_into(x, y, out);
    }
}

/// How a cycle solves on every level below the finest but the last, which is solved directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CycleKind {
    /// One cycle of that level \[BriggsHensonMcCormick2000\].
    V,
    /// Two cycles, the second for the residual that the first leaves \[BriggsHensonMcCormick2000\].
    W,
    /// Two steps of flexible conjugate gradients, preconditioned by the cycle of that level
    /// \[NotayVassilevski2008\].
    K,
}

impl CycleKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::V, Self::W, Self::K];

    /// Name as in the configuration: `K`.
    pub fn name(self) -> &'static str {
        match self {
            Self::V => "V",
            Self::W => "W",
            Self::K => "K",
        }
    }
}

/// A multigrid cycle with symmetric smoothing. V and W are linear operators, symmetric as the same
/// polynomial smooths before and after. K is not linear, so the outer iteration has to be flexible;
/// made stronger, it takes twice the steps on the first level below the finest, then twice that and
/// smoothers of twice the degree. K gives way to V, and V and W give way to K.
pub struct Cycle<B: Backend, H: Hierarchy<B>> {
    kind: CycleKind,
    hierarchy: H,
    work: Vec<Mutex<Work<B>>>,
    /// 1, 2 or 4.
    strength: AtomicUsize,
    /// Whether it may be made stronger.
    grows: bool,
    /// Whether it gave way to the other cycle.
    gave_way: AtomicBool,
}

/// Work vectors of a level, except for the last.
struct Work<B: Backend> {
    smoother: LevelSmoother<B>,
    r: B::Vector,
    coarse_b: B::Vector,
    coarse_x: B::Vector,
    /// Direction of conjugate gradients on the level below, or correction of the second visit of a
    /// W-cycle; `products`: product of the direction, the next preconditioned residual and the
    /// product of that.
    d: B::Vector,
    products: [B::Vector; 3],
    /// Correction that further steps on the level below add to `coarse_x`.
    more: B::Vector,
}

impl<B: Backend> Work<B> {
    fn new(backend: &B, hierarchy: &impl Hierarchy<B>, level: usize) -> Result<Self, BackendError> {
        let space = hierarchy.operator(level).space();
        let coarse = hierarchy.operator(level + 1).space();
        let start = || backend.upload(&noise(space.len()), space);
        let spectrum = match hierarchy.largest_eigenvalue(level) {
            Some(bound) => Spectrum::Bounded(bound),
            None if hierarchy.has_outliers() => {
                Spectrum::Estimated { start: start()?, beyond: Some(backend.zeros(space)?) }
            }
            None => Spectrum::Estimated { start: start()?, beyond: None },
        };
        let of_patches = hierarchy.patches(level).map(|_| start()).transpose()?;
        let zeros = || backend.zeros(coarse);
        Ok(Self {
            smoother: LevelSmoother::new(backend, space, level, spectrum, of_patches)?,
            r: backend.zeros(space)?,
            coarse_b: zeros()?,
            coarse_x: zeros()?,
            d: zeros()?,
            products: [zeros()?, zeros()?, zeros()?],
            more: zeros()?,
        })
    }
}

/// Largest strength: twice, a slow solve doubles the steps on the first level below the finest.
const MAX_STRENGTH: usize = 4;
/// Steps of the power method.
const POWER_STEPS: usize = 10;

impl<B: Backend, H: Hierarchy<B>> Cycle<B, H> {
    /// The cycle of that kind over `hierarchy`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, kind: CycleKind, hierarchy: H) -> Result<Self, BackendError> {
        let work = Self::work_of(backend, &hierarchy)?;
        Ok(Self {
            kind,
            hierarchy,
            work,
            strength: AtomicUsize::new(1),
            grows: true,
            gave_way: AtomicBool::new(false),
        })
    }

    /// Returns the cycle such that no slow solve strengthens it: no application may change the next
    /// one.
    pub fn steady(self) -> Self {
        Self { grows: false, ..self }
    }

    /// Work vectors for every level of `hierarchy` except the last.
    fn work_of(backend: &B, hierarchy: &H) -> Result<Vec<Mutex<Work<B>>>, BackendError> {
        let levels = 0..hierarchy.n_levels() - 1;
        levels.map(|level| Work::new(backend, hierarchy, level).map(Mutex::new)).collect()
    }

    /// Changes the levels of the hierarchy by `change`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room, or that of `change`.
    pub fn rebuild(
        &mut self,
        backend: &B,
        change: impl FnOnce(&mut H) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        self.work.clear();
        change(&mut self.hierarchy)?;
        self.work = Self::work_of(backend, &self.hierarchy)?;
        self.strength.store(1, Ordering::Relaxed);
        self.gave_way.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// The kind.
    pub fn kind(&self) -> CycleKind {
        self.kind
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &H {
        &self.hierarchy
    }

    /// The hierarchy, whose changes count after an update.
    pub fn hierarchy_mut(&mut self) -> &mut H {
        &mut self.hierarchy
    }

    /// Changes the hierarchy by `change` and adapts the smoothers; the strength stays.
    pub fn update(&mut self, backend: &B, change: impl FnOnce(&mut H)) {
        change(&mut self.hierarchy);
        for (level, work) in self.work.iter().enumerate() {
            let dot: Dot<B> = &|x, y, out| self.hierarchy.dot_into(backend, level, x, y, out);
            lock(work).smoother.update(backend, &self.matrices(level), POWER_STEPS, dot);
        }
    }

    /// Makes the cycle what it was at first; returns whether it was stronger, or had given way.
    pub fn reset_strength(&self) -> bool {
        let gave_way = self.gave_way.swap(false, Ordering::Relaxed);
        let was_stronger = self.strength.load(Ordering::Relaxed) > 1;
        if was_stronger {
            self.set_strength(1);
        }
        was_stronger || gave_way
    }

    /// The kind, or the other one that it gave way to.
    fn present_kind(&self) -> CycleKind {
        match (self.kind, self.gave_way.load(Ordering::Relaxed)) {
            (kind, false) => kind,
            (CycleKind::K, true) => CycleKind::V,
            (CycleKind::V | CycleKind::W, true) => CycleKind::K,
        }
    }

    fn set_strength(&self, strength: usize) {
        self.strength.store(strength, Ordering::Relaxed);
        for (level, work) in self.work.iter().enumerate() {
            lock(work).smoother.set_strength(level, strength.div_ceil(2));
        }
    }

    /// Collects the matrices that the smoother of a level reads.
    fn matrices(&self, level: usize) -> Matrices<'_, B> {
        Matrices {
            a: self.hierarchy.operator(level),
            inverse_diagonal: self.hierarchy.inverse_diagonal(level),
            patches: self.hierarchy.patches(level),
        }
    }

    /// x = one cycle of `level` for A x = b, from zero.
    fn cycle(&self, backend: &B, level: usize, b: &B::Vector, x: &mut B::Vector) {
        let matrices = self.matrices(level);
        let transfer = self.hierarchy.transfer(level);

        let mut work = lock(&self.work[level]);
        let Work { smoother, r, coarse_b, coarse_x, d, products, more } = &mut *work;

        smoother.smooth_from_zero(backend, &matrices, b, x, r);
        transfer.restrict(r, coarse_b);

        let is_last = level + 2 == self.hierarchy.n_levels();
        match self.present_kind() {
            _ if is_last => self.hierarchy.solve_last(coarse_b, coarse_x),
            CycleKind::V => self.cycle(backend, level + 1, coarse_b, coarse_x),
            CycleKind::W => {
                self.cycle(backend, level + 1, coarse_b, coarse_x);
                self.hierarchy.operator(level + 1).apply(coarse_x, d);
                backend.axpby(-1.0, d, 1.0, coarse_b); // b -= A x
                self.cycle(backend, level + 1, coarse_b, d);
                backend.axpby(1.0, d, 1.0, coarse_x);
            }
            CycleKind::K => {
                self.two_steps(backend, level + 1, coarse_b, coarse_x, d, products);
                // A stronger cycle takes further steps on the first level below the finest only.
                let pairs = if level == 0 { self.strength.load(Ordering::Relaxed) } else { 1 };
                for _ in 1..pairs {
                    self.two_steps(backend, level + 1, coarse_b, more, d, products);
                    backend.axpby(1.0, more, 1.0, coarse_x);
                }
            }
        }

        // Smoothed as before the correction, so that V and W stay symmetric.
        transfer.prolong_add(coarse_x, x);
        smoother.smooth(&matrices, b, x);
    }

    /// Two steps of flexible conjugate gradients for A x = b on `level`, from zero; b becomes the
    /// residual. No scalar is looked at: a direction without energy makes a step of length zero.
    fn two_steps(
        &self,
        backend: &B,
        level: usize,
        b: &mut B::Vector,
        x: &mut B::Vector,
        d: &mut B::Vector,
        products: &mut [B::Vector; 3],
    ) {
        let a = self.hierarchy.operator(level);
        let [q, z, az] = products;
        let mut bb = backend.scalar(); // not looked at
        let dot = |x: &B::Vector, y: &B::Vector| {
            let mut out = backend.scalar();
            self.hierarchy.dot_into(backend, level, x, y, &mut out);
            out
        };

        self.cycle(backend, level, b, d);
        a.apply(d, q); // q = A d
        let dq = dot(d, q);
        let db = dot(d, b);
        backend.fill(0.0, x);
        // x = alpha d, b -= alpha q, alpha = db / dq
        backend.cg_step([&db, &dq], d, q, x, b, &mut bb);

        self.cycle(backend, level, b, z);
        a.apply(z, az);
        let zq = dot(z, q);
        backend.cg_direction(-1.0, [&zq, &dq], z, d); // d = z - beta d, A-orthogonal to the last d
        backend.cg_direction(-1.0, [&zq, &dq], az, q); // q = A d
        backend.cg_step([&dot(d, b), &dot(d, q)], d, q, x, b, &mut bb);
    }
}

impl<B: Backend, H: Hierarchy<B>> Preconditioner<B> for Cycle<B, H> {
    fn name(&self) -> &'static str {
        "multigrid"
    }

    fn is_linear(&self) -> bool {
        self.present_kind() != CycleKind::K
    }

    fn check_interval(&self, _: &B) -> usize {
        1
    }

    fn apply(&self, backend: &B, r: &B::Vector, z: &mut B::Vector) {
        self.cycle(backend, 0, r, z);
    }

    fn strengthen(&self) -> bool {
        let strength = self.strength.load(Ordering::Relaxed);
        let can = self.grows && !self.is_linear() && strength < MAX_STRENGTH;
        if can {
            self.set_strength(2 * strength);
        }
        can
    }

    /// On scattered stiff islands in nearly void material two steps on a level may not be enough
    /// for its solution to continue where the last one ended: 590 iterations where a cycle V needs
    /// 126. The cycles V and W are positive only as far as their smoothers are, which a K does not
    /// need.
    fn give_way(&self) -> bool {
        let can = self.grows && !self.gave_way.swap(true, Ordering::Relaxed);
        if can {
            self.set_strength(1);
        }
        can
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
