//! The numbers of the coarse matrices, by the kernels of `cuda/galerkin.cu` and
//! `cuda/ground.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Joints, MODES, Supported};
use topopt_linalg::BackendError;

use super::coarse_matrix::CoarseMatrix;
use super::transfer::{AggregateTransfer, Grouping};
use crate::Device;
use crate::kernel::{Kernel, Module};
use crate::operators::MeshOnDevice;
use crate::vector::Real;

/// Threads of a block, by kernel, as these have it.
const BLOCK: usize = 64;
const MODE_BLOCK: usize = 126;
const WARP_BLOCK: usize = 128;
/// Threads that share an element.
const LANES: usize = 8;

/// The kernels.
pub(super) struct Galerkin {
    joints: Kernel,
    supports: Kernel,
    springs: Kernel,
    aggregates: Kernel,
    ground: Kernel,
}

/// [`Joints`] on the device, but for the pattern.
pub(super) struct JointLists {
    n: usize,
    rows: CudaSlice<u32>,
    places: CudaSlice<u32>,
    part_offsets: CudaSlice<u32>,
    parts: CudaSlice<u32>,
}

impl JointLists {
    pub fn new(device: &Device, joints: &Joints) -> Result<Self, BackendError> {
        Ok(Self {
            n: joints.rows.len(),
            rows: device.upload(&joints.rows)?,
            places: device.upload(&joints.places)?,
            part_offsets: device.upload(&joints.part_offsets)?,
            parts: device.upload(&joints.parts)?,
        })
    }
}

/// [`Supported`] on the device.
pub(super) struct SupportedRows {
    n: usize,
    rows: CudaSlice<u32>,
    offsets: CudaSlice<u32>,
    elements: CudaSlice<u32>,
}

impl SupportedRows {
    pub fn new(device: &Device, supported: &Supported) -> Result<Self, BackendError> {
        Ok(Self {
            n: supported.rows.len(),
            rows: device.upload(&supported.rows)?,
            offsets: device.upload(&supported.offsets)?,
            elements: device.upload(&supported.elements)?,
        })
    }
}

impl Galerkin {
    pub fn load<R: Real>(device: &Arc<Device>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/galerkin.f64.ptx"),
            include_str!("../../../../cuda/ptx/galerkin.f32.ptx"),
        );
        let module = Module::load(device, "galerkin", ptx)?;
        let of_nodes = R::ptx(
            include_str!("../../../../cuda/ptx/ground.f64.ptx"),
            include_str!("../../../../cuda/ptx/ground.f32.ptx"),
        );
        let of_nodes = Module::load(device, "ground", of_nodes)?;
        Ok(Self {
            joints: module.kernel("galerkin_joints", BLOCK as u32)?,
            supports: of_nodes.kernel("galerkin_supports", BLOCK as u32)?,
            springs: of_nodes.kernel("galerkin_springs", MODE_BLOCK as u32)?,
            aggregates: module.kernel("galerkin_aggregates", WARP_BLOCK as u32)?,
            ground: module.kernel("ground_aggregates", WARP_BLOCK as u32)?,
        })
    }

    /// coarse = P^T (K + S) P for the aggregates `nodes`.
    pub fn of_nodes<R: Real>(
        &self,
        mesh: &MeshOnDevice,
        moduli: &CudaSlice<R>,
        nodes: &Grouping,
        (joints, supported): (&JointLists, &SupportedRows),
        coarse: &mut CoarseMatrix<R>,
    ) {
        let CoarseMatrix { rows, blocks, ground, .. } = coarse;
        let (n_aggregates, n_elements, n_nodes) =
            (nodes.n_aggregates as u32, mesh.n_elements as u32, mesh.n_nodes as u32);
        let (lambda, mu) = mesh.unit_lame;
        launch!(self.joints, (LANES * joints.n).div_ceil(BLOCK);
            &n_aggregates, &n_elements, &n_nodes, &nodes.of, &mesh.connectivity,
            &mesh.coordinates, &nodes.centers, &mesh.held, &mu, &(lambda / mu), moduli,
            &(joints.n as u32), &joints.rows, &joints.places, &joints.part_offsets, &joints.parts,
            &rows.offsets, &rows.columns, blocks);
        let cleared = mesh.device.stream().memset_zeros(ground);
        mesh.device.record("clearing the ground", cleared);
        launch!(self.supports, supported.n.div_ceil(BLOCK / 32);
            &n_aggregates, &n_elements, &n_nodes, &nodes.of, &mesh.connectivity,
            &mesh.coordinates, &nodes.centers, &mesh.held, &mu, &(lambda / mu), moduli,
            &(supported.n as u32), &supported.rows, &supported.offsets, &supported.elements,
            &mut *ground);
        if let Some(springs) = &mesh.springs {
            launch!(self.springs, (MODES * nodes.n_aggregates).div_ceil(MODE_BLOCK);
                &n_aggregates, &n_nodes, &nodes.offsets, &nodes.members, &mesh.coordinates,
                &nodes.centers, springs, &mut *ground);
        }
        coarse.complete();
    }

    /// coarse = P^T fine P.
    pub fn of_aggregates<R: Real>(
        &self,
        transfer: &AggregateTransfer,
        (fine, fine_rows): (&CoarseMatrix<R>, &CudaSlice<u32>),
        joints: &JointLists,
        coarse: &mut CoarseMatrix<R>,
    ) {
        let AggregateTransfer { children, parents, .. } = transfer;
        let CoarseMatrix { rows, blocks, ground, .. } = coarse;
        let (n_parents, n_children) = (parents.n_aggregates as u32, parents.n_points as u32);
        launch!(self.aggregates, joints.n.div_ceil(WARP_BLOCK / 32);
            &n_parents, &n_children, &(joints.n as u32), &parents.of, &children.centers,
            &parents.centers, &joints.rows, &joints.places, &joints.part_offsets, &joints.parts,
            fine_rows, &fine.rows.columns, &fine.blocks,
            &rows.offsets, &rows.columns, blocks);
        launch!(self.ground, parents.n_aggregates.div_ceil(WARP_BLOCK / 32);
            &n_parents, &n_children, &parents.offsets, &parents.members, &children.centers,
            &parents.centers, &fine.ground, ground);
        coarse.complete();
    }
}
