//! The 3D cantilever: 2n x n x n unit cubes.

use super::extrusion::{self, Extrusion};
use super::part::{Part, fewer, nearest, stretch};
use super::section::{self, Grid};

/// The cantilever of about `n_elements` unit cubes, clamped at x = 0, loaded on x = 2n, y = 0, by
/// elements of about `step` times their edge.
pub(super) fn part(n_elements: usize, step: usize) -> Part {
    let full = nearest(1, n_elements, |n| 2 * n * n * n);
    let n = fewer(full, step);
    let lines = [section::unit_lines(2 * n), section::unit_lines(n)];
    let Grid { section, point_at } = Grid::new(lines, |_, _| true);
    let fixed = section.edges_where(|[x, _]| x == 0.0);
    let body = Extrusion::uniform(&section, &extrusion::unit_levels(n));
    Part { body, fixed, load: vec![point_at[0][2 * n]], first_solid: None }
        .stretched([stretch(full, n); 3])
}
