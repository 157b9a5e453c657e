//! The surface of a mesh: the faces that belong to one element only.

use rayon::prelude::*;

use crate::cells::Shape;
use crate::counting_sort::Grouped;
use crate::hexahedron;
use crate::node_to_elements::elements_around;
use crate::vector::{cross, difference};
use crate::{Face, HexMesh, hilbert};

/// In [`face_neighbors`]: no element.
pub const NO_NEIGHBOR: u32 = u32::MAX;

/// The elements behind the six faces of every element, [`NO_NEIGHBOR`] on the surface. Behind a
/// face that is collapsed to an edge is the element itself, and so it is behind the last two of a
/// tetrahedron, which has four.
pub fn face_neighbors(mesh: &HexMesh) -> Vec<[u32; 6]> {
    let sides = Sides::of(mesh);
    let behind = |element, local| sides.behind(Face { element, local: local as u8 });
    let elements = (0..mesh.n_elements() as u32).into_par_iter();
    elements.map(|element| std::array::from_fn(|local| behind(element, local))).collect()
}

/// Elements behind single faces of a mesh, see [`face_neighbors`].
pub(crate) struct Sides<'a> {
    mesh: &'a HexMesh,
    /// Elements of every node.
    around: Grouped<u32>,
}

impl<'a> Sides<'a> {
    /// Sorts the elements of `mesh` by their nodes.
    pub fn of(mesh: &'a HexMesh) -> Self {
        Self { mesh, around: elements_around(mesh) }
    }

    /// The element behind `face`.
    pub fn behind(&self, face: Face) -> u32 {
        let mesh = self.mesh;
        match mesh.shape() {
            _ if face.local >= mesh.n_faces() => face.element,
            Shape::Tetrahedron => {
                let corners = |e: u32| mesh.tetrahedra()[e as usize].first_chunk::<4>();
                self.behind_by(face, |e| corners(e).expect("ten nodes"))
            }
            _ => {
                let hexes = mesh.hexes();
                self.behind_by(face, |e| &hexes[e as usize])
            }
        }
    }

    /// The element behind `face` of a mesh whose elements have these `corners`.
    fn behind_by<'b, const E: usize>(
        &self,
        face: Face,
        corners: impl Fn(u32) -> &'b [u32; E],
    ) -> u32 {
        let nodes = face.nodes(self.mesh);
        let n_corners = n_distinct(nodes);
        if n_corners < 3 {
            return face.element;
        }

        // The diagonal first: of the elements around a node, few have it.
        let has_all = |e: u32| [2, 1, 3].into_iter().all(|a| has(corners(e), nodes[a]));
        // Three nodes may also be those of a part of a face.
        let has_triangle = |element: u32| {
            let mut faces = (0..self.mesh.n_faces()).map(|local| Face { element, local });
            faces.any(|face| Face::key(face.nodes(self.mesh)) == Face::key(nodes))
        };
        let is_behind =
            |e: u32| e != face.element && has_all(e) && (n_corners == 4 || has_triangle(e));

        let around = self.around.of(nodes[0] as usize);
        around.iter().copied().find(|&other| is_behind(other)).unwrap_or(NO_NEIGHBOR)
    }
}

/// Whether `node` is one of `corners`: all are compared at once.
fn has<const E: usize>(corners: &[u32; E], node: u32) -> bool {
    corners.iter().fold(false, |found, &other| found | (other == node))
}

/// Number of different nodes among those of a face.
fn n_distinct([a, b, c, d]: [u32; 4]) -> usize {
    let is_new = [b != a, c != a && c != b, d != a && d != b && d != c];
    1 + is_new.map(usize::from).iter().sum::<usize>()
}

/// The faces of `mesh` that no other element shares, by element and local face; searched once.
pub fn boundary_faces(mesh: &HexMesh) -> Vec<Face> {
    mesh.boundary().get_or_find(|| free_faces(mesh)).to_vec()
}

/// The faces without an element behind them. Elements are visited along a curve through space, so
/// that those around a node are in the cache for one another, however the mesh is numbered.
fn free_faces(mesh: &HexMesh) -> Vec<Face> {
    let sides = Sides::of(mesh);
    let of_element = |element: u32| {
        let faces = (0..mesh.n_faces()).map(move |local| Face { element, local });
        faces.filter(|face| sides.behind(*face) == NO_NEIGHBOR)
    };
    let order = hilbert::order(&mesh.centers());
    let mut faces: Vec<Face> = order.into_par_iter().flat_map_iter(of_element).collect();
    faces.par_sort_unstable();
    faces
}

/// The faces of `some` that lie between two elements.
pub fn inner_faces(mesh: &HexMesh, some: &[Face]) -> Vec<Face> {
    let sides = Sides::of(mesh);
    let is_inner = |face: &&Face| sides.behind(**face) != NO_NEIGHBOR;
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
    fn clones_share_a_boundary_and_a_renumbered_mesh_has_its_own() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let unknown = Renumbering::shuffled(&mesh, 1).apply(&mesh);
        let known = unknown.clone().with_sets(Default::default()).unwrap();
        let faces = boundary_faces(&known);
        assert_eq!(faces, boundary_faces(&unknown));
        let again = Renumbering::shuffled(&mesh, 1).apply(&mesh);
        assert_eq!(again, unknown);
        assert_ne!(faces, boundary_faces(&mesh));
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
