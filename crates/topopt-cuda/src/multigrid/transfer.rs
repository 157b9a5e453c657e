//! Prolongation and restriction, by the kernels of `cuda/transfer.cu` and
//! `cuda/coarse_transfer.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Aggregates, DIM};
use topopt_linalg::{BackendError, Transfer};

use crate::kernel::{Kernel, Module};
use crate::operators::MeshOnDevice;
use crate::vector::{DeviceVector, Real, to_planes};
use crate::{Cuda, Device};

/// Threads of a block.
const BLOCK: usize = 128;
/// Aggregates of a block that restricts, a warp each.
const WARPS: usize = BLOCK / 32;

/// Points in aggregates, on the device.
pub(super) struct Grouping {
    pub n_points: usize,
    pub n_aggregates: usize,
    /// The aggregate, \[n_points\].
    pub of: CudaSlice<u32>,
    /// \[n_aggregates + 1\].
    pub offsets: CudaSlice<u32>,
    /// Points of every aggregate, \[n_points\].
    pub members: CudaSlice<u32>,
    /// \[3\]\[n_aggregates\].
    pub centers: CudaSlice<f64>,
}

impl Grouping {
    pub fn new(device: &Device, aggregates: &Aggregates) -> Result<Arc<Self>, BackendError> {
        let (offsets, members) = flatten(aggregates.members());
        Ok(Arc::new(Self {
            n_points: aggregates.of().len(),
            n_aggregates: aggregates.len(),
            of: device.upload(aggregates.of())?,
            offsets: device.upload(&offsets)?,
            members: device.upload(&members)?,
            centers: device.upload(&to_planes::<f64>(aggregates.centers().as_flattened(), DIM))?,
        }))
    }
}

/// Lists one after the other, and where each begins.
pub(super) fn flatten(lists: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0];
    let mut all = Vec::new();
    for list in lists {
        all.extend_from_slice(list);
        offsets.push(all.len() as u32);
    }
    (offsets, all)
}

/// Between nodes and their aggregates.
pub(super) struct NodeTransfer {
    mesh: Arc<MeshOnDevice>,
    grouping: Arc<Grouping>,
    restrict: Kernel,
    prolong: Kernel,
}

impl NodeTransfer {
    pub fn new<R: Real>(
        mesh: &Arc<MeshOnDevice>,
        grouping: &Arc<Grouping>,
    ) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/transfer.f64.ptx"),
            include_str!("../../../../cuda/ptx/transfer.f32.ptx"),
        );
        let module = Module::load(&mesh.device, "transfer", ptx)?;
        Ok(Self {
            mesh: mesh.clone(),
            grouping: grouping.clone(),
            restrict: module.kernel("restrict_nodes", BLOCK as u32)?,
            prolong: module.kernel("prolong_nodes", BLOCK as u32)?,
        })
    }
}

impl<R: Real> Transfer<Cuda<R>> for NodeTransfer {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { mesh, grouping, .. } = self;
        launch!(self.restrict, grouping.n_aggregates.div_ceil(WARPS);
            &(grouping.n_aggregates as u32), &(mesh.n_nodes as u32), &grouping.offsets,
            &grouping.members, &mesh.coordinates, &grouping.centers, &mesh.held, &fine.values,
            &mut coarse.values);
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let Self { mesh, grouping, .. } = self;
        launch!(self.prolong, mesh.n_nodes.div_ceil(BLOCK);
            &(grouping.n_aggregates as u32), &(mesh.n_nodes as u32), &grouping.of,
            &mesh.coordinates, &grouping.centers, &mesh.held, &coarse.values, &mut fine.values);
    }
}

/// Between aggregates and theirs.
pub(super) struct AggregateTransfer {
    pub children: Arc<Grouping>,
    pub parents: Arc<Grouping>,
    kernels: Arc<AggregateKernels>,
}

/// The kernels of all transfers between aggregates.
pub(super) struct AggregateKernels {
    restrict: Kernel,
    prolong: Kernel,
}

impl AggregateKernels {
    pub fn load<R: Real>(device: &Arc<Device>) -> Result<Arc<Self>, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/coarse_transfer.f64.ptx"),
            include_str!("../../../../cuda/ptx/coarse_transfer.f32.ptx"),
        );
        let module = Module::load(device, "coarse_transfer", ptx)?;
        Ok(Arc::new(Self {
            restrict: module.kernel("restrict_aggregates", BLOCK as u32)?,
            prolong: module.kernel("prolong_aggregates", BLOCK as u32)?,
        }))
    }
}

impl AggregateTransfer {
    /// Between the aggregates `children` and `parents`, the aggregates of those.
    pub fn new(
        kernels: &Arc<AggregateKernels>,
        children: &Arc<Grouping>,
        parents: &Arc<Grouping>,
    ) -> Self {
        let (children, parents) = (children.clone(), parents.clone());
        Self { children, parents, kernels: kernels.clone() }
    }
}

impl<R: Real> Transfer<Cuda<R>> for AggregateTransfer {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { children, parents, kernels } = self;
        launch!(kernels.restrict, parents.n_aggregates.div_ceil(WARPS);
            &(parents.n_aggregates as u32), &(parents.n_points as u32), &parents.offsets,
            &parents.members, &children.centers, &parents.centers, &fine.values,
            &mut coarse.values);
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let Self { children, parents, kernels } = self;
        launch!(kernels.prolong, parents.n_points.div_ceil(BLOCK);
            &(parents.n_aggregates as u32), &(parents.n_points as u32), &parents.of,
            &children.centers, &parents.centers, &coarse.values, &mut fine.values);
    }
}
