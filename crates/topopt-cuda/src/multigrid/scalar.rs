//! Multigrid for diffusion, one unknown per node: how it is made, and what it takes on the device.

use std::sync::Arc;

use topopt_fem::{Aggregation, Diffusion, Discretization, Sharing};
use topopt_linalg::{BackendError, CycleKind, SmootherKind};

use super::device_multigrid::DeviceMultigrid;
use super::fine_patches::FinePatches;
use super::prepared::direct;
use super::scalar_hierarchy::ScalarHierarchy;
use super::shared_rows::Others;
use crate::Cuda;
use crate::operators::{MeshOnDevice, MfDiffusion, Slots};
use crate::vector::Real;

/// `multigrid` for diffusion: a cycle over aggregates that move by a constant.
pub type ScalarMultigrid<'a, R> = DeviceMultigrid<'a, R, ScalarHierarchy<'a, R>>;

impl<'a, R: Real> ScalarMultigrid<'a, R> {
    /// For `problem`, of whose mesh `mesh` was made; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        Self::smoothed_by(SmootherKind::Chebyshev, backend, mesh, problem, kind)
    }

    /// Builds the hierarchy of `problem` with that smoother on the finest level. Stretched elements are not
    /// assembled here and keep Chebyshev.
    ///
    /// # Errors
    /// As [`ScalarMultigrid::new`].
    pub fn smoothed_by(
        smoother: SmootherKind,
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let structure = Aggregation::new(problem, direct(problem.n_dofs()));
        Self::among(None, &structure, smoother, backend, mesh, problem, kind)
    }

    /// Builds the hierarchy of `problem` on a part: with the other ranks, and the structure that they share
    /// ([`structure_of_part`](crate::structure_of_part)). Vectors hold the values of ghosts, see
    /// [`Sharing`](topopt_fem::Sharing).
    ///
    /// # Errors
    /// As [`ScalarMultigrid::new`], and if another rank has failed.
    pub fn on_part(
        (others, structure): (&Arc<dyn Sharing<'a, Cuda<R>> + 'a>, &Aggregation),
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let smoother = SmootherKind::Chebyshev;
        Self::among(Some(others), structure, smoother, backend, mesh, problem, kind)
    }

    fn among(
        others: Option<&Others<'a, R>>,
        structure: &Aggregation,
        smoother: SmootherKind,
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let hierarchy = ScalarHierarchy::new(backend, mesh, problem, structure, smoother, others)?;
        let made = (hierarchy, structure.levels());
        Self::over(backend, kind, made, problem.space(), others)
    }

    /// Lets the structure follow designs of `problem`, for which it was made.
    pub fn following(mut self, problem: &'a Discretization<Diffusion, 1>) -> Self {
        self.hierarchy_mut().follow(problem);
        self
    }

    /// Bytes that smoothing by patches takes beside [`ScalarMultigrid::bytes`].
    pub fn patch_bytes(n_nodes: usize, n_elements: usize) -> usize {
        FinePatches::<R>::bytes(n_nodes, n_elements, 1)
    }

    /// Bytes on the device, for a mesh of that size without springs whose aggregates have some 27 nodes
    /// and as many neighbors; elements by color have slots. Without [`MfDiffusion::stretch_bytes`].
    pub fn bytes(n_nodes: usize, n_elements: usize, by_color: bool) -> usize {
        let slots = if by_color { Slots::<R>::bytes(n_nodes, n_elements, 1) } else { 0 };
        let real = size_of::<R>();
        // A node: ten vectors, its aggregate and its place there, and an entry of the first matrix with its
        // column and half a joint. The levels below and their vectors are a tenth.
        let node = 10 * real + 8 + real + 4 + 6;
        // An element: its bound and two raised coefficients, and 2.8 joints. The last inverse is a square.
        MfDiffusion::<R>::bytes(n_nodes, n_elements)
            + node * n_nodes * 11 / 10
            + (3 * real + 12) * n_elements
            + 8 * direct(n_nodes).pow(2)
            + slots
    }
}
