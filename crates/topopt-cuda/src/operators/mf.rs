//! `mf`: matrix-free, nothing stored; geometry from the coordinates, sum-factorized. Element by
//! element, or by the clusters of the mesh where it has them; or with slots, as `dbd`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, ElementOperator};
use topopt_linalg::{BackendError, Cost, LinearOperator, Space};
use topopt_mesh::{HexMesh, NodeToElements};

use super::ProblemOnDevice;
use super::clusters::Clusters;
use super::from_coordinates::FromCoordinates;
use super::slots::Slots;
use crate::Cuda;
use crate::kernel::Grid::Threads;
use crate::kernel::{self, Shared};
use crate::kernels;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// Additions and multiplications of an element, counted in `cuda/mf.cu`.
const FLOPS: f64 = 1849.0;

/// The matrix-free operator on vectors of precision `R`.
pub struct Mf<R> {
    problem: Arc<ProblemOnDevice>,
    kernels: Kernels<R>,
    supports: kernels::Supports<R>,
    from_coordinates: FromCoordinates<R>,
    moduli: DeviceVector<R>,
    /// Partial sums of a dot product, one per block of elements.
    partial: CudaSlice<f64>,
}

/// With one thread per element, or one warp per cluster; adding by atomics, or to slots.
enum Kernels<R> {
    Elements(kernels::Mf<R>),
    Clusters(kernels::MfClusters<R>, Arc<Clusters>),
    Slots(kernels::Mf<R>, Box<Slots<R>>),
}

impl<R: Real> Mf<R> {
    /// The operator of `problem` with all moduli zero.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for the moduli or the kernels cannot be loaded.
    pub fn new(problem: &Arc<ProblemOnDevice>) -> Result<Self, BackendError> {
        let ProblemOnDevice { device, mesh, clusters, .. } = &**problem;
        match clusters {
            Some(clusters) => {
                let kernels = kernels::MfClusters::load(device)?;
                let blocks = kernels.mf_clusters_dot.blocks(Threads(clusters.threads()));
                Self::with(problem, Kernels::Clusters(kernels, clusters.clone()), blocks)
            }
            None => {
                let kernels = kernels::Mf::load(device)?;
                let blocks_of = |n: u32| kernels.mf_dot.blocks(Threads(n as usize));
                let blocks = mesh.parts().map(|part| blocks_of(part.count)).sum();
                Self::with(problem, Kernels::Elements(kernels), blocks)
            }
        }
    }

    /// Builds the strategy `dbd`: elements write their products to slots, and nodes gather them in a fixed
    /// order, which gives the same bits on any mesh. `adjacency` is that of the mesh.
    ///
    /// # Errors
    /// As [`Mf::new`].
    pub fn with_slots(
        problem: &Arc<ProblemOnDevice>,
        adjacency: &NodeToElements,
    ) -> Result<Self, BackendError> {
        let kernels = kernels::Mf::load(&problem.device)?;
        let blocks = kernels.mf_to_slots_dot.blocks(Threads(problem.mesh.n_elements));
        let slots = Slots::new(&problem.device, adjacency, problem.constraints.unknowns)?;
        Self::with(problem, Kernels::Slots(kernels, Box::new(slots)), blocks)
    }

    /// With slots where elements come by color, which is faster than a launch per color.
    ///
    /// # Errors
    /// As [`Mf::new`].
    pub(crate) fn in_order(
        on_device: &Arc<ProblemOnDevice>,
        mesh: &HexMesh,
    ) -> Result<Self, BackendError> {
        match on_device.mesh.is_one_part() {
            true => Self::new(on_device),
            false => Self::with_slots(on_device, &NodeToElements::new(mesh)),
        }
    }

    fn with(
        problem: &Arc<ProblemOnDevice>,
        kernels: Kernels<R>,
        blocks: usize,
    ) -> Result<Self, BackendError> {
        let ProblemOnDevice { device, mesh, .. } = &**problem;
        Ok(Self {
            problem: problem.clone(),
            kernels,
            supports: kernels::Supports::load(device)?,
            from_coordinates: FromCoordinates::load(device)?,
            moduli: DeviceVector {
                space: Space::elements(mesh.n_elements),
                values: device.zeros(mesh.n_elements)?,
            },
            partial: device.zeros(blocks)?,
        })
    }

    /// Young's modulus of every element.
    pub(crate) fn moduli(&self) -> &DeviceVector<R> {
        &self.moduli
    }

    /// Young's moduli, mutable, `[n_elements]`.
    pub(crate) fn moduli_mut(&mut self) -> &mut CudaSlice<R> {
        &mut self.moduli.values
    }

    /// Bytes of device memory that the operator stores beside the [`ProblemOnDevice`].
    pub fn bytes(n_elements: usize) -> usize {
        let block = kernel::block(&kernels::Mf::<R>::ptx(), "mf_dot") as usize;
        size_of::<R>() * n_elements + 8 * n_elements.div_ceil(block)
    }
}

