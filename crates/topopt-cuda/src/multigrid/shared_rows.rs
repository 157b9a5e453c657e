//! What ranks share of the first coarse matrix: each makes the rows of its own aggregates.

use std::sync::Arc;

use topopt_fem::{Aggregation, Divided, Joints, Sharing, Split};
use topopt_linalg::{BackendError, Space};

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
    /// The level, where ranks divide it.
    divided: Option<Arc<Divided<'a, Cuda<R>>>>,
}

impl<'a, R: Real> SharedRows<'a, R> {
    /// The rows of the first level of `structure`, whose blocks are `joints`; none without other ranks.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        sharing: Option<&Others<'a, R>>,
        structure: &Aggregation,
        joints: &Joints,
    ) -> Result<Option<Arc<Self>>, BackendError> {
        let divided = Divided::new(sharing, structure)?;
        let Some(sharing) = sharing.cloned() else { return Ok(None) };
        let mut first = 0;
        let blocks = |count: &usize| {
            let end = first + count;
            let n = joints.row_offsets[end] - joints.row_offsets[first];
            first = end;
            n as usize
        };
        let rows = structure.counts.clone();
        let blocks = rows.iter().map(blocks).collect();
        Ok(Some(Arc::new(Self { sharing, rows, blocks, divided })))
    }

    /// A level of a hierarchy, where ranks divide it: that below the finest, if any.
    pub fn divided_level<'s>(
        shared: Option<&'s Arc<Self>>,
        level: usize,
    ) -> Option<&'s Arc<Divided<'a, Cuda<R>>>> {
        shared.filter(|_| level == 1)?.divided.as_ref()
    }

    /// How ranks split products of a level with `joints`, of so many unknowns per row.
    pub fn split(
        shared: Option<&Arc<Self>>,
        level: usize,
        joints: &Joints,
        unknowns: usize,
    ) -> Option<Split<'a, Cuda<R>>> {
        match Self::divided_level(shared, level) {
            Some(divided) => Some(Split::of(divided)),
            None => {
                let space = Space::level(joints.row_offsets.len() - 1, unknowns);
                Split::new(shared.map(|shared| &shared.sharing), space)
            }
        }
    }

    /// Adds what other ranks restrict to their rows, as far as it is needed.
    pub fn complete(&self, coarse: &mut DeviceVector<R>) {
        match &self.divided {
            Some(divided) => divided.refresh(coarse),
            None => self.share_rows(coarse),
        }
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
