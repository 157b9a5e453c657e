//! A level of multigrid on the device: its matrix, the inverse of its blocks, and the kernels of a physics.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::{DIM, Discretization, Joints, WithSprings};
use topopt_linalg::{
    Backend, BackendError, Cost, Growth, InverseDiagonal, LinearOperator, Residual, Space,
};

use super::aggregates::{Grouping, Points};
use super::joints::{JointLists, SupportedRows};
use super::shared_rows::{SharedLevel, SharedRows};
use super::smooth_step::Step;
use crate::operators::{MatrixFree, Mf, ProblemOnDevice};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Positions of the blocks off the diagonal, in compressed rows.
pub struct Rows<R> {
    pub(super) n: usize,
    pub(super) n_blocks: usize,
    /// `[n + 1]`.
    pub(super) offsets: CudaSlice<u32>,
    /// Ascending in a row, `[n_blocks]`.
    pub(super) columns: CudaSlice<u32>,
    /// Row of every block, where aggregates turn.
    pub(super) of_blocks: CudaSlice<u32>,
    /// The place of every block's column from its row, and a number to fill up, where aggregates turn.
    pub(super) arms: CudaSlice<[R; 4]>,
    /// First block above the diagonal of each row, `[n]`, where products read those blocks alone.
    pub(super) uppers: Option<CudaSlice<u32>>,
}

/// A matrix of blocks of modes x modes; vectors are `[row][modes]`.
pub struct CoarseMatrix<'a, R: Real, K: Coarsened<N>, const N: usize> {
    pub(super) device: Arc<Device>,
    kernels: Arc<K::Levels<R>>,
    pub(super) rows: Rows<R>,
    /// Off the diagonal, `[n_blocks][modes^2]`; 6x6 as `cuda/common/blocks.cuh` has them.
    pub(super) blocks: DeviceVector<R>,
    /// Forces on a row when all move with it, `[n_rows][column][row]`.
    pub(super) ground: DeviceVector<R>,
    /// `[n_rows][column][row]`.
    pub(super) diagonal: CudaSlice<f64>,
    pub(super) inverse: InverseBlocks<R, K, N>,
    /// Whose motions the unknowns are.
    pub(super) aggregates: Arc<Grouping>,
    /// Exchange of the matrix with other ranks.
    shared: SharedRows<'a, R>,
}

impl<'a, R: Real, K: Coarsened<N>, const N: usize> CoarseMatrix<'a, R, K, N> {
    /// A matrix of zeros, for the motions of `aggregates` about `centers`, which ranks may share.
    /// Products read the blocks above the diagonal alone if there are `least_halved` rows.
    pub(super) fn zeros(
        kernels: &Arc<K::Levels<R>>,
        backend: &Cuda<R>,
        joints: &Joints,
        aggregates: &Arc<Grouping>,
        centers: &[[f64; DIM]],
        shared: Option<SharedLevel<'a, R>>,
        least_halved: usize,
    ) -> Result<Self, BackendError> {
        let (device, size) = (backend.device(), K::MODES * K::MODES);
        // A level of one aggregate has no block off the diagonal, and an array on the device an entry.
        let (n, n_blocks) = (aggregates.n_aggregates, joints.columns.len());

        let (of_blocks, arms) = match K::MODES {
            1 => (Vec::new(), arms(&[], &[], centers)),
            _ => {
                let of_blocks = joints.rows_of_blocks();
                let arms = arms(&of_blocks, &joints.columns, centers);
                (of_blocks, arms)
            }
        };

        // Ranks make whole rows, with blocks whose transposes others have.
        let is_halved = K::MODES > 1 && n >= least_halved && shared.is_none();
        let uppers = is_halved.then(|| device.upload(&joints.uppers())).transpose()?;

        Ok(Self {
            device: device.clone(),
            kernels: kernels.clone(),
            rows: Rows {
                n,
                n_blocks,
                offsets: device.upload(&joints.row_offsets)?,
                columns: device.upload_list(&joints.columns)?,
                of_blocks: device.upload_list(&of_blocks)?,
                arms: device.upload(&arms)?,
                uppers,
            },
            blocks: backend.zeros(Space::level(n_blocks.max(1), size))?,
            ground: backend.zeros(Space::level(n, size))?,
            diagonal: device.zeros(size * n)?,
            inverse: InverseBlocks::zeros(kernels, backend, Space::level(n, K::MODES), size)?,
            aggregates: aggregates.clone(),
            shared: SharedRows::new(shared, joints),
        })
    }

