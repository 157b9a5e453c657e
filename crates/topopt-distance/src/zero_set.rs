//! The zero set of a field that is linear on tetrahedra, as triangles, and the distance to it.

use rayon::prelude::*;
use topopt_mesh::triangles::{Corners, Triangles};

use crate::patches::{Patch, Patches};

/// Triangles of a zero set, searchable for the nearest one.
pub(crate) struct ZeroSet {
    triangles: Triangles,
    /// Vertices of the tetrahedra that the zero set cuts, and those next to them; ascending.
    near: Vec<u32>,
}

impl ZeroSet {
    /// The zero set of `values`, `[n_points]`. Zero counts as positive.
    pub fn new(patches: &Patches, values: &[f64]) -> Self {
        let cut_patch = |number: usize| cut(patches, patches.patch(number), values);
        let cuts: Vec<(Vec<Corners>, Vec<u32>)> =
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
        Self { triangles: Triangles::new(triangles), near }
    }

    /// Number of triangles.
    pub fn n_triangles(&self) -> usize {
        self.triangles.len()
    }

    /// Computes the distances to the zero set of the vertices near it.
    pub fn distances(&self, points: &[[f64; 3]]) -> Vec<(u32, f64)> {
        let distance = |&vertex: &u32| (vertex, self.triangles.distance(points[vertex as usize]));
        self.near.par_iter().map(distance).collect()
    }
}

/// The triangles of the zero set in a patch, and the vertices of the tetrahedra that it cuts.
fn cut(patches: &Patches, patch: Patch, values: &[f64]) -> (Vec<Corners>, Vec<u32>) {
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

/// The one or two triangles of the zero set in a tetrahedron whose `values` differ in sign.
fn of_tetrahedron(points: [[f64; 3]; 4], values: [f64; 4]) -> impl Iterator<Item = Corners> {
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..4).partition(|&a| values[a] < 0.0);
    let crossing = |a: usize, b: usize| {
        let share = values[a] / (values[a] - values[b]);
        [0, 1, 2].map(|d| points[a][d] + share * (points[b][d] - points[a][d]))
    };

    let (first, second) = match (&*inside, &*outside) {
        (&[a], &[b, c, d]) | (&[b, c, d], &[a]) => {
            ([crossing(a, b), crossing(a, c), crossing(a, d)], None)
        }
        (&[a, b, ..], &[c, d, ..]) => {
            let corners = [crossing(a, c), crossing(a, d), crossing(b, d), crossing(b, c)];
            let [p, q, r, s] = corners;
            ([p, q, r], Some([p, r, s]))
        }
        _ => ([points[0]; 3], None),
    };
    std::iter::once(first).chain(second)
}

#[cfg(test)]
mod tests {
    use topopt_mesh::vector::{cross, difference, dot};

    use super::*;

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

                let triangles: Vec<Corners> = of_tetrahedron(points, values).collect();
                assert_eq!(triangles.len(), if n_inside == 2 { 2 } else { 1 });
                let corners = triangles.iter().flatten().copied();
                assert!(corners.into_iter().all(|x| field(x).abs() < 1e-15));
                // Both sides of the diagonal of two triangles.
                if let [first, second] = &*triangles {
                    let [p, q, r, s] = [first[0], first[1], first[2], second[2]];
                    let diagonal = cross(difference(r, p), difference(q, p));
                    assert!(dot(diagonal, cross(difference(r, p), difference(s, p))) < 0.0);
                }
            }
        }
    }
}
