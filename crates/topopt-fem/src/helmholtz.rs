//! The Helmholtz filter \[LazarovSigmund2011\].

mod ranks;

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use topopt_linalg::{
    Backend, BackendError, Cpu, Cycle, CycleKind, Hierarchy, LinearOperator, Pcg, PcgOptions,
    PcgOutcome, Preconditioner, Space, StopReason, System,
};
use topopt_mesh::cells::Shape;
use topopt_mesh::tetrahedron::TetrahedronNodes;
use topopt_mesh::vector::{difference, dot};
use topopt_mesh::{HexMesh, NodeToElements, hexahedron, tetrahedron};

use crate::diffusion::shape_integrals;
use crate::multigrid::ScalarAggregation;
use crate::operators::assembly::{RowElements, pattern};
use crate::{Averaging, AveragingError, Constraints, Corners, Diffusion};

pub use ranks::{PartOfFilter, RankEquation};

/// Tight, so that what is computed is linear and symmetric for all who use it.
const SOLVE: PcgOptions = PcgOptions { tolerance: 1e-11, max_iterations: 500 };

/// Diffusion equation of the filter on one backend, with the maps from elements to nodes and back.
pub trait FilterEquation<B: Backend>: Send + Sync {
    /// A, [`Diffusion`] with [`filter_coefficients`].
    fn operator(&self) -> &dyn LinearOperator<B>;

    /// The preconditioner of A.
    fn preconditioner(&self) -> &dyn Preconditioner<B>;

    /// Number of elements.
    fn n_elements(&self) -> usize;

    /// The maps T^T V^-1 and V^-1 T.
    fn means(&self) -> &dyn ElementMeans<B>;
}

/// $y = V^{-1} T A^{-1} T^T V^{-1} x$, the means over the elements of the solution n of
/// $-r^2 \Delta n + n = x / v$ without flux through the surface, for x that are integrals over the
/// elements. v is the volume of an element, T_ea the integral of the shape function of node a over
/// element e, and A = r^2 L + M is [`Diffusion`] by the Gauss rule with the conductivity r^2 and the
/// capacity 1.
///
/// A cone of radius R blurs along a line as much as r = R / (2 sqrt 3), squared R^2 / 12. Of that
/// squared length T and its transpose blur h^2 / 4 by themselves, where h^3 is the volume of the
/// element; L takes the rest. Elements of a mesh of tetrahedra are the [linear](HexMesh::linear)
/// ones, whose four vertices at distances d_a from the center blur the sum of d_a^2 / 12.
///
/// As A 1 = T^T 1, a uniform x / v stays as it is, and the integral of n is the sum of x. As the
/// capacity is lumped, A is an M-matrix on cubes and on tetrahedra without obtuse angles between
/// faces, and n between the bounds of x / v; with ten nodes A would be none on any tetrahedron.
pub struct Helmholtz<'a, B: Backend, E> {
    backend: &'a B,
    equation: E,
    work: Mutex<Work<B>>,
}

struct Work<B: Backend> {
    pcg: Pcg<B>,
    /// T^T V^-1 x and n, `[n_nodes]`.
    source: B::Vector,
    field: B::Vector,
}

impl<'a, B: Backend, E: FilterEquation<B>> Helmholtz<'a, B, E> {
    /// Vectors of one entry per node that it holds besides its equation.
    pub const NODAL_VECTORS: usize = 6;

    /// The filter that solves `equation`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn solving(backend: &'a B, equation: E) -> Result<Self, BackendError> {
        let nodes = equation.operator().space();
        let (source, field) = (backend.zeros(nodes)?, backend.zeros(nodes)?);
        let work = Work { pcg: Pcg::new(backend, nodes)?, source, field };
        Ok(Self { backend, equation, work: Mutex::new(work) })
    }

    /// y as above, and how the solve went.
    fn solve(&self, x: &B::Vector, y: &mut B::Vector) -> Result<PcgOutcome, BackendError> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let Work { pcg, source, field } = &mut *work;
        self.equation.means().spread(x, source);
        // From zero: what was solved before must not matter.
        self.backend.fill(0.0, field);
        let (a, m) = (self.equation.operator(), self.equation.preconditioner());
        let system = System { backend: self.backend, a, m, f: source };
        let outcome = pcg.solve(&system, field, SOLVE, &mut |_| ControlFlow::Continue(()))?;
        self.equation.means().average(field, y);
        Ok(outcome)
    }
}

