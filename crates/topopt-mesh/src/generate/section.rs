//! Plane meshes of quadrilaterals: a grid, and squares of it replaced by rings around a circle.

use std::f64::consts::FRAC_PI_4;
use std::ops::Range;

/// A plane mesh of quadrilaterals, each counter-clockwise; its local edge k runs from its corner
/// k to its corner k + 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Section {
    /// `[n_points][2]`.
    pub points: Vec<[f64; 2]>,
    /// `[n_quads][4]`.
    pub quads: Vec<[u32; 4]>,
    /// `[n_points][2]`: whether smoothing may move the point along x, along y.
    pub movable: Vec<[bool; 2]>,
}

/// A section made of cells between lines x = const and y = const.
pub(super) struct Grid {
    /// The mesh so far.
    pub section: Section,
    /// The point on line i along x and line j along y, as `[j][i]`; `u32::MAX` where there is none.
    pub point_at: Vec<Vec<u32>>,
}

/// A square hole of a grid and the circle in it. With its center on the left side of the grid it
/// is half a square and half a circle.
pub(super) struct RoundHole {
    /// Line numbers `[i, j]` of the center.
    pub center: [usize; 2],
    /// Half the edge of the square, in cells.
    pub half_edge: usize,
    /// Rows of quadrilaterals between the square and the circle.
    pub n_rows: usize,
    /// Radius of the circle.
    pub radius: f64,
}

/// The points of a circle, counter-clockwise, and the row of quadrilaterals outside of it.
pub(super) struct Ring {
    /// Points; those of a half-circle run from its lower to its upper end.
    pub points: Vec<u32>,
    /// Unit vectors from the center to the points.
    directions: Vec<[f64; 2]>,
    center: [f64; 2],
    /// Quadrilaterals of the row; number s has points s and s + 1 of the circle on its edge 2.
    row: Range<u32>,
}

/// The lines 0, 1, .., n.
pub(super) fn unit_lines(n: usize) -> Vec<f64> {
    (0..=n).map(|i| i as f64).collect()
}

impl Section {
    /// The edges with both ends where `on` holds, as (quadrilateral, local edge).
    pub fn edges_where(&self, on: impl Fn([f64; 2]) -> bool) -> Vec<(u32, u8)> {
        let on_line = |point: u32| on(self.points[point as usize]);
        let edges = self.quads.iter().enumerate().flat_map(|(q, quad)| {
            (0..4)
                .filter(move |&k| on_line(quad[k]) && on_line(quad[(k + 1) % 4]))
                .map(move |k| (q as u32, k as u8))
        });
        edges.collect()
    }

    /// Adds rows of quadrilaterals inside `ring`, down to circles of the given `radii`.
    pub fn grow_inwards(&mut self, ring: Ring, radii: impl IntoIterator<Item = f64>) -> Ring {
        radii.into_iter().fold(ring, |ring, radius| {
            let on_circle =
                |direction: &[f64; 2]| [0, 1].map(|d| ring.center[d] + radius * direction[d]);
            let circle: Vec<_> = ring.directions.iter().map(on_circle).collect();
            let movable = vec![[false; 2]; circle.len()];
            self.add_row(ring, circle, movable)
        })
    }

    /// Adds `inner` points and the row of quadrilaterals between them and those of `ring`, which
    /// is closed if it has as many quadrilaterals as points.
    fn add_row(&mut self, ring: Ring, inner: Vec<[f64; 2]>, movable: Vec<[bool; 2]>) -> Ring {
        let first = self.points.len() as u32;
        let points: Vec<u32> = (first..first + inner.len() as u32).collect();
        self.points.extend(inner);
        self.movable.extend(movable);
        let row = self.quads.len() as u32..self.quads.len() as u32 + ring.row.len() as u32;
        self.quads.extend((0..ring.row.len()).map(|s| {
            let next = (s + 1) % points.len();
            [ring.points[s], ring.points[next], points[next], points[s]]
        }));
        Ring { points, row, ..ring }
    }
}

impl Grid {
    /// The grid of the given lines along x and y, with those cells (i, j) that `keep` wants.
    pub fn new([x, y]: [Vec<f64>; 2], keep: impl Fn(usize, usize) -> bool) -> Self {
        let nx = x.len() - 1;
        let ny = y.len() - 1;
        let mut point_at = vec![vec![u32::MAX; nx + 1]; ny + 1];

        // Marks the points of the wanted cells; numbers follow once all are known, row by row.
        for j in 0..ny {
            for i in (0..nx).filter(|&i| keep(i, j)) {
                for (di, dj) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    point_at[j + dj][i + di] = 0;
                }
            }
        }

