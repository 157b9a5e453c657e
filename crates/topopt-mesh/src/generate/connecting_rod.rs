//! The connecting rod: a plate 150 x 350 with two bores, each in a ring thicker than the plate.
//!
//! The plate (web) lies in 2 <= z <= 6, the rings in 0 <= z <= 8. In the plane it is a grid with
//! two squares cut out, each filled with quadrilaterals around a ring; the eight corners of the
//! squares become irregular nodes.

use std::ops::Range;

use super::extrusion::Extrusion;
use super::part::{Part, fewer, nearest};
use super::section::{Grid, Ring, RoundHole, Section};

const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 350.0;
const LOWER: Bore = Bore { y: 45.0, inner: 17.5, outer: 25.0 };
const UPPER: Bore = Bore { y: 290.0, inner: 30.0, outer: 40.0 };
/// The coarsest plan with room for a row of quadrilaterals on every side of the rings.
const FEWEST_COLUMNS: usize = 6;

/// A bore at x = 75, with the inner and outer radius of its ring.
struct Bore {
    y: f64,
    inner: f64,
    outer: f64,
}

/// The connecting rod of about `n_elements` elements. Clamped on the lower half of the lower
/// bore, loaded on the upper half of the upper one; both rings are solid. By elements of about
/// `step` times their edge.
pub(super) fn part(n_elements: usize, step: usize) -> Part {
    let layers = Layers::new(n_elements);
    let half_columns = nearest(FEWEST_COLUMNS, n_elements, |a| Plan::new(a).n_elements(&layers));
    let layers = layers.fewer(step);
    let plan = Plan::new(fewer(half_columns, step).max(FEWEST_COLUMNS));
    let mut grid = plan.grid();
    let circles = [LOWER, UPPER].map(|bore| grid.fill(&plan.hole(&bore), bore.center()));
    let mut section = grid.section;
    let first_solid = section.quads.len();
    let [lower, upper] = circles;
    let lower = plan.grow_ring(&mut section, lower, &LOWER);
    let upper = plan.grow_ring(&mut section, upper, &UPPER);
    section.smooth();
    let fixed = lower.edges_where(&section, |[_, y]| y <= LOWER.y);
    let load = upper.points_where(&section, |[_, y]| y >= UPPER.y);
    let layers_of = |quad| if quad < first_solid { layers.web() } else { layers.ring() };
    let body = Extrusion::new(&section, &layers.levels(), layers_of);
    Part { body, fixed, load, first_solid: Some(first_solid) }
}

/// Numbers of layers: of the web, and of the rings below it and above it.
struct Layers {
    n_web: usize,
    n_below: usize,
}

impl Layers {
    /// For `n_elements` in all: the web layers about 1.5 times as high as the quadrilaterals are
    /// wide. With 2, 2, 3, 4, 5 of them the meshes 1 to 5 have the nodes per element of the thesis.
    fn new(n_elements: usize) -> Self {
        let n_web = (n_elements as f64 / 7134.0).cbrt().round().max(1.0);
        Self { n_web: n_web as usize, n_below: (0.4 * n_web).round().max(1.0) as usize }
    }

    fn fewer(&self, step: usize) -> Self {
        Self { n_web: fewer(self.n_web, step), n_below: fewer(self.n_below, step) }
    }

    fn web(&self) -> Range<usize> {
        self.n_below..self.n_below + self.n_web
    }

    fn ring(&self) -> Range<usize> {
        0..2 * self.n_below + self.n_web
    }

    /// z of the levels between the layers.
    fn levels(&self) -> Vec<f64> {
        graduated(&[0.0, 2.0, 6.0, 8.0], &[self.n_below, self.n_web, self.n_below])
    }
}

/// The grid of the plate.
struct Plan {
    /// Columns of cells on either side of x = 75.
    half_columns: usize,
    /// Rows of cells below, between and above the two bores' centers.
    rows: [usize; 3],
    /// Width of a cell; its height is about the same.
    h: f64,
}

impl Plan {
    fn new(half_columns: usize) -> Self {
        let h = 0.5 * WIDTH / half_columns as f64;
        let heights = [LOWER.y, UPPER.y - LOWER.y, HEIGHT - UPPER.y];
        Self { half_columns, rows: heights.map(|height| (height / h).round() as usize), h }
    }

    fn n_elements(&self, layers: &Layers) -> usize {
        let [mut web, mut ring] = [2 * self.half_columns * self.rows.iter().sum::<usize>(), 0];
        for bore in [LOWER, UPPER] {
            let hole = self.hole(&bore);
            web = web + 8 * hole.half_edge * hole.n_rows - 4 * hole.half_edge * hole.half_edge;
            ring += 8 * hole.half_edge * self.n_circles(&bore);
        }
        layers.web().len() * web + layers.ring().len() * ring
    }

    fn grid(&self) -> Grid {
        let x = graduated(&[0.0, WIDTH], &[2 * self.half_columns]);
        let y = graduated(&[0.0, LOWER.y, UPPER.y, HEIGHT], &self.rows);
        let holes = [LOWER, UPPER].map(|bore| self.hole(&bore));
        Grid::new([x, y], |i, j| !holes.iter().any(|hole| hole.contains(i, j)))
    }

    /// The square around a ring: 0.35 of the radius away where the nearest side leaves room.
    fn hole(&self, bore: &Bore) -> RoundHole {
        let [below, between, above] = self.rows;
        let is_lower = bore.y == LOWER.y;
        let room = if is_lower { below } else { above } - 1;
        let cells = (bore.outer / self.h).round() as usize;
        let wanted = (0.35 * bore.outer / self.h).round().max(1.0) as usize;
        let half_edge = (cells + wanted).min(room);
        RoundHole {
            center: [self.half_columns, if is_lower { below } else { below + between }],
            half_edge,
            n_rows: half_edge - cells,
            radius: bore.outer,
        }
    }

    /// Rows of quadrilaterals across a ring, with edges like those along its outer circle.
    fn n_circles(&self, bore: &Bore) -> usize {
        ((bore.outer - bore.inner) / (0.65 * self.h)).round().max(1.0) as usize
    }

    fn grow_ring(&self, section: &mut Section, outer: Ring, bore: &Bore) -> Ring {
        let n = self.n_circles(bore);
        let radius = |k: usize| bore.outer + (bore.inner - bore.outer) * k as f64 / n as f64;
        section.grow_inwards(outer, (1..=n).map(radius))
    }
}

impl Bore {
    fn center(&self) -> [f64; 2] {
        [0.5 * WIDTH, self.y]
    }
}

/// Values from knot to knot, each interval cut into so many equal parts.
fn graduated(knots: &[f64], parts: &[usize]) -> Vec<f64> {
    let mut values = vec![knots[0]];
    for (ends, &n) in knots.windows(2).zip(parts) {
        let part = |k: usize| ends[0] + (ends[1] - ends[0]) * k as f64 / n as f64;
        values.extend((1..n).map(part).chain([ends[1]]));
    }
    values
}
