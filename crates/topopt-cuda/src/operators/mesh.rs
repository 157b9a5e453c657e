//! The problem on the device: mesh, supports and material, shared by all operators.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::{DIM, Problem};
use topopt_linalg::{BackendError, Space};
use topopt_mesh::HexMesh;

use super::clusters::Clusters;
use crate::Device;
use crate::kernel::{Kernel, Module};
use crate::vector::{DeviceVector, Real, to_planes};

/// Threads of a block of `held_part`.
const BLOCK: usize = 512;

/// What every operator reads of a problem, on one GPU.
pub struct MeshOnDevice {
    pub(crate) device: Arc<Device>,
    pub(crate) n_nodes: usize,
    pub(crate) n_elements: usize,
    /// \[3\]\[n_nodes\].
    pub(crate) coordinates: CudaSlice<f64>,
    /// \[8\]\[n_elements\].
    pub(crate) connectivity: CudaSlice<u32>,
    /// Bit i is set where component i is held, \[n_nodes\].
    pub(crate) held: CudaSlice<u8>,
    /// Bit e % 32 of word e / 32 is set where a node of element e is held, in any component.
    pub(crate) at_supports: CudaSlice<u32>,
    /// Springs to the ground, \[3\]\[n_nodes\], if there are any.
    pub(crate) springs: Option<CudaSlice<f64>>,
    /// Lame's constants (lambda, mu) at Young's modulus 1.
    pub(crate) unit_lame: (f64, f64),
    /// The elements in clusters, where `mf` is faster so, and not by color.
    pub(crate) clusters: Option<Clusters>,
    /// Elements that are launched together where contributions are added by atomics.
    parts: Vec<Range<u32>>,
}

impl MeshOnDevice {
    /// Copies what operators need of `problem` to `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it.
    pub fn new(device: &Arc<Device>, problem: &Problem) -> Result<Arc<Self>, BackendError> {
        let all = 0..problem.mesh().n_elements() as u32;
        Self::in_parts(device, problem, vec![all])
    }

    /// As [`MeshOnDevice::new`], for elements that come color by color
    /// ([`topopt_mesh::Renumbering::by_color`]), so many of each. Contributions to nodes are added one
    /// color after the other: preconditioners and the strategies that add
    /// [in order](super::Strategy::is_in_order) give the same bits every time.
    ///
    /// # Errors
    /// [`BackendError`] if elements of one color share a node, the numbers do not add up to that of
    /// the elements, or the device has no room for it.
    pub fn by_color(
        device: &Arc<Device>,
        problem: &Problem,
        colors: &[usize],
    ) -> Result<Arc<Self>, BackendError> {
        let parts = colored(problem.mesh(), colors).map_err(|message| BackendError {
            device: device.name().into(),
            operation: "elements by color".into(),
            message,
        })?;
        Self::in_parts(device, problem, parts)
    }

    fn in_parts(
        device: &Arc<Device>,
        problem: &Problem,
        parts: Vec<Range<u32>>,
    ) -> Result<Arc<Self>, BackendError> {
        let (mesh, supports) = (problem.mesh(), problem.supports());
        let mask = |node| (0..DIM).map(|i| u8::from(supports.is_fixed(node, i)) << i).sum();
        let held: Vec<u8> = (0..mesh.n_nodes()).into_par_iter().map(mask).collect();
        let springs = supports.springs().map(|s| device.upload(&to_planes::<f64>(s, DIM)));
        let elements: Vec<u32> = (0..mesh.n_elements() as u32).collect();
        let clusters = match parts.as_slice() {
            [_] => Clusters::of(device, mesh.hexes(), &held)?,
            _ => None,
        };
        Ok(Arc::new(Self {
            device: device.clone(),
            n_nodes: mesh.n_nodes(),
            n_elements: mesh.n_elements(),
            coordinates: device
                .upload(&to_planes::<f64>(mesh.coordinates().as_flattened(), DIM))?,
            connectivity: device.upload(&connectivity_planes(mesh.hexes(), &elements))?,
            at_supports: device.upload(&at_supports(mesh.hexes(), &held))?,
            held: device.upload(&held)?,
            springs: springs.transpose()?,
            unit_lame: problem.material().unit_lame(),
            clusters,
            parts,
        }))
    }

