//! `mf`: matrix-free, nothing stored; geometry from the coordinates, sum-factorized. Element by
//! element, or by the clusters of the mesh where it has them.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::ElementOperator;
use topopt_linalg::{BackendError, Cost, LinearOperator, Space};

use super::MeshOnDevice;
use super::clusters::{Clusters, WARP};
use super::diagonal::Diagonal;
use super::energies::Energies;
use super::mesh::HeldPart;
use crate::kernel::{Kernel, Module};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads of a block, one an element, as `cuda/mf.cu` and `cuda/mf_clusters.cu` have it.
const fn block<R>() -> usize {
    256 / size_of::<R>()
}

/// Additions and multiplications of an element, counted in `cuda/mf.cu`.
const FLOPS: f64 = 1849.0;

/// The matrix-free operator on vectors of precision `R`.
pub struct Mf<R> {
    mesh: Arc<MeshOnDevice>,
    kernel: Kernel,
    with_dot: Kernel,
    held_part: HeldPart,
    diagonal: Diagonal,
    energies: Energies,
    moduli: DeviceVector<R>,
    /// What every block of elements leaves of a dot product.
    partial: CudaSlice<f64>,
}

impl<R: Real> Mf<R> {
    /// The operator on `mesh` with all moduli zero.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for the moduli or the kernels cannot be loaded.
    pub fn new(mesh: &Arc<MeshOnDevice>) -> Result<Self, BackendError> {
        let device = &mesh.device;
        let ([kernel, with_dot], blocks) = match &mesh.clusters {
            Some(clusters) => (by_clusters::<R>(device)?, cluster_blocks::<R>(clusters)),
            None => (by_elements::<R>(device)?, mesh.launches().map(blocks::<R>).sum()),
        };
        Ok(Self {
            mesh: mesh.clone(),
            kernel,
            with_dot,
            partial: device.zeros(blocks)?,
            held_part: HeldPart::load::<R>(device)?,
            diagonal: Diagonal::load::<R>(device)?,
            energies: Energies::load::<R>(device)?,
            moduli: DeviceVector {
                space: Space::elements(mesh.n_elements),
                values: device.zeros(mesh.n_elements)?,
            },
        })
    }

    /// Young's modulus of every element.
    pub(crate) fn moduli(&self) -> &DeviceVector<R> {
        &self.moduli
    }

    /// The same, to be changed.
    pub(crate) fn moduli_mut(&mut self) -> &mut CudaSlice<R> {
        &mut self.moduli.values
    }

    /// Bytes of device memory that the operator stores beside the [`MeshOnDevice`].
    pub fn bytes(n_elements: usize) -> usize {
        size_of::<R>() * n_elements + 8 * n_elements.div_ceil(block::<R>())
    }
}

/// The kernel with one thread an element, and the same with the dot product.
fn by_elements<R: Real>(device: &Arc<Device>) -> Result<[Kernel; 2], BackendError> {
    let ptx = R::ptx(
        include_str!("../../../../cuda/ptx/mf.f64.ptx"),
        include_str!("../../../../cuda/ptx/mf.f32.ptx"),
    );
    let (module, block) = (Module::load(device, "mf", ptx)?, block::<R>() as u32);
    Ok([module.kernel("mf", block)?, module.kernel("mf_dot", block)?])
}

/// The kernel with one warp a cluster, and the same with the dot product.
fn by_clusters<R: Real>(device: &Arc<Device>) -> Result<[Kernel; 2], BackendError> {
    let ptx = R::ptx(
        include_str!("../../../../cuda/ptx/mf_clusters.f64.ptx"),
        include_str!("../../../../cuda/ptx/mf_clusters.f32.ptx"),
    );
    let (module, block) = (Module::load(device, "mf_clusters", ptx)?, block::<R>() as u32);
    Ok([module.kernel("mf_clusters", block)?, module.kernel("mf_clusters_dot", block)?])
}

/// Blocks of a launch of so many elements.
fn blocks<R>((_, count): (u32, u32)) -> usize {
    (count as usize).div_ceil(block::<R>())
}

