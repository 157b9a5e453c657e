//! Delaunay tetrahedra of points, by insertion of one after the other.

use robust::{Coord3D, insphere, orient3d};
use topopt_mesh::vector::{cross, difference, dot};

/// No tetrahedron behind a face.
const NONE: u32 = u32::MAX;

/// Corners of a tetrahedron around all others, in extents from the middle of the points: so far
/// that what they cut off of the hull is thinner than rounding shows.
const AROUND: f64 = 1e5;

/// Share of the way to the middle that is more than rounding.
const INWARDS: f64 = 1e-12;

/// Share of a tetrahedron's height by which places outside count as on its face.
const ON_FACE: f64 = 1e-9;

/// The Delaunay tetrahedra of points \[Bowyer1981\] \[Watson1981\], with exact predicates
/// \[Shewchuk1997\], so that regular grids are no trouble, in a space that is [sheared] a little.
pub struct Delaunay {
    /// The points, [sheared], and four around them.
    points: Vec<[f64; 3]>,
    n_points: usize,
    /// Middle of the points.
    middle: [f64; 3],
    /// Corners, of positive volume; tetrahedra that were replaced have none.
    corners: Vec<[u32; 4]>,
    /// Tetrahedron behind the face across each corner.
    behind: Vec<[u32; 4]>,
    /// A tetrahedron at each point, [`NONE`] at one that coincides with another.
    at_point: Vec<u32>,
    /// Insertion that looked at each tetrahedron last, and whether it replaces it.
    seen: Vec<(u32, bool)>,
    unused: Vec<u32>,
}

/// A face around the tetrahedra that a point replaces.
struct Rim {
    /// Corners of the new tetrahedron, with the point at `local`.
    corners: [u32; 4],
    local: usize,
    /// Tetrahedron on the other side of the face.
    outside: u32,
}

impl Delaunay {
    /// Builds the tetrahedra of `points`.
    pub fn new(points: &[[f64; 3]]) -> Self {
        let mut all: Vec<[f64; 3]> = points.iter().map(|&point| sheared(point)).collect();
        let [mut min, mut max] = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for point in &all {
            min = std::array::from_fn(|i| min[i].min(point[i]));
            max = std::array::from_fn(|i| max[i].max(point[i]));
        }
        let extent = (0..3).map(|i| max[i] - min[i]).fold(f64::MIN_POSITIVE, f64::max);
        let middle = std::array::from_fn(|i| (min[i] + max[i]) / 2.0);
        let around = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        all.extend(around.map(|corner| -> [f64; 3] {
            std::array::from_fn(|i| middle[i] + AROUND * extent * corner[i])
        }));

        let n = points.len() as u32;
        let mut first = [n, n + 1, n + 2, n + 3];
        let corner = |i: usize| coord(all[first[i] as usize]);
        if orient3d(corner(0), corner(1), corner(2), corner(3)) < 0.0 {
            first.swap(0, 1);
        }
        let mut delaunay = Self {
            points: all,
            n_points: points.len(),
            middle,
            corners: vec![first],
            behind: vec![[NONE; 4]],
            at_point: vec![NONE; points.len()],
            seen: vec![(NONE, false)],
            unused: Vec::new(),
        };
        let mut last = 0;
        for point in by_rounds(&delaunay.points[..points.len()], min, extent) {
            last = delaunay.insert(point, last);
        }
        delaunay
    }

    /// Corners and weights, >= 0 with the sum 1, of the tetrahedron around `place`, found by a walk
    /// from the point `from`; none outside of the hull.
    pub fn weights(&self, place: [f64; 3], from: u32) -> Option<[(u32, f64); 4]> {
        let place = sheared(place);
        let start = self.at_point[from as usize];
        let start =
            if start == NONE { self.at_point.iter().copied().find(|&t| t != NONE)? } else { start };
        let corners_at = |place| self.corners[self.walk(place, start) as usize];
        let is_outside = |corners: [u32; 4]| corners.iter().any(|&c| c as usize >= self.n_points);
        let mut corners = corners_at(place);
        if is_outside(corners) {
            // Rounding may have left a place on the hull outside of it.
            let inwards = |i: usize| place[i] + INWARDS * (self.middle[i] - place[i]);
            corners = corners_at(std::array::from_fn(inwards));
        }
        if is_outside(corners) {
            return None;
        }

        let x = corners.map(|corner| self.points[corner as usize]);
        let volume = |x: [[f64; 3]; 4]| {
            let [a, b, c] = [1, 2, 3].map(|i| difference(x[i], x[0]));
            dot(a, cross(b, c))
        };
        let parts: [f64; 4] = std::array::from_fn(|i| {
            let mut replaced = x;
            replaced[i] = place;
            // Volumes have the opposite sign of the predicate.
            -volume(replaced)
        });
        let total: f64 = parts.iter().sum();
        if parts.iter().any(|&part| part < -ON_FACE * total) {
            return None;
        }
        let total: f64 = parts.iter().map(|part| part.max(0.0)).sum();
        Some(std::array::from_fn(|i| (corners[i], parts[i].max(0.0) / total)))
    }

