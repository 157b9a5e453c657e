//! Smoothers of multigrid: their kinds, and the parts of one step.

use crate::{Backend, LinearOperator};

/// Kind of smoother on the levels of a hierarchy.
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

/// Smoother by the inverse D^-1 of the block diagonal of an operator.
pub trait InverseDiagonal<B: Backend>: LinearOperator<B> {
    /// Takes one step in one pass: the residual r; d = alpha / growth D^-1 r + beta d; x = x + d,
    /// with `factors` alpha and beta. d is not read if beta is 0, nor x if it is zero.
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

/// Form in which a smoothing step gets its residual r = b - A x.
pub enum Residual<'a, V> {
    /// Residual of x = 0, whatever the vector x holds: r = b.
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

/// Growth of a vector in a step of the power method, sqrt(`result` / `start`), which approximates
/// the largest eigenvalue.
pub struct Growth<S> {
    /// Square of the norm after the step.
    pub result: S,
    /// Square of the norm before it.
    pub start: S,
}
