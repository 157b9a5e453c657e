//! `DensityGrid`: a design on a uniform grid, small enough to be part of a page.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;
use topopt_mesh::{BoundingBox, HexMesh, UniformGrid};

/// Density and coverage on the cells of a grid. Within the part the surface of a design lies where
/// the density equals the threshold, at the boundary of the part where the coverage is one half.
#[derive(Debug, Clone, PartialEq)]
pub struct DensityGrid {
    /// The grid.
    pub grid: UniformGrid,
    /// Density at the centers in steps of 1/255, `[n_cells]`; cells next to the part have that of
    /// the nearest cells in it, those beyond 0.
    pub density: Vec<u8>,
    /// Share of a cell that lies in the part in steps of 1/255, `[n_cells]`.
    pub coverage: Vec<u8>,
}

/// Layers of cells around the part that get a density.
const LAYERS: usize = 2;

impl DensityGrid {
    /// Samples the density, `value(x)`, on about `n_cells` cells over the part.
    pub fn of(mesh: &HexMesh, value: impl Fn([f64; 3]) -> f64 + Sync, n_cells: usize) -> Self {
        let grid = covering(&mesh.bounding_box(), n_cells);
        // Every cell has eight samples: the cells of a grid of half the spacing.
        let samples = halved(&grid);
        let owners = samples.locate(mesh);

        let cells: Vec<(f32, u8)> = (0..grid.n_cells())
            .into_par_iter()
            .map(|cell| {
                let [nx, ny, _] = grid.cells;
                let cell = [cell % nx, cell / nx % ny, cell / (nx * ny)];

                let mut sum = 0.0;
                let mut count = 0;
                for corner in 0..8 {
                    let sample: [usize; 3] =
                        std::array::from_fn(|i| 2 * cell[i] + (corner >> i & 1));
                    let [mx, my, _] = samples.cells;
                    let owner = owners[sample[0] + mx * (sample[1] + my * sample[2])];
                    if owner != UniformGrid::OUTSIDE {
                        sum += value(samples.center(sample));
                        count += 1;
                    }
                }
                ((sum / f64::from(count.max(1))) as f32, (255 * count / 8) as u8)
            })
            .collect();

        let coverage: Vec<u8> = cells.iter().map(|cell| cell.1).collect();
        let inside = |&(density, coverage): &(f32, u8)| (coverage > 0).then_some(density);
        let density = extended(grid.cells, cells.iter().map(inside).collect());
        Self { grid, density, coverage }
    }

    /// Encodes densities and then coverages, compressed by zlib, as base64.
    pub fn encoded(&self) -> String {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        let written = encoder
            .write_all(&self.density)
            .and_then(|()| encoder.write_all(&self.coverage))
            .and_then(|()| encoder.finish());
        BASE64_STANDARD.encode(written.expect("memory takes what is written"))
    }
}

/// A grid of about `n_cells` cells over `bounds`, at most eight times as many, and a single cell if
/// coordinates are so large that their difference overflows.
fn covering(bounds: &BoundingBox, n_cells: usize) -> UniformGrid {
    let mut sides = bounds.extent();
    sides.sort_by(f64::total_cmp);
    let [short, middle, long] = sides;
    // Cell widths for a body, a sheet and a line, as shares of the longest side.
    let (n, flat, thin) = (n_cells as f64, middle / long, short / long);
    let share = (flat * thin / n).cbrt().max((flat / n).sqrt()).max(1.0 / n);
    let whole = UniformGrid { origin: bounds.min, spacing: f64::MAX, cells: [1; 3] };
    UniformGrid::covering(bounds, share * long).unwrap_or(whole)
}

/// Halves the edges of the cells of `grid`.
fn halved(grid: &UniformGrid) -> UniformGrid {
    UniformGrid {
        origin: grid.origin,
        spacing: 0.5 * grid.spacing,
        cells: grid.cells.map(|n| 2 * n),
    }
}

/// The densities as bytes, with those of the neighbors in [`LAYERS`] layers around.
fn extended(cells: [usize; 3], mut density: Vec<Option<f32>>) -> Vec<u8> {
    let strides = [1, cells[0], cells[0] * cells[1]];
    for _ in 0..LAYERS {
        let grown = (0..density.len()).into_par_iter().map(|cell| {
            let mut known: Vec<f32> = Vec::new();
            for i in 0..3 {
                let place = cell / strides[i] % cells[i];
                known.extend((place > 0).then(|| density[cell - strides[i]]).flatten());
                known.extend((place + 1 < cells[i]).then(|| density[cell + strides[i]]).flatten());
            }
            let mean = || known.iter().sum::<f32>() / known.len() as f32;
            density[cell].or_else(|| (!known.is_empty()).then(mean))
        });
        density = grown.collect();
    }
    let byte = |value: Option<f32>| (255.0 * value.unwrap_or(0.0)).round().clamp(0.0, 255.0) as u8;
    density.into_iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};
    use topopt_mesh::hexahedron;

    use super::*;

    #[test]
    fn values_are_those_of_the_field_and_the_part_is_covered() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let bounds = mesh.bounding_box();
        let rise = |x: &[f64; 3]| (x[0] - bounds.min[0]) / bounds.extent()[0];
        let found = DensityGrid::of(&mesh, |x| rise(&x), 2000);
        let grid = found.grid;
        assert!((1000..4000).contains(&grid.n_cells()), "{:?}", grid.cells);
        for cell in 0..grid.n_cells() {
            let at = grid.center([cell % grid.cells[0], 0, 0]);
            if found.coverage[cell] == 255 {
                let difference = f64::from(found.density[cell]) / 255.0 - rise(&at);
                assert!(difference.abs() < 0.51 / 255.0 + 1e-6, "{cell} {difference}");
            }
        }
        let covered: f64 = found.coverage.iter().map(|&c| f64::from(c) / 255.0).sum();
        let volume: f64 = mesh.volumes().iter().sum();
        assert!((covered * grid.spacing.powi(3) / volume - 1.0).abs() < 0.1, "{covered}");
    }

    /// Shares of the volume alone would give a plate and a wire of these 4e6 and 2000 cells.
    #[test]
    fn flat_thin_and_huge_parts_have_about_as_many_cells() {
        let huge = 1e308;
        for size in [[1.0, 1.0, 1e-9], [1.0, 1e-9, 1e-9], [1e200; 3], [1e-200; 3], [huge; 3]] {
            let corner = |node: [f64; 3]| std::array::from_fn(|i| node[i] * size[i]);
            let bounds = BoundingBox::of(hexahedron::NODES.map(corner));
            let found = covering(&bounds, 2000);
            assert!((1..=16_000).contains(&found.n_cells()), "{size:?} {:?}", found.cells);
        }
    }

    #[test]
    fn neighbors_of_the_part_continue_its_density() {
        let row = vec![None, None, None, Some(1.0), Some(0.2), None];
        assert_eq!(extended([6, 1, 1], row), [0, 255, 255, 255, 51, 51]);
    }
}
