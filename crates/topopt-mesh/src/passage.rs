//! Straight passages through a part, from a face of its surface to the opposite surface: thickness
//! in elements, on any mesh.

use crate::surface::{NO_NEIGHBOR, Sides, area_vector, face_center, face_coordinates};
use crate::vector::{dot, length};
use crate::{Face, HexMesh};

/// The elements that a straight line crosses on its way through a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// Elements in the order of the way.
    pub elements: Vec<u32>,
    /// Unit vector along the way.
    pub direction: [f64; 3],
    /// Length of the way: the thickness of the part.
    pub length: f64,
    /// Point halfway.
    pub center: [f64; 3],
    /// Element around that point.
    middle: u32,
}

/// Walks along straight lines from element to element through the solid ones of a mesh.
pub struct Walker<'a> {
    mesh: &'a HexMesh,
    sides: Sides<'a>,
    is_solid: Option<&'a [bool]>,
}

/// Cosine of the largest angle between a passage and the normal of the face where it ends: the
/// sides of an edge or of a corner are no member.
const OPPOSITE: f64 = 0.8;

/// Most elements of a walk along a member.
const FAR: usize = 100;

impl<'a> Walker<'a> {
    /// Prepares walks through the elements of `mesh` that `is_solid`, `[n_elements]`, or all.
    pub fn new(mesh: &'a HexMesh, is_solid: Option<&'a [bool]>) -> Self {
        Self { mesh, sides: Sides::of(mesh), is_solid }
    }

    /// Returns the faces of a solid element that have no solid one behind them.
    pub fn free_faces(&self, element: u32) -> impl Iterator<Item = Face> {
        let faces = (0..6).map(move |local| Face { element, local });
        faces.filter(move |face| self.is_solid(element) && self.behind(*face).is_none())
    }

    /// Follows the inward normal from the center of a free `face` to the opposite surface, through
    /// `most` elements at most; none if that is farther, or not opposite.
    pub fn through(&self, face: Face, most: usize) -> Option<Passage> {
        let corners = face_coordinates(self.mesh, face);
        let (start, outward) = (face_center(&corners), area_vector(&corners));
        let direction = outward.map(|v| -v / length(outward));

        let (mut elements, mut ends) = (Vec::new(), Vec::new());
        let mut next = Some(face.element);
        let mut last = face;
        while let Some(element) = next.filter(|_| elements.len() < most) {
            let (exit, end) = self.exit(element, start, direction)?;
            elements.push(element);
            ends.push(end);
            (next, last) = (self.behind(exit), exit);
        }

        let normal = area_vector(&face_coordinates(self.mesh, last));
        let is_opposite = dot(normal, direction) > OPPOSITE * length(normal);
        let length = *ends.last().filter(|_| next.is_none() && is_opposite)?;
        let middle = elements[ends.iter().position(|end| *end >= 0.5 * length)?];
        let center = std::array::from_fn(|i| start[i] + 0.5 * length * direction[i]);
        Some(Passage { elements, direction, length, center, middle })
    }

    /// Whether the part goes on for `distance` from the middle of `passage`, along `tangent` and
    /// against it.
    pub fn extends(&self, passage: &Passage, tangent: [f64; 3], distance: f64) -> bool {
        [tangent, tangent.map(|v| -v)].into_iter().all(|direction| {
            let mut element = passage.middle;
            for _ in 0..FAR {
                let Some((exit, end)) = self.exit(element, passage.center, direction) else {
                    return false;
                };
                if end >= distance {
                    return true;
                }
                let Some(next) = self.behind(exit) else { return false };
                element = next;
            }
            true
        })
    }

    fn is_solid(&self, element: u32) -> bool {
        self.is_solid.is_none_or(|is_solid| is_solid[element as usize])
    }

    /// The solid element behind `face`.
    fn behind(&self, face: Face) -> Option<u32> {
        let other = self.sides.behind(face);
        (other != NO_NEIGHBOR && self.is_solid(other)).then_some(other)
    }

