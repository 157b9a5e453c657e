//! Preconditioners that follow an elasticity operator whose moduli change.

use std::sync::Arc;

use topopt_linalg::{
    Backend, BackendError, BlockDiagonal, Cpu, CycleKind, Diagonal, LinearOperator, Pointwise,
    Preconditioner, Space,
};

use crate::operators::inverse_blocks_by_patches;
use crate::{DIM, ElementOperator, Patches, Problem};

/// A preconditioner that is set up anew when the moduli have changed.
pub trait ElementPreconditioner<B: Backend>: Preconditioner<B> {
    /// Follows `operator`, which has taken `moduli`, \[n_elements\].
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn update(
        &mut self,
        backend: &B,
        operator: &dyn ElementOperator<B>,
        moduli: &B::Vector,
    ) -> Result<(), BackendError>;

    /// Iterations of conjugate gradients that take as long as [`ElementPreconditioner::restructure`];
    /// none where no structure depends on the design.
    fn structure_cost(&self) -> Option<usize> {
        None
    }

    /// Follows a design whose elements `void` carry next to nothing, increasing, where its structure
    /// depends on that; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails or has no room.
    fn restructure(&mut self, _backend: &B, _void: &[u32]) -> Result<(), BackendError> {
        Ok(())
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
    /// For operators of `space`; needs an update before use.
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
        _: &B::Vector,
    ) -> Result<(), BackendError> {
        operator.diagonal(&mut self.diagonal);
        self.inverse.update(backend, &self.diagonal);
        Ok(())
    }
}

/// `block-jacobi`: M is the 3x3 blocks on the diagonal of K, a node each; on the CPU.
pub struct BlockJacobi<'a> {
    problem: &'a Problem,
    patches: Arc<Patches>,
    inverse: BlockDiagonal<DIM>,
}

impl<'a> BlockJacobi<'a> {
    /// For operators of `problem`; needs an update before use.
    pub fn new(problem: &'a Problem) -> Self {
        let inverse = BlockDiagonal::zeros(problem.space());
        Self { problem, patches: problem.patches(), inverse }
    }

    /// Bytes that it takes at most, for a mesh of that size, beside the patches of the problem.
    pub fn bytes(n_nodes: usize) -> usize {
        // Blocks, and the copies that they are summed from.
        (48 + 77) * n_nodes
    }
}

impl Preconditioner<Cpu> for BlockJacobi<'_> {
    fn name(&self) -> &'static str {
        "block-jacobi"
    }

    fn apply(&self, _: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.inverse.apply(r, z);
    }
}

impl ElementPreconditioner<Cpu> for BlockJacobi<'_> {
    fn update(
        &mut self,
        _: &Cpu,
        _: &dyn ElementOperator<Cpu>,
        moduli: &Vec<f64>,
    ) -> Result<(), BackendError> {
        inverse_blocks_by_patches(self.problem, &self.patches, moduli, &mut self.inverse);
        Ok(())
    }
}
