//! Some elements of a mesh, in a list on the device.

use cudarc::driver::CudaSlice;
use topopt_linalg::BackendError;

use crate::Device;
use crate::kernels::Part;

/// Numbers of elements, increasing.
pub(super) struct ElementList {
    elements: Vec<u32>,
    on_device: CudaSlice<u32>,
}

impl ElementList {
    /// Copies `elements`, increasing and at least one, to the device.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them.
    pub fn new(device: &Device, elements: Vec<u32>) -> Result<Self, BackendError> {
        Ok(Self { on_device: device.upload(&elements)?, elements })
    }

    /// Numbers on the device.
    pub fn on_device(&self) -> &CudaSlice<u32> {
        &self.on_device
    }

    /// All of the list.
    pub fn all(&self) -> Part {
        Part { first: 0, count: self.elements.len() as u32 }
    }

    /// The part of the list that lies in a part of the elements.
    pub fn within(&self, part: Part) -> Part {
        let before = |end: u32| self.elements.partition_point(|&e| e < end) as u32;
        let [first, end] = [part.first, part.first + part.count].map(before);
        Part { first, count: end - first }
    }
}