impl<B: Backend + Sync, E: FilterEquation<B>> Averaging<B> for Helmholtz<'_, B, E>
where
    Pcg<B>: Send,
{
    fn space(&self) -> Space {
        Space::elements(self.equation.n_elements())
    }

    fn apply(&self, x: &B::Vector, y: &mut B::Vector) -> Result<(), AveragingError> {
        let outcome = self.solve(x, y)?;
        match outcome.reason {
            StopReason::Converged => Ok(()),
            _ => Err(AveragingError::NotSolved(outcome)),
        }
    }
}

/// Conductivities r^2 and capacities of all elements of A, for the radius R of a cone that blurs as
/// much, `[n_elements]` each. Capacities are 1, and of curved tetrahedra their volumes in those of
/// the linear ones.
pub fn filter_coefficients(mesh: &HexMesh, radius: f64) -> [Vec<f64>; 2] {
    let square = radius * radius / 12.0;
    let of_element = |e: usize| match mesh.shape() {
        Shape::Tetrahedron => of_tetrahedron(&mesh.tetrahedron_coordinates(e), square),
        _ => of_hexahedron(&mesh.element_coordinates(e), square),
    };
    let elements = (0..mesh.n_elements()).into_par_iter();
    let (conductivities, capacities) = elements.map(of_element).unzip();
    [conductivities, capacities]
}

/// Conductivity and capacity of a hexahedron at `x` for a `square` of the length that is to blur.
fn of_hexahedron(x: &Corners, square: f64) -> (f64, f64) {
    let width = hexahedron::volume(x).cbrt();
    ((square - 0.25 * width * width).max(0.0), 1.0)
}

/// Conductivity and capacity of a tetrahedron at `x` in the same way.
fn of_tetrahedron(x: &TetrahedronNodes, square: f64) -> (f64, f64) {
    let vertices = [x[0], x[1], x[2], x[3]];
    let straight = tetrahedron::volume(&tetrahedron::straight(vertices));
    let capacity = tetrahedron::volume(x) / straight;
    ((square - blur_of_vertices(vertices)).max(0.0), capacity)
}

/// Squared length of the blur of T along a line in a tetrahedron with `vertices`.
fn blur_of_vertices(vertices: [[f64; 3]; 4]) -> f64 {
    let center: [f64; 3] = std::array::from_fn(|i| vertices.iter().map(|x| 0.25 * x[i]).sum());
    let from = vertices.map(|x| difference(x, center));
    from.iter().map(|from| dot(*from, *from)).sum::<f64>() / 12.0
}

/// T_ea / v_e, `[n_elements][8]`: the means of the shape functions over the elements.
pub fn shape_means(mesh: &HexMesh) -> Vec<[f64; 8]> {
    let mean = |e: usize| {
        let integrals = shape_integrals(&mesh.element_coordinates(e));
        integrals.map(|integral| integral / integrals.iter().sum::<f64>())
    };
    (0..mesh.n_elements()).into_par_iter().map(mean).collect()
}

/// The way from elements to nodes and back by the means of the shape functions over the elements.
pub trait ElementMeans<B: Backend>: Send + Sync {
    /// source = T^T V^-1 x, `[n_nodes]`, for x, `[n_elements]`.
    fn spread(&self, x: &B::Vector, source: &mut B::Vector);

    /// y = V^-1 T field, `[n_elements]`, for field, `[n_nodes]`.
    fn average(&self, field: &B::Vector, y: &mut B::Vector);
}

