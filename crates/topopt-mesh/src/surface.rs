//! The surface of a mesh: the faces that belong to one element only.

use rayon::prelude::*;

use crate::hexahedron::{self, distinct};
use crate::vector::{cross, difference};
use crate::{Face, HexMesh, NodeToElements};

/// In [`face_neighbors`]: no element.
pub const NO_NEIGHBOR: u32 = u32::MAX;

/// The elements behind the six faces of every element, [`NO_NEIGHBOR`] on the surface. Behind a
/// face that is collapsed to an edge is the element itself, and so it is behind the last two of a
/// tetrahedron, which has four.
pub fn face_neighbors(mesh: &HexMesh) -> Vec<[u32; 6]> {
    let adjacency = NodeToElements::new(mesh);
    let behind = |element, local: usize| match local < mesh.n_faces().into() {
        true => behind(mesh, &adjacency, Face { element, local: local as u8 }),
        false => element,
    };
    let elements = (0..mesh.n_elements() as u32).into_par_iter();
    elements.map(|element| std::array::from_fn(|local| behind(element, local))).collect()
}

fn behind(mesh: &HexMesh, adjacency: &NodeToElements, face: Face) -> u32 {
    let nodes = face.nodes(mesh);
    let n_corners = distinct(&nodes).count();
    if n_corners < 3 {
        return face.element;
    }

    // The diagonal first: of the elements around a node, few have it.
    let has_all = |e: u32| {
        let corners = mesh.corners(e as usize);
        [2, 1, 3].into_iter().all(|a| has(corners, nodes[a]))
    };
    // Three nodes may also be those of a part of a face.
    let key = Face::key(nodes);
    let has_triangle = |element: u32| {
        let mut faces = (0..mesh.n_faces()).map(|local| Face { element, local });
        faces.any(|face| Face::key(face.nodes(mesh)) == key)
    };
    let is_behind = |e: u32| e != face.element && has_all(e) && (n_corners == 4 || has_triangle(e));

    let around = adjacency.elements_of(nodes[0] as usize);
    around.iter().copied().find(|&other| is_behind(other)).unwrap_or(NO_NEIGHBOR)
}

/// Whether `node` is one of `corners`: all are compared at once.
fn has(corners: &[u32], node: u32) -> bool {
    corners.iter().fold(false, |found, &other| found | (other == node))
}

/// The faces of `mesh` that no other element shares, by element and local face.
pub fn boundary_faces(mesh: &HexMesh) -> Vec<Face> {
    let free = |(element, neighbors): (usize, [u32; 6])| {
        let free = (0..).zip(neighbors).filter(|(_, other)| *other == NO_NEIGHBOR);
        free.map(move |(local, _)| Face { element: element as u32, local })
    };
    face_neighbors(mesh).into_par_iter().enumerate().flat_map_iter(free).collect()
}

/// The faces of `some` that lie between two elements.
pub fn inner_faces(mesh: &HexMesh, some: &[Face]) -> Vec<Face> {
    let adjacency = NodeToElements::new(mesh);
    let is_inner = |face: &&Face| behind(mesh, &adjacency, **face) != NO_NEIGHBOR;
    some.par_iter().filter(is_inner).copied().collect()
}

/// Coordinates of the four corners of `face`, counter-clockwise seen from outside.
pub fn face_coordinates(mesh: &HexMesh, face: Face) -> [[f64; 3]; 4] {
    face.nodes(mesh).map(|node| mesh.coordinates()[node as usize])
}

/// Mean of the corners `x`; that of a triangle counts once what stands twice.
pub fn face_center(x: &[[f64; 3]; 4]) -> [f64; 3] {
    hexahedron::center(x)
}

/// The integral of the unit normal over the bilinear face with corners `x`: half the cross product
/// of its diagonals, exact for a warped face too. It points outwards where the corners run
/// counter-clockwise seen from outside.
pub fn area_vector(x: &[[f64; 3]; 4]) -> [f64; 3] {
    cross(difference(x[2], x[0]), difference(x[3], x[1])).map(|v| 0.5 * v)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Renumbering;
    use crate::generate::{Benchmark, Resolution};

    #[test]
    fn neighbors_are_the_first_others_with_the_nodes_of_a_face() {
        let mesh = Benchmark::ConnectingRod.generate(Resolution::Elements(6000)).unwrap();
        let shuffled = Renumbering::shuffled(&mesh, 1).apply(&mesh);
        let numbered = Renumbering::on_import(&mesh).apply(&mesh);
        for mesh in [mesh, shuffled, numbered] {
            let key = |element, local| Face::key(Face { element, local }.nodes(&mesh));
            let faces = (0..mesh.n_elements() as u32).flat_map(|e| (0..6).map(move |l| (e, l)));
            let mut elements: BTreeMap<[u32; 4], Vec<u32>> = BTreeMap::new();
            faces.clone().for_each(|(e, l)| elements.entry(key(e, l)).or_default().push(e));

            let neighbors = face_neighbors(&mesh);
            for (e, l) in faces {
                let other = elements[&key(e, l)].iter().find(|&&other| other != e);
                let found = neighbors[e as usize][l as usize];
                assert_eq!(found, other.copied().unwrap_or(NO_NEIGHBOR), "face {l} of element {e}");
            }
        }
    }

    #[test]
    fn a_box_has_the_faces_of_its_six_sides() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap(); // 10 x 5 x 5
        let faces = boundary_faces(&mesh);
        assert_eq!(faces.len(), 2 * (10 * 5 + 10 * 5 + 5 * 5));
        assert!(faces.is_sorted());
        let side = |axis: usize, sign: f64| {
            let vectors = faces.iter().map(|&face| area_vector(&face_coordinates(&mesh, face)));
            vectors.map(|a| a[axis]).filter(|a| a * sign > 0.0).sum::<f64>()
        };
        for (axis, area) in [(0, 25.0), (1, 50.0), (2, 50.0)] {
            assert!((side(axis, 1.0) - area).abs() < 1e-12);
            assert!((side(axis, -1.0) + area).abs() < 1e-12);
        }
    }

    #[test]
    fn area_vectors_point_outwards_and_close() {
        for benchmark in [Benchmark::ConnectingRod, Benchmark::Michell, Benchmark::LBeam] {
            let mesh = benchmark.generate(Resolution::Elements(500)).unwrap();
            let (mut sum, mut flux) = ([0.0; 3], 0.0);
            for face in boundary_faces(&mesh) {
                let x = face_coordinates(&mesh, face);
                let (area, center) = (area_vector(&x), face_center(&x));
                (0..3).for_each(|i| sum[i] += area[i]);
                flux += (0..3).map(|i| area[i] * center[i]).sum::<f64>() / 3.0;
            }
            let volume: f64 = mesh.volumes().iter().sum();
            assert!(sum.iter().all(|s| s.abs() < 1e-10 * volume), "{sum:?}");
            // Divergence theorem; the sides are planes or extruded, so centers do.
            assert!((flux / volume - 1.0).abs() < 1e-10, "{flux} {volume}");
        }
    }
}
