//! PLOAD4 as face sets.

use std::collections::{BTreeMap, HashMap};

use topopt_mesh::cells::Shape;
use topopt_mesh::vector::unit;

use super::deck::{Pressure, sort};
use super::error::Fault;
use super::model::{Loads, MOST_SETS, Model};
use crate::deck::SetLoad;
use crate::file_sets::CellFace;
use crate::found::Found;
use crate::read_error::{self, Located, Parsed};
use crate::values::{by_value, mean};

/// The pressures of a load set.
#[derive(Default)]
struct OnFaces {
    /// The sums of what acts on each face, in the order of the deck.
    pressures: Sums<1>,
    tractions: Sums<3>,
    /// Counts of losses: on other elements, of different values at the corners, in curved systems.
    n_others: usize,
    n_uneven: usize,
    n_curved: usize,
}

/// Sums on faces.
#[derive(Default)]
struct Sums<const N: usize> {
    faces: Vec<(CellFace, [f64; N])>,
    index: HashMap<CellFace, usize>,
}

impl<const N: usize> Sums<N> {
    /// Adds to the sum of a face.
    fn add(&mut self, face: CellFace, value: [f64; N]) {
        let at = *self.index.entry(face).or_insert(self.faces.len());
        if at == self.faces.len() {
            self.faces.push((face, [0.0; N]));
        }
        (0..N).for_each(|i| self.faces[at].1[i] += value[i]);
    }

    /// The faces by what acts on them, in the order of the first of each.
    fn groups(self) -> Vec<([f64; N], Vec<CellFace>)> {
        by_value(self.faces.into_iter().filter(|(_, sum)| *sum != [0.0; N]))
    }
}

/// Adds the face sets and loads of all load sets.
pub(super) fn add(model: &Model, loads: &mut Loads, found: &mut Found) -> Parsed<()> {
    let mut sets = BTreeMap::<u64, OnFaces>::new();
    for pressure in &model.deck.pressures {
        let added = sets.entry(pressure.set).or_default().add(model, pressure);
        added.map_err(|located| model.deck.within(pressure.origin.file, located))?;
    }

    for (set, on_faces) in sets {
        on_faces.say_what_is_lost(set, loads);
        let (pressures, tractions) = (on_faces.pressures.groups(), on_faces.tractions.groups());
        let count = pressures.len() + tractions.len();
        if count > MOST_SETS {
            loads.lose(set, format!("different pressures, more than {MOST_SETS}: {count}"));
            continue;
        }
        let mut add = |name: &str, mut faces: Vec<CellFace>| {
            sort(&mut faces);
            found.sets.faces.insert(name.into(), faces);
        };
        for ([pressure], faces) in pressures {
            let name = format!("pload4_{set}_{pressure:?}");
            add(&name, faces);
            loads.push(set, SetLoad::Pressure { set: name, pressure });
        }
        for (i, (traction, faces)) in (1..).zip(tractions) {
            let name = format!("pload4_{set}_traction_{i}");
            add(&name, faces);
            loads.push(set, SetLoad::Traction { set: name, traction });
        }
    }
    Ok(())
}

impl OnFaces {
    fn add(&mut self, model: &Model, pressure: &Pressure) -> Parsed<()> {
        let at_line = |fault| Located::at_line(pressure.origin.line, fault);
        let Some((face, n_corners)) = face(model, pressure).map_err(at_line)? else {
            self.n_others += 1;
            return Ok(());
        };

        let values = &pressure.values[..n_corners];
        self.n_uneven += usize::from(values.iter().any(|value| *value != values[0]));
        let mean = mean(values) + 0.0;
        let Some((system, direction)) = pressure.direction else {
            self.pressures.add(face, [mean]);
            return Ok(());
        };
        let user = || format!("PLOAD4 of load set {}", pressure.set);
        let system = model.systems.get(system, user).map_err(|fault| at_line(fault.into()))?;
        if !system.is_rectangular() {
            self.n_curved += 1;
            return Ok(());
        }
        let direction = unit(system.vector([0.0; 3], direction)).unwrap_or_default();
        self.tractions.add(face, direction.map(|n| mean * n));
        Ok(())
    }

    fn say_what_is_lost(&self, set: u64, loads: &mut Loads) {
        for (count, what) in [
            (self.n_others, "PLOAD4 on elements that are not solids"),
            (self.n_uneven, "PLOAD4 that vary over a face, read as their mean"),
            (self.n_curved, "PLOAD4 along directions of a system that is not rectangular"),
        ] {
            loads.lose_count(set, count, what);
        }
    }
}

