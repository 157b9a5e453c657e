//! Matrices of one unknown per aggregate, their diagonals, and the way between levels, by the kernels of
//! `cuda/scalar_levels.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Aggregates, Joints};
use topopt_linalg::{
    Backend, BackendError, Cost, Growth, InverseDiagonal, LinearOperator, Residual, Space, Transfer,
};

use super::block_diagonal::how;
use super::coarse_matrix::Rows;
use super::shared_rows::{SharedLevel, SharedRows};
use super::transfer::flatten;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads that make a row of a product or restrict to an aggregate.
const WARP: usize = 32;
/// The aggregate of a held node; NONE of `cuda/common/aggregates1.cuh`.
const NONE: u32 = u32::MAX;

/// The kernels of all levels.
pub(super) struct Kernels<R> {
    levels: kernels::ScalarLevels<R>,
    vector: kernels::Vector<R>,
}

impl<R: Real> Kernels<R> {
    pub fn load(device: &Arc<Device>) -> Result<Arc<Self>, BackendError> {
        let (levels, vector) =
            (kernels::ScalarLevels::load(device)?, kernels::Vector::load(device)?);
        Ok(Arc::new(Self { levels, vector }))
    }
}

/// A matrix in compressed rows, with the inverse of its diagonal.
pub(super) struct ScalarMatrix<'a, R: Real> {
    kernels: Arc<Kernels<R>>,
    pub rows: Rows,
    /// Off the diagonal, `[n_blocks]`.
    pub entries: DeviceVector<R>,
    /// Row sums of the matrix, `[n_rows]`: couplings to the ground.
    pub ground: DeviceVector<R>,
    /// `[n_rows]`.
    pub diagonal: CudaSlice<f64>,
    pub inverse: InverseEntries<R>,
    /// Exchange of the matrix with other ranks.
    shared: SharedRows<'a, R>,
}

impl<'a, R: Real> ScalarMatrix<'a, R> {
    /// A matrix of zeros, with entries where `joints` are, which ranks may share.
    pub fn zeros(
        kernels: &Arc<Kernels<R>>,
        backend: &Cuda<R>,
        joints: &Joints,
        shared: Option<SharedLevel<'a, R>>,
    ) -> Result<Self, BackendError> {
        let rows = Rows::new(backend.device(), joints)?;
        let space = Space::level(rows.n_rows, 1);
        Ok(Self {
            kernels: kernels.clone(),
            entries: DeviceVector {
                space: Space::level(rows.n_blocks, 1),
                values: backend.device().zeros(rows.n_blocks.max(1))?,
            },
            ground: backend.zeros(space)?,
            diagonal: backend.device().zeros(rows.n_rows)?,
            inverse: InverseEntries::zeros(kernels, backend, space)?,
            shared: SharedRows::new(shared, joints),
            rows,
        })
    }

