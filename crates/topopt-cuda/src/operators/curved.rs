//! The curved ones among tetrahedra of ten nodes.

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::{HexMesh, tetrahedron};

use super::element_list::ElementList;
use crate::Device;
use crate::kernels::Part;

/// Curved elements of a mesh, which kernels of their own compute.
pub(super) struct Curved {
    /// Their numbers.
    list: ElementList,
    /// Bit e % 32 of word e / 32 is set where element e is curved.
    bits: CudaSlice<u32>,
}

impl Curved {
    /// Finds the curved elements of a `mesh` of tetrahedra; none if all edges are straight.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them.
    pub fn of(device: &Device, mesh: &HexMesh) -> Result<Option<Self>, BackendError> {
        let is_curved =
            |e: &u32| !tetrahedron::is_straight(&mesh.tetrahedron_coordinates(*e as usize));
        let elements: Vec<u32> =
            (0..mesh.n_elements() as u32).into_par_iter().filter(is_curved).collect();
        if elements.is_empty() {
            return Ok(None);
        }

        let mut bits = vec![0; mesh.n_elements().div_ceil(32)];
        elements.iter().for_each(|e| bits[*e as usize / 32] |= 1 << (e % 32));
        Ok(Some(Self { list: ElementList::new(device, elements)?, bits: device.upload(&bits)? }))
    }

    /// A bit per element.
    pub fn bits(&self) -> &CudaSlice<u32> {
        &self.bits
    }

    /// The list, and the part of it that lies in a part of the elements.
    pub fn within(&self, part: Part) -> (&CudaSlice<u32>, Part) {
        (self.list.on_device(), self.list.within(part))
    }
}
