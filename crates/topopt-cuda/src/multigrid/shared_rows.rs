//! What ranks share of the first coarse matrix: each makes the rows of its own aggregates.

use std::sync::Arc;

use topopt_fem::{Aggregation, Joints, Sharing};

use crate::Cuda;
use crate::vector::{DeviceVector, Real};

/// The other ranks.
pub(super) type Others<'a, R> = Arc<dyn Sharing<Cuda<R>> + 'a>;

/// The other ranks, and what each makes.
pub(super) struct SharedRows<'a, R: Real> {
    sharing: Others<'a, R>,
    /// Rows of each rank, and its blocks off the diagonal.
    rows: Vec<usize>,
    blocks: Vec<usize>,
}

impl<'a, R: Real> SharedRows<'a, R> {
    /// The rows of the first level of `structure`, whose blocks are `joints`; none without other ranks.
    pub fn new(
        sharing: Option<&Others<'a, R>>,
        structure: &Aggregation,
        joints: &Joints,
    ) -> Option<Arc<Self>> {
        let sharing = sharing?.clone();
        let mut first = 0;
        let blocks = |count: &usize| {
            let end = first + count;
            let n = joints.row_offsets[end] - joints.row_offsets[first];
            first = end;
            n as usize
        };
        let rows = structure.counts.clone();
        let blocks = rows.iter().map(blocks).collect();
        Some(Arc::new(Self { sharing, rows, blocks }))
    }

    /// Lets every rank have what each has of its own rows: numbers per row.
    pub fn share_rows(&self, of_rows: &mut DeviceVector<R>) {
        self.sharing.share(&self.rows, of_rows);
    }

    /// The same of numbers per block.
    pub fn share_blocks(&self, of_blocks: &mut DeviceVector<R>) {
        self.sharing.share(&self.blocks, of_blocks);
    }
}
