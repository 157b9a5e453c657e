//! Preconditioners that follow an elasticity operator whose moduli change.

use topopt_linalg::{Backend, BackendError, Diagonal, Preconditioner};

use crate::ElasticityOperator;

/// A preconditioner that is set up anew when the moduli have changed.
pub trait ElasticityPreconditioner<B: Backend>: Preconditioner<B> {
    /// Follows `operator`, which has taken `moduli`, \[n_elements\].
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn update(
        &mut self,
        backend: &B,
        operator: &dyn ElasticityOperator<B>,
        moduli: &B::Vector,
    ) -> Result<(), BackendError>;
}

/// `jacobi`: M is the diagonal of K [Ratnakar2022, Alg. 1].
pub struct Jacobi<B: Backend> {
    diagonal: B::Vector,
    inverse: Diagonal<B>,
}

impl<B: Backend> Jacobi<B> {
    /// For operators of dimension `n`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, n: usize) -> Result<Self, BackendError> {
        let diagonal = backend.zeros(n)?;
        let inverse = Diagonal::new(backend, &diagonal, n)?;
        Ok(Self { diagonal, inverse })
    }
}

impl<B: Backend> Preconditioner<B> for Jacobi<B> {
    fn name(&self) -> &'static str {
        self.inverse.name()
    }

    fn apply(&self, backend: &B, r: &B::Vector, z: &mut B::Vector) {
        self.inverse.apply(backend, r, z);
    }
}

impl<B: Backend> ElasticityPreconditioner<B> for Jacobi<B> {
    fn update(
        &mut self,
        backend: &B,
        operator: &dyn ElasticityOperator<B>,
        _: &B::Vector,
    ) -> Result<(), BackendError> {
        operator.diagonal(&mut self.diagonal);
        self.inverse.update(backend, &self.diagonal);
        Ok(())
    }
}
