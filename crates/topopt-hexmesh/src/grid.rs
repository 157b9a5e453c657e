//! The tensor grid, with planes in the planar faces of the part.

use crate::features::Features;
use crate::sizes::Spacing;
use crate::surface::{Surface, Vec3};
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
    /// Lays planes into the planar faces across the axes, and to the ends of the part and of its
    /// curves; others between them by the `spacings` along the axes.
    pub fn fitted(surface: &Surface, features: &Features, spacings: &[Spacing; 3]) -> Self {
        let faces = planar_faces(surface);
        let [low, high] = surface.bounds();
        let planes = [0, 1, 2].map(|k| {
            let across = faces.iter().filter(|face| face.normal[k].abs() > 1.0 - 1e-6);
            let large = across.filter(|face| face.area > spacings[k].at(face.point[k]).powi(2));
            let mut wanted: Vec<(f64, f64)> =
                large.map(|face| (face.area, face.point[k])).collect();
            wanted.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));

            let mut kept = vec![low[k], high[k]];
            let spacing = &spacings[k];
            let gap = |x: f64, kept: &[f64]| {
                kept.iter().map(|y| (x - y).abs()).fold(f64::INFINITY, f64::min)
            };
            for (_, x) in wanted {
                if gap(x, &kept) > LEAST_GAP * spacing.at(x) {
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
                    // Slices between planes reach through the whole part.
                    let near = LEAST_GAP * spacing.usual..NEAR * spacing.at(x);
                    if near.contains(&gap(x, &kept)) {
                        kept.push(x);
                    }
                }
            }
            divided(kept, spacing)
        });
        Self { planes }
    }

    /// Lays even planes between `low` and `high`, with so many cells as `n` along the longest edge.
    pub fn coarse([low, high]: [Vec3; 2], n: f64) -> Self {
        let size = (high - low).max() / n;
        let along = |k: usize| {
            let count = ((high[k] - low[k]) / size).ceil().max(1.0);
            let step = (high[k] - low[k]) / count;
            (0..=count as usize).map(|i| low[k] + step * i as f64).collect()
        };
        Self { planes: [0, 1, 2].map(along) }
    }

    /// Coordinates of `x` in cells: planes lie at whole numbers.
    pub fn in_cells(&self, x: &Vec3) -> Vec3 {
        Vec3::from_fn(|k, _| {
            let planes = &self.planes[k];
            let cell =
                planes.partition_point(|plane| *plane <= x[k]).clamp(1, planes.len() - 1) - 1;
            cell as f64 + (x[k] - planes[cell]) / (planes[cell + 1] - planes[cell])
        })
    }

    /// Place of coordinates in cells.
    pub fn place(&self, x: &Vec3) -> Vec3 {
        Vec3::from_fn(|k, _| {
            let planes = &self.planes[k];
            let cell = (x[k].max(0.0) as usize).min(planes.len() - 2);
            planes[cell] + (x[k] - cell as f64) * (planes[cell + 1] - planes[cell])
        })
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

    /// Center of the cell of a number.
    pub fn center(&self, cell: usize) -> Vec3 {
        let [_, ny, nz] = self.cells();
        let at = [cell / (ny * nz), cell / nz % ny, cell % nz];
        Vec3::from_fn(|k, _| 0.5 * (self.planes[k][at[k]] + self.planes[k][at[k] + 1]))
    }

    /// Number of plane crossing `(i, j, k)`.
    pub fn crossing(&self, [i, j, k]: [usize; 3]) -> usize {
        let [_, ny, nz] = self.cells();
        (i * (ny + 1) + j) * (nz + 1) + k
    }
}

/// Planes at `kept`, with cells by `spacing` between them and empty ones around.
fn divided(mut kept: Vec<f64>, spacing: &Spacing) -> Vec<f64> {
    kept.sort_unstable_by(f64::total_cmp);
    let mut planes = vec![kept[0]];
    for ends in kept.windows(2) {
        planes.extend(spacing.planes(ends[0], ends[1]));
    }
    let (first, last) = (kept[0], planes[planes.len() - 1]);
    let before = (1..=MARGIN).rev().map(|i| first - spacing.at(first) * i as f64);
    let after = (1..=MARGIN).map(|i| last + spacing.at(last) * i as f64);
    before.chain(planes.iter().copied()).chain(after).collect()
}
