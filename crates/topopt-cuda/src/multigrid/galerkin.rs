//! The numbers of the coarse matrices, by the kernels of `cuda/galerkin.cu` and
//! `cuda/ground.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Joints, MODES, Supported};
use topopt_linalg::BackendError;

use super::coarse_matrix::CoarseMatrix;
use super::transfer::{AggregateTransfer, Grouping};
use crate::Device;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::ProblemOnDevice;
use crate::vector::Real;

/// Threads that share an element, and that share a row.
const LANES: usize = defined!("common/joint.cuh", "LANES");
const WARP: usize = 32;

/// The kernels.
pub(super) struct Galerkin<R> {
    galerkin: kernels::Galerkin<R>,
    ground: kernels::Ground<R>,
}

/// [`Joints`] on the device, except for the pattern.
pub(super) struct JointLists {
    pub n: usize,
    pub rows: CudaSlice<u32>,
    pub places: CudaSlice<u32>,
    pub part_offsets: CudaSlice<u32>,
    pub parts: CudaSlice<u32>,
}

impl JointLists {
    pub fn new(device: &Device, joints: &Joints) -> Result<Self, BackendError> {
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
pub(super) struct SupportedRows {
    pub n: usize,
    pub rows: CudaSlice<u32>,
    pub offsets: CudaSlice<u32>,
    pub elements: CudaSlice<u32>,
}

impl SupportedRows {
    pub fn new(device: &Device, supported: &Supported) -> Result<Self, BackendError> {
        Ok(Self {
            n: supported.rows.len(),
            rows: device.upload_list(&supported.rows)?,
            offsets: device.upload(&supported.offsets)?,
            elements: device.upload_list(&supported.elements)?,
        })
    }
}

impl<R: Real> Galerkin<R> {
    pub fn load(device: &Arc<Device>) -> Result<Self, BackendError> {
        let (galerkin, ground) = (kernels::Galerkin::load(device)?, kernels::Ground::load(device)?);
        Ok(Self { galerkin, ground })
    }

    /// coarse = P^T (K + S) P for the aggregates `nodes`, except for the blocks on its diagonal.
    pub fn of_nodes(
        &self,
        problem: &ProblemOnDevice,
        moduli: &CudaSlice<R>,
        nodes: &Grouping,
        (joints, supported): (&JointLists, &SupportedRows),
        coarse: &mut CoarseMatrix<'_, R>,
    ) {
        let ProblemOnDevice { device, mesh, constraints, .. } = problem;
        let CoarseMatrix { rows, blocks, ground, .. } = coarse;
        let (held, material) = (&constraints.held, problem.material());
        self.galerkin.galerkin_joints(
            Threads(LANES * joints.n),
            mesh,
            material,
            nodes,
            held,
            moduli,
            joints.n,
            &joints.rows,
            &joints.places,
            &joints.part_offsets,
            &joints.parts,
            &rows.offsets,
            &rows.columns,
            blocks,
        );

        device.record("clearing the ground", device.stream().memset_zeros(&mut ground.values));
        self.ground.galerkin_supports(
            Threads(WARP * supported.n),
            mesh,
            material,
            nodes,
            held,
            moduli,
            supported.n,
            &supported.rows,
            &supported.offsets,
            &supported.elements,
            &mut *ground,
        );
        if let Some(springs) = &constraints.springs {
            self.ground.galerkin_springs(
                Threads(MODES * nodes.n_aggregates),
                nodes.n_aggregates,
                mesh.n_nodes,
                &nodes.offsets,
                &nodes.members,
                &mesh.coordinates,
                &nodes.centers,
                springs,
                &mut *ground,
            );
        }
    }

    /// coarse = P^T fine P.
    pub fn of_aggregates(
        &self,
        transfer: &AggregateTransfer<'_, R>,
        (fine, fine_rows): (&CoarseMatrix<'_, R>, &CudaSlice<u32>),
        joints: &JointLists,
        coarse: &mut CoarseMatrix<'_, R>,
    ) {
        let AggregateTransfer { children, parents, .. } = transfer;
        let CoarseMatrix { rows, blocks, ground, .. } = coarse;

        self.galerkin.galerkin_aggregates(
            Threads(WARP * joints.n),
            parents.n_aggregates,
            parents.n_points,
            joints.n,
            &parents.of,
            &children.centers,
            &parents.centers,
            &joints.rows,
            &joints.places,
            &joints.part_offsets,
            &joints.parts,
            fine_rows,
            &fine.rows.columns,
            &fine.blocks,
            &rows.offsets,
            &rows.columns,
            blocks,
        );

        self.galerkin.ground_aggregates(
            Threads(WARP * parents.n_aggregates),
            parents.n_aggregates,
            parents.n_points,
            &parents.offsets,
            &parents.members,
            &children.centers,
            &parents.centers,
            &fine.ground,
            ground,
        );
        coarse.complete();
    }
}
