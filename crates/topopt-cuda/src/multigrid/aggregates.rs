//! Points in aggregates, on the device.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::{Aggregates, DIM};
use topopt_linalg::BackendError;
use topopt_mesh::filled_rows;

use crate::Device;
use crate::kernels::AggregatesView;
use crate::operators::{Constraints, MeshOnDevice};
use crate::vector::to_planes;

/// The aggregate of a point that is left out; NONE of `cuda/common/aggregates1.cuh`.
const NONE: u32 = u32::MAX;

/// Points in aggregates, on the device.
pub struct Grouping {
    pub(super) n_points: usize,
    pub(super) n_aggregates: usize,
    /// The aggregate, or [`NONE`], `[n_points]`.
    pub(super) of: CudaSlice<u32>,
    /// `[n_aggregates + 1]`.
    pub(super) offsets: CudaSlice<u32>,
    /// Points of every aggregate that are not left out.
    pub(super) members: CudaSlice<u32>,
    /// `[3][n_aggregates]`.
    pub(super) centers: CudaSlice<f64>,
}

impl Grouping {
    /// Uploads `aggregates` without the points that are `left_out`.
    pub(super) fn new(
        device: &Device,
        aggregates: &Aggregates,
        left_out: impl Fn(u32) -> bool + Sync,
    ) -> Result<Arc<Self>, BackendError> {
        let of = |(point, &of)| if left_out(point) { NONE } else { of };
        let of: Vec<u32> = (0..aggregates.of().len() as u32)
            .into_par_iter()
            .zip(aggregates.of())
            .map(of)
            .collect();
        let kept = |list: &Vec<u32>| list.iter().copied().filter(|&p| !left_out(p)).collect();
        let lists: Vec<Vec<u32>> = aggregates.members().par_iter().map(kept).collect();
        let (offsets, members) = flatten(&lists);
        Ok(Arc::new(Self {
            n_points: of.len(),
            n_aggregates: aggregates.len(),
            of: device.upload(&of)?,
            offsets: device.upload(&offsets)?,
            members: device.upload_list(&members)?,
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

/// Points that move with aggregates.
pub enum Points {
    /// Nodes, some of them held.
    Nodes(Arc<MeshOnDevice>, Arc<Constraints>),
    /// Aggregates of the finer level.
    Aggregates(Arc<Grouping>),
}
