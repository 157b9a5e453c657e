//! Linear operators and preconditioners.

use crate::{Backend, LowerPrecision, Space};

/// A square linear operator on vectors of a backend.
pub trait LinearOperator<B: Backend>: Send + Sync {
    /// The space of x and y.
    fn space(&self) -> Space;

    /// Number of rows and of columns.
    fn dimension(&self) -> usize {
        self.space().len()
    }

    /// y = A x. Every entry of `y` is written.
    fn apply(&self, x: &B::Vector, y: &mut B::Vector);

    /// q = A d, and d . q, for a direction d of conjugate gradients: it is zero at components that
    /// A holds by the identity.
    fn apply_to_direction(
        &self,
        backend: &B,
        d: &B::Vector,
        q: &mut B::Vector,
        dq: &mut B::Scalar,
    ) {
        self.apply(d, q);
        backend.dot_into(d, q, dq);
    }

    /// Counted cost of one application, not measured.
    fn cost(&self) -> Cost;
}

impl<B: Backend, O: LinearOperator<B> + ?Sized> LinearOperator<B> for Box<O> {
    fn space(&self) -> Space {
        (**self).space()
    }

    fn apply(&self, x: &B::Vector, y: &mut B::Vector) {
        (**self).apply(x, y);
    }

    fn cost(&self) -> Cost {
        (**self).cost()
    }
}

/// Counted cost of one application of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Bytes read, each array once.
    pub bytes_read: f64,
    /// Bytes written, each array once.
    pub bytes_written: f64,
    /// Additions and multiplications.
    pub flops: f64,
}

impl Cost {
    /// Returns the cost of two applications, one after the other.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_written: self.bytes_written + other.bytes_written,
            flops: self.flops + other.flops,
        }
    }
}

/// z = M^-1 r for a symmetric positive definite M close to A.
pub trait Preconditioner<B: Backend>: Send + Sync {
    /// Name as in the configuration: `jacobi`.
    fn name(&self) -> &'static str;

    /// Whether M^-1 is one linear operator; if not, conjugate gradients must be flexible.
    fn is_linear(&self) -> bool {
        true
    }

    /// Iterations between stop tests: as the backend has it, fewer where an iteration costs more
    /// than waiting for a scalar.
    fn check_interval(&self, backend: &B) -> usize {
        backend.check_interval()
    }

    /// z = M^-1 r.
    fn apply(&self, backend: &B, r: &B::Vector, z: &mut B::Vector);

    /// z = M^-1 r, and r . z.
    fn apply_and_dot(&self, backend: &B, r: &B::Vector, z: &mut B::Vector, rz: &mut B::Scalar) {
        self.apply(backend, r, z);
        backend.dot_into(r, z, rz);
    }

    /// Conjugate gradients in less precision than the backend's, preconditioned by this, if solves
    /// are to take their steps there.
    fn lower_precision(&self) -> Option<&dyn LowerPrecision<B>> {
        None
    }

    /// Becomes stronger, and costs more, until it is set up again; false if it cannot. For a solve
    /// that converges slowly; only what is not linear may change in its course.
    fn strengthen(&self) -> bool {
        false
    }

    /// Gives way, until it is set up again, to a simpler one that may converge where this one does
    /// not; false if there is none. Only what is not linear may change in the course of a solve.
    fn give_way(&self) -> bool {
        false
    }
}
