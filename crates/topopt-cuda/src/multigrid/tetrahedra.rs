//! `multigrid` on tetrahedra of ten nodes: cycles over levels whose structure the host makes, and
//! the device all numbers, in double precision.

use std::sync::Arc;

use topopt_fem::tetrahedra::{DEGREES, GROUP, Smoothed, SmoothedTransfer, VertexLevels};
use topopt_fem::{
    DIM, DIRECT, Discretization, ElementOperator, ElementPreconditioner, Level, MODES, WithSprings,
};
use topopt_linalg::{
    BackendError, CycleKind, Hierarchy, InverseDiagonal, LinearOperator, Preconditioner, Transfer,
};
use topopt_mesh::HexMesh;

use super::block_rows::BlockMatrix;
use super::convert::Convert;
use super::dense_inverse::DenseInverse;
use super::groups::{ElementsOfGroups, GroupsOnDevice};
use super::recorded::{RecordedCycle, by_recorded};
use super::smoothed::{SmoothedKernels, SmoothedOnDevice};
use super::vertices::VerticesOnDevice;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::{Mf, ProblemOnDevice};
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// `multigrid` on tetrahedra: a cycle in precision `R`, for conjugate gradients in double
/// precision.
pub struct TetrahedraMultigrid<'a, R: Real> {
    recorded: RecordedCycle<'a, R, VertexHierarchy<'a, R>>,
}

/// The levels on the device: nodes, matrix-free; vertices; aggregates.
pub struct VertexHierarchy<'a, R: Real> {
    sizes: Vec<Level>,
    operator: WithSprings<'a, Cuda<R>, Mf<R>>,
    groups: GroupsOnDevice<R>,
    elements: ElementsOfGroups,
    vertices: VerticesOnDevice<R>,
    /// Levels of vertices and of aggregates.
    levels: Vec<LevelOnDevice<R>>,
    /// Transfers between these.
    transfers: Vec<SmoothedOnDevice<R>>,
    last: DenseInverse<R>,
    kernels: Kernels<R>,
}

/// [`Smoothed`] on the device.
struct LevelOnDevice<R> {
    matrix: BlockMatrix<R>,
    inverse: GroupsOnDevice<R>,
}

/// Kernels of all levels below the finest.
struct Kernels<R> {
    rows: Arc<kernels::BlockRows<R>>,
    in_double: Arc<kernels::BlockRows<f64>>,
    smoothed: Arc<kernels::Smoothed>,
    groups: Arc<kernels::Groups<R>>,
    block_groups: kernels::BlockGroups,
    dense_blocks: kernels::DenseBlocks,
    convert: Convert<R>,
}

impl<R: Real> Kernels<R> {
    fn load(device: &Arc<Device>) -> Result<Self, BackendError> {
        Ok(Self {
            rows: Arc::new(kernels::BlockRows::load(device)?),
            in_double: Arc::new(kernels::BlockRows::load(device)?),
            smoothed: Arc::new(kernels::Smoothed::load(device)?),
            groups: Arc::new(kernels::Groups::load(device)?),
            block_groups: kernels::BlockGroups::load(device)?,
            dense_blocks: kernels::DenseBlocks::load(device)?,
            convert: Convert::load(device)?,
        })
    }

    fn level<const B: usize>(
        &self,
        device: &Device,
        on_host: &Smoothed<B>,
    ) -> Result<LevelOnDevice<R>, BackendError> {
        let matrix = BlockMatrix::zeros(&self.rows, device, on_host.matrix.pattern(), B)?;
        let space = matrix.space();
        let inverse = GroupsOnDevice::new(&self.groups, device, &on_host.inverse, space)?;
        Ok(LevelOnDevice { matrix, inverse })
    }

    fn transfer<const B: usize>(
        &self,
        device: &Device,
        on_host: &SmoothedTransfer<B, MODES>,
    ) -> Result<SmoothedOnDevice<R>, BackendError> {
        let kernels = SmoothedKernels {
            rows: self.rows.clone(),
            in_double: self.in_double.clone(),
            smoothed: self.smoothed.clone(),
        };
        SmoothedOnDevice::new(kernels, device, on_host)
    }
}