    /// The tetrahedron around `place`, by a walk from `start` through faces behind which it lies.
    fn walk(&self, place: [f64; 3], start: u32) -> u32 {
        let (mut at, mut before) = (start, NONE);
        // A walk through Delaunay tetrahedra comes to its end.
        loop {
            let leaves = |i: &usize| {
                let next = self.behind[at as usize][*i];
                next != NONE && next != before && self.side(at, *i, place) < 0.0
            };
            match (0..4).find(leaves) {
                Some(i) => (before, at) = (at, self.behind[at as usize][i]),
                None => return at,
            }
        }
    }

    /// Sign of the side of the face across corner `i` on which `place` lies; the corner's is 1.
    fn side(&self, tetrahedron: u32, i: usize, place: [f64; 3]) -> f64 {
        let mut x = self.coordinates(tetrahedron);
        x[i] = coord(place);
        orient3d(x[0], x[1], x[2], x[3])
    }

    fn coordinates(&self, tetrahedron: u32) -> [Coord3D<f64>; 4] {
        self.corners[tetrahedron as usize].map(|corner| coord(self.points[corner as usize]))
    }

    /// Inserts a point near the tetrahedron `near`, and returns one of those at it.
    fn insert(&mut self, point: u32, near: u32) -> u32 {
        let place = self.points[point as usize];
        let around = self.walk(place, near);
        let is_there = |&corner: &u32| self.points[corner as usize] == place;
        if self.corners[around as usize].iter().any(is_there) {
            return around;
        }
        let (replaced, rim) = self.replaced(point, around);
        self.unused.extend(replaced);
        self.fill(point, rim)
    }

    /// Tetrahedra with `point` within their sphere, and the faces around them.
    fn replaced(&mut self, point: u32, around: u32) -> (Vec<u32>, Vec<Rim>) {
        let place = coord(self.points[point as usize]);
        self.seen[around as usize] = (point, true);
        let (mut replaced, mut rim, mut next) = (vec![around], Vec::new(), 0);
        while let Some(&tetrahedron) = replaced.get(next) {
            next += 1;
            for local in 0..4 {
                let outside = self.behind[tetrahedron as usize][local];
                let mut is_replaced = false;
                if outside != NONE {
                    if self.seen[outside as usize].0 != point {
                        let [a, b, c, d] = self.coordinates(outside);
                        let is_within = insphere(a, b, c, d, place) > 0.0;
                        self.seen[outside as usize] = (point, is_within);
                        replaced.extend(is_within.then_some(outside));
                    }
                    is_replaced = self.seen[outside as usize].1;
                }
                if !is_replaced {
                    let mut corners = self.corners[tetrahedron as usize];
                    corners[local] = point;
                    rim.push(Rim { corners, local, outside });
                }
            }
        }
        (replaced, rim)
    }

    /// Fills the hole inside `rim` with tetrahedra at `point`, and returns one of them.
    fn fill(&mut self, point: u32, rim: Vec<Rim>) -> u32 {
        // Edges of the rim, each with the tetrahedron and the corner across that waits for another.
        let mut open: Vec<([u32; 2], u32, usize)> = Vec::new();
        let mut last = NONE;
        for Rim { corners, local, outside } in rim {
            let new = self.unused.pop().unwrap_or_else(|| {
                self.corners.push([NONE; 4]);
                self.behind.push([NONE; 4]);
                self.seen.push((NONE, false));
                self.corners.len() as u32 - 1
            });
            let at = new as usize;
            (self.corners[at], self.behind[at]) = (corners, [NONE; 4]);
            self.seen[at] = (NONE, false);
            self.behind[at][local] = outside;
            if outside != NONE {
                let face = |corner: &u32| !corners.contains(corner);
                let back = self.corners[outside as usize].iter().position(face).unwrap_or(0);
                self.behind[outside as usize][back] = new;
            }

            for across in (0..4).filter(|&i| i != local) {
                let mut edge = (0..4).filter(|&i| i != local && i != across).map(|i| corners[i]);
                let edge = [edge.next().unwrap_or(NONE), edge.next().unwrap_or(NONE)];
                let edge = [edge[0].min(edge[1]), edge[0].max(edge[1])];
                match open.iter().position(|(other, ..)| *other == edge) {
                    Some(k) => {
                        let (_, other, there) = open.swap_remove(k);
                        self.behind[at][across] = other;
                        self.behind[other as usize][there] = new;
                    }
                    None => open.push((edge, new, across)),
                }
            }
            for corner in corners.into_iter().filter(|&corner| (corner as usize) < self.n_points) {
                self.at_point[corner as usize] = new;
            }
            last = new;
        }
        debug_assert!(open.is_empty(), "the rim of point {point} is closed");
        last
    }
}

