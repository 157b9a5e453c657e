//! Delaunay tetrahedra of points, by insertion of one after the other.

use robust::{Coord3D, insphere, orient3d};

use crate::vector::{cross, difference, dot};

/// No tetrahedron behind a face.
const NONE: u32 = u32::MAX;

/// Corners of a tetrahedron around all others, in extents from the middle of the points: so far
/// that what they cut off of the hull is thinner than rounding shows.
const AROUND: f64 = 1e5;

/// Share of the way to the middle that is more than rounding.
const INWARDS: f64 = 1e-12;

/// Share of a tetrahedron's height by which places outside count as on its face.
const ON_FACE: f64 = 1e-9;

/// Tetrahedra for which there is room from the start, by point: grids have 6, others 7.
const OF_POINT: usize = 8;

/// The Delaunay tetrahedra of points \[Bowyer1981\] \[Watson1981\], with exact predicates
/// \[Shewchuk1997\], so that regular grids are no trouble, in a space that is sheared a little.
pub struct Delaunay {
    /// The points, [sheared], and four around them.
    points: Vec<[f64; 3]>,
    n_points: usize,
    /// Middle of the points.
    middle: [f64; 3],
    /// Tetrahedra, also those that were replaced and are unused.
    tetrahedra: Vec<Tetrahedron>,
    /// A tetrahedron at each point, [`NONE`] at one that coincides with another.
    at_point: Vec<u32>,
    unused: Vec<u32>,
}

/// A tetrahedron in one piece of memory.
#[derive(Clone, Copy)]
struct Tetrahedron {
    /// Corners, of positive volume.
    corners: [u32; 4],
    /// Tetrahedron behind the face across each corner.
    behind: [u32; 4],
    /// Point whose insertion looked at it last, and whether that replaces it.
    seen: u32,
    is_replaced: bool,
}

impl Tetrahedron {
    fn new(corners: [u32; 4]) -> Self {
        Self { corners, behind: [NONE; 4], seen: NONE, is_replaced: false }
    }
}

