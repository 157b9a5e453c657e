//! The tiles of every block on and above the diagonal: what `global_nz` and `local_nz` walk along.

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::BackendError;
use topopt_mesh::counting_sort::{Grouped, grouped};

use crate::assembly::pattern::{marks, place};
use crate::assembly::task::Parts;

/// Tiles of each block in compressed rows, by increasing elements.
pub(crate) struct Sources {
    /// `[n_upper + 1]`.
    pub offsets: CudaSlice<u32>,
    /// 36 e + p with the marks of the tile, `[36 n_elements]`.
    pub tiles: CudaSlice<u32>,
}

impl Sources {
    pub fn new(parts: &Parts<'_>) -> Result<Self, BackendError> {
        let pattern = parts.pattern;
        let tiles = pattern.tiles(parts.mesh.hexes())?;
        let tiles = tiles.as_flattened();
        let blocks: Vec<u32> = tiles.par_iter().map(|&tile| place(tile)).collect();
        let source = |item: usize| item as u32 | marks(tiles[item]);
        let Grouped { offsets, values } = grouped(&blocks, pattern.n_upper(), source);
        let offsets: Vec<u32> = offsets.into_par_iter().map(|offset| offset as u32).collect();
        Ok(Self { offsets: parts.device.upload(&offsets)?, tiles: parts.device.upload(&values)? })
    }
}
