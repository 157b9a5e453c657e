//! Nodes, surface faces and elements by where they lie.
//!
//! A node satisfies a region if it lies in it, a face if all its four nodes do, an element if its
//! center does. Lengths below [`RELATIVE_TOLERANCE`] count as nothing.

mod shape;

use std::collections::HashSet;

use rayon::prelude::*;

use crate::surface::{area_vector, boundary_faces, face_center, face_coordinates};
use crate::vector::{cross, difference, dot, length, unit};
use crate::{CellList, Face, HexMesh, SetKind, cells};

pub use shape::Shape;

/// Condition by which nodes, faces or elements are selected.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Lying in a region.
    Within(Shape),
    /// Being nearest to a point, or as near as the nearest; by the node, or the center of the face
    /// or element.
    Nearest([f64; 3]),
    /// Facing a direction: faces whose outward normal is within `angle` (radians) of it.
    Facing {
        /// The direction, of any length but zero.
        direction: [f64; 3],
        /// Largest angle between normal and direction.
        angle: f64,
    },
    /// Being one of these nodes, or having no other nodes.
    Nodes(Vec<u32>),
    /// Being one of these faces.
    Faces(Vec<Face>),
    /// Being one of these elements.
    Elements(Vec<u32>),
    /// Satisfying all of these.
    All(Vec<Condition>),
    /// Satisfying any of these.
    Any(Vec<Condition>),
    /// Not satisfying this.
    Not(Box<Condition>),
}

/// The nodes, the surface faces or the elements of a mesh, to select from.
#[derive(Debug)]
pub struct Selector<'a> {
    mesh: &'a HexMesh,
    kind: SetKind,
    faces: Vec<Face>,
    /// The node, or the center of the face or element.
    places: Vec<[f64; 3]>,
    tolerance: f64,
}

/// Lengths that count as nothing, as a share of the diagonal of the mesh's bounding box.
pub const RELATIVE_TOLERANCE: f64 = 1e-6;

impl<'a> Selector<'a> {
    /// Collects the candidates of one `kind`: all nodes, boundary faces or elements of `mesh`.
    pub fn new(mesh: &'a HexMesh, kind: SetKind) -> Self {
        let faces = if kind == SetKind::Face { boundary_faces(mesh) } else { Vec::new() };
        let places = match kind {
            SetKind::Node => mesh.coordinates().to_vec(),
            SetKind::Face => {
                faces.iter().map(|&face| face_center(&face_coordinates(mesh, face))).collect()
            }
            SetKind::Element => mesh.centers(),
        };
        let tolerance = RELATIVE_TOLERANCE * length(mesh.bounding_box().extent());
        Self { mesh, kind, faces, places, tolerance }
    }

    /// The selector with those of `faces` that lie within the mesh as candidates besides, if it is
    /// of faces and there are any.
    pub fn with_inner(&self, faces: &[Face]) -> Option<Self> {
        let known: HashSet<&Face> = self.faces.iter().collect();
        let mut others: Vec<Face> =
            faces.iter().filter(|face| !known.contains(face)).copied().collect();
        others.sort_unstable();
        others.dedup();
        if self.kind != SetKind::Face || others.is_empty() {
            return None;
        }
        let places = others.iter().map(|&face| face_center(&face_coordinates(self.mesh, face)));
        let places = self.places.iter().copied().chain(places).collect();
        let faces = [&self.faces[..], &others].concat();
        Some(Self { faces, places, ..*self })
    }

    /// Number of nodes, faces or elements to select from.
    pub fn candidates(&self) -> usize {
        self.places.len()
    }

    /// The face of every candidate; none if nodes or elements are selected from.
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The candidates that satisfy `condition`, increasing: nodes, elements, or indices into
    /// [`Selector::faces`]. With the three corners of a surface triangle come the nodes in the
    /// middles of its edges.
    pub fn select(&self, condition: &Condition) -> Vec<u32> {
        let mut chosen = self.mask(condition);
        if self.kind == SetKind::Node && self.mesh.shape() == cells::Shape::Tetrahedron {
            add_middles(self.mesh, &mut chosen);
        }
        (0..).zip(chosen).filter(|(_, chosen)| *chosen).map(|(i, _)| i).collect()
    }

