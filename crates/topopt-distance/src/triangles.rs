//! The distance from the nearest of many triangles.

use rstar::primitives::CachedEnvelope;
use rstar::{AABB, PointDistance, RTree, RTreeObject};
use topopt_mesh::vector::{cross, difference, dot};

/// Triangles that are searched for the nearest one to a point.
pub struct Triangles {
    tree: RTree<CachedEnvelope<Triangle>>,
}

impl Triangles {
    /// Triangles by their corners, `[n_triangles][3][3]`, some of them perhaps flat.
    pub fn new(corners: impl Iterator<Item = [[f64; 3]; 3]>) -> Self {
        let triangles = corners.map(|corners| CachedEnvelope::new(Triangle(corners)));
        Self { tree: RTree::bulk_load(triangles.collect()) }
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.tree.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tree.size() == 0
    }

    /// The point of them that is nearest to `point`, if there are any.
    pub fn nearest(&self, point: [f64; 3]) -> Option<[f64; 3]> {
        self.tree.nearest_neighbor(point).map(|triangle| triangle.nearest(point))
    }

    /// The distance of `point` from the nearest one; infinite if there are none.
    pub fn distance(&self, point: [f64; 3]) -> f64 {
        let nearest = self.tree.nearest_neighbor_with_distance_2(point);
        nearest.map_or(f64::INFINITY, |(_, squared)| squared.sqrt())
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Triangle([[f64; 3]; 3]);

impl RTreeObject for Triangle {
    type Envelope = AABB<[f64; 3]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_points(&self.0)
    }
}

impl PointDistance for Triangle {
    fn distance_2(&self, point: &[f64; 3]) -> f64 {
        let way = difference(*point, self.nearest(*point));
        dot(way, way)
    }
}

impl Triangle {
    fn nearest(&self, point: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.0;
        let normal = cross(difference(b, a), difference(c, a));
        let is_within = |[a, b]: [[f64; 3]; 2]| {
            dot(cross(normal, difference(b, a)), difference(point, a)) >= 0.0
        };
        let edges = [[a, b], [b, c], [c, a]];
        let area_squared = dot(normal, normal);
        if area_squared > 0.0 && edges.into_iter().all(is_within) {
            let share = dot(normal, difference(point, a)) / area_squared;
            return [0, 1, 2].map(|d| point[d] - share * normal[d]);
        }

        let [p, q, r] = edges.map(|edge| nearest_on_segment(point, edge));
        let squared = |x: &[f64; 3]| dot(difference(point, *x), difference(point, *x));
        let nearer = |x, y| if squared(&x) <= squared(&y) { x } else { y };
        nearer(nearer(p, q), r)
    }
}

fn nearest_on_segment(point: [f64; 3], [a, b]: [[f64; 3]; 2]) -> [f64; 3] {
    let (along, to_point) = (difference(b, a), difference(point, a));
    let squared = dot(along, along);
    let share = if squared > 0.0 { (dot(along, to_point) / squared).clamp(0.0, 1.0) } else { 0.0 };
    [0, 1, 2].map(|d| a[d] + share * along[d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_from_a_triangle_is_that_of_its_nearest_point() {
        let triangle = Triangle([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]]);
        for (point, squared) in [
            ([1.0, 1.0, -3.0], 9.0),
            ([2.0, -2.0, 1.0], 5.0),
            ([4.0, 4.0, 0.0], 8.0),
            ([-1.0, -2.0, 3.0], 14.0),
            ([7.0, -1.0, 0.0], 10.0),
        ] {
            assert!((triangle.distance_2(&point) - squared).abs() < 1e-14, "{point:?}");
        }
        let flat = Triangle([[0.0; 3], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]);
        assert!((flat.distance_2(&[2.0, 2.0, 3.0]) - 1.0).abs() < 1e-14);
        assert_eq!(Triangle([[1.0; 3]; 3]).distance_2(&[1.0, 1.0, 3.0]), 4.0);
    }
}
