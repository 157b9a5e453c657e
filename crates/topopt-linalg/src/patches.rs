//! The rows of a matrix in patches, small enough that their part of it stays on the chip.

use std::ops::Range;

use crate::BlockPattern;

/// Rows in patches, and the blocks of a matrix A = A_I + A_B: inside of patches and between them
/// \[Fu2013, 5.5.2\]. Made once for a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Patches {
    /// Rows patch by patch, `[n_rows]`.
    order: Vec<u32>,
    /// Position of each row in `order`, `[n_rows]`.
    place: Vec<u32>,
    /// Offset of each patch in `order`, `[n_patches + 1]`.
    starts: Vec<u32>,
    /// Offsets of the rows of `order` in `inside`: places of the blocks of A_I, their columns in the patch.
    inside_offsets: Vec<u32>,
    inside: Vec<[u32; 2]>,
    /// Offsets of the rows of `order` in `outside`: places of the blocks of A_B.
    outside_offsets: Vec<u32>,
    outside: Vec<u32>,
}

/// The unknowns of a patch: as many as a block of a GPU has threads.
const UNKNOWNS: usize = 96;

impl Patches {
    /// Most rows of a patch, of `unknowns` each.
    pub const fn most_rows(unknowns: usize) -> usize {
        UNKNOWNS / unknowns
    }

    /// Consecutive `groups` of the rows of `pattern`, together as many as fit, each of `unknowns`
    /// per row; a group is cut where it alone does not fit. Every row is in one group.
    pub fn of_groups(pattern: &BlockPattern, unknowns: usize, groups: &[Vec<u32>]) -> Self {
        let most = Self::most_rows(unknowns);
        let (mut order, mut starts) = (Vec::with_capacity(pattern.n_rows()), vec![0u32]);
        for part in groups.iter().flat_map(|group| group.chunks(most)) {
            let begun = order.len() - starts[starts.len() - 1] as usize;
            if begun > 0 && begun + part.len() > most {
                starts.push(order.len() as u32);
            }
            order.extend_from_slice(part);
        }
        starts.push(order.len() as u32);
        Self::split(pattern, order, starts)
    }

    fn split(pattern: &BlockPattern, order: Vec<u32>, starts: Vec<u32>) -> Self {
        let mut place = vec![0u32; order.len()];
        (0..).zip(&order).for_each(|(k, &row)| place[row as usize] = k);

        let (mut inside_offsets, mut inside) = (vec![0], Vec::new());
        let (mut outside_offsets, mut outside) = (vec![0], Vec::new());
        for patch in starts.windows(2) {
            let own = patch[0]..patch[1];
            for &row in &order[own.start as usize..own.end as usize] {
                let first = pattern.offsets()[row as usize] as u32;
                for (block, &column) in (first..).zip(pattern.row(row as usize)) {
                    let column = place[column as usize];
                    if own.contains(&column) {
                        inside.push([block, column - own.start])
                    } else {
                        outside.push(block)
                    }
                }
                inside_offsets.push(inside.len() as u32);
                outside_offsets.push(outside.len() as u32);
            }
        }
        Self { order, place, starts, inside_offsets, inside, outside_offsets, outside }
    }

    /// Number of patches.
    #[allow(clippy::len_without_is_empty)] // no matrix is without rows
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Rows patch by patch, `[n_rows]`.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Position of each row in the order, `[n_rows]`.
    pub fn places(&self) -> &[u32] {
        &self.place
    }

    /// Offset of each patch in the order, `[len + 1]`.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Blocks inside the patch with the places `own` of the order, row after row: their place among
    /// all blocks of the pattern, and the row within the patch that is their column.
    pub fn inside(&self, own: &Range<usize>) -> &[[u32; 2]] {
        let [start, end] = [own.start, own.end].map(|k| self.inside_offsets[k] as usize);
        &self.inside[start..end]
    }

    /// Number of inner blocks in the row at `place`.
    pub fn n_inside(&self, place: usize) -> usize {
        (self.inside_offsets[place + 1] - self.inside_offsets[place]) as usize
    }

    /// Places of the blocks outside the patch, in the row at `place` of the order.
    pub fn outside(&self, place: usize) -> &[u32] {
        let [start, end] = [place, place + 1].map(|k| self.outside_offsets[k] as usize);
        &self.outside[start..end]
    }
}