impl<'a, R: Real> VertexHierarchy<'a, R> {
    fn new(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &Discretization,
    ) -> Result<Self, BackendError> {
        let (device, on_host) = (backend.device(), VertexLevels::new(problem));
        let kernels = Kernels::load(device)?;
        let mut levels = vec![kernels.level(device, &on_host.first)?];
        let mut transfers = vec![kernels.transfer(device, &on_host.to_aggregates)?];
        for level in &on_host.aggregates {
            levels.push(kernels.level(device, level)?);
        }
        for transfer in &on_host.transfers {
            transfers.push(kernels.transfer(device, transfer)?);
        }

        let elements = Box::new(Mf::new(on_device, problem)?);
        let space = problem.space();
        Ok(Self {
            operator: WithSprings::new(backend, problem, elements)?,
            groups: GroupsOnDevice::new(&kernels.groups, device, &on_host.groups, space)?,
            elements: ElementsOfGroups::new(on_device, &on_host)?,
            vertices: VerticesOnDevice::new(on_device, problem, &on_host)?,
            last: DenseInverse::new(device, on_host.last().dimension())?,
            sizes: on_host.sizes(),
            levels,
            transfers,
            kernels,
        })
    }

    /// Recomputes all numbers for `moduli`, `[n_elements]`, without waiting.
    fn update(&mut self, backend: &Cuda<f64>, moduli: &DeviceVector<f64>) {
        let Self { operator, groups, elements, vertices, levels, transfers, last, kernels, .. } =
            self;
        let Kernels { convert, block_groups, dense_blocks, .. } = kernels;
        let own = &mut operator.elements_mut().coefficients_mut()[0];
        convert.narrow(&moduli.values, &mut own.values);
        elements.update(groups, moduli);

        vertices.assemble(moduli, &mut levels[0].matrix);
        for (level, transfer) in transfers.iter_mut().enumerate() {
            let (done, rest) = levels.split_at_mut(level + 1);
            let LevelOnDevice { matrix, inverse } = &mut done[level];
            matrix.finish(convert, block_groups, inverse);
            transfer.update(backend, convert, matrix, &mut rest[0].matrix);
        }
        let LevelOnDevice { matrix, inverse } = &mut levels[transfers.len()];
        matrix.finish(convert, block_groups, inverse);
        let (n, view) = (matrix.dimension(), matrix.view());
        last.update(|scale, dense| {
            dense_blocks.dense_blocks_scale(Threads(n), n, view, &mut *scale);
            dense_blocks.dense_blocks(Threads(n * n), n, view, &*scale, dense);
        });
    }
}