    /// The face through which the line from `start` leaves `element`, and the distance to it: of
    /// the planes of the faces that it meets from inside, the nearest.
    fn exit(&self, element: u32, start: [f64; 3], direction: [f64; 3]) -> Option<(Face, f64)> {
        let faces = (0..6).map(|local| Face { element, local });
        let met = faces.filter_map(|face| {
            let corners = face_coordinates(self.mesh, face);
            let normal = area_vector(&corners);
            let slope = dot(normal, direction);
            let center = face_center(&corners);
            let height = dot(normal, center) - dot(normal, start);
            // A face that is collapsed to an edge has no area.
            (slope > 1e-9 * length(normal) && slope > 0.0).then(|| (face, height / slope))
        });
        met.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Renumbering;
    use crate::Sets;
    use crate::hexahedron::{NODES, of_wedge};

    /// The unit cube in nx x ny x nz elements, mapped by `map`.
    fn mapped_box(n: [usize; 3], map: impl Fn([f64; 3]) -> [f64; 3]) -> HexMesh {
        let [a, b, c] = n.map(|n| n + 1);
        let share = |i: usize, n: usize| i as f64 / n as f64;
        let node =
            |k: usize| [share(k % a, n[0]), share(k / a % b, n[1]), share(k / (a * b), n[2])];
        let cell = |e: usize| {
            let [i, j, k] = [e % n[0], e / n[0] % n[1], e / (n[0] * n[1])];
            let at = |[x, y, z]: [usize; 3]| (i + x + a * (j + y + b * (k + z))) as u32;
            NODES.map(|node| at(node.map(|xi| usize::from(xi > 0.0))))
        };
        let coordinates = (0..a * b * c).map(|k| map(node(k))).collect();
        let hexes = (0..n.iter().product()).map(cell).collect();
        HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
    }

    /// Thickness and number of elements of each passage.
    fn passages(walker: &Walker, most: usize) -> Vec<(f64, usize)> {
        let elements = 0..walker.mesh.n_elements() as u32;
        let faces = elements.flat_map(|element| walker.free_faces(element).collect::<Vec<_>>());
        let found = faces.filter_map(|face| walker.through(face, most));
        found.map(|passage| (passage.length, passage.elements.len())).collect()
    }

    /// A bent sheet in 3 layers, as hexahedra in any order or as wedges.
    fn sheet() -> HexMesh {
        let straight = mapped_box([20, 5, 3], |[x, y, z]| {
            let (sin, cos) = (2.0 * x).sin_cos();
            let radius = 4.0 + 0.3 * z;
            [radius * sin, y, radius * cos]
        });
        Renumbering::shuffled(&straight, 3).apply(&straight)
    }

    fn wedges(mesh: &HexMesh) -> HexMesh {
        let cut = |[a, b, c, d, e, f, g, h]: &[u32; 8]| {
            [[*a, *b, *c, *e, *f, *g], [*a, *c, *d, *e, *g, *h]].map(of_wedge)
        };
        let hexes = mesh.hexes().iter().flat_map(cut).collect();
        HexMesh::new(mesh.coordinates().to_vec(), hexes, Sets::default()).unwrap()
    }

    #[test]
    fn layers_of_a_bent_sheet_are_counted() {
        for (mesh, n_faces) in [(sheet(), 200), (wedges(&sheet()), 400)] {
            let found = passages(&Walker::new(&mesh, None), 3);
            assert_eq!(found.len(), n_faces, "none along the sheet");
            assert!(found.iter().all(|(length, n)| *n == 3 && (length - 0.3).abs() < 1e-3));
        }
    }

    #[test]
    fn passages_end_at_void_elements() {
        let mesh = mapped_box([6, 6, 6], |x| x.map(|x| 6.0 * x));
        let is_solid: Vec<bool> = mesh.centers().iter().map(|center| center[2] < 2.0).collect();
        let found = passages(&Walker::new(&mesh, Some(&is_solid)), 5);
        assert_eq!(found, [(2.0, 2); 72]);
        assert_eq!(passages(&Walker::new(&mesh, None), 5), []);
    }

    #[test]
    fn sides_of_an_edge_are_no_member() {
        // A roof of 42 degrees over a square: its walls face each other, roof and floor do not.
        let roof = mapped_box([4, 4, 4], |[x, y, z]| [x, y, z * (x - 0.5).mul_add(-0.9, 1.0)]);
        let found = passages(&Walker::new(&roof, None), 10);
        assert!(found.len() >= 32 && found.iter().all(|(length, _)| (length - 1.0).abs() < 1e-12));
        let flat = mapped_box([4, 4, 4], |[x, y, z]| [x, y, z * (x - 0.5).mul_add(-0.3, 1.0)]);
        let found = passages(&Walker::new(&flat, None), 10);
        assert!(found.iter().any(|(length, _)| *length < 0.9), "17 degrees are a member");
    }

    #[test]
    fn members_extend_as_far_as_they_are_solid() {
        let mesh = mapped_box([9, 3, 1], |[x, y, z]| [9.0 * x, 3.0 * y, z]);
        let walker = Walker::new(&mesh, None);
        let at = mesh.centers().iter().position(|c| *c == [4.5, 1.5, 0.5]).unwrap() as u32;
        let passages: Vec<_> =
            walker.free_faces(at).filter_map(|face| walker.through(face, 1)).collect();
        assert_eq!(passages.len(), 2);
        for passage in passages {
            assert_eq!(passage.center, [4.5, 1.5, 0.5]);
            assert!(walker.extends(&passage, [1.0, 0.0, 0.0], 4.4));
            assert!(!walker.extends(&passage, [1.0, 0.0, 0.0], 4.6));
            assert!(!walker.extends(&passage, [0.0, 1.0, 0.0], 1.6));
        }
    }
}