    /// Makes the blocks on the diagonal of the others and the ground, which have changed, after
    /// those that other ranks make.
    pub(super) fn complete(&mut self) {
        self.shared.complete_matrix(&mut self.blocks, &mut self.ground);
        self.kernels.clone().complete(self);
        self.shared.refresh_diagonal(&mut self.inverse.values);
    }

    /// Writes the matrix as a dense one scaled to a diagonal of 1, `[n][n]`, and the scale, `[n]`.
    pub(super) fn fill_dense(&self, scale: &mut CudaSlice<f64>, dense: &mut CudaSlice<f64>) {
        self.kernels.fill_dense(self, self.space().len(), scale, dense);
    }
}

/// Arm of every block from its row to its column, and a number to fill up; one at least.
fn arms<R: Real>(rows: &[u32], columns: &[u32], centers: &[[f64; DIM]]) -> Vec<[R; 4]> {
    let arm = |(&row, &column): (&u32, &u32)| {
        let [from, to] = [row, column].map(|point| centers[point as usize]);
        let [x, y, z] = std::array::from_fn(|i| R::from_f64(to[i] - from[i]));
        [x, y, z, R::from_f64(0.0)]
    };
    let arms: Vec<_> = rows.par_iter().zip(columns).map(arm).collect();
    if arms.is_empty() { vec![[R::from_f64(0.0); 4]] } else { arms }
}

impl<R: Real, K: Coarsened<N>, const N: usize> LinearOperator<Cuda<R>>
    for CoarseMatrix<'_, R, K, N>
{
    fn space(&self) -> Space {
        Space::level(self.rows.n, K::MODES)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let own = self.shared.own();
        if !own.is_empty() {
            self.kernels.product(self, own, x, y);
        }
        self.shared.refresh(y);
    }

    fn cost(&self) -> Cost {
        let (blocks, rows) = (self.rows.n_blocks as f64, self.rows.n as f64);
        let (modes, real) = (K::MODES as f64, size_of::<R>() as f64);
        let size = modes * modes;
        // Columns of rows that turn move by their arms.
        let [arm, moved] = if K::MODES == 1 { [0.0, 1.0] } else { [4.0, 18.0] };
        Cost {
            bytes_read: blocks * (real * (size + arm) + 4.0) + rows * (real * (size + modes) + 4.0),
            bytes_written: rows * real * modes,
            flops: (2.0 * size + moved) * blocks + 2.0 * size * rows,
        }
    }
}

/// y = D^-1 x, D the blocks on the diagonal.
pub struct InverseBlocks<R: Real, K: Coarsened<N>, const N: usize> {
    kernels: Arc<K::Levels<R>>,
    space: Space,
    /// `[entries][nodes]` on the finest level, of a triangle per block; `[rows][blocks]` on others.
    pub(super) values: DeviceVector<R>,
}