/// Place of `x` in a space that is sheared a little. Cubes of a grid are divided alike there, and
/// weights in their tetrahedra are the same.
fn sheared([x, y, z]: [f64; 3]) -> [f64; 3] {
    [x + SHEAR * (y + 0.6 * z), y + 0.8 * SHEAR * z, z]
}

/// Shear, far beyond rounding.
const SHEAR: f64 = 1e-6;

/// Order of insertion: a few points first, then about as many as there are at a time, each round
/// along a curve through space [AmentaChoiRote2003]. Points of a grid in its order would lie on the
/// hull of those before, and replace five times as many tetrahedra.
fn by_rounds(points: &[[f64; 3]], min: [f64; 3], extent: f64) -> Vec<u32> {
    let round = |point: u32| LAST_ROUND - mixed(point).trailing_zeros().min(LAST_ROUND);
    let key = |(point, &x)| (round(point), along_curve(x, min, extent), point);
    let mut order: Vec<(u32, u64, u32)> = (0..).zip(points).map(key).collect();
    order.sort_unstable();
    order.into_iter().map(|(.., point)| point).collect()
}

/// Place of `x`, in a box from `min` on, along a curve that fills it: bits of the coordinates in
/// turn.
fn along_curve(x: [f64; 3], min: [f64; 3], extent: f64) -> u64 {
    let cells: [u64; 3] =
        std::array::from_fn(|i| ((x[i] - min[i]) / extent * f64::from(1 << 20)) as u64);
    let bits = (0..21).rev().flat_map(|bit| cells.map(|cell| cell >> bit & 1));
    bits.fold(0, |place, bit| place << 1 | bit)
}

/// Rounds after the first.
const LAST_ROUND: u32 = 16;

/// Bits without an order, the same on every machine.
fn mixed(n: u32) -> u32 {
    let n = (n ^ n >> 16).wrapping_mul(0x7feb_352d);
    let n = (n ^ n >> 15).wrapping_mul(0x846c_a68b);
    n ^ n >> 16
}

fn coord([x, y, z]: [f64; 3]) -> Coord3D<f64> {
    Coord3D { x, y, z }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a grid, moved by `share` of its spacing.
    fn points(n: usize, share: f64) -> Vec<[f64; 3]> {
        let place = |i: usize| {
            let at = [i % n, i / n % n, i / (n * n)];
            let noise = |k: usize| share * ((i * (k + 3)) as f64 * 12.9898).sin();
            std::array::from_fn(|k| at[k] as f64 + noise(k))
        };
        (0..n.pow(3)).map(place).collect()
    }

    #[test]
    fn spheres_are_empty_and_linear_functions_are_kept() {
        for share in [0.0, 0.3] {
            let points = points(6, share);
            let delaunay = Delaunay::new(&points);
            let used = |t: &[u32; 4]| t.iter().all(|&corner| (corner as usize) < points.len());
            let mut volume = 0.0;
            let unused: std::collections::HashSet<u32> = delaunay.unused.iter().copied().collect();
            for (t, corners) in (0..).zip(&delaunay.corners).filter(|(_, t)| used(t)) {
                if unused.contains(&t) {
                    continue;
                }
                let [a, b, c, d] = delaunay.coordinates(t);
                volume += orient3d(a, b, c, d) / 6.0;
                let is_within =
                    |&&point: &&[f64; 3]| insphere(a, b, c, d, coord(sheared(point))) > 0.0;
                assert_eq!(points.iter().find(is_within), None, "{corners:?}");
            }
            assert!(share > 0.0 || (volume - 125.0).abs() < 1e-9, "{volume}");

            for k in 0..200 {
                let place = [1.7, 2.3, 3.1].map(|f| 2.5 + 1.9 * (k as f64 * f).sin());
                let weights = delaunay.weights(place, (k % 216) as u32).unwrap();
                for i in 0..3 {
                    let mean: f64 = weights.iter().map(|&(p, w)| w * points[p as usize][i]).sum();
                    assert!((mean - place[i]).abs() < 1e-12, "{place:?}: {weights:?}");
                }
            }
            assert!(delaunay.weights([9.0, 0.0, 0.0], 0).is_none());
        }
    }
}
