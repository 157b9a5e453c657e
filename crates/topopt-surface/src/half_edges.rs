//! Bodies of the library `manifold` with half-edges that all threads pair.

use std::sync::atomic::{AtomicI32, Ordering};

use manifold_rust::edge_op::remove_degenerates;
use manifold_rust::impl_mesh::{ManifoldImpl, reserve_ids};
use manifold_rust::linalg::{IVec3, Mat3x4, Vec3};
use manifold_rust::manifold::Manifold;
use manifold_rust::types::{Halfedge, Relation, TriRef};
use rayon::prelude::*;
use topopt_mesh::counting_sort::grouped;

use crate::TriangleSurface;

/// Least number of vertices, and of triangles, of a body.
const LEAST: usize = 4;

/// The body between closed surfaces, whose triangles keep the `number`: as the library imports it,
/// which takes one thread for it. None where an edge has not two triangles that belong together,
/// which the library knows more about.
pub(crate) fn imported(surface: &TriangleSurface, number: u32) -> Option<Manifold> {
    let is_finite = surface.vertices.as_flattened().par_iter().all(|x| x.is_finite());
    let (n_vertices, corners) = (surface.vertices.len(), surface.triangles.as_flattened());
    let is_known = corners.par_iter().all(|&vertex| (vertex as usize) < n_vertices);
    if !is_finite || !is_known || n_vertices < LEAST || surface.triangles.len() < LEAST {
        return None;
    }
    let triangles = surface.triangles.par_iter();
    let triangles = triangles.map(|t| t.map(|vertex| vertex as i32));
    let triangles: Vec<IVec3> = triangles.map(|[x, y, z]| IVec3 { x, y, z }).collect();

    let mut body = ManifoldImpl::new();
    body.vert_pos = surface.vertices.par_iter().map(|&[x, y, z]| Vec3 { x, y, z }).collect();
    body.halfedge = paired(&triangles, n_vertices)?;
    let [mesh_id, original_id] = [reserve_ids(1), number].map(|id| id as i32);
    let triangle = |coplanar_id| TriRef { mesh_id, original_id, face_id: -1, coplanar_id };
    body.mesh_relation.original_id = -1;
    body.mesh_relation.tri_ref =
        (0..triangles.len() as i32).into_par_iter().map(triangle).collect();
    let transform = Mat3x4::identity();
    let relation = Relation { original_id, transform, back_side: false, has_normals: false };
    body.mesh_relation.mesh_id_transform.insert(mesh_id, relation);
    body.calculate_bbox();
    body.set_epsilon(0.0, false);
    body.set_normals_and_coplanar();
    remove_degenerates(&mut body, 0);
    body.remove_unreferenced_verts();
    body.sort_geometry();
    Some(Manifold::from_impl(body))
}

/// Makes the half-edges of `triangles` between the vertices that a `body` has.
pub(crate) fn create(body: &mut ManifoldImpl, triangles: &[IVec3]) {
    match paired(triangles, body.vert_pos.len()) {
        Some(half_edges) => body.halfedge = half_edges,
        None => body.create_halfedges(triangles, &[]),
    }
}

/// Half-edges of triangles between `n_vertices`; none unless each has exactly one that runs against
/// it, in a triangle with another third vertex.
fn paired(triangles: &[IVec3], n_vertices: usize) -> Option<Vec<Halfedge>> {
    let sides = Sides(triangles);
    let all = 0..3 * triangles.len();
    let first = |side: usize| sides.ends(side).into_iter().min().unwrap_or(0) as u32;
    let keys: Vec<u32> = all.clone().into_par_iter().map(first).collect();
    let around = grouped(&keys, n_vertices, |side| side as u32);
    let pairs: Vec<AtomicI32> = all.into_par_iter().map(|_| AtomicI32::new(-1)).collect();
    let vertices = around.offsets.par_windows(2);
    if !vertices.all(|at| sides.pair(&around.values[at[0]..at[1]], &pairs)) {
        return None;
    }
    let half_edge = |(side, pair): (usize, AtomicI32)| {
        let [start_vert, end_vert] = sides.ends(side);
        Halfedge { start_vert, end_vert, paired_halfedge: pair.into_inner(), prop_vert: start_vert }
    };
    Some(pairs.into_par_iter().enumerate().map(half_edge).collect())
}

/// Sides of triangles, three of each one.
struct Sides<'a>(&'a [IVec3]);

impl Sides<'_> {
    fn ends(&self, side: usize) -> [i32; 2] {
        let (triangle, i) = (self.0[side / 3], side % 3);
        [triangle[i], triangle[(i + 1) % 3]]
    }

    /// The vertex of its triangle that a side does not have.
    fn third(&self, side: usize) -> i32 {
        self.0[side / 3][(side + 2) % 3]
    }

    /// Writes the pair of each of the sides `around` the same vertex; returns whether all have one.
    fn pair(&self, around: &[u32], pairs: &[AtomicI32]) -> bool {
        around.iter().all(|&own| {
            let found = self.pair_of(own as usize, around);
            found.is_some_and(|pair| {
                pairs[own as usize].store(pair as i32, Ordering::Relaxed);
                true
            })
        })
    }

    /// The only side `around` that runs against the `own` one, which no other runs along; none in a
    /// triangle that lies on its own.
    fn pair_of(&self, own: usize, around: &[u32]) -> Option<u32> {
        let [from, to] = self.ends(own);
        let with = |ends: [i32; 2]| {
            let mut found = around.iter().filter(move |&&side| self.ends(side as usize) == ends);
            found.next().filter(|_| found.next().is_none())
        };
        let (_, &pair) = (with([from, to])?, with([to, from])?);
        (from != to && self.third(own) != self.third(pair as usize)).then_some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles(of: &[[i32; 3]]) -> Vec<IVec3> {
        of.iter().map(|&[x, y, z]| IVec3 { x, y, z }).collect()
    }

    /// A tetrahedron, another that touches it in a vertex, one in an edge, and one without a side.
    #[test]
    fn half_edges_are_those_of_the_library() {
        let of = |[a, b, c, d]: [i32; 4]| [[a, c, b], [a, b, d], [b, c, d], [c, a, d]];
        let alone = of([0, 1, 2, 3]).to_vec();
        let in_vertex = [of([0, 1, 2, 3]), of([3, 4, 5, 6])].concat();
        let in_edge = [of([0, 1, 2, 3]), of([2, 3, 4, 5])].concat();
        let flat = vec![[0, 1, 2], [0, 2, 1]];
        let cases = [(alone, true), (in_vertex, true), (in_edge, false), (flat, false)];
        for (sides, pairs) in cases {
            let triangles = triangles(&sides);
            let [mut found, mut known] = [(); 2].map(|()| ManifoldImpl::new());
            found.vert_pos = vec![Vec3 { x: 0.0, y: 0.0, z: 0.0 }; 7];
            create(&mut found, &triangles);
            known.create_halfedges(&triangles, &[]);
            assert_eq!(found.halfedge, known.halfedge);
            assert_eq!(paired(&triangles, 7).is_some(), pairs, "{sides:?}");
        }
        assert!(paired(&triangles(&of([0, 1, 2, 3])[1..]), 4).is_none());
    }
}
