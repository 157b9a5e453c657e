//! The 3D L-beam: a square 5a x 5a less its upper right 3a x 3a, a quarter of the arm thick.

use super::extrusion::{self, Extrusion};
use super::part::{Part, fewer, nearest, stretch};
use super::section::{self, Grid};

/// The L-beam of about `n_elements` unit cubes, with arms 2a wide: clamped at y = 5a, loaded on
/// x = 5a, y = 2a; by elements of about `step` times their edge.
pub(super) fn part(n_elements: usize, step: usize) -> Part {
    let full = nearest(1, n_elements, |a| 16 * a * a * thickness(a));
    let (a, layers) = (fewer(full, step), fewer(thickness(full), step));
    let lines = [section::unit_lines(5 * a), section::unit_lines(5 * a)];
    let Grid { section, point_at } = Grid::new(lines, |i, j| i < 2 * a || j < 2 * a);
    let fixed = section.edges_where(|[_, y]| y == (5 * a) as f64);
    let body = Extrusion::uniform(&section, &extrusion::unit_levels(layers));
    Part { body, fixed, load: vec![point_at[2 * a][5 * a]], first_solid: None }.stretched([
        stretch(full, a),
        stretch(full, a),
        stretch(thickness(full), layers),
    ])
}

/// A quarter of the arm, rounded down, at least one element.
fn thickness(a: usize) -> usize {
    (a / 2).max(1)
}
