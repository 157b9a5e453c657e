//! The inverse of the 3x3 blocks on the diagonal of K, by the kernels of `cuda/block_diagonal.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{ElementOperator, ElementPreconditioner};
use topopt_linalg::{
    BackendError, Cost, Growth, InverseDiagonal, LinearOperator, Preconditioner, Residual, Space,
};

use super::convert::Convert;
use crate::Cuda;
use crate::kernel::{Kernel, Module};
use crate::operators::MeshOnDevice;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// Threads of a block, as `cuda/block_diagonal.cu` has it.
const BLOCK: usize = 128;

/// y = D^-1 x, D the 3x3 blocks on the diagonal of K with the identity at held components.
pub(super) struct InverseBlocks<R> {
    mesh: Arc<MeshOnDevice>,
    make: Kernel,
    invert: Kernel,
    apply: Kernel,
    smooth: Kernel,
    /// \[6\]\[n_nodes\].
    blocks: CudaSlice<R>,
    convert: Convert<R>,
}

impl<R: Real> InverseBlocks<R> {
    /// Needs an update before use.
    pub fn new(mesh: &Arc<MeshOnDevice>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/block_diagonal.f64.ptx"),
            include_str!("../../../../cuda/ptx/block_diagonal.f32.ptx"),
        );
        let module = Module::load(&mesh.device, "block_diagonal", ptx)?;
        let kernel = |name| module.kernel(name, BLOCK as u32);
        Ok(Self {
            mesh: mesh.clone(),
            make: kernel("block_diagonal")?,
            invert: kernel("invert_blocks")?,
            apply: kernel("apply_blocks")?,
            smooth: kernel("smooth_blocks")?,
            blocks: mesh.device.zeros(6 * mesh.n_nodes)?,
            convert: Convert::load(&mesh.device)?,
        })
    }

    /// Follows `moduli`, \[n_elements\].
    pub fn update(&mut self, moduli: &CudaSlice<R>) {
        let mesh = &self.mesh;
        let (lambda, mu) = mesh.unit_lame;
        let cleared = mesh.device.stream().memset_zeros(&mut self.blocks);
        mesh.device.record("clearing the diagonal blocks", cleared);
        if let Some(springs) = &mesh.springs {
            self.convert.narrow(springs, &mut self.blocks); // the first three planes
        }
        for (first, count) in mesh.launches() {
            launch!(self.make, (count as usize).div_ceil(BLOCK);
                &first, &count, &(mesh.n_elements as u32), &(mesh.n_nodes as u32),
                &mesh.connectivity, &mesh.coordinates, &mu, &(lambda / mu), moduli,
                &mut self.blocks);
        }
        launch!(self.invert, mesh.n_nodes.div_ceil(BLOCK);
            &(mesh.n_nodes as u32), &mesh.held, &mut self.blocks);
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for InverseBlocks<R> {
    fn space(&self) -> Space {
        self.mesh.space()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = self.mesh.n_nodes;
        launch!(self.apply, n.div_ceil(BLOCK);
            &(n as u32), &self.blocks, &x.values, &mut y.values);
    }

    fn cost(&self) -> Cost {
        let (nodes, real) = (self.mesh.n_nodes as f64, size_of::<R>() as f64);
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
        let n = self.mesh.n_nodes;
        let (how, b, product) = how(residual);
        launch!(self.smooth, n.div_ceil(BLOCK);
            &(n as u32), &how, &alpha, &beta, growth.result.values(), &growth.result.index(),
            &growth.start.index(), &self.blocks, &b.values, &product.values, &mut r.values,
            &mut d.values, &mut x.values);
    }
}

/// A residual as `cuda/common/smooth.cuh` has it: number, right-hand side, product. What is not
/// read is the same as what is.
pub(super) fn how<R>(
    residual: Residual<'_, DeviceVector<R>>,
) -> (u32, &'_ DeviceVector<R>, &'_ DeviceVector<R>) {
    match residual {
        Residual::OfZero { b } => (0, b, b),
        Residual::Of { b, ax } => (1, b, ax),
        Residual::After { ad } => (2, ad, ad),
    }
}

/// `block-jacobi`: M is the 3x3 blocks on the diagonal of K, a node each.
pub struct BlockJacobi {
    inverse: InverseBlocks<f64>,
}

impl BlockJacobi {
    /// For operators on `mesh`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(mesh: &Arc<MeshOnDevice>) -> Result<Self, BackendError> {
        Ok(Self { inverse: InverseBlocks::new(mesh)? })
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
