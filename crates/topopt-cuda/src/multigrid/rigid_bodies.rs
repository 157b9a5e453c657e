//! Aggregates of elasticity, which move as rigid bodies by six modes: kernels of `cuda/block_diagonal.cu`,
//! `cuda/transfer.cu`, `cuda/coarse_transfer.cu`, `cuda/galerkin.cu`, `cuda/ground.cu` and `cuda/bsr6.cu`.

use std::ops::Range;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Discretization, Elasticity, ElementKernel, MODES};
use topopt_linalg::{Backend, BackendError, Layout, Space};

use super::aggregates::{Grouping, Points};
use super::convert::Convert;
use super::element_bounds::element_bounds;
use super::joints::{JointLists, SupportedRows};
use super::level::{CoarseMatrix, Fine, LevelKernels, Rows};
use super::smooth_step::{Step, how, launch_smooth};
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels::{self, Part};
use crate::operators::ProblemOnDevice;
use crate::vector::{DeviceVector, Real};

/// Threads that share an element, and that share a row.
const LANES: usize = defined!("common/joint.cuh", "LANES");
const WARP: usize = 32;
/// Threads of a row in products by half of the blocks.
const ROW_LANES: usize = defined!("bsr6.cu", "ROW_LANES");

/// Numbers of a block.
const SIZE: usize = defined!("common/blocks.cuh", "SIZE");
const _: () = assert!(SIZE == MODES * MODES && MODES == defined!("common/rigid.cuh", "MODES"));

/// Kernels for rigid bodies.
pub struct RigidBodies<R> {
    nodal: kernels::BlockDiagonal<R>,
    transfer: kernels::Transfer<R>,
    coarse_transfer: kernels::CoarseTransfer<R>,
    galerkin: kernels::Galerkin<R>,
    ground: kernels::Ground<R>,
    levels: kernels::Bsr6<R>,
    filling: kernels::DenseFill<R>,
}

impl<R: Real> LevelKernels<Elasticity, R, DIM> for RigidBodies<R> {
    fn load(backend: &Cuda<R>, problem: &Discretization) -> Result<Self, BackendError> {
        let (device, formulation) = (backend.device(), problem.kernel().formulation());
        Ok(Self {
            nodal: kernels::BlockDiagonal::load_for(formulation, device)?,
            transfer: kernels::Transfer::load(device)?,
            coarse_transfer: kernels::CoarseTransfer::load(device)?,
            galerkin: kernels::Galerkin::load_for(formulation, device)?,
            ground: kernels::Ground::load_for(formulation, device)?,
            levels: kernels::Bsr6::load(device)?,
            filling: kernels::DenseFill::load(device)?,
        })
    }

    fn bytes_of_node() -> usize {
        let real = size_of::<R>();
        // Seven work vectors, six numbers of the diagonal block, the aggregate; a block of the
        // first coarse matrix with its column, row, joint and half a pair; and the share of the
        // ground, the diagonal and its inverse.
        27 * real + 8 + 40 * real + 8 + 6 + SIZE * (2 * real + 8) / 27
    }

    fn bounds(
        backend: &Cuda<R>,
        on_device: &ProblemOnDevice,
        problem: &Discretization,
    ) -> Result<DeviceVector<R>, BackendError> {
        let exact = element_bounds(&on_device.mesh, problem.kernel())?;
        let mut bounds = backend.zeros(exact.space)?;
        Convert::load(backend.device())?.narrow(&exact.values, &mut bounds.values);
        Ok(bounds)
    }

    fn invert_finest(
        &self,
        _: &Cuda<R>,
        fine: &Fine<'_, R, Elasticity, DIM>,
        raised: &[DeviceVector<R>],
        inverse: &mut DeviceVector<R>,
    ) {
        let springs = fine.stiffness().map(|springs| &springs.values);
        let problem = fine.elements().problem();
        invert_blocks(&self.nodal, problem, springs, inverse, |part, out| {
            add_blocks(&self.nodal, problem, part, &raised[0], out);
        });
    }

