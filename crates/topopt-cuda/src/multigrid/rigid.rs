//! Multigrid for linear elasticity: how it is made, and what it takes on the device.

use std::sync::Arc;

use topopt_fem::{DIM, Discretization, Sharing};
use topopt_linalg::{BackendError, CycleKind};

use super::device_multigrid::DeviceMultigrid;
use super::fine_patches::FinePatches;
use super::hierarchy::RigidAggregation;
use super::prepared::{Prepared, direct};
use super::shared_rows::Others;
use crate::Cuda;
use crate::operators::{ProblemOnDevice, Slots};
use crate::vector::Real;

/// `multigrid` for elasticity: a cycle over rigid-body aggregation.
pub type Multigrid<'a, R> = DeviceMultigrid<'a, R, RigidAggregation<'a, R>>;

impl<'a, R: Real> Multigrid<'a, R> {
    /// Builds cycles of that kind over the structure `prepared` for `problem`, which is `on_device` too;
    /// needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        kind: CycleKind,
        prepared: &Prepared,
    ) -> Result<Self, BackendError> {
        Self::among(backend, on_device, problem, kind, prepared, None)
    }

    /// Builds cycles for `problem` on a part, with the other ranks: each of them has the levels below the
    /// finest. Vectors hold the values of ghosts, see [`Sharing`](topopt_fem::Sharing).
    ///
    /// # Errors
    /// As [`Multigrid::new`].
    pub fn on_part(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        kind: CycleKind,
        prepared: &Prepared,
        others: Arc<dyn Sharing<'a, Cuda<R>> + 'a>,
    ) -> Result<Self, BackendError> {
        Self::among(backend, on_device, problem, kind, prepared, Some(&others))
    }

    fn among(
        backend: &'a Cuda<R>,
        on_device: &Arc<ProblemOnDevice>,
        problem: &'a Discretization,
        kind: CycleKind,
        prepared: &Prepared,
        others: Option<&Others<'a, R>>,
    ) -> Result<Self, BackendError> {
        let hierarchy = RigidAggregation::new(backend, on_device, problem, prepared, others)?;
        let made = (hierarchy, prepared.structure.levels());
        Self::over(backend, kind, made, on_device.space(), others)
    }

    /// Bytes that smoothing by patches takes beside [`Multigrid::bytes`].
    pub fn patch_bytes(n_nodes: usize, n_elements: usize) -> usize {
        FinePatches::<R>::bytes(n_nodes, n_elements, DIM)
    }

    /// Bytes on the device, for a mesh of that size whose aggregates have some 27 nodes and as many
    /// neighbors; elements by color have slots.
    pub fn bytes(n_nodes: usize, n_elements: usize, by_color: bool) -> usize {
        let slots = if by_color { Slots::<R>::bytes(n_nodes, n_elements, DIM) } else { 0 };
        let real = size_of::<R>();
        // A node: seven work vectors, six numbers of its diagonal block, its aggregate; a block of
        // the first coarse matrix with its column, row, joint and half a pair; and its share of the
        // ground, the diagonal and its inverse. The levels below and their vectors are a tenth.
        let node = 27 * real + 8 + 40 * real + 8 + 6 + 36 * (2 * real + 8) / 27;
        // An element: its modulus, bound and their product, and 2.8 joints. The dense inverse is a square.
        node * n_nodes * 11 / 10
            + (3 * real + 12) * n_elements
            + 8 * direct(3 * n_nodes).pow(2)
            + slots
    }
}