        let mut section = Section::default();
        for j in 0..=ny {
            for i in (0..=nx).filter(|&i| point_at[j][i] == 0).collect::<Vec<_>>() {
                point_at[j][i] = section.points.len() as u32;
                section.points.push([x[i], y[j]]);
                section.movable.push([i != 0 && i != nx, j != 0 && j != ny]);
            }
        }

        for j in 0..ny {
            section.quads.extend((0..nx).filter(|&i| keep(i, j)).map(|i| {
                [point_at[j][i], point_at[j][i + 1], point_at[j + 1][i + 1], point_at[j + 1][i]]
            }));
        }

        Self { section, point_at }
    }

    /// Fills `hole`, whose cells the grid must not have, with quadrilaterals down to its circle.
    pub fn fill(&mut self, hole: &RoundHole, center: [f64; 2]) -> Ring {
        let offsets = hole.perimeter();
        let at = |c: usize, offset: i64| (c as i64 + offset) as usize;
        let points: Vec<u32> = offsets
            .iter()
            .map(|&[di, dj]| self.point_at[at(hole.center[1], dj)][at(hole.center[0], di)])
            .collect();

        let directions: Vec<_> = offsets.iter().map(|&o| hole.direction(o)).collect();
        let square: Vec<_> = points.iter().map(|&p| self.section.points[p as usize]).collect();

        // A half circle is open, and its ends slide along the left side of the grid.
        let n_quads = if hole.is_half() { points.len() - 1 } else { points.len() };
        let mut ring = Ring { points, directions, center, row: 0..n_quads as u32 };

        // Evenly from the square towards the circle; the last row ends on the circle itself.
        for row in 1..hole.n_rows {
            let w = row as f64 / hole.n_rows as f64;
            let between = |s: usize| {
                let on_circle = |d: usize| center[d] + hole.radius * ring.directions[s][d];
                [0, 1].map(|d| (1.0 - w) * square[s][d] + w * on_circle(d))
            };
            let inner = (0..square.len()).map(between).collect();
            let ends = [0, square.len() - 1];
            let movable =
                (0..square.len()).map(|s| [!(hole.is_half() && ends.contains(&s)), true]).collect();
            ring = self.section.add_row(ring, inner, movable);
        }

        self.section.grow_inwards(ring, [hole.radius])
    }
}

impl RoundHole {
    /// Whether cell (i, j) of the grid lies in the square.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        let inside = |c: usize, cell: usize| {
            (c.saturating_sub(self.half_edge)..c + self.half_edge).contains(&cell)
        };
        inside(self.center[0], i) && inside(self.center[1], j)
    }

    fn is_half(&self) -> bool {
        self.center[0] == 0
    }

    /// Offsets `[i, j]` of the points on the square from its center, counter-clockwise.
    fn perimeter(&self) -> Vec<[i64; 2]> {
        let m = self.half_edge as i64;
        let steps = if self.is_half() { m..5 * m + 1 } else { 0..8 * m };
        let points = steps.map(|s| match s / (2 * m) {
            0 => [s - m, -m],
            1 => [m, s - 3 * m],
            2 => [5 * m - s, m],
            _ => [-m, 7 * m - s],
        });
        points.collect()
    }

    /// The unit vector to the point of the circle that belongs to a point of the square: equal
    /// angles along each side, mirror images exactly alike.
    fn direction(&self, [i, j]: [i64; 2]) -> [f64; 2] {
        let m = self.half_edge as i64;
        let angle = |along: i64| FRAC_PI_4 * along as f64 / m as f64;
        if j.abs() == m {
            [angle(i).sin(), j.signum() as f64 * angle(i).cos()]
        } else {
            [i.signum() as f64 * angle(j).cos(), angle(j).sin()]
        }
    }
}

impl Ring {
    /// The edges on the circle, as (quadrilateral, local edge), whose two ends are where `on`
    /// holds.
    pub fn edges_where(&self, section: &Section, on: impl Fn([f64; 2]) -> bool) -> Vec<(u32, u8)> {
        let on_part = |point: u32| on(section.points[point as usize]);
        let quads = self.row.clone().filter(|&q| {
            let [.., c, d] = section.quads[q as usize];
            on_part(c) && on_part(d)
        });
        quads.map(|q| (q, 2)).collect()
    }

    /// The points of the circle where `on` holds.
    pub fn points_where(&self, section: &Section, on: impl Fn([f64; 2]) -> bool) -> Vec<u32> {
        self.points.iter().copied().filter(|&p| on(section.points[p as usize])).collect()
    }
}
