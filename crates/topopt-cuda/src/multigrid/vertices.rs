//! The vertices of tetrahedra: the transfer from nodes by the kernels of `cuda/vertices.cu`, and
//! their matrix by that of `cuda/vertex_matrix.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::tetrahedra::VertexLevels;
use topopt_fem::{DIM, Discretization, Shared};
use topopt_linalg::{BackendError, Transfer};

use super::aggregates::flatten;
use super::block_rows::{BlockMatrix, WARP};
use super::shared_rows::Others;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::ProblemOnDevice;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Prolongation and restriction between nodes and vertices, which moves nothing that is held.
pub(super) struct VerticesOnDevice<'a, R: Real> {
    kernels: kernels::Vertices<R>,
    problem: Arc<ProblemOnDevice>,
    /// How ranks share the vertices, if there are several: all have all.
    shared: Option<Shared<'a, Cuda<R>>>,
    n_vertices: usize,
    /// Nodes that are vertices, `[n_vertices]`.
    nodes: CudaSlice<u32>,
    /// The two vertices that every node is between, `[2][n_nodes]`.
    ends: CudaSlice<u32>,
    /// `[n_vertices + 1]`.
    offsets: CudaSlice<u32>,
    /// Nodes that every vertex moves, itself twice.
    moved: CudaSlice<u32>,
    assembly: Assembly,
}

/// Ingredients of the matrix of the vertices.
struct Assembly {
    kernels: kernels::VertexMatrix,
    /// `[n_vertices + 1]`.
    offsets: CudaSlice<u32>,
    /// Elements of every vertex.
    elements: CudaSlice<u32>,
    /// `[n_vertices][3]`.
    springs: Option<CudaSlice<f64>>,
}

impl<'a, R: Real> VerticesOnDevice<'a, R> {
    /// The vertices of `on_host`, which is of the problem `on_device`, with the `others`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    pub fn new(
        on_device: &Arc<ProblemOnDevice>,
        problem: &Discretization,
        on_host: &VertexLevels,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let (device, vertices) = (&on_device.device, &*on_host.vertices);
        let end = |i: usize| vertices.ends.iter().map(move |ends| ends[i]);
        let ends: Vec<u32> = end(0).chain(end(1)).collect();
        let (offsets, moved) = flatten(&vertices.moved);
        Ok(Self {
            kernels: kernels::Vertices::load(device)?,
            problem: on_device.clone(),
            assembly: Assembly::new(device, problem, on_host)?,
            shared: others.map(|others| vertices.shared_by(others.clone())),
            n_vertices: vertices.nodes.len(),
            nodes: device.upload(&vertices.nodes)?,
            ends: device.upload(&ends)?,
            offsets: device.upload(&offsets)?,
            moved: device.upload(&moved)?,
        })
    }
}

impl<R: Real> VerticesOnDevice<'_, R> {
    /// Recomputes the numbers of the `matrix` of the vertices for `moduli`, `[n_elements]`.
    pub fn assemble(&self, moduli: &DeviceVector<f64>, matrix: &mut BlockMatrix<R>) {
        let Self { problem, nodes, assembly, .. } = self;
        let Assembly { kernels, offsets, elements, springs } = assembly;
        let ProblemOnDevice { mesh, constraints, .. } = &**problem;
        let (grid, material) = (Threads(WARP * self.n_vertices), problem.material());
        let (held, springs, view) = (&constraints.held, springs.as_ref(), matrix.view());
        let out = matrix.numbers_mut();
        kernels.vertex_matrix(
            grid, mesh, material, moduli, held, springs, nodes, offsets, elements, view, out,
        );
    }
}

impl Assembly {
    fn new(
        device: &Arc<Device>,
        problem: &Discretization,
        on_host: &VertexLevels,
    ) -> Result<Self, BackendError> {
        let (elements, offsets) = on_host.elements_of_vertices();
        let springs = problem.constraints().springs().map(|springs| {
            let shared = on_host.vertices.shared::<DIM>(springs.as_chunks().0);
            device.upload(shared.as_flattened())
        });
        Ok(Self {
            kernels: kernels::VertexMatrix::load(device)?,
            offsets: device.upload(&offsets)?,
            elements: device.upload(&elements)?,
            springs: springs.transpose()?,
        })
    }
}

impl<R: Real> Transfer<Cuda<R>> for VerticesOnDevice<'_, R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { n_vertices: n, nodes, offsets, moved, problem, .. } = self;
        let (n_nodes, held) = (problem.mesh.n_nodes, &problem.constraints.held);
        let (grid, n) = (Threads(*n), *n);
        let out = &mut *coarse;
        self.kernels.restrict_vertices(grid, n, n_nodes, nodes, offsets, moved, held, fine, out);
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let (n, held) = (self.problem.mesh.n_nodes, &self.problem.constraints.held);
        self.kernels.prolong_vertices(Threads(n), n, &self.ends, held, coarse, fine);
    }
}
