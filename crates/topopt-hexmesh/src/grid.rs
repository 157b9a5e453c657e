//! The tensor grid, with planes in the planar faces of the part.

use crate::features::Features;
use crate::surface::Surface;
use crate::turn::planar_faces;

/// Least distance of planes of the grid, in cells.
const LEAST_GAP: f64 = 0.2;
/// Distance, in cells, from a plane within which the extent of a curve gets a plane as well.
const NEAR: f64 = 0.9;
/// Empty cells around the part, on each side.
const MARGIN: usize = 2;

/// Planes across each axis.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    /// Coordinates of the planes, ascending, `[3][n_cells + 1]`.
    pub planes: [Vec<f64>; 3],
}

impl Grid {
    /// Lays planes of distance about `size` into the planar faces across the axes, and to the ends
    /// of the part and of its curves.
    pub fn fitted(surface: &Surface, features: &Features, size: f64) -> Self {
        let faces = planar_faces(surface);
        let [low, high] = surface.bounds();
        let planes = [0, 1, 2].map(|k| {
            let across = faces.iter().filter(|face| face.normal[k].abs() > 1.0 - 1e-6);
            let large = across.filter(|face| face.area > size * size);
            let mut wanted: Vec<(f64, f64)> =
                large.map(|face| (face.area, face.point[k])).collect();
            wanted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));

            let mut kept = vec![low[k], high[k]];
            let gap = |x: f64, kept: &[f64]| {
                kept.iter().map(|y| (x - y).abs()).fold(f64::INFINITY, f64::min) / size
            };
            for (_, x) in wanted {
                if gap(x, &kept) > LEAST_GAP {
                    kept.push(x);
                }
            }
            for chain in &features.chains {
                let along = || chain.points.iter().map(|x| x[k]);
                let ends = [
                    along().fold(f64::INFINITY, f64::min),
                    along().fold(f64::NEG_INFINITY, f64::max),
                ];
                for x in ends {
                    if (LEAST_GAP..NEAR).contains(&gap(x, &kept)) {
                        kept.push(x);
                    }
                }
            }
            divided(kept, size)
        });
        Self { planes }
    }

    /// Number of cells along each axis.
    pub fn cells(&self) -> [usize; 3] {
        [0, 1, 2].map(|k| self.planes[k].len() - 1)
    }

    /// Number of cell `(i, j, k)`.
    pub fn cell(&self, [i, j, k]: [usize; 3]) -> usize {
        let [_, ny, nz] = self.cells();
        (i * ny + j) * nz + k
    }

    /// Number of plane crossing `(i, j, k)`.
    pub fn crossing(&self, [i, j, k]: [usize; 3]) -> usize {
        let [_, ny, nz] = self.cells();
        (i * (ny + 1) + j) * (nz + 1) + k
    }
}

/// Planes at `kept`, with equal cells of about `size` between them and empty ones around.
fn divided(mut kept: Vec<f64>, size: f64) -> Vec<f64> {
    kept.sort_unstable_by(f64::total_cmp);
    let mut planes = vec![kept[0]];
    for ends in kept.windows(2) {
        let n = ((ends[1] - ends[0]) / size).round().max(1.0) as usize;
        let step = (ends[1] - ends[0]) / n as f64;
        planes.extend((1..n).map(|i| ends[0] + step * i as f64));
        planes.push(ends[1]);
    }
    let last = planes[planes.len() - 1];
    let before = (1..=MARGIN).rev().map(|i| kept[0] - size * i as f64);
    let after = (1..=MARGIN).map(|i| last + size * i as f64);
    before.chain(planes.iter().copied()).chain(after).collect()
}