/// Tetrahedra that a point replaces, and what is around them.
#[derive(Default)]
struct Hole {
    replaced: Vec<u32>,
    rim: Vec<Rim>,
    /// Edges of the rim, by the numbers of their ends, each with the new tetrahedron and the corner
    /// across that waits for another.
    open: Vec<(u64, u32, usize)>,
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
        let mut tetrahedra = Vec::with_capacity(OF_POINT * all.len());
        tetrahedra.push(Tetrahedron::new(first));
        let mut delaunay = Self {
            points: all,
            n_points: points.len(),
            middle,
            tetrahedra,
            at_point: vec![NONE; points.len()],
            unused: Vec::new(),
        };
        let (mut last, mut hole) = (0, Hole::default());
        for point in by_rounds(&delaunay.points[..points.len()], min, extent) {
            last = delaunay.insert(point, last, &mut hole);
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
        let corners_at = |place| self.tetrahedra[self.walk(place, start) as usize].corners;
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
            let Tetrahedron { corners, behind, .. } = &self.tetrahedra[at as usize];
            let x = self.coordinates(corners);
            let leaves =
                |&i: &usize| behind[i] != NONE && behind[i] != before && is_beyond(x, i, place);
            match (0..4).find(leaves) {
                Some(i) => (before, at) = (at, behind[i]),
                None => return at,
            }
        }
    }

    fn coordinates(&self, corners: &[u32; 4]) -> [Coord3D<f64>; 4] {
        corners.map(|corner| coord(self.points[corner as usize]))
    }

    /// Inserts a point near the tetrahedron `near`, and returns one of those at it.
    fn insert(&mut self, point: u32, near: u32, hole: &mut Hole) -> u32 {
        let place = self.points[point as usize];
        let around = self.walk(place, near);
        let is_there = |&corner: &u32| self.points[corner as usize] == place;
        if self.tetrahedra[around as usize].corners.iter().any(is_there) {
            return around;
        }
        self.dig(point, around, hole);
        self.unused.extend_from_slice(&hole.replaced);
        self.fill(point, hole)
    }

    /// Finds the tetrahedra with `point` within their sphere, and the faces around them.
    fn dig(&mut self, point: u32, around: u32, Hole { replaced, rim, .. }: &mut Hole) {
        let place = coord(self.points[point as usize]);
        let first = &mut self.tetrahedra[around as usize];
        (first.seen, first.is_replaced) = (point, true);
        replaced.clear();
        replaced.push(around);
        rim.clear();
        let mut next = 0;
        while let Some(&tetrahedron) = replaced.get(next) {
            next += 1;
            let Tetrahedron { corners, behind, .. } = self.tetrahedra[tetrahedron as usize];
            for (local, outside) in behind.into_iter().enumerate() {
                if outside == NONE || !self.is_replaced(outside, point, place, replaced) {
                    let mut corners = corners;
                    corners[local] = point;
                    rim.push(Rim { corners, local, outside });
                }
            }
        }
    }

    /// Whether `point` at `place` is within the sphere of a tetrahedron, which is then one of those
    /// `replaced`.
    fn is_replaced(
        &mut self,
        tetrahedron: u32,
        point: u32,
        place: Coord3D<f64>,
        replaced: &mut Vec<u32>,
    ) -> bool {
        let Tetrahedron { corners, seen, is_replaced, .. } = &self.tetrahedra[tetrahedron as usize];
        if *seen == point {
            return *is_replaced;
        }
        let [a, b, c, d] = self.coordinates(corners);
        let is_within = insphere(a, b, c, d, place) > 0.0;
        let found = &mut self.tetrahedra[tetrahedron as usize];
        (found.seen, found.is_replaced) = (point, is_within);
        replaced.extend(is_within.then_some(tetrahedron));
        is_within
    }

    /// Fills a hole with tetrahedra at `point`, and returns one of them.
    fn fill(&mut self, point: u32, Hole { rim, open, .. }: &mut Hole) -> u32 {
        let mut last = NONE;
        for &Rim { corners, local, outside } in &*rim {
            let new = self.unused.pop().unwrap_or(self.tetrahedra.len() as u32);
            let mut made = Tetrahedron::new(corners);
            made.behind[local] = outside;
            if outside != NONE {
                let face = |corner: &u32| !corners.contains(corner);
                let outside = &mut self.tetrahedra[outside as usize];
                let back = outside.corners.iter().position(face).unwrap_or(0);
                outside.behind[back] = new;
            }

            let around = [1, 2, 3].map(|i| (local + i) % 4);
            for (i, &across) in around.iter().enumerate() {
                let [a, b] = [i + 1, i + 2].map(|i| u64::from(corners[around[i % 3]]));
                let edge = a.min(b) << 32 | a.max(b);
                match open.iter().position(|(other, ..)| *other == edge) {
                    Some(k) => {
                        let (_, other, there) = open.swap_remove(k);
                        made.behind[across] = other;
                        self.tetrahedra[other as usize].behind[there] = new;
                    }
                    None => open.push((edge, new, across)),
                }
            }
            match self.tetrahedra.get_mut(new as usize) {
                Some(unused) => *unused = made,
                None => self.tetrahedra.push(made),
            }
            for corner in corners.into_iter().filter(|&corner| (corner as usize) < self.n_points) {
                self.at_point[corner as usize] = new;
            }
            last = new;
        }
        debug_assert!(open.is_empty(), "the rim of point {point} is closed");
        open.clear();
        last
    }
}

/// Whether `place` lies on the other side of the face across corner `i` than the corner `x[i]`.
fn is_beyond(mut x: [Coord3D<f64>; 4], i: usize, place: [f64; 3]) -> bool {
    x[i] = coord(place);
    orient3d(x[0], x[1], x[2], x[3]) < 0.0
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
            let of_points = delaunay.tetrahedra.iter().map(|t| t.corners);
            for (t, corners) in (0..).zip(of_points).filter(|(_, corners)| used(corners)) {
                if unused.contains(&t) {
                    continue;
                }
                let [a, b, c, d] = delaunay.coordinates(&corners);
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
