//! The Michell cantilever: a rectangle 5R x 4R less a half disc of radius R.
//!
//! Half of a square is cut out of the left side of a grid of unit squares and filled with
//! quadrilaterals grown from the half-circle. The two corners of the square become irregular
//! nodes with five quadrilaterals; smoothing then spreads the distortion.

use super::extrusion::{self, Extrusion};
use super::part::{Part, fewer, nearest, stretch};
use super::section::{self, Grid, RoundHole};

/// The Michell cantilever of about `n_elements` elements, in unit layers; the mean quadrilateral
/// has an area of about 1. Clamped on the half-circle, loaded at x = 5R, y = 2R. By elements of
/// about `step` times their edge.
pub(super) fn part(n_elements: usize, step: usize) -> Part {
    let of_full = layers(n_elements);
    let full = nearest(2, n_elements, |r| of_full * (18 * r * r + 2 * n_rows(r) * n_rows(r)));
    let (radius, n_layers) = (fewer(full, step).max(2), fewer(of_full, step));
    let hole = RoundHole {
        center: [0, 2 * radius],
        half_edge: radius + n_rows(radius),
        n_rows: n_rows(radius),
        radius: radius as f64,
    };
    let lines = [section::unit_lines(5 * radius), section::unit_lines(4 * radius)];
    let mut grid = Grid::new(lines, |i, j| !hole.contains(i, j));
    let arc = grid.fill(&hole, [0.0, 2.0 * hole.radius]);
    let Grid { mut section, point_at } = grid;
    let load = point_at[2 * radius][5 * radius];
    section.movable[load as usize] = [false; 2];
    section.smooth();
    let body = Extrusion::uniform(&section, &extrusion::unit_levels(n_layers));
    let fixed = arc.edges_where(&section, |_| true);
    Part { body, fixed, load: vec![load], first_solid: None }.stretched([
        stretch(full, radius),
        stretch(full, radius),
        stretch(of_full, n_layers),
    ])
}

/// Rows of quadrilaterals between the half-circle and the square: with 0.45 R of them the mean
/// quadrilateral has an area of 1.
fn n_rows(radius: usize) -> usize {
    (0.45 * radius as f64).round() as usize
}

/// Layers as in the nearest mesh of \[Ratnakar2022\], whose nodes per element give 3, 3, 4, 6, 6;
/// beyond the largest they grow with the cube root of the number of elements.
fn layers(n_elements: usize) -> usize {
    match n_elements {
        0..125_000 => 3,
        125_000..290_000 => 4,
        _ => (6.0 * (n_elements as f64 / 1_170_894.0).cbrt()).round().max(6.0) as usize,
    }
}
