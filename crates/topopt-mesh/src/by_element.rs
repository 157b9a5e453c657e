//! Values of every element by the coordinates of its nodes.

use rayon::prelude::*;

use crate::cells::Shape;
use crate::{HexMesh, hexahedron, tetrahedron};

/// Elements whose coordinates are looked up before the first of them is computed with: in random
/// order each node is far away in memory, and the processor waits for many at a time only if
/// nothing is between the loads.
const BLOCK: usize = 32;

/// Values that one thread sums up at a time.
const CHUNK: usize = 1 << 16;

impl HexMesh {
    /// `value` of every element by its E nodes and their coordinates, `[n_elements]`.
    pub(crate) fn of_elements<const E: usize, T: Copy + Default + Send + Sync>(
        &self,
        value: impl Fn(&[u32; E], &[[f64; 3]; E]) -> T + Sync,
    ) -> Vec<T> {
        debug_assert_eq!(E, self.nodes_per_element());
        let elements = self.connectivity().as_chunks::<E>().0;
        let mut values = vec![T::default(); self.n_elements()];
        let blocks = values.par_chunks_mut(BLOCK).zip(elements.par_chunks(BLOCK));
        blocks.for_each(|(values, elements)| {
            let mut coordinates = [[[0.0; 3]; E]; BLOCK];
            for (x, nodes) in coordinates.iter_mut().zip(elements) {
                for a in 0..E {
                    x[a] = self.coordinates()[nodes[a] as usize];
                }
            }
            for ((place, nodes), x) in values.iter_mut().zip(elements).zip(&coordinates) {
                *place = value(nodes, x);
            }
        });
        values
    }

    /// Volume of every element.
    pub fn volumes(&self) -> Vec<f64> {
        match self.shape() {
            Shape::Tetrahedron => self.of_elements(|_, x| tetrahedron::volume(x)),
            _ => self.of_elements(|_, x| hexahedron::volume(x)),
        }
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

    /// Center of every element: the mean of its corners.
    pub fn centers(&self) -> Vec<[f64; 3]> {
        if self.shape() == Shape::Tetrahedron {
            return self.of_elements(|_: &[u32; 10], x| tetrahedron::center(x));
        }
        self.of_elements(|hex, x| {
            if hexahedron::has_twice(hex) {
                hexahedron::center(x)
            } else {
                [0, 1, 2].map(|i| x.iter().map(|x| x[i]).sum::<f64>() / 8.0)
            }
        })
    }
}