    /// The candidate nearest to `region` and its distance from it; for a face, the distance of its
    /// farthest node.
    pub fn nearest_to(&self, region: &Shape) -> (u32, f64) {
        let distance =
            |i: usize| self.points(i).iter().map(|x| region.distance(x)).fold(0.0, f64::max);
        let distances = (0..self.candidates()).into_par_iter().map(|i| (i as u32, distance(i)));
        let nearer = |a: &(u32, f64), b: &(u32, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        distances.min_by(nearer).unwrap_or((0, f64::INFINITY))
    }

    /// The place of a candidate: the node, or the center of the face or element.
    pub fn place(&self, candidate: u32) -> [f64; 3] {
        self.places[candidate as usize]
    }

    /// Whether each candidate satisfies `condition`, `[candidates]`.
    fn mask(&self, condition: &Condition) -> Vec<bool> {
        match condition {
            Condition::Within(Shape::Near { points, distance }) => self.near(points, *distance),
            Condition::Within(region) => {
                self.each(|i| self.points(i).iter().all(|x| region.distance(x) <= self.tolerance))
            }
            Condition::Nearest(point) => {
                let distance = |i: usize| length(difference(self.places[i], *point));
                let least = (0..self.candidates()).map(distance).fold(f64::INFINITY, f64::min);
                self.each(|i| distance(i) <= least + self.tolerance)
            }
            Condition::Facing { direction, angle } => self.each(|i| {
                self.kind == SetKind::Face && {
                    let normal = area_vector(&face_coordinates(self.mesh, self.faces[i]));
                    // Room for rounding, so that an angle of 0 selects faces that face it exactly.
                    angle_between(&normal, direction) <= angle + 1e-9
                }
            }),

            Condition::Nodes(nodes) => {
                let mut listed = vec![false; self.mesh.n_nodes()];
                nodes.iter().for_each(|&node| listed[node as usize] = true);
                self.each(|i| self.nodes(i).iter().all(|&node| listed[node as usize]))
            }
            Condition::Faces(faces) => {
                let faces: HashSet<&Face> = faces.iter().collect();
                self.each(|i| self.faces.get(i).is_some_and(|face| faces.contains(face)))
            }
            Condition::Elements(elements) => {
                let mut listed = vec![false; self.mesh.n_elements()];
                elements.iter().for_each(|&element| listed[element as usize] = true);
                self.each(|i| self.kind == SetKind::Element && listed[i])
            }

            Condition::All(conditions) => self.fold(conditions, true),
            Condition::Any(conditions) => self.fold(conditions, false),
            Condition::Not(condition) => self.mask(condition).into_iter().map(|c| !c).collect(),
        }
    }

    /// Whether `holds` for each candidate.
    fn each(&self, holds: impl Fn(usize) -> bool + Send + Sync) -> Vec<bool> {
        (0..self.candidates()).into_par_iter().map(holds).collect()
    }

    /// Whether all points of each candidate are within `distance` of one of `points`, which may be
    /// many: found by a cell list.
    fn near(&self, points: &[[f64; 3]], distance: f64) -> Vec<bool> {
        let list = CellList::new(points, distance + self.tolerance);
        let is_near = |x: &[f64; 3]| {
            let mut found = false;
            list.for_each_within(*x, |_, _| found = true);
            found
        };
        self.each(|i| self.points(i).iter().all(is_near))
    }

    /// Whether all of `conditions` hold, or else any.
    fn fold(&self, conditions: &[Condition], all: bool) -> Vec<bool> {
        let mut chosen = vec![all; self.candidates()];
        for condition in conditions {
            for (chosen, holds) in chosen.iter_mut().zip(self.mask(condition)) {
                *chosen = if all { *chosen && holds } else { *chosen || holds };
            }
        }
        chosen
    }

    /// The points of a candidate that must lie in a region.
    fn points(&self, candidate: usize) -> Vec<[f64; 3]> {
        match self.kind {
            SetKind::Face => face_coordinates(self.mesh, self.faces[candidate]).to_vec(),
            SetKind::Node | SetKind::Element => vec![self.places[candidate]],
        }
    }

    fn nodes(&self, candidate: usize) -> Vec<u32> {
        match self.kind {
            SetKind::Node => vec![candidate as u32],
            SetKind::Face => self.faces[candidate].all_nodes(self.mesh).collect(),
            SetKind::Element => self.mesh.element(candidate).to_vec(),
        }
    }
}

/// Adds to the `chosen` nodes, `[n_nodes]`, the middles of the edges of those surface triangles
/// whose three corners are chosen: on a curved surface that is meshed with straight edges they lie
/// off it.
fn add_middles(mesh: &HexMesh, chosen: &mut [bool]) {
    let is_chosen = |face: &Face| face.nodes(mesh).iter().all(|&node| chosen[node as usize]);
    let faces: Vec<Face> = boundary_faces(mesh).into_iter().filter(is_chosen).collect();
    let middles = faces.iter().flat_map(|face| face.all_nodes(mesh));
    middles.for_each(|node| chosen[node as usize] = true);
}

fn angle_between(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    let [a, b] = [a, b].map(|x| unit(*x).unwrap_or_default());
    length(cross(a, b)).atan2(dot(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Benchmark, Resolution};

    /// 10 x 5 x 5 unit cubes with a corner at the origin.
    fn beam() -> HexMesh {
        Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap()
    }

    fn count(mesh: &HexMesh, kind: SetKind, condition: &Condition) -> usize {
        Selector::new(mesh, kind).select(condition).len()
    }

    fn end() -> Condition {
        let (point, normal) = ([10.0, 7.0, -3.0], [-2.0, 0.0, 0.0]);
        Condition::Within(Shape::Plane { point, normal, tolerance: 0.0 })
    }

    fn corner() -> Condition {
        Condition::Within(Shape::Box { min: [8.0, 3.0, 3.0], max: [20.0, 5.0, 5.0] })
    }

    #[test]
    fn regions_of_a_beam() {
        let mesh = beam();
        let bore = |radius, inner_radius| {
            let (point, axis) = ([5.0, 2.5, 9.0], [0.0, 0.0, 3.0]);
            Condition::Within(Shape::Cylinder { point, axis, radius, inner_radius })
        };

        let ball = Shape::Sphere { center: [5.0, 2.0, 2.0], radius: 1.0 };
        let [node, face, element] = [SetKind::Node, SetKind::Face, SetKind::Element];

        for (kind, condition, expected) in [
            (node, end(), 36),
            (face, end(), 25),
            (element, end(), 0),
            (node, corner(), 27),
            (face, corner(), 4 + 4 + 4),
            (element, corner(), 8),
            (node, bore(0.5, 0.0), 2 * 6),
            // A layer: (4, 2), (4, 3), (6, 2), (6, 3), (5, 1), (5, 4).
            (node, bore(1.5, 0.6), 6 * 6),
            (element, bore(0.5, 0.0), 2 * 5),
            (node, Condition::Within(ball), 7),
        ] {
            assert_eq!(count(&mesh, kind, &condition), expected, "{kind:?} {condition:?}");
        }
    }

    #[test]
    fn near_is_within_a_distance_of_the_nearest_point() {
        let mesh = beam();
        let points = vec![[0.0, 0.0, 0.0], [10.0, 5.0, 5.0], [4.0, 4.0, 4.0]];
        for kind in [SetKind::Node, SetKind::Face, SetKind::Element] {
            let selector = Selector::new(&mesh, kind);
            for distance in [0.9, 1.0, 2.5, 30.0] {
                let near = Condition::Within(Shape::Near { points: points.clone(), distance });
                let sphere = |&center: &[f64; 3]| {
                    Condition::Within(Shape::Sphere { center, radius: distance })
                };
                let spheres = Condition::Any(points.iter().map(sphere).collect());
                // A face must lie in one sphere as a whole, but near any points with its nodes.
                let (found, expected) = (selector.select(&near), selector.select(&spheres));
                let is_face = kind == SetKind::Face;
                assert!(if is_face { found.len() >= expected.len() } else { found == expected });
            }
        }
        let points = vec![[-2.0, 0.0, 0.0], [-3.0, 5.0, 0.0]];
        let far = Shape::Near { points, distance: 0.5 };
        assert_eq!(Selector::new(&mesh, SetKind::Node).nearest_to(&far), (0, 1.5));
    }

    #[test]
    fn combinations_follow_the_laws_of_sets() {
        let mesh = beam();
        for kind in [SetKind::Node, SetKind::Face] {
            let selector = Selector::new(&mesh, kind);
            let n = |condition: Condition| selector.select(&condition).len();
            let not = |condition: Condition| Condition::Not(Box::new(condition));
            let (both, either) = (vec![end(), corner()], vec![end(), corner()]);
            assert_eq!(n(not(end())), selector.candidates() - n(end()));
            let common = n(Condition::All(both));
            assert!(common > 0);
            assert_eq!(n(Condition::Any(either)), n(end()) + n(corner()) - common);
            let neither = Condition::All(vec![not(end()), not(corner())]);
            let either = Condition::Any(vec![end(), corner()]);
            assert_eq!(selector.select(&neither), selector.select(&not(either)));
        }
    }

    #[test]
    fn nearest_takes_all_that_are_as_near() {
        let mesh = beam();
        let nearest = |point| Condition::Nearest(point);
        assert_eq!(count(&mesh, SetKind::Node, &nearest([10.2, 2.1, 4.9])), 1);
        assert_eq!(count(&mesh, SetKind::Node, &nearest([12.0, 2.5, 3.0])), 2);
        assert_eq!(count(&mesh, SetKind::Element, &nearest([1.0, 1.0, 1.0])), 8);
        let selector = Selector::new(&mesh, SetKind::Face);
        let found = selector.select(&nearest([10.0, 2.5, 2.5]));
        assert_eq!(
            found.iter().map(|&i| selector.place(i)).collect::<Vec<_>>(),
            [[10.0, 2.5, 2.5]]
        );
    }

    #[test]
    fn faces_by_their_normal() {
        let mesh = beam();
        let facing = |direction: [f64; 3], degrees: f64| {
            let facing = Condition::Facing { direction, angle: degrees.to_radians() };
            count(&mesh, SetKind::Face, &facing)
        };
        assert_eq!(facing([5.0, 0.0, 0.0], 0.0), 25);
        assert_eq!(facing([0.0, 1.0, 1.0], 44.0), 0);
        assert_eq!(facing([0.0, 1.0, 1.0], 46.0), 100);
        assert_eq!(facing([0.0, 0.0, -1.0], 180.0), 250);
        let any = Condition::Facing { direction: [1.0, 0.0, 0.0], angle: 4.0 };
        assert_eq!(count(&mesh, SetKind::Node, &any), 0);
    }

    #[test]
    fn lists_are_taken_as_they_are() {
        let mesh = beam();
        let first = mesh.hexes()[3];
        let nodes = Condition::Nodes(first.to_vec());
        assert_eq!(Selector::new(&mesh, SetKind::Element).select(&nodes), [3]);
        assert_eq!(count(&mesh, SetKind::Node, &nodes), 8);
        let elements = Condition::Elements(vec![9, 2]);
        assert_eq!(Selector::new(&mesh, SetKind::Element).select(&elements), [2, 9]);
        let selector = Selector::new(&mesh, SetKind::Face);
        let faces = Condition::Faces(vec![selector.faces()[17], selector.faces()[4]]);
        assert_eq!(selector.select(&faces), [4, 17]);
    }

    #[test]
    fn the_nearest_of_what_is_missed() {
        let mesh = beam();
        let (point, normal) = ([12.5, 0.0, 0.0], [1.0, 0.0, 0.0]);
        let plane = Shape::Plane { point, normal, tolerance: 0.5 };
        let (node, distance) = Selector::new(&mesh, SetKind::Node).nearest_to(&plane);
        assert_eq!((mesh.coordinates()[node as usize][0], distance), (10.0, 2.0));
        let (_, distance) = Selector::new(&mesh, SetKind::Face).nearest_to(&plane);
        assert_eq!(distance, 2.0);
    }
}
