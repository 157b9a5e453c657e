//! Parts of a mesh that lie in each other, or touch and are not joined.

use rayon::prelude::*;

use crate::locate;
use crate::surface::boundary_faces;
use crate::triangles::{Corners, Triangles};
use crate::vector::{difference, length};
use crate::{BoundingBox, Components, HexMesh, tetrahedra};

/// Place at which two parts that share no node come nearest to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// An element of each part.
    pub elements: [u32; 2],
    /// The place.
    pub at: [f64; 3],
    /// Distance of the parts (length).
    pub distance: f64,
}

/// Finds an element with its center inside of an element of another part, and that one: material
/// counts twice there.
pub fn overlap(mesh: &HexMesh, parts: &Components) -> Option<[u32; 2]> {
    if parts.n_components() < 2 {
        return None;
    }
    let part = |element: u32| parts.of_element()[element as usize];
    let of_parts: Vec<BoundingBox> = boxes_of_parts(mesh, parts);
    let near_parts = Triangles::new(of_parts.iter().map(corners));
    let is_near = |element: &u32| {
        let mut found = false;
        near_parts.in_box(&bounds(mesh, *element), |other| found |= other != part(*element));
        found
    };
    let near: Vec<u32> = (0..mesh.n_elements() as u32).into_par_iter().filter(is_near).collect();

    let boxes = Triangles::new(near.iter().map(|&element| corners(&bounds(mesh, element))));
    let holder = |element: u32| {
        let center = mesh.center(element as usize);
        let holds = |other: &u32| part(*other) != part(element) && holds(mesh, *other, center);
        elements_at(center, &boxes, &near).into_iter().find(holds)
    };
    near.par_iter().find_map_first(|&element| Some([element, holder(element)?]))
}

fn holds(mesh: &HexMesh, element: u32, point: [f64; 3]) -> bool {
    locate::within(mesh, element, point).is_some()
}

/// Finds `elements` whose `boxes` hold a point, in their order.
fn elements_at(point: [f64; 3], boxes: &Triangles, elements: &[u32]) -> Vec<u32> {
    let mut places = Vec::new();
    boxes.in_box(&BoundingBox::of([point]), |place| places.push(place));
    places.sort_unstable();
    places.into_iter().map(|place| elements[place as usize]).collect()
}

/// Finds where parts that share no node come within a `distance` (length) of each other, each pair
/// of parts once, ascending.
pub fn contacts(mesh: &HexMesh, parts: &Components, distance: f64) -> Vec<Contact> {
    if parts.n_components() < 2 {
        return Vec::new();
    }
    let skins = skins(mesh, parts);
    let of_parts = boxes_of_parts(mesh, parts).into_iter().map(|part| larger(&part, distance));
    let of_parts: Vec<BoundingBox> = of_parts.collect();
    let near_parts = Triangles::new(of_parts.iter().map(corners));
    let mut pairs = Vec::new();
    for (one, bounds) in (0..).zip(&of_parts) {
        near_parts.in_box(bounds, |other| pairs.extend((other > one).then_some([one, other])));
    }
    pairs.sort_unstable();

    let nearest = |pair: &[u32; 2]| {
        let [one, other] = pair.map(|part| (&skins[part as usize], &of_parts[part as usize]));
        let found = Skin::nearest(one, other)?;
        (found.distance <= distance).then_some(found)
    };
    pairs.par_iter().filter_map(nearest).collect()
}

impl Contact {
    fn turned(self) -> Self {
        let [one, other] = self.elements;
        Self { elements: [other, one], ..self }
    }

    fn by_distance(one: &Self, other: &Self) -> std::cmp::Ordering {
        one.distance.total_cmp(&other.distance)
    }
}

/// Surface of a part.
struct Skin {
    /// Corners of its triangles, `[n_triangles][3]`.
    corners: Vec<Corners>,
    /// Element of each, `[n_triangles]`.
    elements: Vec<u32>,
    triangles: Triangles,
}

impl Skin {
    /// The place where a skin is nearest to another one, each given with the box to look in.
    fn nearest(one: (&Self, &BoundingBox), other: (&Self, &BoundingBox)) -> Option<Contact> {
        let there = one.0.nearest_to(other.0, other.1);
        let back = other.0.nearest_to(one.0, one.1).map(Contact::turned);
        there.into_iter().chain(back).min_by(Contact::by_distance)
    }

