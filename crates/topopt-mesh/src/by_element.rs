//! Values of every element by the coordinates of its nodes.

use rayon::prelude::*;

use crate::{HexMesh, hexahedron};

/// Elements whose coordinates are looked up before the first of them is computed with: in random
/// order each node is far away in memory, and the processor waits for many at a time only if
/// nothing is between the loads.
const BLOCK: usize = 32;

/// Values that one thread sums up at a time.
const CHUNK: usize = 1 << 16;

impl HexMesh {
    /// `value` of every element by its nodes and their coordinates, `[n_elements]`.
    pub(crate) fn of_elements<T: Copy + Default + Send + Sync>(
        &self,
        value: impl Fn(&[u32; 8], &[[f64; 3]; 8]) -> T + Sync,
    ) -> Vec<T> {
        let mut values = vec![T::default(); self.n_elements()];
        let blocks = values.par_chunks_mut(BLOCK).zip(self.hexes().par_chunks(BLOCK));
        blocks.for_each(|(values, hexes)| {
            let mut corners = [[[0.0; 3]; 8]; BLOCK];
            for (x, hex) in corners.iter_mut().zip(hexes) {
                for a in 0..8 {
                    x[a] = self.coordinates()[hex[a] as usize];
                }
            }
            for ((place, hex), x) in values.iter_mut().zip(hexes).zip(&corners) {
                *place = value(hex, x);
            }
        });
        values
    }

    /// Volume of every element.
    pub fn volumes(&self) -> Vec<f64> {
        self.of_elements(|_, x| hexahedron::volume(x))
    }

    /// Width of an element, the cube root of its volume, averaged over the volume of the mesh: as a
    /// point of the part sees it, so that many small elements in a corner do not decide it.
    pub fn element_width(&self) -> f64 {
        Self::width_of(&self.volumes())
    }

    /// Returns [`HexMesh::element_width`] of elements with these `volumes`, `[n_elements]`.
    pub fn width_of(volumes: &[f64]) -> f64 {
        let sums = |volumes: &[f64]| {
            let width_sum: f64 = volumes.iter().map(|v| v * v.cbrt()).sum();
            (width_sum, volumes.iter().sum::<f64>())
        };
        // Chunk by chunk, whatever the number of threads.
        let chunks: Vec<(f64, f64)> = volumes.par_chunks(CHUNK).map(sums).collect();
        let (widths, volumes): (Vec<f64>, Vec<f64>) = chunks.into_iter().unzip();
        widths.iter().sum::<f64>() / volumes.iter().sum::<f64>()
    }

    /// Center of every element: the mean of its nodes.
    pub fn centers(&self) -> Vec<[f64; 3]> {
        self.of_elements(|hex, x| {
            if hexahedron::has_twice(hex) {
                hexahedron::center(x)
            } else {
                [0, 1, 2].map(|i| x.iter().map(|x| x[i]).sum::<f64>() / 8.0)
            }
        })
    }
}
