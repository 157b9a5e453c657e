//! A mesh on the device, shared by all that is solved on it.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::DIM;
use topopt_linalg::BackendError;
use topopt_mesh::cells::Shape;
use topopt_mesh::{HexMesh, hexahedron, tetrahedron};

use super::curved::Curved;
use crate::Device;
use crate::kernels::{MeshView, Part};
use crate::vector::to_planes;

/// Nodes of a hexahedron.
pub(crate) const NODES: usize = hexahedron::NODES.len();

/// Nodes and elements, and how these are launched; nothing of what is solved on them.
pub struct MeshOnDevice {
    pub(crate) device: Arc<Device>,
    pub(crate) n_nodes: usize,
    pub(crate) n_elements: usize,
    /// `[3][n_nodes]`.
    pub(crate) coordinates: CudaSlice<f64>,
    pub(crate) nodes_per_element: usize,
    /// `[nodes_per_element][n_elements]`.
    pub(crate) connectivity: CudaSlice<u32>,
    /// Curved elements among tetrahedra, if there are any.
    curved: Option<Curved>,
    /// Elements that are launched together where contributions are added by atomics.
    parts: Vec<Range<u32>>,
}

impl MeshOnDevice {
    /// Copies `mesh` to `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it.
    pub fn new(device: &Arc<Device>, mesh: &HexMesh) -> Result<Arc<Self>, BackendError> {
        let all = 0..mesh.n_elements() as u32;
        Self::in_parts(device, mesh, vec![all])
    }

    /// Uploads a mesh whose elements come color by color ([`topopt_mesh::Renumbering::by_color`]),
    /// so many of each: contributions to nodes are added one color after the other, and so in the
    /// same order every time.
    ///
    /// # Errors
    /// [`BackendError`] if elements of one color share a node, the numbers do not add up to that of
    /// the elements, or the device has no room for it.
    pub fn by_color(
        device: &Arc<Device>,
        mesh: &HexMesh,
        colors: &[usize],
    ) -> Result<Arc<Self>, BackendError> {
        let parts = colored(mesh, colors).map_err(|message| BackendError {
            device: device.name().into(),
            operation: "elements by color".into(),
            message,
        })?;
        Self::in_parts(device, mesh, parts)
    }

    fn in_parts(
        device: &Arc<Device>,
        mesh: &HexMesh,
        parts: Vec<Range<u32>>,
    ) -> Result<Arc<Self>, BackendError> {
        let elements: Vec<u32> = (0..mesh.n_elements() as u32).collect();
        let (planes, curved) = match mesh.shape() {
            Shape::Tetrahedron => {
                (connectivity_planes(mesh.tetrahedra(), &elements), Curved::of(device, mesh)?)
            }
            _ => (connectivity_planes(mesh.hexes(), &elements), None),
        };
        Ok(Arc::new(Self {
            device: device.clone(),
            n_nodes: mesh.n_nodes(),
            n_elements: mesh.n_elements(),
            coordinates: device
                .upload(&to_planes::<f64>(mesh.coordinates().as_flattened(), DIM))?,
            nodes_per_element: mesh.nodes_per_element(),
            connectivity: device.upload(&planes)?,
            curved,
            parts,
        }))
    }

    /// Bytes on the device, and 4 more per curved element.
    pub fn bytes(mesh: &HexMesh) -> usize {
        8 * DIM * mesh.n_nodes() + 4 * mesh.connectivity().len()
    }

    /// The GPU.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether all elements are launched together.
    pub(crate) fn is_one_part(&self) -> bool {
        self.parts.len() == 1
    }

    /// The elements of every launch that adds by atomics, in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> {
        self.parts.iter().map(|part| Part { first: part.start, count: part.len() as u32 })
    }

    /// All elements, for a launch that adds nothing by atomics.
    pub(crate) fn all(&self) -> Part {
        Part { first: 0, count: self.n_elements as u32 }
    }

    /// Whether there are tetrahedra in place of hexahedra.
    pub(crate) fn are_tetrahedra(&self) -> bool {
        self.nodes_per_element == tetrahedron::N_NODES
    }

    /// A bit per element, set where it is curved; none if no element is.
    pub(crate) fn are_curved(&self) -> Option<&CudaSlice<u32>> {
        self.curved.as_ref().map(Curved::bits)
    }

    /// A list of curved elements, and the part of it that lies in a part of the elements.
    pub(crate) fn curved(&self, part: Part) -> Option<(&CudaSlice<u32>, Part)> {
        self.curved.as_ref().map(|curved| curved.within(part))
    }

    /// View for a launch with the elements of another `connectivity`,
    /// `[nodes_per_element][n_elements]`.
    pub(crate) fn with(&self, connectivity: &CudaSlice<u32>) -> MeshView {
        MeshView {
            n_elements: self.n_elements.into(),
            n_nodes: self.n_nodes.into(),
            connectivity: connectivity.into(),
            coordinates: (&self.coordinates).into(),
        }
    }
}

impl From<&Arc<MeshOnDevice>> for MeshView {
    fn from(mesh: &Arc<MeshOnDevice>) -> Self {
        mesh.with(&mesh.connectivity)
    }
}

/// The elements of each color, or what is wrong if two of a color share a node or the numbers do
/// not add up.
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
            for &node in mesh.element(e as usize) {
                let before = std::mem::replace(&mut last[node as usize], e);
                if before != e && part.contains(&before) {
                    return Err(format!("elements {before} and {e} of one color share a node"));
                }
            }
        }
    }
    Ok(parts)
}

/// Local node a of `elements[k]` at `[a][k]`.
pub(crate) fn connectivity_planes<const A: usize>(
    nodes: &[[u32; A]],
    elements: &[u32],
) -> Vec<u32> {
    let mut planes = Vec::with_capacity(A * elements.len());
    for a in 0..A {
        planes.par_extend(elements.par_iter().map(|&e| nodes[e as usize][a]));
    }
    planes
}
