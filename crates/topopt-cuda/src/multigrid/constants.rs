//! Aggregates of diffusion, which move by a constant: kernels of `cuda/scalar_levels.cu` and
//! `cuda/scalar_galerkin.cu`.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaSlice;
use topopt_fem::{Diffusion, Discretization, ElementKernel};
use topopt_linalg::{Backend, BackendError, Pointwise, Space};

use super::aggregates::{Grouping, Points};
use super::joints::{JointLists, SupportedRows};
use super::level::{CoarseMatrix, Fine, LevelKernels, Rows};
use super::smooth_step::{Step, how, launch_smooth};
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::{DeviceVector, Real};

/// Threads that share a joint, and that make the ground of a row.
const LANES: usize = defined!("scalar_galerkin.cu", "LANES");
const WARP: usize = 32;

/// Kernels for aggregates that move by a constant.
pub struct Constants<R> {
    levels: kernels::ScalarLevels<R>,
    galerkin: kernels::ScalarGalerkin<R>,
    vector: kernels::Vector<R>,
    filling: kernels::DenseFill<R>,
    /// A scratch diagonal on the nodes.
    diagonal: Mutex<DeviceVector<R>>,
}

impl<R: Real> Constants<R> {
    fn diagonal(&self) -> MutexGuard<'_, DeviceVector<R>> {
        self.diagonal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sums over the points of every aggregate.
    fn sum(&self, aggregates: &Grouping, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Grouping { n_aggregates: n, offsets, members, .. } = aggregates;
        self.levels.restrict1(Threads(WARP * n), *n, offsets, members, fine, coarse);
    }
}

impl<R: Real> LevelKernels<Diffusion, R, 1> for Constants<R> {
    fn load(
        backend: &Cuda<R>,
        problem: &Discretization<Diffusion, 1>,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        Ok(Self {
            levels: kernels::ScalarLevels::load(device)?,
            galerkin: kernels::ScalarGalerkin::load_for(problem.kernel().formulation(), device)?,
            vector: kernels::Vector::load(device)?,
            filling: kernels::DenseFill::load(device)?,
            diagonal: Mutex::new(backend.zeros(problem.space())?),
        })
    }

    fn bytes_of_node() -> usize {
        let real = size_of::<R>();
        // Ten vectors, the aggregate and the place there, and an entry of the first matrix with its
        // column and half a joint.
        10 * real + 8 + real + 4 + 6
    }

    fn invert_finest(
        &self,
        backend: &Cuda<R>,
        fine: &Fine<'_, R, Diffusion, 1>,
        raised: &[DeviceVector<R>],
        inverse: &mut DeviceVector<R>,
    ) {
        let mut diagonal = self.diagonal();
        fine.elements().diagonal_for(raised, &mut diagonal);
        if let Some(springs) = fine.stiffness() {
            backend.axpby(1.0, springs, 1.0, &mut diagonal);
        }
        backend.power(1.0, &diagonal, -1.0, inverse);
    }

    fn first_matrix(
        &self,
        backend: &Cuda<R>,
        fine: &Fine<'_, R, Diffusion, 1>,
        (joints, supported): (&JointLists, &SupportedRows),
        coarse: &mut CoarseMatrix<'_, R, Diffusion, 1>,
    ) {
        let CoarseMatrix { rows: at, blocks, ground, aggregates, .. } = coarse;
        let mut diagonal = self.diagonal();
        let (mf, of) = (fine.elements(), &aggregates.of);
        let (mesh, stretches) = (&mf.problem().mesh, mf.elements().stretches.as_ref());
        let k = &mf.coefficients()[Diffusion::CONDUCTION];

        // What holds nodes to the ground: capacities, springs, and held nodes around.
        mf.lumped_capacities(&mut diagonal);
        if let Some(springs) = fine.stiffness() {
            backend.axpby(1.0, springs, 1.0, &mut diagonal);
        }
        self.sum(aggregates, &diagonal, ground);
        let SupportedRows { n, rows, offsets, elements } = supported;
        let (grid, n) = (Threads(WARP * n), *n);
        self.galerkin
            .conduction_ground(grid, mesh, of, stretches, k, n, rows, offsets, elements, ground);

        let JointLists { n, rows, places, part_offsets: starts, parts } = joints;
        let (grid, n, offsets, columns) = (Threads(LANES * n), *n, &at.offsets, &at.columns);
        self.galerkin.conduction_joints(
            grid, mesh, of, stretches, k, n, rows, places, starts, parts, offsets, columns, blocks,
        );
    }