/// Means of the shape functions per element, on the CPU.
pub struct CpuMeans {
    mesh: HexMesh,
    adjacency: NodeToElements,
    means: Vec<[f64; 8]>,
}

impl CpuMeans {
    /// Computes the means of the shape functions over the elements of `mesh`.
    pub fn new(mesh: &HexMesh) -> Self {
        let (adjacency, means) = (NodeToElements::new(mesh), shape_means(mesh));
        Self { mesh: mesh.clone(), adjacency, means }
    }
}

impl ElementMeans<Cpu> for CpuMeans {
    fn spread(&self, x: &Vec<f64>, source: &mut Vec<f64>) {
        source.par_iter_mut().with_min_len(1024).enumerate().for_each(|(node, source)| {
            let elements = self.adjacency.of(node).map(|(e, a)| (e as usize, a as usize));
            *source = elements.map(|(e, a)| self.means[e][a] * x[e]).sum();
        });
    }

    fn average(&self, field: &Vec<f64>, y: &mut Vec<f64>) {
        y.par_iter_mut().with_min_len(1024).enumerate().for_each(|(e, y)| {
            let nodes = self.mesh.hexes()[e].iter().zip(&self.means[e]);
            *y = nodes.map(|(&node, mean)| mean * field[node as usize]).sum();
        });
    }
}

/// The equation on the CPU: as its coefficients never change, A is assembled, which with one
/// unknown per node takes less to read than the elements take to compute.
pub struct AssembledEquation {
    means: CpuMeans,
    /// A and its preconditioner.
    multigrid: Cycle<Cpu, ScalarAggregation>,
}

impl Helmholtz<'_, Cpu, AssembledEquation> {
    /// The filter on the CPU that blurs as much as a cone of radius R.
    ///
    /// # Errors
    /// [`BackendError`] never on the CPU.
    pub fn new(mesh: &HexMesh, radius: f64) -> Result<Self, BackendError> {
        let [conductivities, capacities] = filter_coefficients(mesh, radius);
        let mesh = &mesh.linear().unwrap_or_else(|| mesh.clone());
        let means = CpuMeans::new(mesh);
        let adjacency = &means.adjacency;
        let hierarchy = ScalarAggregation::new(mesh.coordinates(), pattern(mesh, adjacency));
        // Steady: a resumed run would have other bits if one application changed the next.
        let mut multigrid = Cycle::new(&Cpu, CycleKind::K, hierarchy)?.steady();
        let terms = [&conductivities, &capacities];
        let (rows, free) = (RowElements::new(mesh, adjacency), Constraints::none(mesh.n_nodes()));
        multigrid.update(&Cpu, |hierarchy| {
            hierarchy.update(|matrix| {
                rows.assemble(&Diffusion::default(), &mesh.into(), &free, &terms, matrix)
            });
        });
        Self::solving(&Cpu, AssembledEquation { means, multigrid })
    }

    /// Bytes that the filter of `mesh` takes.
    pub fn bytes(mesh: &HexMesh) -> usize {
        // A node: 27 entries (12 each), 8 elements (5 each), 13 vectors, its place in an aggregate
        // and the levels above (70), and in the setup a list of its neighbors (132); a vertex of
        // tetrahedra has fewer entries and more elements. An element: its means, and its nodes
        // where these are other ones.
        let nodes = if mesh.shape() == Shape::Tetrahedron { 32 } else { 0 };
        672 * mesh.n_vertices() + (64 + nodes) * mesh.n_elements()
    }
}

impl FilterEquation<Cpu> for AssembledEquation {
    fn operator(&self) -> &dyn LinearOperator<Cpu> {
        self.multigrid.hierarchy().operator(0)
    }

    fn preconditioner(&self) -> &dyn Preconditioner<Cpu> {
        &self.multigrid
    }

    fn n_elements(&self) -> usize {
        self.means.means.len()
    }

    fn means(&self) -> &dyn ElementMeans<Cpu> {
        &self.means
    }
}

#[cfg(test)]
mod tests;
