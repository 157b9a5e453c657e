//! The step of a smoother as the kernels take it.

use topopt_linalg::{Growth, Residual};

use crate::scalars::Scalar;
use crate::vector::DeviceVector;

/// Arguments of [`topopt_linalg::InverseDiagonal::smooth`].
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
