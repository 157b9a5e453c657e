//! Preconditioners that follow an operator whose coefficients change.

use std::sync::Arc;

use topopt_linalg::{
    Backend, BackendError, BlockDiagonal, Cpu, CycleKind, Diagonal, LinearOperator, Pointwise,
    Preconditioner, Space,
};

use crate::operators::inverse_blocks_by_patches;
use crate::{Discretization, ElementKernel, ElementOperator, Patches};

/// A preconditioner that is set up again when the coefficients have changed.
pub trait ElementPreconditioner<B: Backend>: Preconditioner<B> {
    /// Follows `operator`, which has taken `coefficients`, a field per term, each `[n_elements]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn update(
        &mut self,
        backend: &B,
        operator: &dyn ElementOperator<B>,
        coefficients: &[&B::Vector],
    ) -> Result<(), BackendError>;

    /// Iterations of conjugate gradients that take as long as
    /// [`ElementPreconditioner::restructure`]; none where no structure depends on the design.
    fn structure_cost(&self) -> Option<usize> {
        None
    }

    /// Follows a design whose elements `void` carry next to nothing, increasing, where its
    /// structure depends on that; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails or has no room.
    fn restructure(&mut self, _backend: &B, _void: &[u32]) -> Result<(), BackendError> {
        Ok(())
    }

    /// Makes solves take their steps in less precision, with residuals in that of the backend,
    /// where it computes in less itself; returns whether it does.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn take_steps(&mut self) -> Result<bool, BackendError> {
        Ok(false)
    }

    /// The cycle over a hierarchy; none where there is no hierarchy.
    fn cycle(&self) -> Option<CycleKind> {
        None
    }

    /// The levels of a hierarchy, the finest first; none where there is no hierarchy.
    fn levels(&self) -> Vec<Level> {
        Vec::new()
    }
}

/// The size of a level of a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Unknowns.
    pub unknowns: usize,
    /// Entries of its matrix that may differ from zero, stored or not.
    pub entries: usize,
}

/// `jacobi`: M is the diagonal of K [Ratnakar2022, Alg. 1].
pub struct Jacobi<B: Backend> {
    diagonal: B::Vector,
    inverse: Diagonal<B>,
}

impl<B: Pointwise> Jacobi<B> {
    /// The preconditioner for operators of `space`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, space: Space) -> Result<Self, BackendError> {
        let diagonal = backend.zeros(space)?;
        let inverse = Diagonal::new(backend, &diagonal, space)?;
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

    fn apply_and_dot(&self, backend: &B, r: &B::Vector, z: &mut B::Vector, rz: &mut B::Scalar) {
        self.inverse.apply_and_dot(backend, r, z, rz);
    }
}

impl<B: Pointwise> ElementPreconditioner<B> for Jacobi<B> {
    fn update(
        &mut self,
        backend: &B,
        operator: &dyn ElementOperator<B>,
        _: &[&B::Vector],
    ) -> Result<(), BackendError> {
        operator.diagonal(&mut self.diagonal);
        self.inverse.update(backend, &self.diagonal);
        Ok(())
    }
}

/// `block-jacobi`: M is the blocks on the diagonal of K, one per node; on the CPU.
pub struct BlockJacobi<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    patches: Arc<Patches>,
    inverse: BlockDiagonal<N>,
}

impl<'a, K: ElementKernel<N>, const N: usize> BlockJacobi<'a, K, N> {
    /// The preconditioner for operators of `problem`; needs an update before use.
    pub fn new(problem: &'a Discretization<K, N>) -> Self {
        let inverse = BlockDiagonal::zeros(problem.space());
        Self { problem, patches: problem.patches(), inverse }
    }

    /// Bytes that it takes at most, beside the patches of `problem`.
    pub fn bytes(problem: &Discretization<K, N>) -> usize {
        // Blocks, and the 1.6 copies that they are summed from.
        let block = 8 * BlockDiagonal::<N>::PACKED;
        (block + (16 * block).div_ceil(10)) * problem.mesh().n_nodes()
    }
}

impl<K: ElementKernel<N>, const N: usize> Preconditioner<Cpu> for BlockJacobi<'_, K, N> {
    fn name(&self) -> &'static str {
        "block-jacobi"
    }

    fn apply(&self, _: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.inverse.apply(r, z);
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementPreconditioner<Cpu> for BlockJacobi<'_, K, N> {
    fn update(
        &mut self,
        _: &Cpu,
        _: &dyn ElementOperator<Cpu>,
        coefficients: &[&Vec<f64>],
    ) -> Result<(), BackendError> {
        inverse_blocks_by_patches(self.problem, &self.patches, coefficients, &mut self.inverse);
        Ok(())
    }
}