impl<R: Real> Hierarchy<Cuda<R>> for VertexHierarchy<'_, R> {
    fn n_levels(&self) -> usize {
        1 + self.levels.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cuda<R>> {
        match level {
            0 => &self.operator,
            _ => &self.levels[level - 1].matrix,
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cuda<R>> {
        match level {
            0 => &self.groups,
            _ => &self.levels[level - 1].inverse,
        }
    }

    fn degrees(&self) -> [usize; 2] {
        DEGREES
    }

    fn has_outliers(&self) -> bool {
        true
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cuda<R>> {
        match level {
            0 => &self.vertices,
            _ => &self.transfers[level - 1],
        }
    }

    fn solve_last(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        self.last.solve(b, x);
    }
}

impl<'a, R: Real> TetrahedraMultigrid<'a, R> {
    /// Builds cycles of that kind for `problem`, which is `on_device` too; needs an update before
    /// use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &Discretization,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let hierarchy = VertexHierarchy::new(backend, on_device, problem)?;
        Ok(Self { recorded: RecordedCycle::new(backend, kind, hierarchy, true)? })
    }

    /// Bytes on the device for a `mesh` without springs, at most.
    pub fn bytes(mesh: &HexMesh) -> usize {
        let (n_nodes, n_vertices) = (mesh.n_nodes(), n_vertices(mesh));
        let real = size_of::<R>();
        // A triangle for each group; fragments enlarge groups by a tenth.
        let of_group =
            |unknowns: usize, group: usize| 2 * unknowns * (unknowns * group * 11 / 10 + 1) + 5;
        // Rounded, and in double precision.
        let block = |size: usize| size * (real + 8) + 4;

        // A node: vectors, its rows of the inverse of a group, its vertices, and its place among
        // the nodes that each of them moves. An element is one of six groups at most and of four
        // vertices. A middle of an edge couples two of these.
        let nodes = (9 * DIM * real + of_group(DIM, GROUP[0]) + 16) * n_nodes;
        let couplings = block(DIM * DIM) * (2 * n_nodes - n_vertices);
        // A vertex: vectors, its rows of the inverse of a group, and of the prolongation P with
        // modes before smoothing, of A P and of the power method.
        let transfer = |unknowns: usize| {
            let numbers = unknowns * (MODES + unknowns + 3) + MOST_BEYOND * unknowns * MODES;
            MOST_NEAR * (block(unknowns * MODES) + 8) + 8 * numbers + 4 * MOST_BEYOND
        };
        let vertex = 12 * DIM * real + of_group(DIM, GROUP[1]) + transfer(DIM) + 12;
        // An aggregate: the same of six unknowns, and its row. There are a fourth as many as
        // vertices, and a third more on the levels below.
        let aggregate = 12 * MODES * real
            + of_group(MODES, GROUP[1])
            + transfer(MODES)
            + 12
            + MOST_COUPLED * block(MODES * MODES);
        let levels = nodes + couplings + vertex * n_vertices + aggregate * n_vertices / 3;
        let elements = Mf::<R>::bytes(mesh.n_elements()) + 4 * (6 + 4) * mesh.n_elements();
        levels + elements + 8 * (DIRECT + 200) * DIRECT
    }

    /// Recomputes the inverses of groups of the finest level for `moduli`, `[n_elements]`, without
    /// waiting.
    pub fn update_groups(&mut self, moduli: &DeviceVector<f64>) {
        let VertexHierarchy { groups, elements, .. } = self.recorded.cycle.hierarchy_mut();
        elements.update(groups, moduli);
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &VertexHierarchy<'a, R> {
        self.recorded.cycle.hierarchy()
    }
}

/// Aggregates on average beside a point, its own among them, beside these, and coupled with an
/// aggregate, at most.
const MOST_NEAR: usize = 6;
const MOST_BEYOND: usize = 12;
const MOST_COUPLED: usize = 30;

fn n_vertices(mesh: &HexMesh) -> usize {
    let mut is_vertex = vec![false; mesh.n_nodes()];
    let corners = mesh.tetrahedra().iter().flat_map(|nodes| &nodes[..4]);
    corners.for_each(|&node| is_vertex[node as usize] = true);
    is_vertex.into_iter().filter(|is_vertex| *is_vertex).count()
}

impl<R: Real> Preconditioner<Cuda<f64>> for TetrahedraMultigrid<'_, R> {
    by_recorded!();
}

impl<R: Real> ElementPreconditioner<Cuda<f64>> for TetrahedraMultigrid<'_, R> {
    fn cycle(&self) -> Option<CycleKind> {
        Some(self.recorded.cycle.kind())
    }

    fn levels(&self) -> Vec<Level> {
        self.hierarchy().sizes.clone()
    }

    fn update(
        &mut self,
        backend: &Cuda<f64>,
        _: &dyn ElementOperator<Cuda<f64>>,
        coefficients: &[&DeviceVector<f64>],
    ) -> Result<(), BackendError> {
        self.recorded.reset_strength();
        let RecordedCycle { backend: in_cycle, cycle, .. } = &mut self.recorded;
        cycle.hierarchy_mut().update(backend, coefficients[0]);
        cycle.update(in_cycle, |_| ());
        in_cycle.device().synchronize() // failures, and the time, are those of the setup
    }
}