    fn next_matrix(
        &self,
        fine: &CoarseMatrix<'_, R, Diffusion, 1>,
        joints: &JointLists,
        coarse: &mut CoarseMatrix<'_, R, Diffusion, 1>,
    ) {
        let CoarseMatrix { rows: at, blocks, ground, aggregates, .. } = coarse;
        self.sum(aggregates, &fine.ground, ground);
        let JointLists { n, rows, places, part_offsets: starts, parts } = joints;
        let (grid, n, offsets, columns) = (Threads(LANES * n), *n, &at.offsets, &at.columns);
        let entries = &fine.blocks;
        self.galerkin
            .scalar_joints(grid, n, rows, places, starts, parts, entries, offsets, columns, blocks);
    }

    fn complete(&self, matrix: &mut CoarseMatrix<'_, R, Diffusion, 1>) {
        let CoarseMatrix { rows, blocks, ground, diagonal, inverse, .. } = matrix;
        let (grid, n, offsets) = (Threads(WARP * rows.n), rows.n, &rows.offsets);
        let (blocks, ground, inverse) = (&*blocks, &*ground, &mut inverse.values);
        self.galerkin.complete1(grid, n, offsets, blocks, ground, diagonal, inverse);
    }

    fn product(
        &self,
        matrix: &CoarseMatrix<'_, R, Diffusion, 1>,
        rows: Range<usize>,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        let CoarseMatrix { rows: Rows { offsets, columns, .. }, blocks, ground, .. } = matrix;
        let (grid, first, end) = (Threads(WARP * rows.len()), rows.start, rows.end);
        self.levels.csr1(grid, first, end, offsets, columns, blocks, ground, x, y);
    }

    fn fill_dense(
        &self,
        matrix: &CoarseMatrix<'_, R, Diffusion, 1>,
        n: usize,
        scale: &mut CudaSlice<f64>,
        dense: &mut CudaSlice<f64>,
    ) {
        let CoarseMatrix { rows: Rows { offsets, columns, .. }, blocks, diagonal, .. } = matrix;
        self.filling.dense_scale1(Threads(n), n, diagonal, &mut *scale);
        let grid = Threads(n * n);
        let scale = &*scale;
        self.filling.dense_fill1(grid, n, offsets, columns, blocks, diagonal, scale, dense);
    }

    fn restrict(
        &self,
        _: &Points,
        aggregates: &Grouping,
        fine: &DeviceVector<R>,
        coarse: &mut DeviceVector<R>,
    ) {
        self.sum(aggregates, fine, coarse);
    }

    fn prolong_add(
        &self,
        _: &Points,
        Grouping { n_points: n, of, .. }: &Grouping,
        coarse: &DeviceVector<R>,
        fine: &mut DeviceVector<R>,
    ) {
        self.levels.prolong1(Threads(*n), *n, of, coarse, fine);
    }

    fn apply_inverse(
        &self,
        Space { points: n, .. }: Space,
        inverse: &DeviceVector<R>,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        self.vector.multiply(Threads(n), n, inverse, x, y);
    }

    fn smooth(&self, Space { points: n, .. }: Space, inverse: &DeviceVector<R>, step: Step<'_, R>) {
        launch_smooth!(self.levels, smooth1, Threads(n), n, inverse, step);
    }
}
