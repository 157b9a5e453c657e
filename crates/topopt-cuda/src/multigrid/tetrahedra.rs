//! `multigrid` on tetrahedra of ten nodes: cycles over levels whose structure the host makes, and the
//! numbers below the finest level.

use std::sync::Arc;

use topopt_fem::tetrahedra::{GROUP, Smoothed, VertexLevels};
use topopt_fem::{
    DIM, DIRECT, Discretization, ElementOperator, ElementPreconditioner, Level, MODES, WithSprings,
};
use topopt_linalg::{
    Backend, BackendError, CycleKind, Hierarchy, InverseDiagonal, LinearOperator, Preconditioner,
    Transfer,
};

use topopt_mesh::HexMesh;

use super::block_rows::{BlockMatrix, SmoothedOnDevice};
use super::convert::Convert;
use super::dense_inverse::DenseInverse;
use super::groups::{ElementsOfGroups, GroupsOnDevice};
use super::recorded::{RecordedCycle, by_recorded};
use super::vertices::VerticesOnDevice;
use crate::kernels;
use crate::operators::{Mf, ProblemOnDevice};
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// `multigrid` on tetrahedra: a cycle in precision `R`, for conjugate gradients in double precision.
pub struct TetrahedraMultigrid<'a, R: Real> {
    recorded: RecordedCycle<'a, R, VertexHierarchy<'a, R>>,
}

/// The levels on the device: nodes, matrix-free; vertices; aggregates.
pub struct VertexHierarchy<'a, R: Real> {
    device: Arc<Device>,
    on_host: VertexLevels<'a>,
    operator: WithSprings<'a, Cuda<R>, Mf<R>>,
    groups: GroupsOnDevice<R>,
    elements: ElementsOfGroups,
    vertices: VerticesOnDevice<R>,
    /// Levels of vertices and of aggregates.
    levels: Vec<LevelOnDevice<R>>,
    /// Transfers between these.
    transfers: Vec<SmoothedOnDevice<R>>,
    last: DenseInverse<R>,
    convert: Convert<R>,
}

/// [`Smoothed`] on the device.
struct LevelOnDevice<R> {
    matrix: BlockMatrix<R>,
    inverse: GroupsOnDevice<R>,
}

/// Kernels of all levels below the finest.
struct Kernels<R> {
    rows: Arc<kernels::BlockRows<R>>,
    groups: Arc<kernels::Groups<R>>,
}

impl<R: Real> LevelOnDevice<R> {
    fn new<const B: usize>(
        kernels: &Kernels<R>,
        device: &Device,
        on_host: &Smoothed<B>,
    ) -> Result<Self, BackendError> {
        let matrix = BlockMatrix::new(&kernels.rows, device, &on_host.matrix)?;
        let space = matrix.space();
        let inverse = GroupsOnDevice::new(&kernels.groups, device, &on_host.inverse, space)?;
        Ok(Self { matrix, inverse })
    }

    fn set<const B: usize>(
        &mut self,
        device: &Device,
        on_host: &Smoothed<B>,
    ) -> Result<(), BackendError> {
        self.matrix.set(device, &on_host.matrix)?;
        self.inverse.set(device, &on_host.inverse)
    }
}

impl<'a, R: Real> VertexHierarchy<'a, R> {
    fn new(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        let on_host = VertexLevels::new(problem);
        let kernels = Kernels {
            rows: Arc::new(kernels::BlockRows::load(device)?),
            groups: Arc::new(kernels::Groups::load(device)?),
        };

        let mut levels = vec![LevelOnDevice::new(&kernels, device, &on_host.first)?];
        let first = SmoothedOnDevice::new(&kernels.rows, device, &on_host.to_aggregates)?;
        let mut transfers = vec![first];
        for level in &on_host.aggregates {
            levels.push(LevelOnDevice::new(&kernels, device, level)?);
        }
        for transfer in &on_host.transfers {
            transfers.push(SmoothedOnDevice::new(&kernels.rows, device, transfer)?);
        }

        let elements = Box::new(Mf::new(on_device, problem)?);
        let space = problem.space();
        Ok(Self {
            operator: WithSprings::new(backend, problem, elements)?,
            groups: GroupsOnDevice::new(&kernels.groups, device, &on_host.groups, space)?,
            elements: ElementsOfGroups::new(on_device, &on_host)?,
            vertices: VerticesOnDevice::new(on_device, &on_host.vertices)?,
            last: DenseInverse::new(device, on_host.last().dimension())?,
            convert: Convert::load(device)?,
            device: device.clone(),
            levels,
            transfers,
            on_host,
        })
    }

