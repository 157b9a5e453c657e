//! The transfer between nodes of tetrahedra and their vertices, by the kernels of `cuda/vertices.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::tetrahedra::Vertices;
use topopt_linalg::{BackendError, Transfer};

use super::aggregates::flatten;
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::ProblemOnDevice;
use crate::vector::{DeviceVector, Real};

/// Prolongation and restriction between nodes and vertices, which moves nothing that is held.
pub(super) struct VerticesOnDevice<R> {
    kernels: kernels::Vertices<R>,
    problem: Arc<ProblemOnDevice>,
    n_vertices: usize,
    /// Nodes that are vertices, \[n_vertices\].
    nodes: CudaSlice<u32>,
    /// The two vertices that every node is between, \[2\]\[n_nodes\].
    ends: CudaSlice<u32>,
    /// \[n_vertices + 1\].
    offsets: CudaSlice<u32>,
    /// Nodes that every vertex moves, itself twice.
    moved: CudaSlice<u32>,
}

impl<R: Real> VerticesOnDevice<R> {
    /// The `vertices` of the mesh of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    pub fn new(problem: &Arc<ProblemOnDevice>, vertices: &Vertices) -> Result<Self, BackendError> {
        let device = &problem.device;
        let end = |i: usize| vertices.ends.iter().map(move |ends| ends[i]);
        let ends: Vec<u32> = end(0).chain(end(1)).collect();
        let (offsets, moved) = flatten(&vertices.moved);
        Ok(Self {
            kernels: kernels::Vertices::load(device)?,
            problem: problem.clone(),
            n_vertices: vertices.nodes.len(),
            nodes: device.upload(&vertices.nodes)?,
            ends: device.upload(&ends)?,
            offsets: device.upload(&offsets)?,
            moved: device.upload(&moved)?,
        })
    }
}

impl<R: Real> Transfer<Cuda<R>> for VerticesOnDevice<R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { n_vertices: n, nodes, offsets, moved, problem, .. } = self;
        let (n_nodes, held) = (problem.mesh.n_nodes, &problem.constraints.held);
        let (grid, n) = (Threads(*n), *n);
        self.kernels.restrict_vertices(grid, n, n_nodes, nodes, offsets, moved, held, fine, coarse);
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let (n, held) = (self.problem.mesh.n_nodes, &self.problem.constraints.held);
        self.kernels.prolong_vertices(Threads(n), n, &self.ends, held, coarse, fine);
    }
}
