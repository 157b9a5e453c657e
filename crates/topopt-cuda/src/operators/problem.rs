//! A problem on the device: mesh, constraints and integrals, shared by all operators.

use std::sync::Arc;

use topopt_fem::{DIM, Discretization, Elasticity, Formulation};
use topopt_linalg::{BackendError, Space};
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;

use super::clusters::Clusters;
use super::constraints::{Constraints, held};
use super::mesh::MeshOnDevice;
use super::tetrahedra_clusters::TetrahedraClusters;
use crate::Device;
use crate::assembly::Assembled;
use crate::kernels::Lame;

/// Data of a problem that every operator reads, on one GPU.
pub struct ProblemOnDevice<K = Elasticity, const N: usize = DIM> {
    pub(crate) device: Arc<Device>,
    pub(crate) mesh: Arc<MeshOnDevice>,
    pub(crate) constraints: Arc<Constraints>,
    /// The elements in clusters, where `mf` is faster so, and not by color.
    pub(crate) clusters: Option<Arc<Clusters>>,
    /// Tetrahedra in clusters, under these conditions.
    pub(crate) tetrahedra: Option<Arc<TetrahedraClusters>>,
    kernel: K,
}

impl<K: Assembled<N>, const N: usize> ProblemOnDevice<K, N> {
    /// Copies what operators need of `problem` to `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it.
    pub fn new(
        device: &Arc<Device>,
        problem: &Discretization<K, N>,
    ) -> Result<Arc<Self>, BackendError> {
        Self::on(&MeshOnDevice::new(device, problem.mesh())?, problem)
    }

    /// Copies a problem whose elements come color by color ([`topopt_mesh::Renumbering::by_color`]), so many
    /// of each. Contributions to nodes are added one color after the other: preconditioners and the
    /// strategies that add [in order](super::Strategy::is_in_order) give the same bits every time.
    ///
    /// # Errors
    /// [`BackendError`] if elements of one color share a node, the numbers do not add up to that of
    /// the elements, or the device has no room for it.
    pub fn by_color(
        device: &Arc<Device>,
        problem: &Discretization<K, N>,
        colors: &[usize],
    ) -> Result<Arc<Self>, BackendError> {
        Self::on(&MeshOnDevice::by_color(device, problem.mesh(), colors)?, problem)
    }

    /// Copies `problem`, whose mesh is on the device already and may be shared.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for the rest.
    pub fn on(
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<K, N>,
    ) -> Result<Arc<Self>, BackendError> {
        let device = mesh.device();
        // `mf` computes elements in clusters where a node has three unknowns.
        let may_be = N == DIM && mesh.is_one_part();
        let held = || held(problem.constraints());
        let (clusters, tetrahedra) = match problem.mesh().shape() {
            _ if !may_be => (None, None),
            Shape::Tetrahedron => {
                let nodes = problem.mesh().tetrahedra();
                (None, TetrahedraClusters::of(device, nodes, &held())?)
            }
            _ => (Clusters::of(device, problem.mesh().hexes(), &held())?, None),
        };
        Ok(Arc::new(Self {
            device: device.clone(),
            mesh: mesh.clone(),
            constraints: Arc::new(Constraints::new(device, problem.mesh(), problem.constraints())?),
            clusters: clusters.map(Arc::new),
            tetrahedra: tetrahedra.map(Arc::new),
            kernel: *problem.kernel(),
        }))
    }

    /// Bytes on the device for a problem on `mesh`, of tetrahedra at most; hexahedra in clusters
    /// take 34 an element more.
    pub fn bytes(mesh: &HexMesh) -> usize {
        let clusters = match mesh.shape() {
            Shape::Tetrahedron => TetrahedraClusters::bytes(mesh.n_elements()),
            _ => 0,
        };
        MeshOnDevice::bytes(mesh) + Constraints::bytes(mesh.n_nodes(), mesh.n_elements()) + clusters
    }

    /// Whether `mf` computes the elements in clusters.
    pub fn is_in_clusters(&self) -> bool {
        self.clusters.is_some() || self.tetrahedra.is_some()
    }

    /// The GPU.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Mesh on the device, to share it.
    pub fn mesh(&self) -> &Arc<MeshOnDevice> {
        &self.mesh
    }

    /// Number of unknowns, held ones included.
    pub fn n_dofs(&self) -> usize {
        self.space().len()
    }

    /// The space of the unknowns.
    pub fn space(&self) -> Space {
        Space::nodes(self.mesh.n_nodes, N)
    }

    /// The formulation of its elements.
    pub(crate) fn formulation(&self) -> Formulation {
        self.kernel.formulation()
    }

    /// Lame's constants for a launch.
    pub(crate) fn material(&self) -> Lame {
        let (lambda, mu) = self.kernel.lame();
        Lame { lambda, mu, ratio: lambda / mu }
    }
}
