//! Block Jacobi over groups of points, by the kernels of `cuda/groups.cu`, with numbers by those
//! of `cuda/tetrahedra_groups.cu` on the finest level and of `cuda/block_groups.cu` on the others.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::tetrahedra::{GROUP, GroupInverse, VertexLevels};
use topopt_fem::{DIM, MODES};
use topopt_linalg::{
    BackendError, Cost, Growth, InverseDiagonal, Layout, LinearOperator, Residual, Space,
};

use super::smooth_step::{Step, how, launch_smooth};
use crate::kernel::Grid::{self, Threads};
use crate::kernels::{self, GroupsView};
use crate::operators::ProblemOnDevice;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads that share a group.
const WARP: usize = 32;

/// [`GroupInverse`] on the device, in vectors of any level.
pub(super) struct GroupsOnDevice<R> {
    kernels: Arc<kernels::Groups<R>>,
    space: Space,
    n_groups: usize,
    /// First of every group in `points`, `[n_groups + 1]`.
    starts: CudaSlice<u32>,
    points: CudaSlice<u32>,
    /// Numbers of points squared before every group, added up, `[n_groups]`.
    squares: CudaSlice<u32>,
    /// F of every group, the rows of a lower triangle: F^T F is its inverse.
    factors: CudaSlice<f32>,
}

impl<R: Real> GroupsOnDevice<R> {
    /// The groups `on_host` in vectors of `space`; without numbers until they are set.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<const B: usize>(
        kernels: &Arc<kernels::Groups<R>>,
        device: &Device,
        on_host: &GroupInverse<B>,
        space: Space,
    ) -> Result<Self, BackendError> {
        let n_groups = on_host.n_groups();
        let (mut starts, mut squares, mut points) = (vec![0], vec![0], Vec::new());
        for group in (0..n_groups).map(|group| on_host.group(group)) {
            points.extend_from_slice(group);
            starts.push(points.len() as u32);
            squares.push(squares[squares.len() - 1] + group.len().pow(2) as u32);
        }
        let n_numbers = (B * B * squares[n_groups] as usize + B * points.len()) / 2;
        Ok(Self {
            kernels: kernels.clone(),
            space,
            n_groups,
            starts: device.upload(&starts)?,
            points: device.upload(&points)?,
            factors: device.zeros(n_numbers)?,
            squares: device.upload(&squares[..n_groups])?,
        })
    }

    /// Recomputes the factors by a launch of a warp per group.
    pub fn update(&mut self, launch: impl FnOnce(Grid, GroupsView, &mut CudaSlice<f32>)) {
        let (grid, groups) = (Threads(WARP * self.n_groups), GroupsView::from(&*self));
        launch(grid, groups, &mut self.factors);
    }
}

/// Maker of the numbers of groups of nodes of tetrahedra.
pub(super) struct ElementsOfGroups {
    kernels: kernels::TetrahedraGroups,
    problem: Arc<ProblemOnDevice>,
    /// First of every group in `elements`, `[n_groups + 1]`.
    offsets: CudaSlice<u32>,
    elements: CudaSlice<u32>,
}

// Kernels have room for groups with half as many points again.
const _: () = {
    let most = defined!("common/groups.cuh", "UNKNOWNS");
    assert!(GROUP[0] * 3 / 2 == defined!("tetrahedra_groups.cu", "MOST"));
    assert!(DIM * GROUP[0] * 3 / 2 <= most && MODES * GROUP[1] * 3 / 2 <= most);
};

impl ElementsOfGroups {
    /// The elements of the `groups` of the finest level of `on_host`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    pub fn new(
        problem: &Arc<ProblemOnDevice>,
        on_host: &VertexLevels,
        groups: &GroupInverse<DIM>,
    ) -> Result<Self, BackendError> {
        let device = &problem.device;
        let (elements, offsets) = on_host.elements_of_groups(groups);
        Ok(Self {
            kernels: kernels::TetrahedraGroups::load(device)?,
            problem: problem.clone(),
            offsets: device.upload(&offsets)?,
            elements: device.upload(&elements)?,
        })
    }

    /// Recomputes the numbers of `groups` for `moduli`, `[n_elements]`.
    pub fn update<R: Real>(&self, groups: &mut GroupsOnDevice<R>, moduli: &DeviceVector<f64>) {
        let Self { kernels, problem, offsets, elements } = self;
        let ProblemOnDevice { mesh, constraints, .. } = &**problem;
        let (held, springs) = (&constraints.held, constraints.springs.as_ref());
        let material = problem.material();
        groups.update(|grid, groups, factors| {
            kernels.tetrahedra_groups(
                grid, groups, mesh, material, held, springs, moduli, offsets, elements, factors,
            );
        });
    }
}

impl<R> From<&GroupsOnDevice<R>> for GroupsView {
    fn from(groups: &GroupsOnDevice<R>) -> Self {
        Self {
            n_groups: groups.n_groups.into(),
            n_points: groups.space.points.into(),
            unknowns: groups.space.unknowns as u32,
            are_planes: u32::from(groups.space.layout == Layout::Nodes),
            starts: (&groups.starts).into(),
            points: (&groups.points).into(),
            squares: (&groups.squares).into(),
            factors: (&groups.factors).into(),
        }
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for GroupsOnDevice<R> {
    fn space(&self) -> Space {
        self.space
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.kernels.apply_groups(Threads(WARP * self.n_groups), self, x, y);
    }

    fn cost(&self) -> Cost {
        let (size, n) = (self.factors.len() as f64, self.space.len() as f64);
        let (real, points) = (size_of::<R>() as f64, 4.0 * self.space.points as f64);
        Cost {
            bytes_read: 4.0 * size + real * n + points,
            bytes_written: real * n,
            flops: 4.0 * size,
        }
    }
}

impl<R: Real> InverseDiagonal<Cuda<R>> for GroupsOnDevice<R> {
    fn smooth(
        &self,
        residual: Residual<DeviceVector<R>>,
        factors: [f64; 2],
        growth: &Growth<Scalar>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        let (grid, step) =
            (Threads(WARP * self.n_groups), Step { residual, factors, growth, r, d, x });
        launch_smooth!(self.kernels, smooth_groups, grid, self.n_groups, self, step);
    }
}
