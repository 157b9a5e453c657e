//! Triangles in space, the nearest of which to a point is searched.

use rayon::prelude::*;

use crate::BoundingBox;
use crate::box_tree::{BoxTree, Boxed};
use crate::vector::{self, cross, difference, dot};

/// Triangles that are searched for the nearest one to a point.
#[derive(Debug, Clone)]
pub struct Triangles(BoxTree<(Corners, u32)>);

/// Corners of a triangle.
pub type Corners = [[f64; 3]; 3];

impl Boxed for (Corners, u32) {
    fn bounds(&self) -> BoundingBox {
        BoundingBox::of(self.0)
    }

    fn place(&self, axis: usize) -> f64 {
        self.0[0][axis] + self.0[1][axis] + self.0[2][axis]
    }

    fn number(&self) -> u32 {
        self.1
    }
}

impl Triangles {
    /// Triangles by their corners, `[n_triangles][3][3]`, some of them perhaps flat.
    pub fn new(corners: impl Iterator<Item = Corners>) -> Self {
        Self(BoxTree::new(corners.zip(0..).collect()))
    }

    /// The `triangles` of a surface, `[n_triangles][3]`, by their `vertices`, `[n_vertices][3]`.
    pub fn of_surface(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Self {
        let corners = triangles.par_iter().map(|t| t.map(|vertex| vertices[vertex as usize]));
        Self(BoxTree::new(corners.enumerate().map(|(t, corners)| (corners, t as u32)).collect()))
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.0.things.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.things.is_empty()
    }

    /// Corners of one of them.
    pub fn first(&self) -> Option<Corners> {
        self.0.things.first().map(|(corners, _)| *corners)
    }

    /// The point of them that is nearest to `point`, if there are any.
    pub fn nearest(&self, point: [f64; 3]) -> Option<[f64; 3]> {
        self.nearest_of(point).map(|(_, nearest)| nearest)
    }

    /// The distance of `point` from the nearest one; infinite if there are none.
    pub fn distance(&self, point: [f64; 3]) -> f64 {
        self.nearest(point).map_or(f64::INFINITY, |nearest| squared(point, nearest).sqrt())
    }

    /// Whether one of them is within a `distance` of `point`.
    pub fn reach(&self, point: [f64; 3], distance: f64) -> bool {
        let ends = [-distance, distance].map(|far| point.map(|x| x + far));
        let mut reaches = false;
        self.0.in_box(&BoundingBox::of(ends), |(corners, _)| {
            reaches |= squared(point, nearest_in(*corners, point)) <= distance * distance;
        });
        reaches
    }

    /// The number of the triangle that is nearest to `point`, and the point of it that is, if there
    /// are any.
    pub fn nearest_of(&self, point: [f64; 3]) -> Option<(usize, [f64; 3])> {
        let (mut least, mut best) = (f64::INFINITY, None);
        self.0.outwards(point, |(corners, number)| {
            let nearest = nearest_in(*corners, point);
            let distance = squared(point, nearest);
            if distance < least || best.is_none() {
                (least, best) = (distance, Some((*number as usize, nearest)));
            }
            least
        });
        best
    }

    /// Visits the numbers of the triangles whose boxes have a point in common with `around`.
    pub fn in_box(&self, around: &BoundingBox, mut visit: impl FnMut(u32)) {
        self.0.in_box(around, |(_, number)| visit(*number));
    }
}

fn squared(a: [f64; 3], b: [f64; 3]) -> f64 {
    let way = difference(a, b);
    dot(way, way)
}

/// Square of the sine of an angle below which a triangle counts as the segments around it: rounding
/// turns its normal by more than a hundred millionth.
const FLAT: f64 = 1e-16;

/// The point of a triangle that is nearest to `point`; of a flat one, of the segments around it.
pub fn nearest_in([a, b, c]: Corners, point: [f64; 3]) -> [f64; 3] {
    let [along, across] = [difference(b, a), difference(c, a)];
    let normal = cross(along, across);
    let is_within = |a: [f64; 3], b: [f64; 3]| {
        dot(cross(normal, difference(b, a)), difference(point, a)) >= 0.0
    };
    let area_squared = dot(normal, normal);
    let is_flat = area_squared <= FLAT * dot(along, along) * dot(across, across);
    if !is_flat && is_within(a, b) && is_within(b, c) && is_within(c, a) {
        let share = dot(normal, difference(point, a)) / area_squared;
        return vector::along(point, -share, normal);
    }

    let mut nearest = nearest_on_segment(point, a, b);
    for (from, to) in [(b, c), (c, a)] {
        let other = nearest_on_segment(point, from, to);
        if squared(point, other) < squared(point, nearest) {
            nearest = other;
        }
    }
    nearest
}

fn nearest_on_segment(point: [f64; 3], a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    let (along, to_point) = (difference(b, a), difference(point, a));
    let squared = dot(along, along);
    let share = if squared > 0.0 { (dot(along, to_point) / squared).clamp(0.0, 1.0) } else { 0.0 };
    vector::along(a, share, along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_from_a_triangle_is_that_of_its_nearest_point() {
        let triangle = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
        for (point, expected) in [
            ([1.0, 1.0, -3.0], 9.0),
            ([2.0, -2.0, 1.0], 5.0),
            ([4.0, 4.0, 0.0], 8.0),
            ([-1.0, -2.0, 3.0], 14.0),
            ([7.0, -1.0, 0.0], 10.0),
        ] {
            let found = squared(point, nearest_in(triangle, point));
            assert!((found - expected).abs() < 1e-14, "{point:?}");
        }
        let flat = [[0.0; 3], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
        let found = squared([2.0, 2.0, 3.0], nearest_in(flat, [2.0, 2.0, 3.0]));
        assert!((found - 1.0).abs() < 1e-14);
        assert_eq!(nearest_in([[1.0; 3]; 3], [1.0, 1.0, 3.0]), [1.0; 3]);
    }

    #[test]
    fn the_tree_finds_the_nearest_of_all() {
        // Triangles of even corners alone are flat: these lie on lines.
        let number = |i: usize| ((i * 2654435761) % 1009) as f64 / 1009.0;
        let place = |i: usize| {
            [number(i), number(i + 1), number(if i.is_multiple_of(2) { i + 2 } else { i * i })]
        };
        let corners: Vec<Corners> =
            (0..9000).map(|i| [4 * i, 5 * i + 1, 7 * i].map(place)).collect();
        let triangles = Triangles::new(corners.iter().copied());
        let numbers: Vec<[u32; 3]> = (0..9000).map(|t| [0, 1, 2].map(|i| 3 * t + i)).collect();
        let of_surface = Triangles::of_surface(corners.as_flattened(), &numbers);
        for i in 0..200 {
            let x = place(11 * i).map(|x| 3.0 * x - 1.0);
            let all = corners.iter().map(|&corners| squared(x, nearest_in(corners, x)));
            let least = all.fold(f64::INFINITY, f64::min).sqrt();
            assert!((triangles.distance(x) - least).abs() < 1e-14, "{x:?}");
            assert!(triangles.reach(x, 1.001 * least) && !triangles.reach(x, 0.999 * least));
            let (number, nearest) = triangles.nearest_of(x).unwrap();
            assert_eq!(nearest_in(corners[number], x), nearest);
            assert_eq!(of_surface.nearest_of(x), Some((number, nearest)));
        }
        let none = Triangles::new(std::iter::empty());
        let unit = BoundingBox::of([[0.0; 3], [1.0; 3]]);
        assert_eq!(none.distance([0.0; 3]), f64::INFINITY);
        none.in_box(&unit, |number| panic!("there is no triangle {number}"));

        for i in 0..50 {
            let middle = place(13 * i);
            let around = BoundingBox::of([-0.05, 0.05].map(|half| middle.map(|x| x + half)));
            let is_in = |&t: &u32| BoundingBox::of(corners[t as usize]).meets(&around);
            let all: Vec<u32> = (0..9000).filter(is_in).collect();
            let mut found = Vec::new();
            triangles.in_box(&around, |number| found.push(number));
            found.sort_unstable();
            assert_eq!(found, all);
        }
    }
}
