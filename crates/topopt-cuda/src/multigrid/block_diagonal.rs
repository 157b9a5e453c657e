//! The inverse of the 3x3 blocks on the diagonal of K, by the kernels of `cuda/block_diagonal.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{ElementOperator, ElementPreconditioner};
use topopt_linalg::{
    BackendError, Cost, Growth, InverseDiagonal, LinearOperator, Preconditioner, Residual, Space,
};

use super::convert::Convert;
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::ProblemOnDevice;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// y = D^-1 x, D the 3x3 blocks on the diagonal of K with the identity at held components.
pub(super) struct InverseBlocks<R> {
    problem: Arc<ProblemOnDevice>,
    kernels: kernels::BlockDiagonal<R>,
    /// Six numbers of a node.
    blocks: DeviceVector<R>,
    convert: Convert<R>,
}

impl<R: Real> InverseBlocks<R> {
    /// Needs an update before use.
    pub fn new(problem: &Arc<ProblemOnDevice>) -> Result<Self, BackendError> {
        let ProblemOnDevice { device, mesh, .. } = &**problem;
        let space = Space::nodes(mesh.n_nodes, 6);
        Ok(Self {
            problem: problem.clone(),
            kernels: kernels::BlockDiagonal::load(device)?,
            blocks: DeviceVector { space, values: device.zeros(space.len())? },
            convert: Convert::load(device)?,
        })
    }

    /// The inverse blocks, `[6][n_nodes]`.
    pub fn blocks(&self) -> &CudaSlice<R> {
        &self.blocks.values
    }

    /// Inverse blocks, mutable, to take those of ghosts from other ranks.
    pub fn blocks_mut(&mut self) -> &mut DeviceVector<R> {
        &mut self.blocks
    }

    /// Follows `moduli`, \[n_elements\].
    pub fn update(&mut self, moduli: &CudaSlice<R>) {
        let Self { problem, kernels, blocks, convert } = self;
        let ProblemOnDevice { device, mesh, constraints, .. } = &**problem;
        let cleared = device.stream().memset_zeros(&mut blocks.values);
        device.record("clearing the diagonal blocks", cleared);
        if let Some(springs) = &constraints.springs {
            convert.narrow(springs, &mut blocks.values); // the first three planes
        }
        for part in mesh.parts() {
            let (grid, material) = (Threads(part.count as usize), problem.material());
            kernels.block_diagonal(grid, mesh, part, material, moduli, &mut *blocks);
        }
        kernels.invert_blocks(Threads(mesh.n_nodes), mesh.n_nodes, &constraints.held, &mut *blocks);
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for InverseBlocks<R> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = self.problem.mesh.n_nodes;
        self.kernels.apply_blocks(Threads(n), n, &self.blocks, x, y);
    }

    fn cost(&self) -> Cost {
        let (nodes, real) = (self.problem.mesh.n_nodes as f64, size_of::<R>() as f64);
        Cost {
            bytes_read: 9.0 * real * nodes,
            bytes_written: 3.0 * real * nodes,
            flops: 15.0 * nodes,
        }
    }
}

impl<R: Real> InverseDiagonal<Cuda<R>> for InverseBlocks<R> {
    fn smooth(
        &self,
        residual: Residual<DeviceVector<R>>,
        [alpha, beta]: [f64; 2],
        growth: &Growth<Scalar>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        let n = self.problem.mesh.n_nodes;
        let (how, b, product) = how(residual);
        let (result, start) = (growth.result.index(), growth.start.index());
        let (scalars, blocks) = (growth.result.values(), &self.blocks);
        self.kernels.smooth_blocks(
            Threads(n),
            n,
            how,
            alpha,
            beta,
            scalars,
            result,
            start,
            blocks,
            b,
            product,
            r,
            d,
            x,
        );
    }
}

/// A residual as `cuda/common/smooth.cuh` has it: number, right-hand side, product. What is not
/// read is the same as what is.
pub(super) fn how<R>(
    residual: Residual<'_, DeviceVector<R>>,
) -> (u32, &'_ DeviceVector<R>, &'_ DeviceVector<R>) {
    match residual {
        Residual::OfZero { b } => (defined!("common/smooth.cuh", "OF_ZERO") as u32, b, b),
        Residual::Of { b, ax } => (defined!("common/smooth.cuh", "OF_X") as u32, b, ax),
        Residual::After { ad } => (defined!("common/smooth.cuh", "AFTER") as u32, ad, ad),
    }
}

/// `block-jacobi`: M is the 3x3 blocks on the diagonal of K, a node each.
pub struct BlockJacobi {
    inverse: InverseBlocks<f64>,
}

impl BlockJacobi {
    /// For operators of `problem`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(problem: &Arc<ProblemOnDevice>) -> Result<Self, BackendError> {
        Ok(Self { inverse: InverseBlocks::new(problem)? })
    }

    /// Bytes on the device for a mesh of that size.
    pub fn bytes(n_nodes: usize) -> usize {
        6 * 8 * n_nodes
    }
}

impl Preconditioner<Cuda<f64>> for BlockJacobi {
    fn name(&self) -> &'static str {
        "block-jacobi"
    }

    fn apply(&self, _: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        self.inverse.apply(r, z);
    }
}

impl ElementPreconditioner<Cuda<f64>> for BlockJacobi {
    fn update(
        &mut self,
        _: &Cuda<f64>,
        _: &dyn ElementOperator<Cuda<f64>>,
        coefficients: &[&DeviceVector<f64>],
    ) -> Result<(), BackendError> {
        self.inverse.update(&coefficients[0].values);
        Ok(())
    }
}
