//! Loads of an archive that are not at nodes, by sets of the mesh.

use std::collections::BTreeMap;

use super::archive::{Archive, CornerValues, Element, Surface};
use super::element_type;
use crate::deck::{DeckFilm, DeckPhysics, SetLoad};
use crate::file_sets::CellFace;
use crate::found::Found;
use crate::part::Part;
use crate::values::mean;

/// The load case of an archive, which has one.
pub(super) const CASE: &str = "default";

/// Faces by the values there, by their bits.
type ByValue = BTreeMap<[u64; 2], Vec<CellFace>>;

/// Adds the face sets of what acts on faces, and all loads that are not at nodes.
pub(super) fn loads(archive: &Archive, part: &Part, found: &mut Found) {
    let is_heat = found.deck.physics == DeckPhysics::Heat;
    let elements: BTreeMap<u32, &Element> =
        archive.elements.iter().map(|element| (element.tag, element)).collect();
    let mut groups = BTreeMap::<Surface, ByValue>::new();
    let mut lost = Lost::default();
    for (&(surface, element, number), values) in &archive.surfaces {
        if surface == Surface::Ambient {
            lost.n_loose +=
                usize::from(!archive.surfaces.contains_key(&(Surface::Film, element, number)));
            continue;
        }
        let face = elements.get(&element).and_then(|element| face(archive, part, element, number));
        let Some((face, n_corners)) = face else {
            lost.n_without_face += 1;
            continue;
        };
        if is_heat == (surface == Surface::Pressure) {
            lost.n_of_other_physics += 1;
            continue;
        }
        // A negative film coefficient is the number of a table.
        if surface == Surface::Film && values.iter().any(|value| *value < 0.0) {
            lost.n_tables += 1;
            continue;
        }
        let value = lost.mean(values, n_corners);
        let has_ambient = archive.surfaces.contains_key(&(Surface::Ambient, element, number));
        lost.n_without_ambient += usize::from(surface == Surface::Film && !has_ambient);
        let ambient = match surface {
            Surface::Film => lost.mean(&archive.ambient(element, number), n_corners),
            _ => 0.0,
        };
        if value != 0.0 {
            let key = [value, ambient].map(|value| (value + 0.0).to_bits());
            groups.entry(surface).or_default().entry(key).or_default().push(face);
        }
    }
    lost.say(found);

    for (surface, by_value) in groups {
        for (i, (bits, faces)) in (1..).zip(by_value) {
            let [value, ambient] = bits.map(f64::from_bits);
            add_surface((surface, i), (value, ambient), faces, found);
        }
    }
    match is_heat {
        true => sources(archive, part, found),
        false => body_loads(archive, found),
    }
}

/// Counts of loads on faces that are lost, by reason.
#[derive(Default)]
struct Lost {
    n_without_face: usize,
    n_of_other_physics: usize,
    n_tables: usize,
    n_loose: usize,
    n_without_ambient: usize,
    n_uneven: usize,
}

impl Lost {
    /// The mean of the values at the corners of a face.
    fn mean(&mut self, values: &CornerValues, n_corners: usize) -> f64 {
        let [first, rest @ ..] = values.as_slice() else { return 0.0 };
        // One value is that of all corners; values that are left out behind others are 0.
        if rest.is_empty() {
            return *first;
        }
        let mut values = values.clone();
        values.resize(n_corners, 0.0);
        self.n_uneven += usize::from(values.iter().any(|value| value != first));
        mean(&values)
    }

    fn say(&self, found: &mut Found) {
        for (count, what) in [
            (self.n_without_face, "pressures and other SFE on what is no face of a solid"),
            (self.n_of_other_physics, "SFE of another physics than the elements have"),
            (self.n_tables, "SFE,CONV with a film coefficient from a table"),
            (self.n_loose, "SFE,CONV with an ambient temperature alone"),
            (self.n_without_ambient, "SFE,CONV without an ambient temperature, which is 0 here"),
            (self.n_uneven, "SFE that vary over a face, read as their mean"),
        ] {
            found.lose_count(count, what);
        }
    }
}

/// A face of a solid, and how many corners it has.
fn face(
    archive: &Archive,
    part: &Part,
    element: &Element,
    number: u32,
) -> Option<(CellFace, usize)> {
    let tags = part.elements.tags();
    let given = tags.binary_search(&element.tag.into()).ok()? as u32;
    let role = element_type::role(archive.element_types.get(&element.kind)?);
    let nodes = archive.nodes_of(element);
    let corners = element_type::face(role, nodes, number)?;
    let n_corners = corners.len();
    let mut corners: Vec<u32> =
        corners.into_iter().filter_map(|corner| part.node(corner.into())).collect();
    corners.sort_unstable();
    corners.dedup();
    Some((part.face(given, &corners)?, n_corners))
}

fn add_surface(
    (surface, i): (Surface, usize),
    (value, ambient): (f64, f64),
    mut faces: Vec<CellFace>,
    found: &mut Found,
) {
    let set = match surface {
        Surface::Pressure => format!("SFE_{i}"),
        Surface::HeatFlux => format!("SFE_HFLUX_{i}"),
        Surface::Film | Surface::Ambient => format!("SFE_CONV_{i}"),
    };
    faces.sort_unstable();
    faces.dedup();
    found.sets.faces.insert(set.clone(), faces);
    let load = match surface {
        Surface::Pressure => SetLoad::Pressure { set, pressure: value },
        Surface::HeatFlux => SetLoad::HeatFlux { set, heat_flux: value },
        Surface::Film | Surface::Ambient => {
            found.deck.films.push(DeckFilm { set, film_coefficient: value, ambient });
            return;
        }
    };
    found.load(CASE, load);
}

/// Heat in elements, a set for each heat per volume.
fn sources(archive: &Archive, part: &Part, found: &mut Found) {
    let tags = part.elements.tags();
    let mut groups = BTreeMap::<u64, Vec<u32>>::new();
    let mut n_others = 0;
    for (element, values) in &archive.sources {
        let is_even = values.iter().all(|value| *value == values[0]);
        match tags.binary_search(&u64::from(*element)) {
            Ok(given) if is_even => {
                groups.entry((values[0] + 0.0).to_bits()).or_default().push(given as u32);
            }
            _ => n_others += 1,
        }
    }
    found.lose_count(n_others, "BFE,HGEN that vary in an element, or are in no solid");
    for (i, (bits, given)) in (1..).zip(groups) {
        let (set, heat_source) = (format!("BFE_HGEN_{i}"), f64::from_bits(bits));
        if heat_source != 0.0 {
            found.sets.elements.insert(set.clone(), given);
            found.load(CASE, SetLoad::HeatSource { set: Some(set), heat_source });
        }
    }
}

fn body_loads(archive: &Archive, found: &mut Found) {
    // ACEL is the acceleration of the ground: what stands on it feels the opposite.
    if archive.acceleration != [0.0; 3] {
        let acceleration = archive.acceleration.map(|a| 0.0 - a);
        found.load(CASE, SetLoad::Gravity { acceleration });
    }
    if archive.rotation != [0.0; 3] {
        let angular_velocity = archive.rotation;
        found.load(CASE, SetLoad::Centrifugal { center: [0.0; 3], angular_velocity });
    }
}