    /// The corner within `bounds` that is nearest to another skin.
    fn nearest_to(&self, other: &Self, bounds: &BoundingBox) -> Option<Contact> {
        let corners = self.corners.iter().zip(&self.elements);
        let points = corners.flat_map(|(corners, &element)| corners.map(|x| (x, element)));
        let within = points.filter(|(x, _)| bounds.squared_distance(*x) == 0.0);
        let contacts = within.filter_map(|(at, element)| {
            let (place, foot) = other.triangles.nearest_of(at)?;
            let elements = [element, other.elements[place]];
            Some(Contact { elements, at, distance: length(difference(at, foot)) })
        });
        contacts.min_by(Contact::by_distance)
    }
}

/// The surface of each part, `[n_parts]`; faces of tetrahedra by the nodes in their edges, too.
fn skins(mesh: &HexMesh, parts: &Components) -> Vec<Skin> {
    let mut of_parts = vec![(Vec::new(), Vec::new()); parts.n_components()];
    let at = |node: u32| mesh.coordinates()[node as usize];
    for face in boundary_faces(mesh) {
        let part = parts.of_element()[face.element as usize];
        let (corners, elements) = &mut of_parts[part as usize];
        corners.extend(tetrahedra::of_face(mesh, face).map(|triangle| triangle.map(at)));
        elements.resize(corners.len(), face.element);
    }
    let skin = |(corners, elements): (Vec<Corners>, Vec<u32>)| {
        let triangles = Triangles::new(corners.iter().copied());
        Skin { corners, elements, triangles }
    };
    of_parts.into_par_iter().map(skin).collect()
}

fn boxes_of_parts(mesh: &HexMesh, parts: &Components) -> Vec<BoundingBox> {
    let point = |node: &u32| mesh.coordinates()[*node as usize];
    let nodes = parts.nodes_by_component();
    nodes.par_iter().map(|nodes| BoundingBox::of(nodes.iter().map(point))).collect()
}

fn bounds(mesh: &HexMesh, element: u32) -> BoundingBox {
    let nodes = mesh.element(element as usize).iter();
    BoundingBox::of(nodes.map(|&node| mesh.coordinates()[node as usize]))
}

/// A flat triangle with the box of `bounds`.
fn corners(bounds: &BoundingBox) -> Corners {
    [bounds.min, bounds.max, bounds.max]
}

fn larger(bounds: &BoundingBox, distance: f64) -> BoundingBox {
    BoundingBox { min: bounds.min.map(|x| x - distance), max: bounds.max.map(|x| x + distance) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sets, hexahedron};

    /// Cubes of edge 1 from these corners on.
    fn cubes<const N: usize>(corners: [[f64; 3]; N]) -> HexMesh {
        let cube =
            |x: [f64; 3]| hexahedron::NODES.map(|n| [0, 1, 2].map(|i| x[i] + 0.5 + 0.5 * n[i]));
        let hexes = (0..N).map(|cube| std::array::from_fn(|a| (8 * cube + a) as u32));
        let coordinates = corners.map(cube).concat();
        HexMesh::new(coordinates, hexes.collect(), Sets::default()).unwrap()
    }

    #[test]
    fn cubes_in_each_other_overlap() {
        let found = |x: f64| {
            let mesh = cubes([[9.0, 0.0, 0.0], [0.0; 3], [x, 0.3, 0.3]]);
            overlap(&mesh, &Components::of(&mesh))
        };
        assert_eq!(found(0.9), None);
        assert_eq!(found(1.0), None);
        assert_eq!(found(0.1), Some([1, 2]));
        let one = cubes([[0.0; 3]]);
        assert_eq!(overlap(&one, &Components::of(&one)), None);
    }

    #[test]
    fn cubes_touch_within_a_distance() {
        let mesh = cubes([[0.0; 3], [5.0, 0.0, 0.0], [6.01, 0.5, 1.0], [1.25, -0.5, 0.0]]);
        let of = |distance| contacts(&mesh, &Components::of(&mesh), distance);
        assert_eq!(of(0.005), []);
        let near = of(0.02);
        assert_eq!(near.iter().map(|it| it.elements).collect::<Vec<_>>(), [[1, 2]]);
        assert!((near[0].distance - 0.01).abs() < 1e-9 && (near[0].at[2] - 1.0).abs() < 1e-9);
        assert_eq!(of(0.3).len(), 2);
    }
}