    /// Recomputes all numbers for `moduli`, `[n_elements]`: those of the finest level here, of the
    /// others on the host.
    fn update(
        &mut self,
        backend: &Cuda<f64>,
        moduli: &DeviceVector<f64>,
    ) -> Result<(), BackendError> {
        let Self { device, on_host, operator, groups, elements, convert, .. } = self;
        let own = &mut operator.elements_mut().coefficients_mut()[0];
        convert.narrow(&moduli.values, &mut own.values);
        let of_host = backend.download(moduli)?;
        elements.update(groups, moduli);

        on_host.update_coarse(&[&of_host]);
        let Self { levels, transfers, last, .. } = self;
        transfers[0].set(device, &on_host.to_aggregates)?;
        levels[0].set(device, &on_host.first)?;
        for (level, on_host) in levels[1..].iter_mut().zip(&on_host.aggregates) {
            level.set(device, on_host)?;
        }
        for (transfer, on_host) in transfers[1..].iter_mut().zip(&on_host.transfers) {
            transfer.set(device, on_host)?;
        }
        last.set(device, on_host.last().to_dense().as_slice())
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
    /// Builds cycles of that kind for `problem`, which is `on_device` too; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let hierarchy = VertexHierarchy::new(backend, on_device, problem)?;
        Ok(Self { recorded: RecordedCycle::new(backend, kind, hierarchy, true)? })
    }

    /// Bytes on the device for a `mesh` without springs, at most.
    pub fn bytes(mesh: &HexMesh) -> usize {
        let (n_nodes, n_vertices) = (mesh.n_nodes(), n_vertices(mesh));
        let real = size_of::<R>();
        // Fragments enlarge groups by a tenth.
        let of_group =
            |unknowns: usize, group: usize| 4 * unknowns * unknowns * group * 11 / 10 + 5;
        let block = |size: usize| size * real + 4;

        // A node: vectors, its rows of the inverse of a group, its vertices, and its place among
        // the nodes that each of them moves. An element is one of six groups at most. A middle of an
        // edge couples two vertices.
        let nodes = (9 * DIM * real + of_group(DIM, GROUP[0]) + 16) * n_nodes;
        let couplings = block(DIM * DIM) * (2 * n_nodes - n_vertices);
        // A vertex: vectors, its rows of the inverse of a group, and blocks of the prolongation.
        let transfer = |unknowns: usize| MOST_NEAR * (block(unknowns * MODES) + 8);
        let vertex = 12 * DIM * real + of_group(DIM, GROUP[1]) + transfer(DIM) + 12;
        // An aggregate: the same of six unknowns, and its row. There are a fourth as many as
        // vertices, and a third more on the levels below.
        let aggregate = 12 * MODES * real
            + of_group(MODES, GROUP[1])
            + transfer(MODES)
            + 12
            + MOST_COUPLED * block(MODES * MODES);
        let levels = nodes + couplings + vertex * n_vertices + aggregate * n_vertices / 3;
        let elements = Mf::<R>::bytes(mesh.n_elements()) + 4 * 6 * mesh.n_elements();
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

/// Aggregates on average beside a point, its own among them, and coupled with an aggregate, at most.
const MOST_NEAR: usize = 6;
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
        self.hierarchy().on_host.sizes()
    }

    fn update(
        &mut self,
        backend: &Cuda<f64>,
        _: &dyn ElementOperator<Cuda<f64>>,
        coefficients: &[&DeviceVector<f64>],
    ) -> Result<(), BackendError> {
        self.recorded.reset_strength();
        let RecordedCycle { backend: in_cycle, cycle, .. } = &mut self.recorded;
        cycle.hierarchy_mut().update(backend, coefficients[0])?;
        cycle.update(in_cycle, |_| ());
        in_cycle.device().synchronize() // failures, and the time, are those of the setup
    }
}
