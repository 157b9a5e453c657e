//! `multigrid` on tetrahedra of ten nodes: cycles over levels whose structure the host makes, and
//! the device all numbers, in double precision.

use std::sync::Arc;

use topopt_fem::tetrahedra::{GROUP, Smoothed, SmoothedTransfer, VertexLevels};
use topopt_fem::{
    DIM, DIRECT, Discretization, ElementOperator, ElementPreconditioner, Level, MODES, Refreshed,
    Sharing, WithSprings,
};
use topopt_linalg::{
    Backend, BackendError, CycleKind, Hierarchy, InverseDiagonal, LinearOperator, Preconditioner,
    Transfer,
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
use crate::scalars::Scalar;
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
    operator: Refreshed<'a, Cuda<R>, WithSprings<'a, Cuda<R>, Mf<R>>>,
    groups: Refreshed<'a, Cuda<R>, GroupsOnDevice<R>>,
    elements: ElementsOfGroups,
    vertices: VerticesOnDevice<'a, R>,
    /// How ranks share the matrix of the vertices, if there are several.
    rows: Option<RowsOfRanks<'a>>,
    /// Levels of vertices and of aggregates.
    levels: Vec<LevelOnDevice<R>>,
    /// Transfers between these.
    transfers: Vec<SmoothedOnDevice<R>>,
    last: DenseInverse<R>,
    kernels: Kernels<R>,
}

/// The other ranks of one: in the precision `R` of the cycle, and in that of matrices.
#[derive(Clone)]
pub struct OtherRanks<'a, R: Real> {
    /// For vectors of the cycle.
    pub in_cycle: Arc<dyn Sharing<'a, Cuda<R>> + 'a>,
    /// For the matrix of the vertices.
    pub in_double: Arc<dyn Sharing<'a, Cuda<f64>> + 'a>,
}

/// Rows that ranks make in turn of a matrix that each has.
struct RowsOfRanks<'a> {
    ranks: Arc<dyn Sharing<'a, Cuda<f64>> + 'a>,
    /// Blocks of the rows of each.
    blocks: Vec<usize>,
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
        others: Option<OtherRanks<'a, R>>,
    ) -> Result<Self, BackendError> {
        let (device, others) = (backend.device(), others.as_ref());
        let in_cycle = others.map(|others| others.in_cycle.clone());
        let (on_host, groups) = VertexLevels::new(problem, in_cycle.as_deref())?;
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
        let operator = WithSprings::new(backend, problem, elements)?;
        let smoother = GroupsOnDevice::new(&kernels.groups, device, &groups, problem.space())?;
        Ok(Self {
            operator: Refreshed { operator, others: in_cycle.clone() },
            elements: ElementsOfGroups::new(on_device, &on_host, &groups)?,
            groups: Refreshed { operator: smoother, others: in_cycle.clone() },
            vertices: VerticesOnDevice::new(on_device, problem, &on_host, in_cycle.as_ref())?,
            rows: others.map(|others| RowsOfRanks::of(&on_host, &others.in_double)),
            last: DenseInverse::new(device, on_host.last().dimension())?,
            sizes: on_host.sizes(),
            levels,
            transfers,
            kernels,
        })
    }

    /// Recomputes all numbers for `moduli`, `[n_elements]`, without waiting.
    fn update(&mut self, backend: &Cuda<f64>, moduli: &DeviceVector<f64>) {
        let Self { operator, groups, elements, vertices, rows, levels, transfers, last, .. } = self;
        let Kernels { convert, block_groups, dense_blocks, .. } = &self.kernels;
        let own = &mut operator.operator.elements_mut().coefficients_mut()[0];
        convert.narrow(&moduli.values, &mut own.values);
        elements.update(&mut groups.operator, moduli);

        vertices.assemble(moduli, &mut levels[0].matrix);
        if let Some(RowsOfRanks { ranks, blocks }) = rows {
            levels[0].matrix.share(ranks.as_ref(), blocks);
        }
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

impl<'a> RowsOfRanks<'a> {
    /// Rows of the vertices of `on_host`.
    fn of(on_host: &VertexLevels, ranks: &Arc<dyn Sharing<'a, Cuda<f64>> + 'a>) -> Self {
        let (mut row, offsets) = (0, on_host.first.matrix.pattern().offsets());
        let blocks = on_host.vertices.counts.iter().map(|count| {
            row += count;
            offsets[row] - offsets[row - count]
        });
        Self { ranks: ranks.clone(), blocks: blocks.collect() }
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

    fn dot_into(
        &self,
        backend: &Cuda<R>,
        level: usize,
        x: &DeviceVector<R>,
        y: &DeviceVector<R>,
        out: &mut Scalar,
    ) {
        match &self.groups.others {
            Some(others) if level == 0 => others.dot_into(x, y, out),
            _ => backend.dot_into(x, y, out),
        }
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
        Self::among(backend, on_device, problem, kind, None)
    }

    /// Builds cycles for `problem` on a part, with the `others`, if there are any: vectors of the
    /// finest level hold the values of ghosts, see [`Sharing`], and all ranks have all levels
    /// below.
    ///
    /// # Errors
    /// As [`TetrahedraMultigrid::new`], and if another rank has failed.
    pub fn among(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &Discretization,
        kind: CycleKind,
        others: Option<OtherRanks<'a, R>>,
    ) -> Result<Self, BackendError> {
        // Unless the exchange with others is no work of the device.
        let is_recorded = others.as_ref().is_none_or(|others| others.in_cycle.is_recorded());
        let hierarchy = VertexHierarchy::new(backend, on_device, problem, others)?;
        Ok(Self { recorded: RecordedCycle::new(backend, kind, hierarchy, is_recorded)? })
    }

    /// Bytes on the device for a `mesh` without springs, at most.
    pub fn bytes(mesh: &HexMesh) -> usize {
        let (n_nodes, n_vertices) = (mesh.n_nodes(), mesh.n_vertices());
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
        elements.update(&mut groups.operator, moduli);
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

    fn take_steps(&mut self) -> Result<bool, BackendError> {
        self.recorded.take_steps()
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