/// Blocks of a launch of all clusters.
fn cluster_blocks<R>(clusters: &Clusters) -> usize {
    (WARP * clusters.count).div_ceil(block::<R>())
}

/// Launches `$kernel` on a mesh in clusters, from `$x` to `$y`; `$partial` if it leaves a dot product.
macro_rules! launch_clusters {
    ($kernel:expr, $operator:expr, $clusters:expr, $x:expr, $y:expr $(, $partial:expr)?) => {{
        let (mesh, clusters): (&MeshOnDevice, &Clusters) = (&$operator.mesh, $clusters);
        let (lambda, mu) = mesh.unit_lame;
        launch!($kernel, cluster_blocks::<R>(clusters);
            &(clusters.count as u32), &(mesh.n_nodes as u32), &clusters.starts, &clusters.nodes, &clusters.spans,
            &clusters.places, &clusters.corners, &mesh.coordinates, &mu, &(lambda / mu),
            &$operator.moduli.values, &$x.values, &mut $y.values $(, $partial)?);
    }};
}

impl<R: Real> LinearOperator<Cuda<R>> for Mf<R> {
    fn space(&self) -> Space {
        self.mesh.space()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let mesh = &self.mesh;
        let (lambda, mu) = mesh.unit_lame;
        self.held_part.write(mesh, x, y);
        if let Some(clusters) = &mesh.clusters {
            launch_clusters!(self.kernel, self, clusters, x, y);
            return;
        }
        for (first, count) in mesh.launches() {
            launch!(self.kernel, blocks::<R>((first, count));
                &first, &count, &(mesh.n_elements as u32), &(mesh.n_nodes as u32),
                &mesh.connectivity, &mesh.coordinates, &mesh.held, &mesh.at_supports, &mu,
                &(lambda / mu), &self.moduli.values, &x.values, &mut y.values);
        }
    }

    fn apply_to_direction(
        &self,
        backend: &Cuda<R>,
        d: &DeviceVector<R>,
        q: &mut DeviceVector<R>,
        dq: &mut Scalar,
    ) {
        let mesh = &self.mesh;
        let (lambda, mu) = mesh.unit_lame;
        self.held_part.write(mesh, d, q);
        if let Some(clusters) = &mesh.clusters {
            launch_clusters!(self.with_dot, self, clusters, d, q, &self.partial);
            return backend.sum_into(&self.partial, dq);
        }
        let mut begin = 0;
        for (first, count) in mesh.launches() {
            let blocks = blocks::<R>((first, count));
            let partial = self.partial.slice(begin..begin + blocks);
            launch!(self.with_dot, blocks;
                &first, &count, &(mesh.n_elements as u32), &(mesh.n_nodes as u32),
                &mesh.connectivity, &mesh.coordinates, &mesh.held, &mesh.at_supports, &mu,
                &(lambda / mu), &self.moduli.values, &d.values, &mut q.values, &partial);
            begin += blocks;
        }
        backend.sum_into(&self.partial, dq);
    }

    fn cost(&self) -> Cost {
        let (elements, nodes) = (self.mesh.n_elements as f64, self.mesh.n_nodes as f64);
        let real = size_of::<R>() as f64;
        Cost {
            bytes_read: elements * (32.125 + real) + nodes * (24.0 + 3.0 * real),
            bytes_written: nodes * 3.0 * real,
            flops: elements * FLOPS,
        }
    }
}

impl<R: Real> ElementOperator<Cuda<R>> for Mf<R> {
    fn strategy(&self) -> &'static str {
        "mf"
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<R>]) {
        let moduli = terms[0];
        let device = &self.mesh.device;
        let copied = device.stream().memcpy_dtod(&moduli.values, &mut self.moduli.values);
        device.record("copying moduli", copied);
    }

    fn diagonal(&self, out: &mut DeviceVector<R>) {
        self.diagonal.write(&self.mesh, &self.moduli, out);
    }

    fn element_work(
        &self,
        _: usize,
        v: &DeviceVector<R>,
        u: &DeviceVector<R>,
        out: &mut DeviceVector<R>,
    ) {
        self.energies.write(&self.mesh, [v, u], out);
    }
}
