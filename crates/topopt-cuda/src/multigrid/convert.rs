//! Between double precision and that of the cycle.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use crate::Device;
use crate::kernel::{Kernel, Module};
use crate::vector::Real;

/// Threads of a block, as `cuda/convert.cu` has it.
const BLOCK: usize = 512;

/// The kernels for precision `R`.
pub(super) struct Convert<R> {
    narrow: Kernel,
    widen: Kernel,
    precision: std::marker::PhantomData<R>,
}

impl<R: Real> Convert<R> {
    pub fn load(device: &Arc<Device>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/convert.f64.ptx"),
            include_str!("../../../../cuda/ptx/convert.f32.ptx"),
        );
        let module = Module::load(device, "convert", ptx)?;
        Ok(Self {
            narrow: module.kernel("narrow", BLOCK as u32)?,
            widen: module.kernel("widen", BLOCK as u32)?,
            precision: std::marker::PhantomData,
        })
    }

    /// y = x, rounded.
    pub fn narrow(&self, x: &CudaSlice<f64>, y: &mut CudaSlice<R>) {
        launch!(self.narrow, x.len().div_ceil(BLOCK); &(x.len() as u64), x, y);
    }

    /// y = x.
    pub fn widen(&self, x: &CudaSlice<R>, y: &mut CudaSlice<f64>) {
        launch!(self.widen, x.len().div_ceil(BLOCK); &(x.len() as u64), x, y);
    }
}