    /// Makes the diagonal of the other entries and the ground, which have changed, after those that other
    /// ranks make.
    pub fn complete(&mut self, kernels: &kernels::ScalarGalerkin<R>) {
        let Self { rows: Rows { n_rows, offsets, .. }, entries, ground, diagonal, shared, .. } =
            self;
        shared.complete_matrix(entries, ground);
        let (grid, inverse) = (Threads(WARP * *n_rows), &mut self.inverse.values);
        kernels.complete1(
            grid,
            *n_rows,
            &*offsets,
            &*entries,
            &*ground,
            &mut *diagonal,
            &mut *inverse,
        );
        shared.refresh_diagonal(inverse);
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for ScalarMatrix<'_, R> {
    fn space(&self) -> Space {
        self.ground.space
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let Self { kernels, rows, entries, ground, shared, .. } = self;
        let Rows { offsets, columns, .. } = rows;
        let own = shared.own();
        if !own.is_empty() {
            kernels.levels.csr1(
                Threads(WARP * own.len()),
                own.start,
                own.end,
                offsets,
                columns,
                entries,
                ground,
                x,
                &mut *y,
            );
        }
        shared.refresh(y);
    }

    fn cost(&self) -> Cost {
        let (rows, entries) = (self.rows.n_rows as f64, self.rows.n_blocks as f64);
        let real = size_of::<R>() as f64;
        Cost {
            bytes_read: entries * (real + 4.0) + rows * (2.0 * real + 4.0),
            bytes_written: rows * real,
            flops: 3.0 * entries + 2.0 * rows,
        }
    }
}

/// The inverse of a diagonal.
pub(super) struct InverseEntries<R> {
    kernels: Arc<Kernels<R>>,
    pub values: DeviceVector<R>,
}

impl<R: Real> InverseEntries<R> {
    /// To be filled.
    pub fn zeros(
        kernels: &Arc<Kernels<R>>,
        backend: &Cuda<R>,
        space: Space,
    ) -> Result<Self, BackendError> {
        Ok(Self { kernels: kernels.clone(), values: backend.zeros(space)? })
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for InverseEntries<R> {
    fn space(&self) -> Space {
        self.values.space
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = self.values.len();
        self.kernels.vector.multiply(Threads(n), n, &self.values, x, y);
    }

    fn cost(&self) -> Cost {
        let (n, real) = (self.values.len() as f64, size_of::<R>() as f64);
        Cost { bytes_read: 2.0 * real * n, bytes_written: real * n, flops: n }
    }
}

impl<R: Real> InverseDiagonal<Cuda<R>> for InverseEntries<R> {
    fn smooth(
        &self,
        residual: Residual<DeviceVector<R>>,
        [alpha, beta]: [f64; 2],
        growth: &Growth<Scalar>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        let n = self.values.len();
        let (how, b, product) = how(residual);
        let (result, start) = (growth.result.index(), growth.start.index());
        let (scalars, inverse) = (growth.result.values(), &self.values);
        self.kernels.levels.smooth1(
            Threads(n),
            n,
            how,
            alpha,
            beta,
            scalars,
            result,
            start,
            inverse,
            b,
            product,
            r,
            d,
            x,
        );
    }
}

/// Between points and their aggregates, which move by a constant; zero at held points.
pub(super) struct ConstantTransfer<'a, R: Real> {
    kernels: Arc<Kernels<R>>,
    n_aggregates: usize,
    /// The aggregate, or [`NONE`], `[n_points]`.
    pub of: CudaSlice<u32>,
    /// `[n_aggregates + 1]`.
    offsets: CudaSlice<u32>,
    /// The points of every aggregate that are not held.
    members: CudaSlice<u32>,
    /// How ranks share the aggregates, if they do.
    shared: Option<SharedLevel<'a, R>>,
}

impl<'a, R: Real> ConstantTransfer<'a, R> {
    pub fn new(
        kernels: &Arc<Kernels<R>>,
        device: &Device,
        aggregates: &Aggregates,
        is_held: impl Fn(u32) -> bool,
        shared: Option<SharedLevel<'a, R>>,
    ) -> Result<Self, BackendError> {
        let free = |members: &Vec<u32>| members.iter().copied().filter(|&p| !is_held(p)).collect();
        let members: Vec<Vec<u32>> = aggregates.members().iter().map(free).collect();
        let (offsets, members) = flatten(&members);
        let aggregate = |(point, &of)| if is_held(point) { NONE } else { of };
        let of: Vec<u32> = (0..).zip(aggregates.of()).map(aggregate).collect();
        Ok(Self {
            kernels: kernels.clone(),
            n_aggregates: aggregates.len(),
            of: device.upload(&of)?,
            offsets: device.upload(&offsets)?,
            members: device.upload_list(&members)?,
            shared,
        })
    }
}

impl<R: Real> Transfer<Cuda<R>> for ConstantTransfer<'_, R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        self.sum(fine, coarse);
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let n = self.of.len();
        self.kernels.levels.prolong1(Threads(n), n, &self.of, coarse, fine);
    }
}

impl<R: Real> ConstantTransfer<'_, R> {
    /// The sums over own points of every aggregate.
    pub fn sum(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { kernels, n_aggregates, offsets, members, .. } = self;
        kernels.levels.restrict1(
            Threads(WARP * n_aggregates),
            *n_aggregates,
            offsets,
            members,
            fine,
            &mut *coarse,
        );
    }
}
