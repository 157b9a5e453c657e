//! The share of each cell that lies inside of each body.

use rayon::prelude::*;

use crate::grid::Grid;
use crate::surface::Surface;

/// Samples of a cell along each axis.
const SAMPLES: usize = 4;
/// Offsets of the samples in cells, which keep rays off vertices in regular places.
const OFFSETS: [f64; 3] = [0.37e-5, 0.71e-5, 0.13e-5];

/// Samples of each cell.
pub(crate) const PER_CELL: u8 = SAMPLES.pow(3) as u8;

/// Counts the samples of each cell that lie inside of each body, `[n_bodies][n_cells]`, by 4 x 4
/// rays along z through each column, along which the winding number is counted.
pub(crate) fn samples_inside(surface: &Surface, grid: &Grid) -> Vec<Vec<u8>> {
    let [xs, ys, zs] = [0, 1, 2].map(|k| samples(&grid.planes[k], OFFSETS[k]));
    let crossings: Vec<Vec<Crossing>> = (0..surface.triangles.len())
        .into_par_iter()
        .map(|t| crossings(surface, t, &xs, &ys))
        .collect();
    let mut crossings = crossings.concat();
    crossings.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));

    let n_cells = grid.cells().iter().product();
    let mut counts = vec![vec![0u8; n_cells]; surface.n_bodies()];
    for ray in crossings.chunk_by(|a, b| a.0 == b.0) {
        let (ray_number, body) = (ray[0].0.0 as usize, ray[0].0.1 as usize);
        let (i, j) = (ray_number / ys.len() / SAMPLES, ray_number % ys.len() / SAMPLES);
        let mut winding = 0;
        for ends in ray.windows(2) {
            winding += ends[0].2;
            let from = zs.partition_point(|&z| z < ends[0].1);
            let to = zs.partition_point(|&z| z < ends[1].1);
            if winding > 0 {
                (from..to).for_each(|k| counts[body][grid.cell([i, j, k / SAMPLES])] += 1);
            }
        }
    }
    counts
}

/// Crossing of a ray and a surface: numbers of the ray and of the body, z, and 1 where the ray
/// enters or -1 where it leaves.
type Crossing = ((u32, u32), f64, i32);

fn samples(planes: &[f64], offset: f64) -> Vec<f64> {
    let within = |ends: &[f64], s: usize| {
        ends[0] + (ends[1] - ends[0]) * ((s as f64 + 0.5) / SAMPLES as f64 + offset)
    };
    planes.windows(2).flat_map(|ends| (0..SAMPLES).map(move |s| within(ends, s))).collect()
}

/// Rays that cross triangle `t`.
fn crossings(surface: &Surface, t: usize, xs: &[f64], ys: &[f64]) -> Vec<Crossing> {
    let [a, b, c] = surface.corners(t);
    let (e, f) = (b - a, c - a);
    let determinant = e.x * f.y - e.y * f.x;
    if determinant == 0.0 {
        return Vec::new();
    }
    let range = |values: &[f64], k: usize| {
        let (low, high) = (a[k].min(b[k]).min(c[k]), a[k].max(b[k]).max(c[k]));
        values.partition_point(|&v| v < low)..values.partition_point(|&v| v <= high)
    };
    let (columns, sign) = (range(ys, 1), if determinant < 0.0 { 1 } else { -1 });
    let mut found = Vec::new();
    for i in range(xs, 0) {
        for j in columns.clone() {
            let (x, y) = (xs[i] - a.x, ys[j] - a.y);
            let (u, v) = ((x * f.y - y * f.x) / determinant, (e.x * y - e.y * x) / determinant);
            if u >= 0.0 && v >= 0.0 && u + v <= 1.0 {
                let ray = (i * ys.len() + j) as u32;
                found.push(((ray, surface.bodies[t]), a.z + u * e.z + v * f.z, sign));
            }
        }
    }
    found
}