    fn first_matrix(
        &self,
        _: &Cuda<R>,
        fine: &Fine<'_, R, Elasticity, DIM>,
        (joints, supported): (&JointLists, &SupportedRows),
        coarse: &mut CoarseMatrix<'_, R, Elasticity, DIM>,
    ) {
        let problem = fine.elements().problem();
        let (moduli, material) = (&fine.elements().coefficients()[0], problem.material());
        let ProblemOnDevice { device, mesh, constraints, .. } = problem;
        let CoarseMatrix { rows: at, blocks, ground, aggregates, .. } = coarse;
        let (held, nodes) = (&constraints.held, &**aggregates);

        let JointLists { n, rows, places, part_offsets: parts, parts: elements } = joints;
        let (grid, n, offsets, columns) = (Threads(LANES * n), *n, &at.offsets, &at.columns);
        self.galerkin.galerkin_joints(
            grid, mesh, material, nodes, held, moduli, n, rows, places, parts, elements, offsets,
            columns, blocks,
        );

        device.record("clearing the ground", device.stream().memset_zeros(&mut ground.values));
        let SupportedRows { n, rows, offsets, elements } = supported;
        let (grid, n, out) = (Threads(WARP * n), *n, &mut *ground);
        self.ground.galerkin_supports(
            grid, mesh, material, nodes, held, moduli, n, rows, offsets, elements, out,
        );

        let Some(springs) = &constraints.springs else { return };
        let Grouping { n_aggregates: n, offsets, members, centers, .. } = nodes;
        let (grid, n, n_nodes, at) = (Threads(MODES * n), *n, mesh.n_nodes, &mesh.coordinates);
        self.ground
            .galerkin_springs(grid, n, n_nodes, offsets, members, at, centers, springs, ground);
    }

    fn next_matrix(
        &self,
        fine: &CoarseMatrix<'_, R, Elasticity, DIM>,
        joints: &JointLists,
        coarse: &mut CoarseMatrix<'_, R, Elasticity, DIM>,
    ) {
        let CoarseMatrix { rows: at, blocks, ground, aggregates: parents, .. } = coarse;
        let Grouping { n_aggregates: n, n_points, of, centers, offsets, members } = &**parents;
        let (n, n_points, from) = (*n, *n_points, &fine.aggregates.centers);

        let JointLists { n: count, rows, places, part_offsets: starts, parts } = joints;
        let (grid, count) = (Threads(WARP * count), *count);
        let (fine_rows, fine_cols) = (&fine.rows.of_blocks, &fine.rows.columns);
        let (values, row_starts, columns) = (&fine.blocks, &at.offsets, &at.columns);
        self.galerkin.galerkin_aggregates(
            grid, n, n_points, count, of, from, centers, rows, places, starts, parts, fine_rows,
            fine_cols, values, row_starts, columns, blocks,
        );

        let (grid, values) = (Threads(WARP * n), &fine.ground);
        self.galerkin
            .ground_aggregates(grid, n, n_points, offsets, members, from, centers, values, ground);
    }

    fn complete(&self, matrix: &mut CoarseMatrix<'_, R, Elasticity, DIM>) {
        let CoarseMatrix { rows, blocks, ground, diagonal, inverse, aggregates, .. } = matrix;
        let Rows { n, offsets, columns, .. } = rows;
        let (grid, n, centers, out) = (Threads(WARP * *n), *n, &aggregates.centers, &mut *diagonal);
        let (blocks, ground) = (&*blocks, &*ground);
        self.levels.diagonal6(grid, n, &*offsets, &*columns, blocks, ground, centers, out);
        self.levels.invert_diagonal6(Threads(n), n, &*diagonal, &mut inverse.values);
    }

    fn product(
        &self,
        matrix: &CoarseMatrix<'_, R, Elasticity, DIM>,
        rows: Range<usize>,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        let CoarseMatrix { device, rows: at, blocks, ground, .. } = matrix;
        let Rows { offsets, columns, arms, uppers, .. } = at;
        if let Some(uppers) = uppers {
            device.record("clearing a product", device.stream().memset_zeros(&mut y.values));
            let (grid, n) = (Threads(ROW_LANES * at.n), at.n);
            let upper = &self.levels;
            return upper.bsr6_upper(grid, n, offsets, uppers, columns, blocks, arms, ground, x, y);
        }
        let (grid, first, end) = (Threads(WARP * rows.len()), rows.start, rows.end);
        self.levels.bsr6(grid, first, end, offsets, columns, blocks, arms, ground, x, y);
    }

