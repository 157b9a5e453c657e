//! Triangles of a surface that cross each other.

use rayon::prelude::*;
use robust::{Coord, Coord3D, orient2d, orient3d};
use topopt_mesh::BoundingBox;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference};

use crate::TriangleSurface;

impl TriangleSurface {
    /// The pairs of triangles, smaller number first, that have a point in common besides the
    /// vertices that they share: where the surface crosses or touches itself. Signs of volumes are
    /// exact \[Shewchuk1997\].
    pub fn crossings(&self) -> Vec<[u32; 2]> {
        self.crossings_of(|_| true)
    }

    /// The pairs of [`TriangleSurface::crossings`] with a triangle of those `asked` for.
    pub(crate) fn crossings_of(&self, asked: impl Fn(u32) -> bool + Sync) -> Vec<[u32; 2]> {
        let all = 0..self.triangles.len() as u32;
        // A tree of these alone: after a few have moved, all others are soon told to be far away.
        let numbers: Vec<u32> = all.clone().filter(|&triangle| asked(triangle)).collect();
        let tree = Triangles::new(numbers.iter().map(|&triangle| self.corners(triangle)));
        let pairs = all.into_par_iter().flat_map_iter(|a| {
            let (mut crossed, is_asked) = (Vec::new(), asked(a));
            tree.in_box(&BoundingBox::of(self.corners(a)), |number| {
                let b = numbers[number as usize];
                let pair = [a.min(b), a.max(b)];
                if (a < b || b < a && !is_asked) && self.cross(pair[0], pair[1]) {
                    crossed.push(pair);
                }
            });
            crossed.sort_unstable();
            crossed
        });
        pairs.collect()
    }

    /// Corners of a triangle.
    pub(crate) fn corners(&self, triangle: u32) -> [[f64; 3]; 3] {
        self.triangles[triangle as usize].map(|vertex| self.vertices[vertex as usize])
    }

    /// Whether two triangles meet outside of what they share.
    fn cross(&self, a: u32, b: u32) -> bool {
        let [of_a, of_b] = [a, b].map(|t| self.triangles[t as usize]);
        let is_shared = |vertex: &u32| of_a.contains(vertex) && of_b.contains(vertex);
        let [p, q] = [a, b].map(|t| self.corners(t));
        // Rotated so that what is shared comes last; the order around is the same.
        let first_own = |of: [u32; 3]| {
            (0..3).find(|&i| !is_shared(&of[i]) && is_shared(&of[(i + 2) % 3])).unwrap_or(0)
        };
        let [p, q] = [(p, first_own(of_a)), (q, first_own(of_b))]
            .map(|(x, first)| [0, 1, 2].map(|i| x[(first + i) % 3]));

        match of_a.iter().filter(|vertex| is_shared(vertex)).count() {
            0 => {
                let edges = |x: [[f64; 3]; 3]| [[x[0], x[1]], [x[1], x[2]], [x[2], x[0]]];
                edges(p).iter().any(|&edge| meets(edge, q))
                    || edges(q).iter().any(|&edge| meets(edge, p))
            }
            // The edge opposite of the shared vertex is the first one.
            1 => meets([p[0], p[1]], q) || meets([q[0], q[1]], p),
            2 => is_folded(p, q),
            _ => true,
        }
    }
}

fn side([a, b, c]: [[f64; 3]; 3], x: [f64; 3]) -> f64 {
    let [a, b, c, x] = [a, b, c, x].map(|[x, y, z]| Coord3D { x, y, z });
    orient3d(a, b, c, x)
}

/// Whether a segment and a triangle have a point in common.
fn meets([s, t]: [[f64; 3]; 2], triangle: [[f64; 3]; 3]) -> bool {
    let ends = [side(triangle, s), side(triangle, t)];
    if ends[0] * ends[1] > 0.0 || ends.iter().all(|&end| end > 0.0) || ends.iter().all(|&e| e < 0.0)
    {
        return false;
    }
    if ends == [0.0, 0.0] {
        return meets_in_plane([s, t], triangle);
    }
    let [a, b, c] = triangle;
    let around = [([s, t, a], b), ([s, t, b], c), ([s, t, c], a)].map(|(plane, x)| side(plane, x));
    around.iter().all(|&sign| sign >= 0.0) || around.iter().all(|&sign| sign <= 0.0)
}

/// Tests whether a segment meets a triangle in its plane: along the axis that shows most of it.
fn meets_in_plane(segment: [[f64; 3]; 2], triangle: [[f64; 3]; 3]) -> bool {
    let normal = normal(triangle);
    let dropped = (0..3).max_by(|&i, &j| normal[i].abs().total_cmp(&normal[j].abs())).unwrap_or(0);
    let flat = |x: [f64; 3]| Coord { x: x[(dropped + 1) % 3], y: x[(dropped + 2) % 3] };
    let ([s, t], [a, b, c]) = (segment.map(flat), triangle.map(flat));

    let is_within = |x: Coord<f64>| {
        let signs = [orient2d(a, b, x), orient2d(b, c, x), orient2d(c, a, x)];
        signs.iter().all(|&sign| sign >= 0.0) || signs.iter().all(|&sign| sign <= 0.0)
    };
    is_within(s)
        || is_within(t)
        || [[a, b], [b, c], [c, a]].iter().any(|e| segments_cross(&[s, t], e))
}

/// Tests whether two segments of a plane have a point in common, unless all ends are on one line.
fn segments_cross(&[s, t]: &[Coord<f64>; 2], &[p, q]: &[Coord<f64>; 2]) -> bool {
    let [of_segment, of_edge] =
        [[orient2d(s, t, p), orient2d(s, t, q)], [orient2d(p, q, s), orient2d(p, q, t)]];
    let is_split = |[a, b]: [f64; 2]| (a >= 0.0 && b <= 0.0) || (a <= 0.0 && b >= 0.0);
    is_split(of_segment) && is_split(of_edge) && [of_segment, of_edge] != [[0.0; 2]; 2]
}

/// Whether two triangles with a common edge, their first corner being the other one, lie on each
/// other.
fn is_folded(p: [[f64; 3]; 3], q: [[f64; 3]; 3]) -> bool {
    let [m, n] = [p, q].map(normal);
    let along: f64 = (0..3).map(|i| m[i] * n[i]).sum();
    side(p, q[0]) == 0.0 && along < 0.0
}

fn normal([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    cross(difference(b, a), difference(c, a))
}
