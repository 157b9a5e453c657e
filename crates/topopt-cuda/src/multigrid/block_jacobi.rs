//! `block-jacobi`: the inverse of the 3x3 blocks on the diagonal of K, by the kernels of
//! `cuda/block_diagonal.cu`, of tetrahedra with `cuda/tetrahedra_blocks.cu`.

use std::sync::Arc;

use topopt_fem::{ElementOperator, ElementPreconditioner};
use topopt_linalg::{BackendError, Preconditioner, Space};

use super::rigid_bodies::{add_blocks, invert_blocks};
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels::{self, Part};
use crate::operators::ProblemOnDevice;
use crate::vector::DeviceVector;

/// `block-jacobi`: M is the 3x3 blocks on the diagonal of K, a node each.
pub struct BlockJacobi {
    problem: Arc<ProblemOnDevice>,
    kernels: kernels::BlockDiagonal<f64>,
    /// Kernels that add the blocks of tetrahedra, where these are the elements.
    tetrahedra: Option<kernels::TetrahedraBlocks>,
    /// Six numbers of a node.
    inverse: DeviceVector<f64>,
}

impl BlockJacobi {
    /// The preconditioner for operators of `problem`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(problem: &Arc<ProblemOnDevice>) -> Result<Self, BackendError> {
        let device = &problem.device;
        let space = Space::nodes(problem.mesh.n_nodes, 6);
        let inverse = DeviceVector { space, values: device.zeros(space.len())? };
        let kernels = kernels::BlockDiagonal::load_for(problem.formulation(), device)?;
        let are_tetrahedra = problem.mesh.are_tetrahedra();
        let tetrahedra = are_tetrahedra.then(|| kernels::TetrahedraBlocks::load(device));
        Ok(Self { problem: problem.clone(), kernels, tetrahedra: tetrahedra.transpose()?, inverse })
    }
}

impl Preconditioner<Cuda<f64>> for BlockJacobi {
    fn name(&self) -> &'static str {
        "block-jacobi"
    }

    fn apply(&self, _: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        let n = self.problem.mesh.n_nodes;
        self.kernels.apply_blocks(Threads(n), n, &self.inverse, r, z);
    }
}

impl ElementPreconditioner<Cuda<f64>> for BlockJacobi {
    fn update(
        &mut self,
        _: &Cuda<f64>,
        _: &dyn ElementOperator<Cuda<f64>>,
        coefficients: &[&DeviceVector<f64>],
    ) -> Result<(), BackendError> {
        let Self { problem, kernels, inverse, .. } = self;
        let springs = problem.constraints.springs.as_ref();
        let moduli = coefficients[0];
        invert_blocks(kernels, problem, springs, inverse, |part, out| match &self.tetrahedra {
            Some(kernels) => add_tetrahedra(kernels, problem, part, moduli, out),
            None => add_blocks(kernels, problem, part, moduli, out),
        });
        Ok(())
    }
}

/// Adds the blocks of a part of the tetrahedra with `moduli`.
fn add_tetrahedra(
    kernels: &kernels::TetrahedraBlocks,
    problem: &ProblemOnDevice,
    part: Part,
    moduli: &DeviceVector<f64>,
    blocks: &mut DeviceVector<f64>,
) {
    let (grid, material) = (Threads(part.count as usize), problem.material());
    kernels.tetrahedra_blocks(grid, &problem.mesh, part, material, moduli, blocks);
}
