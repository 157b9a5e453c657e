//! Elements as tetrahedra, on which a field is linear.
//!
//! Each hexahedron is cut into 12: its center with the two triangles of each face; each tetrahedron
//! of ten nodes into 16: its center with the four triangles of each face. Their vertices are the
//! nodes of the mesh, then the centers of its elements: n_nodes + element.

use crate::cells::Shape;
use crate::vector::difference;
use crate::{Face, HexMesh, hexahedron};

/// The tetrahedra of `element`, 12 of a hexahedron, 8 of a wedge, as vertex numbers: its center
/// first (n_nodes + element), then a triangle of a face, counter-clockwise seen from outside. Their
/// orientation is positive.
pub fn of_element(mesh: &HexMesh, element: usize) -> impl Iterator<Item = [u32; 4]> {
    let center = (mesh.n_nodes() + element) as u32;
    let faces = (0..mesh.n_faces()).map(move |local| Face { element: element as u32, local });
    faces.flat_map(|face| of_face(mesh, face)).map(move |[a, b, c]| [center, a, b, c])
}

/// The two triangles of a face of the mesh, or the one that it is; none if it is collapsed; four
/// between the nodes of a face of a tetrahedron.
pub fn of_face(mesh: &HexMesh, face: Face) -> impl Iterator<Item = [u32; 3]> + use<> {
    let triangles = match mesh.shape() {
        Shape::Tetrahedron => {
            let [a, b, c, ab, bc, ca] = face.nodes_of_triangle(mesh);
            vec![[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        }
        _ => split(face.nodes(mesh)).to_vec(),
    };
    triangles.into_iter().filter(|[a, b, c]| a != b && b != c && c != a)
}

/// A quadrilateral cut along the diagonal of its smallest node, so that both neighbors agree.
fn split(nodes: [u32; 4]) -> [[u32; 3]; 2] {
    let first = if nodes[0].min(nodes[2]) < nodes[1].min(nodes[3]) { 0 } else { 1 };
    let [a, b, c, d] = std::array::from_fn(|i| nodes[(first + i) % 4]);
    [[a, b, c], [a, c, d]]
}

/// The tetrahedra of `element` with their volumes, in the cube of the unit of lengths.
pub fn with_volumes(mesh: &HexMesh, element: usize) -> impl Iterator<Item = ([u32; 4], f64)> {
    let center = mesh.center(element);
    of_element(mesh, element).map(move |tetrahedron| {
        let [a, b, c] = [1, 2, 3].map(|i| mesh.coordinates()[tetrahedron[i] as usize]);
        (tetrahedron, volume([center, a, b, c]))
    })
}

/// Coordinates of a vertex of the tetrahedra.
pub fn coordinates(mesh: &HexMesh, vertex: u32) -> [f64; 3] {
    let vertex = vertex as usize;
    match vertex.checked_sub(mesh.n_nodes()) {
        None => mesh.coordinates()[vertex],
        Some(element) => mesh.center(element),
    }
}

/// Signed volume of the tetrahedron with corners `x`, in the cube of their unit.
pub fn volume(x: [[f64; 3]; 4]) -> f64 {
    let edge = |a: usize| difference(x[a], x[0]);
    hexahedron::determinant(&[edge(1), edge(2), edge(3)]) / 6.0
}
