//! `LevelKernels`: the kernels of multigrid that serve a physics, by how its aggregates move.

use std::ops::Range;

use cudarc::driver::CudaSlice;
use topopt_fem::{Discretization, WithSprings};
use topopt_linalg::{Backend, BackendError, Space};

use super::coarse_matrix::CoarseMatrix;
use super::inverse_blocks::Step;
use super::joints::{JointLists, SupportedRows};
use super::transfer::{Grouping, Points};
use crate::Cuda;
use crate::operators::{DeviceKernel, Mf, ProblemOnDevice};
use crate::vector::{DeviceVector, Real};

/// The operator of the finest level, with the springs of its problem.
pub type Fine<'a, R, K, const N: usize> = WithSprings<'a, Cuda<R>, Mf<R, K, N>>;

/// Kernels of the levels of multigrid, in the precision `R`. Vectors of coarse levels are `[row][modes]`.
pub trait LevelKernels<K: DeviceKernel<N>, R: Real, const N: usize>: Sized + Send + Sync {
    /// Loads the kernels, for a finest level of vectors of `space`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    fn load(backend: &Cuda<R>, space: Space) -> Result<Self, BackendError>;

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
