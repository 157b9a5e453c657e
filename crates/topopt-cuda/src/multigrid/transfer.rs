//! Prolongation and restriction, by the kernels of `cuda/transfer.cu` and
//! `cuda/coarse_transfer.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Aggregates, DIM};
use topopt_linalg::{BackendError, Transfer};
use topopt_mesh::filled_rows;

use super::shared_rows::SharedLevel;
use crate::kernel::Grid::Threads;
use crate::kernels::{self, AggregatesView};
use crate::operators::ProblemOnDevice;
use crate::vector::{DeviceVector, Real, to_planes};
use crate::{Cuda, Device};

/// Threads that restrict to an aggregate.
const WARP: usize = 32;

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
    for (i, list) in lists.iter().enumerate() {
        offsets.push(offsets[i] + list.len() as u32);
    }
    let all = filled_rows(&offsets, |i, row: &mut [u32]| row.copy_from_slice(&lists[i]));
    (offsets, all)
}

impl From<&Grouping> for AggregatesView {
    fn from(grouping: &Grouping) -> Self {
        Self {
            n_aggregates: grouping.n_aggregates.into(),
            of: (&grouping.of).into(),
            centers: (&grouping.centers).into(),
        }
    }
}

/// Between nodes and their aggregates.
pub(super) struct NodeTransfer<'a, R: Real> {
    problem: Arc<ProblemOnDevice>,
    grouping: Arc<Grouping>,
    shared: Option<SharedLevel<'a, R>>,
    kernels: kernels::Transfer<R>,
}

impl<'a, R: Real> NodeTransfer<'a, R> {
    /// Builds the transfer to aggregates, which other ranks may share.
    pub fn new(
        problem: &Arc<ProblemOnDevice>,
        grouping: &Arc<Grouping>,
        shared: Option<SharedLevel<'a, R>>,
    ) -> Result<Self, BackendError> {
        let kernels = kernels::Transfer::load(&problem.device)?;
        Ok(Self { problem: problem.clone(), grouping: grouping.clone(), shared, kernels })
    }
}

impl<R: Real> Transfer<Cuda<R>> for NodeTransfer<'_, R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let ProblemOnDevice { mesh, constraints, .. } = &*self.problem;
        let Grouping { n_aggregates, offsets, members, centers, .. } = &*self.grouping;
        self.kernels.restrict_nodes(
            Threads(WARP * n_aggregates),
            *n_aggregates,
            mesh.n_nodes,
            offsets,
            members,
            &mesh.coordinates,
            centers,
            &constraints.held,
            fine,
            &mut *coarse,
        );
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let ProblemOnDevice { mesh, constraints, .. } = &*self.problem;
        let Grouping { n_aggregates, of, centers, .. } = &*self.grouping;
        self.kernels.prolong_nodes(
            Threads(mesh.n_nodes),
            *n_aggregates,
            mesh.n_nodes,
            of,
            &mesh.coordinates,
            centers,
            &constraints.held,
            coarse,
            fine,
        );
    }
}

/// Between aggregates and theirs.
pub(super) struct AggregateTransfer<'a, R: Real> {
    pub children: Arc<Grouping>,
    pub parents: Arc<Grouping>,
    shared: Option<SharedLevel<'a, R>>,
    kernels: Arc<kernels::CoarseTransfer<R>>,
}

impl<'a, R: Real> AggregateTransfer<'a, R> {
    /// Between the aggregates `children` and `parents`, the aggregates of those, which ranks may share.
    pub fn new(
        kernels: &Arc<kernels::CoarseTransfer<R>>,
        children: &Arc<Grouping>,
        parents: &Arc<Grouping>,
        shared: Option<SharedLevel<'a, R>>,
    ) -> Self {
        let (children, parents) = (children.clone(), parents.clone());
        Self { children, parents, shared, kernels: kernels.clone() }
    }
}

impl<R: Real> Transfer<Cuda<R>> for AggregateTransfer<'_, R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let positions = &self.children.centers;
        let Grouping { n_points, n_aggregates, offsets, members, centers, .. } = &*self.parents;
        self.kernels.restrict_aggregates(
            Threads(WARP * n_aggregates),
            *n_aggregates,
            *n_points,
            offsets,
            members,
            positions,
            centers,
            fine,
            &mut *coarse,
        );
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let positions = &self.children.centers;
        let Grouping { n_points, n_aggregates, of, centers, .. } = &*self.parents;
        let (grid, n) = (Threads(*n_points), *n_aggregates);
        self.kernels.prolong_aggregates(grid, n, *n_points, of, positions, centers, coarse, fine);
    }
}
