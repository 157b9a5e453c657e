//! The zero set of a field that is linear on tetrahedra, as triangles, and the distance to it.

use rayon::prelude::*;
use rstar::primitives::CachedEnvelope;
use rstar::{AABB, PointDistance, RTree, RTreeObject};
use topopt_mesh::vector::{cross, difference, dot};

use crate::patches::{Patch, Patches};

/// Triangles of a zero set, by which the nearest one is found.
pub(crate) struct ZeroSet {
    tree: RTree<CachedEnvelope<Triangle>>,
    /// Vertices of the tetrahedra that the zero set cuts, and those next to them; ascending.
    near: Vec<u32>,
}

impl ZeroSet {
    /// The zero set of `values`, `[n_points]`. Zero counts as positive.
    pub fn new(patches: &Patches, values: &[f64]) -> Self {
        let cut_patch = |number: usize| cut(patches, patches.patch(number), values);
        let cuts: Vec<(Vec<Triangle>, Vec<u32>)> =
            (0..patches.len()).into_par_iter().map(cut_patch).collect();

        let mut is_cut = vec![false; values.len()];
        let mut cut_vertices = Vec::new();
        for &vertex in cuts.iter().flat_map(|(_, vertices)| vertices) {
            if !std::mem::replace(&mut is_cut[vertex as usize], true) {
                cut_vertices.push(vertex);
            }
        }

        let around = cut_vertices.par_iter().flat_map_iter(|&vertex| neighbors(patches, vertex));
        let mut near: Vec<u32> = around.collect();
        near.par_sort_unstable();
        near.dedup();

        let triangles = cuts.into_iter().flat_map(|(triangles, _)| triangles);
        Self { tree: RTree::bulk_load(triangles.map(CachedEnvelope::new).collect()), near }
    }

    /// How many triangles there are.
    pub fn n_triangles(&self) -> usize {
        self.tree.size()
    }

    /// The vertices near to the zero set and their distances to it.
    pub fn distances(&self, points: &[[f64; 3]]) -> Vec<(u32, f64)> {
        let distance = |&vertex: &u32| {
            let nearest = self.tree.nearest_neighbor_with_distance_2(points[vertex as usize]);
            nearest.map(|(_, squared)| (vertex, squared.sqrt()))
        };
        self.near.par_iter().filter_map(distance).collect()
    }
}

/// The triangles of the zero set in a patch, and the vertices of the tetrahedra that it cuts.
fn cut(patches: &Patches, patch: Patch, values: &[f64]) -> (Vec<Triangle>, Vec<u32>) {
    let local: Vec<f64> = patch.vertices.iter().map(|&vertex| values[vertex as usize]).collect();
    let (mut triangles, mut vertices) = (Vec::new(), Vec::new());
    let n_inside = local.iter().filter(|&&value| value < 0.0).count();
    if n_inside == 0 || n_inside == local.len() {
        return (triangles, vertices);
    }

    for corners in patch.cells {
        let values = corners.map(|local_vertex| local[local_vertex as usize]);
        if values.iter().any(|&v| v < 0.0) && values.iter().any(|&v| v >= 0.0) {
            let corners = corners.map(|local| patch.vertices[local as usize]);
            let points = corners.map(|vertex| patches.tetrahedra().points()[vertex as usize]);
            triangles.extend(of_tetrahedron(points, values));
            vertices.extend(corners);
        }
    }
    (triangles, vertices)
}

/// The vertices of the tetrahedra around a vertex, some of them several times.
fn neighbors(patches: &Patches, vertex: u32) -> impl Iterator<Item = u32> {
    patches.copies(vertex).iter().flat_map(|&copy| {
        let (number, local) = patches.place(copy);
        let patch = patches.patch(number);
        let around = patch.around(local).iter();
        around
            .flat_map(move |&corner| patch.cells[corner as usize / 4])
            .map(move |local| patch.vertices[local as usize])
    })
}

/// The triangle or two of the zero set in a tetrahedron with negative and other `values`.
fn of_tetrahedron(points: [[f64; 3]; 4], values: [f64; 4]) -> impl Iterator<Item = Triangle> {
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..4).partition(|&a| values[a] < 0.0);
    let crossing = |a: usize, b: usize| {
        let share = values[a] / (values[a] - values[b]);
        [0, 1, 2].map(|d| points[a][d] + share * (points[b][d] - points[a][d]))
    };

    let (first, second) = match (&*inside, &*outside) {
        (&[a], &[b, c, d]) | (&[b, c, d], &[a]) => {
            (Triangle([crossing(a, b), crossing(a, c), crossing(a, d)]), None)
        }
        (&[a, b, ..], &[c, d, ..]) => {
            let corners = [crossing(a, c), crossing(a, d), crossing(b, d), crossing(b, c)];
            let [p, q, r, s] = corners;
            (Triangle([p, q, r]), Some(Triangle([p, r, s])))
        }
        _ => (Triangle([points[0]; 3]), None),
    };
    std::iter::once(first).chain(second)
}

/// A triangle, perhaps flat.
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
        let [a, b, c] = self.0;
        let normal = cross(difference(b, a), difference(c, a));
        let is_within = |[a, b]: [[f64; 3]; 2]| {
            dot(cross(normal, difference(b, a)), difference(*point, a)) >= 0.0
        };
        let edges = [[a, b], [b, c], [c, a]];
        let area_squared = dot(normal, normal);
        if area_squared > 0.0 && edges.into_iter().all(is_within) {
            return dot(normal, difference(*point, a)).powi(2) / area_squared;
        }
        edges.into_iter().map(|edge| to_segment(*point, edge)).fold(f64::INFINITY, f64::min)
    }
}

/// The squared distance of a point from a segment.
fn to_segment(point: [f64; 3], [a, b]: [[f64; 3]; 2]) -> f64 {
    let (along, to_point) = (difference(b, a), difference(point, a));
    let squared = dot(along, along);
    let share = if squared > 0.0 { (dot(along, to_point) / squared).clamp(0.0, 1.0) } else { 0.0 };
    let rest = [0, 1, 2].map(|d| to_point[d] - share * along[d]);
    dot(rest, rest)
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

    #[test]
    fn a_tetrahedron_is_cut_where_the_field_is_zero() {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for normal in [[1.0, 2.0, 4.0], [1.0, -2.0, 0.5], [3.0, 1.0, -2.0], [-1.0, -1.0, -4.0]] {
            for level in [-0.5, 0.3, 0.6] {
                let field = |x: [f64; 3]| dot(normal, x) - level;
                let values = points.map(field);
                let n_inside = values.iter().filter(|&&v| v < 0.0).count();
                if n_inside % 4 == 0 {
                    continue;
                }
                let triangles: Vec<Triangle> = of_tetrahedron(points, values).collect();
                assert_eq!(triangles.len(), if n_inside == 2 { 2 } else { 1 });
                let corners = triangles.iter().flat_map(|triangle| triangle.0);
                assert!(corners.into_iter().all(|x| field(x).abs() < 1e-15));
                // Both sides of the diagonal of two triangles.
                if let [first, second] = &*triangles {
                    let [p, q, r, s] = [first.0[0], first.0[1], first.0[2], second.0[2]];
                    let diagonal = cross(difference(r, p), difference(q, p));
                    assert!(dot(diagonal, cross(difference(r, p), difference(s, p))) < 0.0);
                }
            }
        }
    }
}
