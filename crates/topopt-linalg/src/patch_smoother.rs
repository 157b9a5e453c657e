//! Smoothing by patches: weighted block Jacobi whose blocks are inverted inexactly \[Fu2013, 5.5\].
//!
//! A = A_I + A_B inside of patches of rows and between them. M^-1 = p(D^-1 A_I) D^-1 approximates A_I^-1
//! by some sweeps of Jacobi within each patch, D the block diagonal of A. As D and A_I are symmetric, so
//! is M, and the number of sweeps is odd, so that t p(t) > 0 for all t > 0 and M is positive definite
//! whatever is known of the spectrum. A step is x = x + w M^-1 (b - A x), w by an estimate of the largest
//! eigenvalue of M^-1 A. It ends with b - A x, whose own part a patch finds while it is on the
//! chip: before the correction of a coarse level and after it A is read once each.

use crate::chebyshev::factors;
use crate::{Backend, BackendError, Growth, LinearOperator, Space};

/// Sweeps within a patch, odd; "three inner iterations is generally the sweet spot" \[Fu2013, 5.6.2.3\].
pub const SWEEPS: usize = 3;
/// The interval of D^-1 A_I that the sweeps invert is [largest eigenvalue / that, largest eigenvalue].
const INNER_RATIO: f64 = 8.0;
/// Ratio of the ends of the interval of M^-1 A that the steps damp; small eigenvalues are few.
const OUTER_RATIO: f64 = 4.0;

const _: () = assert!(SWEEPS % 2 == 1);

/// Factors alpha and beta of the sweeps d = alpha D^-1 r + beta d; alpha in units of the growth of D^-1 A.
pub fn inner_factors() -> [[f64; 2]; SWEEPS] {
    let mut all = factors(SWEEPS, INNER_RATIO);
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

/// A matrix A in patches with the inverse D^-1 of its block diagonal.
pub trait PatchRelaxation<B: Backend>: Send + Sync {
    /// z = M^-1 r; `growth` is that of D^-1 A.
    fn invert(&self, growth: &Growth<B::Scalar>, r: &B::Vector, z: &mut B::Vector);

    /// One step.
    fn relax(&self, step: &PatchStep<B>, r: &mut B::Vector, d: &mut B::Vector, x: &mut B::Vector);
}

/// A step: the residual r; d = alpha / `outer` M^-1 r + beta d; x = x + d; and r = r - A d if the residual
/// `stays`. d is not read where beta is 0, nor x where it is zero.
pub struct PatchStep<'a, B: Backend> {
    /// How r is found.
    pub residue: Residue<'a, B::Vector>,
    /// alpha and beta.
    pub factors: [f64; 2],
    /// Growth of D^-1 A.
    pub inner: &'a Growth<B::Scalar>,
    /// Growth of M^-1 A.
    pub outer: &'a Growth<B::Scalar>,
    /// Whether r is to be the residual after the step; else it is undefined.
    pub stays: bool,
}

/// How the residual r = b - A x before a step is found.
pub enum Residue<'a, V> {
    /// Residual of x = 0, whatever it holds: r = b.
    OfZero {
        /// Right-hand side.
        b: &'a V,
    },
    /// r = b - A x.
    Of {
        /// Right-hand side.
        b: &'a V,
    },
    /// r is what the last step left.
    Left,
}

/// A smoother with its work vectors.
pub(crate) struct PatchSmoother<B: Backend> {
    degree: usize,
    /// Start vector of the power method.
    start: B::Vector,
    growth: Growth<B::Scalar>,
    r: B::Vector,
    d: B::Vector,
    z: B::Vector,
}

impl<B: Backend> PatchSmoother<B> {
    /// Builds a smoother of `degree` steps for operators of `space`; needs an update before use. `start` has
    /// a share of every eigenvector.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        space: Space,
        degree: usize,
        start: B::Vector,
    ) -> Result<Self, BackendError> {
        let growth = Growth { result: backend.scalar(), start: backend.scalar() };
        let zeros = || backend.zeros(space);
        Ok(Self { degree, start, growth, r: zeros()?, d: zeros()?, z: zeros()? })
    }

    /// Estimates the largest eigenvalue of M^-1 A by `steps` of the power method; `inner` is the
    /// growth of D^-1 A.
    pub fn update(
        &mut self,
        backend: &B,
        a: &dyn LinearOperator<B>,
        (patches, inner): (&dyn PatchRelaxation<B>, &Growth<B::Scalar>),
        steps: usize,
    ) {
        let Self { start, growth, r, d, z, .. } = self;
        backend.copy(start, z);
        for _ in 0..steps {
            std::mem::swap(z, d);
            a.apply(d, r);
            patches.invert(inner, r, z);
        }
        backend.dot_into(z, z, &mut growth.result);
        backend.dot_into(d, d, &mut growth.start);
    }

    /// Sets the number of steps, at least 1.
    pub fn set_degree(&mut self, degree: usize) {
        self.degree = degree;
    }

    /// x towards A x = b, from zero whatever it holds; r = b - A x.
    pub fn smooth_from_zero(
        &mut self,
        (patches, inner): (&dyn PatchRelaxation<B>, &Growth<B::Scalar>),
        b: &B::Vector,
        x: &mut B::Vector,
        r: &mut B::Vector,
    ) {
        let Self { degree, growth: outer, d, .. } = self;
        for (k, factors) in factors(*degree, OUTER_RATIO).enumerate() {
            let residue = if k == 0 { Residue::OfZero { b } } else { Residue::Left };
            patches.relax(&PatchStep { residue, factors, inner, outer, stays: true }, r, d, x);
        }
    }

    /// Improves x towards A x = b.
    pub fn smooth(
        &mut self,
        (patches, inner): (&dyn PatchRelaxation<B>, &Growth<B::Scalar>),
        b: &B::Vector,
        x: &mut B::Vector,
    ) {
        let Self { degree, growth: outer, r, d, .. } = self;
        for (k, factors) in factors(*degree, OUTER_RATIO).enumerate() {
            let residue = if k == 0 { Residue::Of { b } } else { Residue::Left };
            let stays = k + 1 < *degree;
            patches.relax(&PatchStep { residue, factors, inner, outer, stays }, r, d, x);
        }
    }
}
