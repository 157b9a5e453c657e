//! Diffusion with one unknown per node, matrix-free by elements: `cuda/diffusion.cu`. Adding by atomics, or
//! with slots, as `dbd`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Diffusion, Discretization, ElementOperator, FilmRows};
use topopt_linalg::{Backend, BackendError, Cost, LinearOperator, Space};
use topopt_mesh::NodeToElements;

use super::constraints::Constraints;
use super::films::Films;
use super::mesh::MeshOnDevice;
use super::slots::Slots;
use crate::kernel::Grid::Threads;
use crate::kernel::{self, Shared};
use crate::kernels;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real, to_planes};
use crate::{Cuda, Device};

/// Additions and multiplications of an element, and those more where it is stretched, counted in
/// `cuda/diffusion.cu`.
const FLOPS: f64 = 1030.0;
const STRETCH_FLOPS: f64 = 30.0;
/// Operations per element of a consistent capacity, counted in `cuda/capacity.cu`.
const CAPACITY_FLOPS: f64 = 1400.0;

/// The operator k L + c M of [`Diffusion`], with films and capacity as its problem has them, on vectors of
/// precision `R`; the rows of held nodes are those of the identity. On a mesh
/// [by color](MeshOnDevice::by_color) it gives the same bits every time.
pub struct MfDiffusion<R> {
    mesh: Arc<MeshOnDevice>,
    constraints: Constraints,
    films: Option<Films<R>>,
    /// Kernels of a consistent capacity; none where it is a diagonal matrix.
    consistent: Option<kernels::Capacity<R>>,
    kernels: kernels::Diffusion<R>,
    parts: kernels::DiffusionParts<R>,
    supports: kernels::Supports<R>,
    /// Slots of the strategy `dbd`.
    slots: Option<Slots<R>>,
    /// Stretches of the elements, `[3][n_elements]`, where conduction is orthotropic.
    stretches: Option<CudaSlice<R>>,
    /// Conductivities and capacities, each `[n_elements]`.
    coefficients: [DeviceVector<R>; 2],
    /// Partial sums of a dot product, one per block of elements.
    partial: CudaSlice<f64>,
}

impl<R: Real> MfDiffusion<R> {
    /// The operator of `problem` with all coefficients zero, on a mesh that others may share, which was
    /// made from that of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or the kernels cannot be loaded.
    pub fn new(
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
    ) -> Result<Self, BackendError> {
        let (device, n) = (mesh.device(), mesh.n_elements);
        let consistent = problem.is_capacity_consistent();
        let kernels: kernels::Diffusion<R> = match problem.elements().stretches() {
            Some(_) => kernels::DiffusionStretched::load(device)?.into(),
            None => kernels::Diffusion::load(device)?,
        };
        let blocks_of = |count: u32| kernels.diffusion_dot.blocks(Threads(count as usize));
        let blocks = mesh.parts().map(|part| blocks_of(part.count)).sum();
        let stretches = problem.elements().stretches();
        let planes = stretches.map(|stretches| to_planes::<R>(stretches.as_flattened(), DIM));
        let zeros = || -> Result<_, BackendError> {
            Ok(DeviceVector { space: Space::elements(n), values: device.zeros(n)? })
        };
        Ok(Self {
            mesh: mesh.clone(),
            constraints: Constraints::new(device, problem.mesh().hexes(), problem.constraints())?,
            films: problem.film_rows().map(|rows| Films::new(device, &rows)).transpose()?,
            consistent: consistent.then(|| kernels::Capacity::load(device)).transpose()?,
            kernels,
            parts: kernels::DiffusionParts::load(device)?,
            supports: kernels::Supports::load(device)?,
            slots: None,
            stretches: planes.map(|planes| device.upload(&planes)).transpose()?,
            coefficients: [zeros()?, zeros()?],
            partial: device.zeros(blocks)?,
        })
    }

    /// Builds the strategy `dbd`: elements write their products to slots, and nodes gather them in a fixed
    /// order, which gives the same bits on any mesh. `adjacency` is that of the mesh.
    ///
    /// # Errors
    /// As [`MfDiffusion::new`].
    pub fn with_slots(
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        adjacency: &NodeToElements,
    ) -> Result<Self, BackendError> {
        let operator = Self::new(mesh, problem)?;
        Ok(Self { slots: Some(Slots::new(mesh.device(), adjacency, 1)?), ..operator })
    }