/// The face that a pressure is on, and how many corners it has; none if its element is no solid.
fn face(
    model: &Model,
    pressure: &Pressure,
) -> Result<Option<(CellFace, usize)>, read_error::Fault> {
    let deck = model.deck;
    let found = deck.solids.binary_search_by_key(&pressure.element, |solid| solid.tag);
    let Ok(given) = found else { return Ok(None) };
    let solid = deck.solids[given];
    let corners = &deck.connectivity[solid.first..][..solid.shape.n_corners()];
    let face = named_face(solid.shape, corners, pressure.grids).and_then(|nodes| {
        let positions: Vec<u32> = nodes.iter().filter_map(|&node| model.part.node(node)).collect();
        Some((model.part.face(given as u32, &positions)?, positions.len()))
    });
    face.map(Some).ok_or_else(|| {
        let [a, b] = pressure.grids;
        let grids = if b == 0 { format!("grid {a}") } else { format!("grids {a} and {b}") };
        Fault::NoFace { element: solid.tag, grids }.into()
    })
}

/// The corners of the face of an element with these `corners` that `[G1, G3 or G4]` name, each
/// once; 0 is a blank. None if they name no face, or several.
///
/// MSC Nastran Quick Reference Guide, PLOAD4: G1 and G3 are opposite corners of a quadrilateral; G1
/// alone is of the triangle of a CPENTA; G4 is the corner of a CTETRA that is not of the face; G1
/// and G3 on an edge of the base of a CPYRAM name the triangle there.
fn named_face(shape: Shape, corners: &[u64], [a, b]: [u64; 2]) -> Option<Vec<u64>> {
    let faces = || shape.faces().iter().map(|face| face.iter().map(|&i| corners[i]).collect());
    let is_opposite =
        |face: &Vec<u64>| face.len() == 4 && (0..4).any(|i| face[i] == a && face[(i + 2) % 4] == b);
    let has = |face: &Vec<u64>, node| face.contains(&node);
    let is_named = |face: &Vec<u64>| match (shape, b) {
        (Shape::Tetrahedron, _) => has(face, a) && corners.contains(&b) && !has(face, b),
        (Shape::Wedge, 0) => face.len() == 3 && has(face, a),
        _ => face.len() == 3 && has(face, a) && has(face, b) && a != b,
    };

    let mut named: Vec<Vec<u64>> = faces().filter(is_opposite).collect();
    if named.is_empty() {
        named = faces().filter(is_named).collect();
    }
    let [face] = named.as_mut_slice() else { return None };
    let mut once = Vec::with_capacity(4);
    for node in face {
        if !once.contains(node) {
            once.push(*node);
        }
    }
    (once.len() > 2).then_some(once)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: Shape, grids: [u64; 2]) -> Option<Vec<u64>> {
        let corners: Vec<u64> = (1..=shape.n_corners() as u64).collect();
        named_face(shape, &corners, grids).map(|mut face| {
            face.sort_unstable();
            face
        })
    }

    #[test]
    fn quadrilaterals_by_opposite_corners() {
        for (grids, expected) in [
            ([1, 3], [1, 2, 3, 4]),
            ([8, 6], [5, 6, 7, 8]),
            ([5, 2], [1, 2, 5, 6]),
            ([2, 7], [2, 3, 6, 7]),
            ([3, 8], [3, 4, 7, 8]),
            ([4, 5], [1, 4, 5, 8]),
        ] {
            assert_eq!(of(Shape::Hexahedron, grids), Some(expected.to_vec()));
            assert_eq!(of(Shape::Hexahedron, [grids[1], grids[0]]), Some(expected.to_vec()));
        }
        for grids in [[1, 2], [1, 7], [1, 1], [1, 0], [0, 0], [1, 9]] {
            assert_eq!(of(Shape::Hexahedron, grids), None, "{grids:?}");
        }
        assert_eq!(of(Shape::Wedge, [1, 5]), Some(vec![1, 2, 4, 5]));
        assert_eq!(of(Shape::Pyramid, [2, 4]), Some(vec![1, 2, 3, 4]));
    }

    #[test]
    fn triangles() {
        assert_eq!(of(Shape::Tetrahedron, [1, 4]), Some(vec![1, 2, 3]));
        assert_eq!(of(Shape::Tetrahedron, [4, 1]), Some(vec![2, 3, 4]));
        for grids in [[1, 1], [1, 0], [1, 9], [9, 1]] {
            assert_eq!(of(Shape::Tetrahedron, grids), None, "{grids:?}");
        }
        assert_eq!(of(Shape::Wedge, [2, 0]), Some(vec![1, 2, 3]));
        assert_eq!(of(Shape::Wedge, [5, 6]), Some(vec![4, 5, 6]));
        assert_eq!(of(Shape::Wedge, [1, 4]), None);
        assert_eq!(of(Shape::Pyramid, [3, 4]), Some(vec![3, 4, 5]));
        // An edge to the apex is of two triangles.
        assert_eq!(of(Shape::Pyramid, [1, 5]), None);
        assert_eq!(of(Shape::Pyramid, [1, 0]), None);
    }

    #[test]
    fn corners_that_stand_twice() {
        // A wedge written as a brick: the face 5, 6, 7, 7 is a triangle.
        let corners = [1, 2, 3, 3, 5, 6, 7, 7];
        assert_eq!(named_face(Shape::Hexahedron, &corners, [5, 7]), Some(vec![5, 6, 7]));
        // The face that became an edge is none.
        assert_eq!(named_face(Shape::Hexahedron, &corners, [3, 7]), None);
    }
}