    /// Bytes on the device for a mesh of that size; one in clusters takes 34 an element more.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        (8 * DIM + 1) * n_nodes + 8 * 4 * n_elements + n_elements / 8
    }

    /// First and number of the elements of every launch that adds by atomics, in order.
    pub(crate) fn launches(&self) -> impl Iterator<Item = (u32, u32)> {
        self.parts.iter().map(|part| (part.start, part.len() as u32))
    }

    /// Whether `mf` computes the elements in clusters.
    pub fn is_in_clusters(&self) -> bool {
        self.clusters.is_some()
    }

    /// The GPU.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Number of displacement components, held ones included.
    pub fn n_dofs(&self) -> usize {
        self.space().len()
    }

    /// The space of displacements.
    pub fn space(&self) -> Space {
        Space::nodes(self.n_nodes, DIM)
    }
}

/// The elements of each color.
fn colored(mesh: &HexMesh, colors: &[usize]) -> Result<Vec<Range<u32>>, String> {
    let (counted, n) = (colors.iter().sum::<usize>(), mesh.n_elements());
    if counted != n {
        return Err(format!("{counted} elements in colors, {n} in the mesh"));
    }
    let part = |next: &mut u32, &count: &usize| {
        let first = std::mem::replace(next, *next + count as u32);
        Some(first..*next)
    };
    let parts: Vec<Range<u32>> = colors.iter().scan(0, part).collect();
    let mut last = vec![u32::MAX; mesh.n_nodes()]; // the last element of each node
    for part in &parts {
        for e in part.clone() {
            for &node in &mesh.hexes()[e as usize] {
                let before = std::mem::replace(&mut last[node as usize], e);
                if before != e && part.contains(&before) {
                    return Err(format!("elements {before} and {e} of one color share a node"));
                }
            }
        }
    }
    Ok(parts)
}

/// A bit an element: whether one of its nodes is held.
fn at_supports(hexes: &[[u32; 8]], held: &[u8]) -> Vec<u32> {
    let is_at_support = |hex: &[u32; 8]| hex.iter().any(|&node| held[node as usize] != 0);
    let word = |hexes: &[[u32; 8]]| {
        hexes.iter().enumerate().map(|(bit, hex)| u32::from(is_at_support(hex)) << bit).sum()
    };
    hexes.par_chunks(32).map(word).collect()
}

/// Local node a of `elements[k]` at \[a\]\[k\].
pub(crate) fn connectivity_planes(hexes: &[[u32; 8]], elements: &[u32]) -> Vec<u32> {
    let mut planes = Vec::with_capacity(8 * elements.len());
    for a in 0..8 {
        planes.par_extend(elements.par_iter().map(|&e| hexes[e as usize][a]));
    }
    planes
}

/// y = x at held components and 0 at free ones: the start of a sum over elements.
pub(crate) struct HeldPart {
    kernel: Kernel,
}

impl HeldPart {
    pub fn load<R: Real>(device: &Arc<Device>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/supports.f64.ptx"),
            include_str!("../../../../cuda/ptx/supports.f32.ptx"),
        );
        let module = Module::load(device, "supports", ptx)?;
        Ok(Self { kernel: module.kernel("held_part", BLOCK as u32)? })
    }

    pub fn write<R: Real>(
        &self,
        mesh: &MeshOnDevice,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
    ) {
        launch!(self.kernel, mesh.n_nodes.div_ceil(BLOCK);
            &(mesh.n_nodes as u32), &mesh.held, &x.values, &mut y.values);
    }
}