    /// With slots where elements come by color, which is faster than a launch per color.
    ///
    /// # Errors
    /// As [`MfDiffusion::new`].
    pub(crate) fn in_order(
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
    ) -> Result<Self, BackendError> {
        match mesh.is_one_part() {
            true => Self::new(mesh, problem),
            false => Self::with_slots(mesh, problem, &NodeToElements::new(problem.mesh())),
        }
    }

    /// Bytes of device memory that the operator stores beside the [`MeshOnDevice`], for a mesh of that
    /// size that is launched at once; without [`MfDiffusion::stretch_bytes`].
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        let block = kernel::block(&kernels::Diffusion::<R>::ptx(), "diffusion_dot") as usize;
        Constraints::bytes(n_nodes, n_elements)
            + 2 * size_of::<R>() * n_elements
            + 8 * n_elements.div_ceil(block)
    }

    /// Bytes of what stretches the elements of `problem`, where conduction is orthotropic.
    pub fn stretch_bytes(problem: &Discretization<Diffusion, 1>) -> usize {
        let stretches = problem.elements().stretches();
        stretches.map_or(0, |stretches| stretches.len() * DIM * size_of::<R>())
    }

    /// Bytes of the films of `problem` at most.
    pub fn film_bytes(problem: &Discretization<Diffusion, 1>) -> usize {
        FilmRows::bytes(problem.constraints().films().len())
    }

    /// Adds what films couple to a product with `x`, and a capacity that is not lumped.
    pub(crate) fn complete(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let Self { mesh, constraints, films, consistent, coefficients: [_, c], .. } = self;
        if let Some(films) = films {
            films.add(x, y);
        }
        let Some(consistent) = consistent else { return };
        for part in mesh.parts() {
            let (grid, y) = (Threads(part.count as usize), &mut *y);
            consistent.consistent_capacity(grid, mesh, part, &constraints.held, c, x, y);
        }
    }

    /// The cost of a product with what [`MfDiffusion::complete`] adds.
    pub(crate) fn completed(&self, cost: Cost) -> Cost {
        let cost = self.films.as_ref().map_or(cost, |films| cost.plus(&films.cost()));
        if self.consistent.is_none() {
            return cost;
        }
        let (elements, nodes) = (self.mesh.n_elements as f64, self.mesh.n_nodes as f64);
        let real = size_of::<R>() as f64;
        cost.plus(&Cost {
            bytes_read: elements * (32.0 + real) + nodes * (25.0 + 2.0 * real),
            bytes_written: nodes * real,
            flops: elements * CAPACITY_FLOPS,
        })
    }

    /// Mesh and constraints, for other products.
    pub(crate) fn parts(&self) -> (&Arc<MeshOnDevice>, &Constraints) {
        (&self.mesh, &self.constraints)
    }

    /// y = x at held nodes, 0 elsewhere.
    pub(crate) fn held_part(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = self.mesh.n_nodes;
        self.supports.held_part1(Threads(n), n, &self.constraints.held, x, y);
    }

    /// Stretches of the elements, `[3][n_elements]`, if they are stretched.
    pub(crate) fn stretches(&self) -> Option<&CudaSlice<R>> {
        self.stretches.as_ref()
    }

    /// Conductivities and capacities, each `[n_elements]`.
    pub(crate) fn coefficients(&self) -> &[DeviceVector<R>; 2] {
        &self.coefficients
    }

    /// Conductivities and capacities, mutable.
    pub(crate) fn coefficients_mut(&mut self) -> &mut [DeviceVector<R>; 2] {
        &mut self.coefficients
    }

    /// The diagonal for other coefficients, 1 at held nodes.
    pub(crate) fn diagonal_for(&self, [k, c]: &[DeviceVector<R>; 2], out: &mut DeviceVector<R>) {
        let Self { mesh, constraints, .. } = self;
        clear(mesh.device(), out);
        for part in mesh.parts() {
            let (grid, stretches) = (Threads(part.count as usize), self.stretches());
            let held = &constraints.held;
            self.parts.diffusion_diagonal(grid, mesh, part, held, stretches, k, c, &mut *out);
        }
    }

    /// The diagonal of c M, `[n_nodes]`, zero at held nodes.
    pub(crate) fn lumped_capacities(&self, out: &mut DeviceVector<R>) {
        let Self { mesh, constraints, coefficients: [_, c], .. } = self;
        clear(mesh.device(), out);
        for part in mesh.parts() {
            let grid = Threads(part.count as usize);
            self.parts.lumped_capacities(grid, mesh, part, &constraints.held, c, &mut *out);
        }
    }

    /// y = K x; if `with_dot`, every block of elements leaves its part of x . y.
    fn product(&self, with_dot: bool, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let Self { mesh, constraints, kernels, coefficients: [k, c], .. } = self;
        let Constraints { held, at_supports: at, .. } = constraints;
        let stretches = self.stretches();
        if let Some(slots) = &self.slots {
            let (grid, all) = (Threads(mesh.n_elements), mesh.all());
            let (values, partial) = (slots.values(), Shared::from_entry(&self.partial, 0));
            match with_dot {
                true => kernels.diffusion_to_slots_dot(
                    grid, mesh, all, held, at, stretches, k, c, x, values, partial,
                ),
                false => kernels
                    .diffusion_to_slots(grid, mesh, all, held, at, stretches, k, c, x, values),
            }
            return slots.gather(constraints, x, y);
        }
        self.held_part(x, y);

        let mut begin = 0;
        for part in mesh.parts() {
            let (grid, y) = (Threads(part.count as usize), &mut *y);
            if with_dot {
                let partial = Shared::from_entry(&self.partial, begin);
                begin += kernels.diffusion_dot.blocks(grid);
                kernels.diffusion_dot(grid, mesh, part, held, at, stretches, k, c, x, y, partial);
            } else {
                kernels.diffusion(grid, mesh, part, held, at, stretches, k, c, x, y);
            }
        }
    }
}

