//! `block-jacobi`: the inverse of the 3x3 blocks on the diagonal of K, by the kernels of
//! `cuda/block_diagonal.cu`.

use std::sync::Arc;

use topopt_fem::{ElementOperator, ElementPreconditioner};
use topopt_linalg::{BackendError, Preconditioner, Space};

use super::rigid_bodies::invert_blocks;
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::ProblemOnDevice;
use crate::vector::DeviceVector;

/// `block-jacobi`: M is the 3x3 blocks on the diagonal of K, a node each.
pub struct BlockJacobi {
    problem: Arc<ProblemOnDevice>,
    kernels: kernels::BlockDiagonal<f64>,
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
        Ok(Self { problem: problem.clone(), kernels, inverse })
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
        let Self { problem, kernels, inverse } = self;
        let springs = problem.constraints.springs.as_ref();
        invert_blocks(kernels, problem, springs, coefficients[0], inverse);
        Ok(())
    }
}