impl<R: Real, K: Coarsened<N>, const N: usize> InverseBlocks<R, K, N> {
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

impl<R: Real, K: Coarsened<N>, const N: usize> LinearOperator<Cuda<R>> for InverseBlocks<R, K, N> {
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

impl<R: Real, K: Coarsened<N>, const N: usize> InverseDiagonal<Cuda<R>> for InverseBlocks<R, K, N> {
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

/// The operator of the finest level, with the springs of its problem.
pub type Fine<'a, R, K, const N: usize> = WithSprings<'a, Cuda<R>, Mf<R, K, N>>;

/// Integrals with multigrid on the device.
pub trait Coarsened<const N: usize>: MatrixFree<N> {
    /// Kernels of the levels.
    type Levels<R: Real>: LevelKernels<Self, R, N>;
}

/// Kernels of the levels of multigrid, in the precision `R`. Vectors of coarse levels are `[row][modes]`.
pub trait LevelKernels<K: Coarsened<N>, R: Real, const N: usize>: Sized + Send + Sync {
    /// Loads the kernels, for the elements of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    fn load(backend: &Cuda<R>, problem: &Discretization<K, N>) -> Result<Self, BackendError>;

    /// Bytes of a node of the finest level, for aggregates of some 27 nodes with as many neighbors: vectors
    /// and inverse blocks, the first coarse matrix with its lists, and what each of its rows has.
    fn bytes_of_node() -> usize;

    /// Computes [`topopt_fem::ElementKernel::bounds`] of the elements.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn bounds(
        backend: &Cuda<R>,
        _on_device: &ProblemOnDevice<K, N>,
        problem: &Discretization<K, N>,
    ) -> Result<DeviceVector<R>, BackendError> {
        let bounds = problem.kernel().bounds(&problem.elements());
        let bounds: Vec<f64> = bounds.into_iter().map(f64::from).collect();
        backend.upload(&bounds, Space::elements(bounds.len()))
    }

    /// Inverts the blocks on the diagonal of the finest matrix for coefficients that are `raised`.
    fn invert_finest(
        &self,
        backend: &Cuda<R>,
        fine: &Fine<'_, R, K, N>,
        raised: &[DeviceVector<R>],
        inverse: &mut DeviceVector<R>,
    );

    /// Makes blocks off the diagonal and ground of the first coarse matrix.
    fn first_matrix(
        &self,
        backend: &Cuda<R>,
        fine: &Fine<'_, R, K, N>,
        lists: (&JointLists, &SupportedRows),
        coarse: &mut CoarseMatrix<'_, R, K, N>,
    );

    /// Makes those of a `coarse` matrix of the next finer one.
    fn next_matrix(
        &self,
        fine: &CoarseMatrix<'_, R, K, N>,
        joints: &JointLists,
        coarse: &mut CoarseMatrix<'_, R, K, N>,
    );

    /// Makes the blocks on the diagonal of the others and the ground, and their inverses.
    fn complete(&self, matrix: &mut CoarseMatrix<'_, R, K, N>);

    /// Writes the `rows` of a product.
    fn product(
        &self,
        matrix: &CoarseMatrix<'_, R, K, N>,
        rows: Range<usize>,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    );

    /// Writes the dense matrix of n unknowns scaled to a diagonal of 1, and the scale.
    fn fill_dense(
        &self,
        matrix: &CoarseMatrix<'_, R, K, N>,
        n: usize,
        scale: &mut CudaSlice<f64>,
        dense: &mut CudaSlice<f64>,
    );

    /// Sums up what points give their aggregates.
    fn restrict(
        &self,
        points: &Points,
        aggregates: &Grouping,
        fine: &DeviceVector<R>,
        coarse: &mut DeviceVector<R>,
    );

    /// Moves points with their aggregates.
    fn prolong_add(
        &self,
        points: &Points,
        aggregates: &Grouping,
        coarse: &DeviceVector<R>,
        fine: &mut DeviceVector<R>,
    );

    /// y = D^-1 x for vectors of `space`.
    fn apply_inverse(
        &self,
        space: Space,
        inverse: &DeviceVector<R>,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    );

    /// Smooths vectors of `space`.
    fn smooth(&self, space: Space, inverse: &DeviceVector<R>, step: Step<'_, R>);
}
