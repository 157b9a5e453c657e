//! PLOAD4 as face sets.

use std::collections::{BTreeMap, HashMap};

use topopt_mesh::vector::length;

use super::deck::{Pressure, sort};
use super::error::Fault;
use super::faces;
use super::load_sets::{Loads, MOST_SETS};
use super::model::{Found, Model};
use crate::deck::SetLoad;
use crate::part::CellFace;
use crate::read_error::{self, Parsed};

/// Load on faces, by its bits: a pressure, or a force per area in a fixed direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Acts {
    Pressure(u64),
    Traction([u64; 3]),
}

/// The pressures of a load set.
#[derive(Default)]
struct OnFaces {
    /// The sums of what acts on each face, in the order of the deck.
    pressures: Sums<f64>,
    tractions: Sums<[f64; 3]>,
    /// Counts of losses: on other elements, of different values at the corners, in curved systems.
    n_others: usize,
    n_uneven: usize,
    n_curved: usize,
}

/// Sums on faces.
#[derive(Default)]
struct Sums<T> {
    faces: Vec<(CellFace, T)>,
    index: HashMap<CellFace, usize>,
}

impl<T: Copy + Default> Sums<T> {
    /// Adds to the sum of a face.
    fn add(&mut self, face: CellFace, add: impl FnOnce(&mut T)) {
        let at = *self.index.entry(face).or_insert(self.faces.len());
        if at == self.faces.len() {
            self.faces.push((face, T::default()));
        }
        add(&mut self.faces[at].1);
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
        let groups = on_faces.groups();
        let count = groups.len();
        if count > MOST_SETS {
            loads.lose(set, format!("different pressures, more than {MOST_SETS}: {count}"));
            continue;
        }
        let mut n_tractions = 0;
        for (acts, mut cell_faces) in groups {
            sort(&mut cell_faces);
            let (name, load) = match acts {
                Acts::Pressure(bits) => {
                    let pressure = f64::from_bits(bits);
                    let name = format!("pload4_{set}_{pressure:?}");
                    (name.clone(), SetLoad::Pressure { set: name, pressure })
                }
                Acts::Traction(bits) => {
                    n_tractions += 1;
                    let name = format!("pload4_{set}_traction_{n_tractions}");
                    let traction = bits.map(f64::from_bits);
                    (name.clone(), SetLoad::Traction { set: name, traction })
                }
            };
            found.sets.faces.insert(name, cell_faces);
            loads.push(set, load);
        }
    }
    Ok(())
}

impl OnFaces {
    fn add(&mut self, model: &Model, pressure: &Pressure) -> Parsed<()> {
        let at_line = |fault| super::lines::at_line(pressure.origin.line, fault);
        let Some((face, n_corners)) = face(model, pressure).map_err(at_line)? else {
            self.n_others += 1;
            return Ok(());
        };

        let values = &pressure.values[..n_corners];
        self.n_uneven += usize::from(values.iter().any(|value| *value != values[0]));
        // The mean of equal values is that value, to the last bit.
        let offsets: f64 = values.iter().map(|value| value - values[0]).sum();
        let mean = values[0] + offsets / n_corners as f64 + 0.0;
        let Some((system, direction)) = pressure.direction else {
            self.pressures.add(face, |sum| *sum += mean);
            return Ok(());
        };
        let user = || format!("PLOAD4 of load set {}", pressure.set);
        let located = |fault: Fault| at_line(fault.into());
        let system = model.systems.get(system, user).map_err(located)?;
        if !system.is_rectangular() {
            self.n_curved += 1;
            return Ok(());
        }
        let direction = system.vector([0.0; 3], direction);
        let size = length(direction);
        self.tractions.add(face, |sum| (0..3).for_each(|i| sum[i] += mean * (direction[i] / size)));
        Ok(())
    }

    /// The faces by what acts on them, in the order of the first of each.
    fn groups(&self) -> Vec<(Acts, Vec<CellFace>)> {
        // -0 becomes 0, as values are told apart by their bits.
        let pressure =
            |(face, sum): &(CellFace, f64)| (*face, Acts::Pressure((sum + 0.0).to_bits()));
        let traction = |(face, sum): &(CellFace, [f64; 3])| {
            (*face, Acts::Traction(sum.map(|value| (value + 0.0).to_bits())))
        };
        let tractions = self.tractions.faces.iter().map(traction);
        let all = self.pressures.faces.iter().map(pressure).chain(tractions);

        let mut groups: Vec<(Acts, Vec<CellFace>)> = Vec::new();
        let mut index = HashMap::new();
        let nothing = [Acts::Pressure(0), Acts::Traction([0; 3])];
        for (face, acts) in all.filter(|(_, acts)| !nothing.contains(acts)) {
            let at = *index.entry(acts).or_insert(groups.len());
            if at == groups.len() {
                groups.push((acts, Vec::new()));
            }
            groups[at].1.push(face);
        }
        groups
    }

    fn say_what_is_lost(&self, set: u64, loads: &mut Loads) {
        for (count, what) in [
            (self.n_others, "PLOAD4 on elements that are not solids"),
            (self.n_uneven, "PLOAD4 that vary over a face, read as their mean"),
            (self.n_curved, "PLOAD4 along directions of a system that is not rectangular"),
        ] {
            if count > 0 {
                loads.lose(set, format!("{what}: {count}"));
            }
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
    let face = faces::face(solid.shape, corners, pressure.grids).and_then(|nodes| {
        let positions: Vec<u32> = nodes.iter().filter_map(|&node| model.part.node(node)).collect();
        Some((model.part.face(given as u32, &positions)?, positions.len()))
    });
    face.map(Some).ok_or_else(|| {
        let [a, b] = pressure.grids;
        let grids = if b == 0 { format!("grid {a}") } else { format!("grids {a} and {b}") };
        Fault::NoFace { element: solid.tag, grids }.into()
    })
}