fn clear<R: Real>(device: &Device, x: &mut DeviceVector<R>) {
    device.record("clearing a diagonal", device.stream().memset_zeros(&mut x.values));
}

impl<R: Real> LinearOperator<Cuda<R>> for MfDiffusion<R> {
    fn space(&self) -> Space {
        Space::nodes(self.mesh.n_nodes, self.constraints.unknowns)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.product(false, x, y);
        self.complete(x, y);
    }

    fn apply_to_direction(
        &self,
        backend: &Cuda<R>,
        d: &DeviceVector<R>,
        q: &mut DeviceVector<R>,
        dq: &mut Scalar,
    ) {
        if self.films.is_some() || self.consistent.is_some() {
            self.apply(d, q);
            return backend.dot_into(d, q, dq);
        }
        self.product(true, d, q);
        backend.sum_into(&self.partial, dq);
    }

    fn cost(&self) -> Cost {
        let (elements, nodes) = (self.mesh.n_elements as f64, self.mesh.n_nodes as f64);
        let real = size_of::<R>() as f64;
        let mut cost = Cost {
            bytes_read: elements * (32.125 + 2.0 * real) + nodes * (24.0 + real),
            bytes_written: nodes * real,
            flops: elements * FLOPS,
        };
        if self.stretches.is_some() {
            cost.bytes_read += elements * DIM as f64 * real;
            cost.flops += elements * STRETCH_FLOPS;
        }
        if self.slots.is_some() {
            let [node, element] = Slots::<R>::traffic(1);
            cost.bytes_read += node * nodes + element * elements;
        }
        self.completed(cost)
    }
}

impl<R: Real> ElementOperator<Cuda<R>> for MfDiffusion<R> {
    fn strategy(&self) -> &'static str {
        if self.slots.is_some() { "dbd" } else { "mf" }
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<R>]) {
        let device = self.mesh.device();
        for (coefficients, term) in self.coefficients.iter_mut().zip(terms) {
            let copied = device.stream().memcpy_dtod(&term.values, &mut coefficients.values);
            device.record("copying coefficients", copied);
        }
    }

    fn diagonal(&self, out: &mut DeviceVector<R>) {
        self.diagonal_for(&self.coefficients, out);
    }

    fn element_work(
        &self,
        term: usize,
        v: &DeviceVector<R>,
        u: &DeviceVector<R>,
        out: &mut DeviceVector<R>,
    ) {
        let grid = Threads(self.mesh.n_elements);
        match term {
            Diffusion::CONDUCTION => {
                self.parts.conduction_work(grid, &self.mesh, self.stretches(), v, u, out);
            }
            _ => match &self.consistent {
                Some(consistent) => consistent.consistent_work(grid, &self.mesh, v, u, out),
                None => self.parts.capacity_work(grid, &self.mesh, v, u, out),
            },
        }
    }
}
