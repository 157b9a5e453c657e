//! How ranks share the coarse levels: each makes the rows of its own aggregates.

use std::ops::Range;
use std::sync::Arc;

use topopt_fem::{Joints, Shared, Sharing};

use crate::Cuda;
use crate::vector::{DeviceVector, Real};

/// The other ranks.
pub(super) type Others<'a, R> = Arc<dyn Sharing<'a, Cuda<R>> + 'a>;

/// A level that ranks share.
pub(super) type SharedLevel<'a, R> = Arc<Shared<'a, Cuda<R>>>;

/// The matrix of a level that ranks may share.
pub(super) struct SharedRows<'a, R: Real> {
    level: Option<SharedLevel<'a, R>>,
    /// Blocks off the diagonal that each rank makes, where all ranks have all.
    blocks: Vec<usize>,
    n_rows: usize,
}

impl<'a, R: Real> SharedRows<'a, R> {
    /// Prepares to share the rows of a matrix with `joints`.
    pub fn new(level: Option<SharedLevel<'a, R>>, joints: &Joints) -> Self {
        let blocks = match level.as_deref() {
            Some(Shared::Whole { counts, .. }) => counts
                .iter()
                .scan(0, |first, count| {
                    let end = *first + count;
                    let n = joints.row_offsets[end] - joints.row_offsets[*first];
                    *first = end;
                    Some(n as usize)
                })
                .collect(),
            _ => Vec::new(),
        };
        Self { level, blocks, n_rows: joints.row_offsets.len() - 1 }
    }

    /// The rows of the matrix that are complete here, and of products those that this rank makes.
    pub fn own(&self) -> Range<usize> {
        Shared::own_rows(self.level.as_ref(), self.n_rows)
    }

    /// Adds what other ranks have made of the matrix, if all ranks have all of it: numbers per
    /// block off the diagonal, and per row.
    pub fn complete_matrix(&self, blocks: &mut DeviceVector<R>, rows: &mut DeviceVector<R>) {
        if let Some(Shared::Whole { sharing, counts }) = self.level.as_deref() {
            sharing.share(&self.blocks, blocks);
            sharing.share(counts, rows);
        }
    }

    /// Writes the rows of ghosts to the inverse diagonal, if there are any.
    pub fn refresh_diagonal(&self, inverse: &mut DeviceVector<R>) {
        if let Some(divided) = Shared::divided_of(self.level.as_ref()) {
            divided.refresh_blocks(inverse);
        }
    }

    /// Writes the rows of ghosts to a product, if there are any.
    pub fn refresh(&self, product: &mut DeviceVector<R>) {
        if let Some(divided) = Shared::divided_of(self.level.as_ref()) {
            divided.refresh(product);
        }
    }
}
