//! Parts of a smoothing step: a block diagonal, a residual and a scale.

use crate::{Backend, LinearOperator};

/// How the levels of a hierarchy are smoothed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmootherKind {
    /// Chebyshev polynomials of D^-1 A, D a block diagonal.
    Chebyshev,
    /// Patches of rows, whose blocks of A are inverted inexactly \[Fu2013, 5.5\].
    Patch,
}

impl SmootherKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Chebyshev, Self::Patch];

    /// Name as in the configuration: `chebyshev`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chebyshev => "chebyshev",
            Self::Patch => "patch",
        }
    }
}

/// The inverse D^-1 of the block diagonal of an operator, which smooths.
pub trait InverseDiagonal<B: Backend>: LinearOperator<B> {
    /// One step in one pass: the residual r; d = alpha / growth D^-1 r + beta d; x = x + d, with
    /// `factors` alpha and beta. d is not read where beta is 0, nor x where it is zero.
    fn smooth(
        &self,
        residual: Residual<B::Vector>,
        factors: [f64; 2],
        growth: &Growth<B::Scalar>,
        r: &mut B::Vector,
        d: &mut B::Vector,
        x: &mut B::Vector,
    );
}

/// How the residual r = b - A x of a smoothing step is found.
pub enum Residual<'a, V> {
    /// Residual of x = 0, whatever it holds: r = b.
    OfZero {
        /// Right-hand side.
        b: &'a V,
    },
    /// r = b - A x.
    Of {
        /// Right-hand side.
        b: &'a V,
        /// A x.
        ax: &'a V,
    },
    /// r = r - A d, after the last step made x = x + d.
    After {
        /// A d.
        ad: &'a V,
    },
}

/// The growth of a vector in a step of the power method, about the largest eigenvalue: the root of
/// `result` / `start`.
pub struct Growth<S> {
    /// Square of the norm after the step.
    pub result: S,
    /// Square of the norm before it.
    pub start: S,
}
