//! Marching tetrahedra, closed by the clipped boundary of the mesh.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, surface, tetrahedra};

use crate::cut::{Cut, MARGIN, Position};
use crate::parts::Parts;
use crate::{Field, TriangleSurface};

/// The surface of {`field` >= `threshold`} within `mesh`. It is closed and oriented by
/// construction, as its vertices are nodes or lie on edges that all tetrahedra around share, and a
/// manifold wherever the mesh's own boundary is. It has no triangles where the threshold exceeds
/// all values.
pub fn iso_surface(mesh: &HexMesh, field: &Field, threshold: f64) -> TriangleSurface {
    with_keys(&Cut { mesh, field, threshold }).0
}

/// The surface of a cut, and the edge of each of its vertices.
pub(crate) fn with_keys(cut: &Cut) -> (TriangleSurface, Vec<Key>) {
    let mesh = cut.mesh;
    let closing = surface::boundary_faces(mesh).into_par_iter().flat_map_iter(|face| {
        let triangles = tetrahedra::of_face(mesh, face);
        triangles.flat_map(|triangle| cut.clipped_triangle(triangle)).flatten()
    });
    let mut triangles: Vec<[Key; 3]> = closing.collect();

    // Before inner triangles are added: only these vertices lie on the boundary of the mesh.
    let mut boundary: Vec<Key> = triangles.as_flattened().to_vec();
    boundary.par_sort_unstable();
    boundary.dedup();

    let inner = (0..mesh.n_elements()).into_par_iter().filter(|&element| cut.is_cut(element));
    triangles.par_extend(inner.flat_map_iter(|element| {
        let tetrahedra = tetrahedra::of_element(mesh, element);
        tetrahedra.flat_map(|tetrahedron| cut.inner_triangles(tetrahedron)).flatten()
    }));

    let mut keys: Vec<Key> = triangles.as_flattened().to_vec();
    keys.par_sort_unstable();
    keys.dedup();
    // Every key of a triangle is found, since `keys` was collected from the triangles.
    let number = |key: &Key| keys.partition_point(|other| other < key) as u32;
    let surface = TriangleSurface {
        triangles: triangles.par_iter().map(|keys| keys.each_ref().map(number)).collect(),
        vertices: keys.par_iter().map(|&key| cut.vertex(key)).collect(),
        tracks: keys.par_iter().map(|&key| cut.track(key)).collect(),
        on_boundary: keys.par_iter().map(|key| boundary.binary_search(key).is_ok()).collect(),
        pieces: pieces(cut, &keys),
    };
    (surface, keys)
}

/// Key of a vertex of the surface: the ends of the tetrahedra's edge below it, smaller first; a
/// node twice if the vertex is that node.
pub(crate) type Key = [u32; 2];

fn key(a: u32, b: u32) -> Key {
    [a.min(b), a.max(b)]
}

impl Cut<'_> {
    fn vertex(&self, [a, b]: Key) -> [f64; 3] {
        let x = self.coordinates(a);
        if a == b {
            return x;
        }
        let (share, end) = (self.share(a, b), self.coordinates(b));
        std::array::from_fn(|i| x[i] + share * (end[i] - x[i]))
    }

    /// Ends of the piece of edge on which a vertex may move: there the surface stays a level surface.
    fn track(&self, [a, b]: Key) -> [[f64; 3]; 2] {
        let (x, end) = (self.coordinates(a), self.coordinates(b));
        let at = |share: f64| std::array::from_fn(|i| x[i] + share * (end[i] - x[i]));
        [at(MARGIN), at(1.0 - MARGIN)]
    }

    /// The triangles within a tetrahedron, oriented outwards from the solid.
    fn inner_triangles(&self, tetrahedron: [u32; 4]) -> [Option<[Key; 3]>; 2] {
        match self.position(tetrahedron) {
            Position::Outside | Position::Inside => [None; 2],
            Position::One([i, j, k, l]) => [Some([key(i, j), key(i, k), key(i, l)]), None],
            Position::Three([i, j, k, l]) => [Some([key(i, j), key(i, l), key(i, k)]), None],
            Position::Two([i, j, k, l]) => {
                let [ik, il, jk, jl] = [key(i, k), key(i, l), key(j, k), key(j, l)];
                [Some([ik, il, jl]), Some([ik, jl, jk])]
            }
        }
    }

    /// The part of a triangle of the mesh's boundary that is inside.
    fn clipped_triangle(&self, triangle: [u32; 3]) -> [Option<[Key; 3]>; 2] {
        let inside = triangle.map(|vertex| self.is_inside(vertex));
        let count = inside.iter().filter(|&&inside| inside).count();
        // The corner on the other side than the two others comes first.
        let odd = inside.iter().position(|&inside| inside == (count == 1)).unwrap_or(0);
        let [i, j, k] = std::array::from_fn(|c| triangle[(odd + c) % 3]);
        let [ij, ki] = [key(i, j), key(k, i)];
        match count {
            0 => [None; 2],
            1 => [Some([[i; 2], ij, ki]), None],
            2 => [Some([ij, [j; 2], [k; 2]]), Some([ij, [k; 2], ki])],
            _ => [Some([[i; 2], [j; 2], [k; 2]]), None],
        }
    }
}

/// Piece of the solid per vertex of the surface; pieces are numbered in the order of vertices.
fn pieces(cut: &Cut, keys: &[Key]) -> Vec<u32> {
    let parts = Parts::of(cut);
    let mut numbers = vec![None; parts.is_solid.len()];
    let mut n_pieces = 0;
    let inside = keys.iter().map(|&[a, b]| if cut.is_inside(a) { a } else { b });
    let pieces = inside.map(|vertex| {
        let number = &mut numbers[parts.of_vertex[vertex as usize] as usize];
        n_pieces += u32::from(number.is_none());
        *number.get_or_insert(n_pieces - 1)
    });
    pieces.collect()
}
