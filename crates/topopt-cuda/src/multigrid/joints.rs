//! What coarse matrices are made of, on the device.

use cudarc::driver::CudaSlice;
use topopt_fem::{Joints, Supported};
use topopt_linalg::BackendError;

use crate::Device;

/// [`Joints`] on the device, except for the pattern.
pub struct JointLists {
    pub(super) n: usize,
    pub(super) rows: CudaSlice<u32>,
    pub(super) places: CudaSlice<u32>,
    pub(super) part_offsets: CudaSlice<u32>,
    pub(super) parts: CudaSlice<u32>,
}

impl JointLists {
    pub(super) fn new(device: &Device, joints: &Joints) -> Result<Self, BackendError> {
        Ok(Self {
            n: joints.rows.len(),
            rows: device.upload_list(&joints.rows)?,
            places: device.upload_list(&joints.places)?,
            part_offsets: device.upload(&joints.part_offsets)?,
            parts: device.upload_list(&joints.parts)?,
        })
    }
}

/// [`Supported`] on the device.
pub struct SupportedRows {
    pub(super) n: usize,
    pub(super) rows: CudaSlice<u32>,
    pub(super) offsets: CudaSlice<u32>,
    pub(super) elements: CudaSlice<u32>,
}

impl SupportedRows {
    pub(super) fn new(device: &Device, supported: &Supported) -> Result<Self, BackendError> {
        Ok(Self {
            n: supported.rows.len(),
            rows: device.upload_list(&supported.rows)?,
            offsets: device.upload(&supported.offsets)?,
            elements: device.upload_list(&supported.elements)?,
        })
    }
}