impl<R: Real> Mf<R> {
    /// y = K x; if `with_dot`, every block of elements leaves its part of x . y.
    fn product(&self, with_dot: bool, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        match &self.kernels {
            Kernels::Slots(kernels, slots) => {
                self.to_slots(with_dot, kernels, slots, x);
                slots.gather(&self.problem.constraints, x, y);
            }
            Kernels::Clusters(kernels, clusters) => {
                self.held_part(x, y);
                self.by_clusters(with_dot, kernels, clusters, x, y);
            }
            Kernels::Elements(kernels) => {
                self.held_part(x, y);
                self.by_elements(with_dot, kernels, x, y);
            }
        }
    }

    /// y = x at held components, 0 elsewhere.
    fn held_part(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let ProblemOnDevice { mesh, constraints, .. } = &*self.problem;
        self.supports.held_part(Threads(mesh.n_nodes), mesh.n_nodes, &constraints.held, x, y);
    }

    /// y += the products of the elements, cluster by cluster.
    fn by_clusters(
        &self,
        with_dot: bool,
        kernels: &kernels::MfClusters<R>,
        clusters: &Clusters,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        let (mesh, material) = (&self.problem.mesh, self.problem.material());
        let (moduli, grid) = (&self.moduli, Threads(clusters.threads()));
        if with_dot {
            let partial = &self.partial;
            kernels.mf_clusters_dot(grid, clusters, mesh, material, moduli, x, y, partial);
        } else {
            kernels.mf_clusters(grid, clusters, mesh, material, moduli, x, y);
        }
    }

    /// y += the products of the elements, one part of the mesh after the other.
    fn by_elements(
        &self,
        with_dot: bool,
        kernels: &kernels::Mf<R>,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = &*self.problem;
        let (moduli, material) = (&self.moduli, self.problem.material());
        let (held, at) = (&constraints.held, &constraints.at_supports);

        let mut begin = 0;
        for part in mesh.parts() {
            let (grid, y) = (Threads(part.count as usize), &mut *y);
            if with_dot {
                let partial = Shared::from_entry(&self.partial, begin);
                begin += kernels.mf_dot.blocks(grid);
                kernels.mf_dot(grid, mesh, part, held, at, material, moduli, x, y, partial);
            } else {
                kernels.mf(grid, mesh, part, held, at, material, moduli, x, y);
            }
        }
    }

    /// The products of elements into `slots`.
    fn to_slots(
        &self,
        with_dot: bool,
        kernels: &kernels::Mf<R>,
        slots: &Slots<R>,
        x: &DeviceVector<R>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = &*self.problem;
        let (material, moduli, slots) = (self.problem.material(), &self.moduli, slots.values());
        let (held, at) = (&constraints.held, &constraints.at_supports);
        let (grid, all) = (Threads(mesh.n_elements), mesh.all());
        if with_dot {
            let partial = &self.partial;
            kernels.mf_to_slots_dot(grid, mesh, all, held, at, material, moduli, x, slots, partial);
        } else {
            kernels.mf_to_slots(grid, mesh, all, held, at, material, moduli, x, slots);
        }
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for Mf<R> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.product(false, x, y);
    }

    fn apply_to_direction(
        &self,
        backend: &Cuda<R>,
        d: &DeviceVector<R>,
        q: &mut DeviceVector<R>,
        dq: &mut Scalar,
    ) {
        self.product(true, d, q);
        backend.sum_into(&self.partial, dq);
    }

    fn cost(&self) -> Cost {
        let (elements, nodes) =
            (self.problem.mesh.n_elements as f64, self.problem.mesh.n_nodes as f64);
        let real = size_of::<R>() as f64;
        let mut cost = Cost {
            bytes_read: elements * (32.125 + real) + nodes * (24.0 + 3.0 * real),
            bytes_written: nodes * 3.0 * real,
            flops: elements * FLOPS,
        };
        if let Kernels::Slots(..) = &self.kernels {
            let [node, element] = Slots::<R>::traffic(DIM);
            cost.bytes_read += node * nodes + element * elements;
        }
        cost
    }
}

impl<R: Real> ElementOperator<Cuda<R>> for Mf<R> {
    fn strategy(&self) -> &'static str {
        if let Kernels::Slots(..) = &self.kernels { "dbd" } else { "mf" }
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<R>]) {
        let moduli = terms[0];
        let device = &self.problem.device;
        let copied = device.stream().memcpy_dtod(&moduli.values, &mut self.moduli.values);
        device.record("copying moduli", copied);
    }

    fn diagonal(&self, out: &mut DeviceVector<R>) {
        self.from_coordinates.diagonal(&self.problem, &self.moduli, out);
    }

    fn element_work(
        &self,
        _: usize,
        v: &DeviceVector<R>,
        u: &DeviceVector<R>,
        out: &mut DeviceVector<R>,
    ) {
        self.from_coordinates.work(&self.problem, [v, u], out);
    }
}
