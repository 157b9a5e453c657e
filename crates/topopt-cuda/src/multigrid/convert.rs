//! Conversion of vectors between double precision and the precision of the cycle.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use crate::Device;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::Real;

/// The kernels for precision `R`.
pub(super) struct Convert<R>(kernels::Convert<R>);

impl<R: Real> Convert<R> {
    pub fn load(device: &Arc<Device>) -> Result<Self, BackendError> {
        kernels::Convert::load(device).map(Self)
    }

    /// y = x, rounded.
    pub fn narrow(&self, x: &CudaSlice<f64>, y: &mut CudaSlice<R>) {
        self.0.narrow(Threads(x.len()), x.len(), x, y);
    }

    /// y = x.
    pub fn widen(&self, x: &CudaSlice<R>, y: &mut CudaSlice<f64>) {
        self.0.widen(Threads(x.len()), x.len(), x, y);
    }
}
