//! Blocks of the matrix, and the blocks to which the tiles of elements belong; on the host, once
//! per mesh and set of held unknowns.

use rayon::prelude::*;
use topopt_fem::{Discretization, ElementKernel};
use topopt_linalg::BackendError;
use topopt_mesh::NodeToElements;

use crate::operators::clusters::POSITION;
use crate::operators::constraints::held;
use crate::operators::sparsity;

/// Pairs of local nodes, each one way round.
pub(super) const PAIRS: usize = defined!("common/tiles.cuh", "PAIRS");

/// A tile is to be transposed.
const TRANSPOSED: u32 = defined!("common/upper.cuh", "TRANSPOSED") as u32;
/// A tile is to be added to its transpose.
const DOUBLED: u32 = defined!("common/upper.cuh", "DOUBLED") as u32;
/// Bit whose meaning the strategy defines.
pub(super) const MARKED: u32 = defined!("common/upper.cuh", "MARKED") as u32;
/// Mask of the number of a block or a tile, without the bits above.
const PLACE: u32 = MARKED - 1;
/// The block is on the diagonal.
const ON_DIAGONAL: u8 = defined!("common/upper.cuh", "ON_DIAGONAL") as u8;

/// The number without its marks.
pub(super) fn place(entry: u32) -> u32 {
    entry & PLACE
}

/// The marks alone.
pub(super) fn marks(entry: u32) -> u32 {
    entry & !PLACE
}

/// Local nodes of a pair, by VTK's numbers.
pub(super) fn pair(p: usize) -> [usize; 2] {
    [p & 7, (p + (p >> 3)) & 7].map(|position| POSITION[position])
}

/// The blocks of the matrix of a discretization in compressed rows.
///
/// Blocks on and above the diagonal, which are those that are summed up, have numbers of their own,
/// row by row.
pub struct Pattern {
    /// `[n_nodes + 1]`.
    row_offsets: Vec<u64>,
    /// Ascending in a row, `[n_blocks]`.
    columns: Vec<u32>,
    /// Offset of each row in the upper blocks, `[n_nodes + 1]`.
    pub(super) upper_offsets: Vec<u32>,
    /// Place of every upper block among all blocks, `[n_upper]`.
    pub(super) places: Vec<u32>,
    /// Place of the mirror image of every upper block among all blocks, `[n_upper]`.
    pub(super) mirrors: Vec<u32>,
    /// Held unknowns of row and column of every upper block, bits as in `cuda/common/upper.cuh`.
    pub(super) masks: Vec<u8>,
    /// Held unknowns of every node, one bit each, `[n_nodes]`.
    pub(super) held: Vec<u8>,
}

impl Pattern {
    /// Finds the blocks of `problem`, whose nodes have the elements of `adjacency`.
    ///
    /// # Errors
    /// [`BackendError`] if there are more blocks than 32 bits count.
    pub fn new<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        adjacency: &NodeToElements,
    ) -> Result<Self, BackendError> {
        let mesh = problem.mesh();
        let (row_offsets, columns) = sparsity::pattern(mesh, adjacency);
        if columns.len() > u32::MAX as usize {
            return Err(too_large(format!("{} blocks", columns.len())));
        }

        let n = mesh.n_nodes();
        let row = |i: usize| row_offsets[i] as usize..row_offsets[i + 1] as usize;
        let find =
            |i: usize, j: u32| row(i).start + columns[row(i)].partition_point(|&column| column < j);
        let firsts: Vec<u32> = (0..n).into_par_iter().map(|i| find(i, i as u32) as u32).collect();
        let mut upper_offsets = vec![0u32];
        for (i, &first) in firsts.iter().enumerate() {
            upper_offsets.push(upper_offsets[i] + row_offsets[i + 1] as u32 - first);
        }

        let uppers = |i: usize| firsts[i]..row_offsets[i + 1] as u32;
        let places = (0..n).into_par_iter().flat_map_iter(uppers).collect();
        let mirror = |i: usize| {
            let columns = &columns[firsts[i] as usize..row(i).end];
            columns.iter().map(move |&j| find(j as usize, i as u32) as u32)
        };
        let mirrors = (0..n).into_par_iter().flat_map_iter(mirror).collect();
        let held = held(problem.constraints());
        let mask = |i: usize| {
            let held = &held;
            columns[firsts[i] as usize..row(i).end].iter().map(move |&j| {
                let diagonal = if j as usize == i { ON_DIAGONAL } else { 0 };
                held[i] | held[j as usize] << 3 | diagonal
            })
        };
        let masks = (0..n).into_par_iter().flat_map_iter(mask).collect();

        Ok(Self { row_offsets, columns, upper_offsets, places, mirrors, masks, held })
    }

    /// Offset of each row in the blocks, `[n_nodes + 1]`.
    pub fn row_offsets(&self) -> &[u64] {
        &self.row_offsets
    }

    /// The columns of the blocks, ascending in a row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Number of blocks on and above the diagonal.
    pub(super) fn n_upper(&self) -> usize {
        self.places.len()
    }

    /// The upper block of every tile of the elements `hexes`, with marks, `[n_elements][36]`.
    ///
    /// # Errors
    /// [`BackendError`] if there are more blocks or tiles than marks leave bits for.
    pub(super) fn tiles(&self, hexes: &[[u32; 8]]) -> Result<Vec<[u32; PAIRS]>, BackendError> {
        if self.columns.len().max(PAIRS * hexes.len()) > PLACE as usize {
            return Err(too_large(format!("{} elements", hexes.len())));
        }
        let tile = |hex: &[u32; 8], p: usize| {
            let [a, b] = pair(p).map(|local| hex[local]);
            let (i, j) = (a.min(b) as usize, a.max(b));
            let first = self.upper_offsets[i];
            let start = self.places[first as usize] as usize;
            let columns = &self.columns[start..self.row_offsets[i + 1] as usize];
            let block = first + columns.partition_point(|&column| column < j) as u32;
            let transposed = if a > b { TRANSPOSED } else { 0 };
            block | transposed | if a == b && p >= 8 { DOUBLED } else { 0 }
        };
        Ok(hexes.par_iter().map(|hex| std::array::from_fn(|p| tile(hex, p))).collect())
    }

    /// The places of these blocks among all, with marks.
    ///
    /// # Errors
    /// As [`Self::tiles`].
    pub(super) fn targets(&self, hexes: &[[u32; 8]]) -> Result<Vec<u32>, BackendError> {
        let tiles = self.tiles(hexes)?;
        let tiles = tiles.as_flattened().par_iter();
        Ok(tiles.map(|&tile| self.places[place(tile) as usize] | marks(tile)).collect())
    }
}

/// The mesh is too large for the numbers of assembly.
pub(super) fn too_large(what: String) -> BackendError {
    BackendError {
        device: "assembly".into(),
        operation: "counting blocks".into(),
        message: format!(
            "{what} are more than it can count; use a strategy that assembles nothing"
        ),
    }
}
