//! Smoother of a level of a hierarchy: the one choice between Chebyshev and patches.

use crate::chebyshev::{Chebyshev, Dot, Spectrum};
use crate::patch_smoother::PatchSmoother;
use crate::{Backend, BackendError, InverseDiagonal, LinearOperator, PatchRelaxation, Space};

/// Degree of the Chebyshev smoothers: a third step on coarse levels saves 5 % of the iterations and
/// costs two of seven products there.
const DEGREE: usize = 2;
/// Steps of the smoother by patches on the finest level and on the others.
const PATCH_DEGREES: [usize; 2] = [1, 2];

/// Matrices of a level that its smoother reads.
pub(crate) struct Matrices<'a, B: Backend> {
    pub a: &'a dyn LinearOperator<B>,
    pub inverse_diagonal: &'a dyn InverseDiagonal<B>,
    pub patches: Option<&'a dyn PatchRelaxation<B>>,
}

/// The smoother of a level: Chebyshev, which also knows the spectrum of D^-1 A, or patches where
/// there are any.
pub(crate) struct LevelSmoother<B: Backend> {
    chebyshev: Chebyshev<B>,
    by_patches: Option<PatchSmoother<B>>,
}

impl<B: Backend> LevelSmoother<B> {
    /// For operators of `space` on a level, with polynomials over a spectrum of D^-1 A that is known
    /// that far; with patches a start of the power method for these. Needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        space: Space,
        level: usize,
        spectrum: Spectrum<B::Vector>,
        of_patches: Option<B::Vector>,
    ) -> Result<Self, BackendError> {
        let steps = PATCH_DEGREES[level.min(1)];
        let by_patches = of_patches.map(|start| PatchSmoother::new(backend, space, steps, start));
        Ok(Self {
            chebyshev: Chebyshev::new(backend, space, DEGREE, spectrum)?,
            by_patches: by_patches.transpose()?,
        })
    }

    /// Adapts to matrices that have changed, by `steps` of the power method.
    pub fn update(&mut self, backend: &B, level: &Matrices<B>, steps: usize, dot: Dot<B>) {
        let &Matrices { a, inverse_diagonal, patches } = level;
        self.chebyshev.update(backend, a, inverse_diagonal, steps, dot);
        if let (Some(smoother), Some(patches)) = (&mut self.by_patches, patches) {
            smoother.update(backend, a, (patches, self.chebyshev.growth()), steps);
        }
    }

    /// Takes `times` the degree of that level.
    pub fn set_strength(&mut self, level: usize, times: usize) {
        self.chebyshev.set_degree(times * DEGREE);
        if let Some(smoother) = &mut self.by_patches {
            smoother.set_degree(times * PATCH_DEGREES[level.min(1)]);
        }
    }

    /// x towards A x = b, from zero whatever it holds; r = b - A x.
    pub fn smooth_from_zero(
        &mut self,
        backend: &B,
        level: &Matrices<B>,
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) {
        let &Matrices { a, inverse_diagonal, patches } = level;
        if let (Some(smoother), Some(patches)) = (&mut self.by_patches, patches) {
            return smoother.smooth_from_zero((patches, self.chebyshev.growth()), b, x, r);
        }
        self.chebyshev.smooth(a, inverse_diagonal, b, x, true);
        a.apply(x, r);
        backend.axpby(1.0, b, -1.0, r); // r = b - A x
    }

    /// Improves x towards A x = b.
    pub fn smooth(&mut self, level: &Matrices<B>, b: &B::Vector, x: &mut B::Vector) {
        let &Matrices { a, inverse_diagonal, patches } = level;
        match (&mut self.by_patches, patches) {
            (Some(smoother), Some(patches)) => {
                smoother.smooth((patches, self.chebyshev.growth()), b, x);
            }
            _ => self.chebyshev.smooth(a, inverse_diagonal, b, x, false),
        }
    }
}
