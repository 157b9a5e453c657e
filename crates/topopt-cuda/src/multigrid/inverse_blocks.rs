//! The inverse of the blocks on the diagonal of a level, which smooths it.

use std::sync::Arc;

use topopt_linalg::{
    Backend, BackendError, Cost, Growth, InverseDiagonal, LinearOperator, Residual, Space,
};

use super::level_kernels::LevelKernels;
use crate::Cuda;
use crate::operators::DeviceKernel;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// y = D^-1 x, D the blocks on the diagonal.
pub struct InverseBlocks<R: Real, K: DeviceKernel<N>, const N: usize> {
    kernels: Arc<K::Levels<R>>,
    space: Space,
    /// `[entries][nodes]` on the finest level, of a triangle per block; `[rows][blocks]` on others.
    pub(super) values: DeviceVector<R>,
}

impl<R: Real, K: DeviceKernel<N>, const N: usize> InverseBlocks<R, K, N> {
    /// Allocates `unknowns` numbers per point of the level of `space`, as zeros.
    pub(super) fn zeros(
        kernels: &Arc<K::Levels<R>>,
        backend: &Cuda<R>,
        space: Space,
        unknowns: usize,
    ) -> Result<Self, BackendError> {
        let values = backend.zeros(Space { unknowns, ..space })?;
        Ok(Self { kernels: kernels.clone(), space, values })
    }
}

impl<R: Real, K: DeviceKernel<N>, const N: usize> LinearOperator<Cuda<R>>
    for InverseBlocks<R, K, N>
{
    fn space(&self) -> Space {
        self.space
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.kernels.apply_inverse(self.space, &self.values, x, y);
    }

    fn cost(&self) -> Cost {
        let (n, unknowns) = (self.space.len() as f64, self.space.unknowns as f64);
        let real = size_of::<R>() as f64;
        Cost {
            bytes_read: real * (self.values.len() as f64 + n),
            bytes_written: real * n,
            flops: (2.0 * unknowns - 1.0) * n,
        }
    }
}

impl<R: Real, K: DeviceKernel<N>, const N: usize> InverseDiagonal<Cuda<R>>
    for InverseBlocks<R, K, N>
{
    fn smooth(
        &self,
        residual: Residual<DeviceVector<R>>,
        factors: [f64; 2],
        growth: &Growth<Scalar>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        self.kernels.smooth(self.space, &self.values, Step { residual, factors, growth, r, d, x });
    }
}

/// Arguments of [`InverseDiagonal::smooth`].
pub struct Step<'a, R> {
    pub(super) residual: Residual<'a, DeviceVector<R>>,
    pub(super) factors: [f64; 2],
    pub(super) growth: &'a Growth<Scalar>,
    pub(super) r: &'a mut DeviceVector<R>,
    pub(super) d: &'a mut DeviceVector<R>,
    pub(super) x: &'a mut DeviceVector<R>,
}

/// Launches a kernel that smooths `n` points by `inverse`, as `cuda/common/smooth.cuh` says.
macro_rules! launch_smooth {
    ($kernels:expr, $kernel:ident, $grid:expr, $n:expr, $inverse:expr, $step:expr) => {{
        let Step { residual, factors: [alpha, beta], growth, r, d, x } = $step;
        let (how, b, product) = how(residual);
        let (scalars, result, start) =
            (growth.result.values(), growth.result.index(), growth.start.index());
        $kernels.$kernel(
            $grid, $n, how, alpha, beta, scalars, result, start, $inverse, b, product, r, d, x,
        )
    }};
}
pub(super) use launch_smooth;

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