    fn fill_dense(
        &self,
        matrix: &CoarseMatrix<'_, R, Elasticity, DIM>,
        n: usize,
        scale: &mut CudaSlice<f64>,
        dense: &mut CudaSlice<f64>,
    ) {
        let CoarseMatrix { rows: Rows { offsets, columns, .. }, blocks, diagonal, .. } = matrix;
        self.filling.dense_scale(Threads(n), n, diagonal, &mut *scale);
        let grid = Threads(n * n);
        let scale = &*scale;
        self.filling.dense_fill(grid, n, offsets, columns, blocks, diagonal, scale, dense);
    }

    fn restrict(
        &self,
        points: &Points,
        aggregates: &Grouping,
        fine: &DeviceVector<R>,
        coarse: &mut DeviceVector<R>,
    ) {
        let Grouping { n_aggregates: n, n_points, offsets, members, centers, .. } = aggregates;
        let (grid, n, n_points) = (Threads(WARP * n), *n, *n_points);
        match points {
            Points::Nodes(mesh, constraints) => {
                let (from, held) = (&mesh.coordinates, &constraints.held);
                self.transfer.restrict_nodes(
                    grid, n, n_points, offsets, members, from, centers, held, fine, coarse,
                );
            }
            Points::Aggregates(children) => {
                let from = &children.centers;
                self.coarse_transfer.restrict_aggregates(
                    grid, n, n_points, offsets, members, from, centers, fine, coarse,
                );
            }
        }
    }

    fn prolong_add(
        &self,
        points: &Points,
        aggregates: &Grouping,
        coarse: &DeviceVector<R>,
        fine: &mut DeviceVector<R>,
    ) {
        let Grouping { n_aggregates: n, n_points, of, centers, .. } = aggregates;
        let (grid, n, n_points) = (Threads(*n_points), *n, *n_points);
        match points {
            Points::Nodes(mesh, constraints) => {
                let (from, held) = (&mesh.coordinates, &constraints.held);
                self.transfer
                    .prolong_nodes(grid, n, n_points, of, from, centers, held, coarse, fine);
            }
            Points::Aggregates(children) => {
                let from = &children.centers;
                self.coarse_transfer
                    .prolong_aggregates(grid, n, n_points, of, from, centers, coarse, fine);
            }
        }
    }

    fn apply_inverse(
        &self,
        space: Space,
        inverse: &DeviceVector<R>,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        let n = space.points;
        match space.layout {
            Layout::Nodes => self.nodal.apply_blocks(Threads(n), n, inverse, x, y),
            _ => self.levels.apply_diagonal6(Threads(MODES * n), n, inverse, x, y),
        }
    }

    fn smooth(&self, space: Space, inverse: &DeviceVector<R>, step: Step<'_, R>) {
        let n = space.points;
        match space.layout {
            Layout::Nodes => {
                launch_smooth!(self.nodal, smooth_blocks, Threads(n), n, inverse, step);
            }
            _ => {
                let grid = Threads(MODES * n);
                launch_smooth!(self.levels, smooth_diagonal6, grid, n, inverse, step);
            }
        }
    }
}

/// Adds the 3x3 blocks on the diagonal of K, `[6][n_nodes]`, of a part of the hexahedra with
/// `moduli`.
pub(super) fn add_blocks<R: Real>(
    kernels: &kernels::BlockDiagonal<R>,
    problem: &ProblemOnDevice,
    part: Part,
    moduli: &DeviceVector<R>,
    blocks: &mut DeviceVector<R>,
) {
    let (grid, material) = (Threads(part.count as usize), problem.material());
    kernels.block_diagonal(grid, &problem.mesh, part, material, moduli, blocks);
}

/// Inverts the 3x3 blocks on the diagonal of K and springs, the identity at held components,
/// `[6][n_nodes]`; `add` adds those of a part of the elements.
pub(super) fn invert_blocks<R: Real>(
    kernels: &kernels::BlockDiagonal<R>,
    problem: &ProblemOnDevice,
    springs: Option<&CudaSlice<R>>,
    blocks: &mut DeviceVector<R>,
    add: impl Fn(Part, &mut DeviceVector<R>),
) {
    let ProblemOnDevice { device, mesh, constraints, .. } = problem;
    let cleared = device.stream().memset_zeros(&mut blocks.values);
    device.record("clearing the diagonal blocks", cleared);
    if let Some(springs) = springs {
        // The first three planes.
        let copied = device.stream().memcpy_dtod(springs, &mut blocks.values);
        device.record("copying springs", copied);
    }
    mesh.parts().for_each(|part| add(part, blocks));
    kernels.invert_blocks(Threads(mesh.n_nodes), mesh.n_nodes, &constraints.held, blocks);
}
