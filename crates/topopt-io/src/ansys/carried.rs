//! What an archive says of materials, supports and loads, by sets of the mesh.

use std::collections::BTreeMap;

use super::archive::Archive;
use super::element_type;
use crate::deck::{Deck, DeckLoad, DeckMaterial, SetLoad};
use crate::part::{FileSets, Part};

/// The load case of an archive, which has one.
pub(super) const CASE: &str = "default";

/// Adds the face sets of pressures, and all loads that are not at nodes.
pub(super) fn loads(archive: &Archive, part: &Part, sets: &mut FileSets, deck: &mut Deck) {
    let tags = part.elements.tags();
    let elements: BTreeMap<u32, &super::archive::Element> =
        archive.elements.iter().map(|element| (element.tag, element)).collect();
    let mut pressures = BTreeMap::<u64, (f64, Vec<_>)>::new();
    let mut without_face = 0;
    for pressure in &archive.pressures {
        let face = elements.get(&pressure.element).and_then(|element| {
            let given = tags.binary_search(&element.tag.into()).ok()? as u32;
            let role = element_type::role(archive.element_types.get(&element.kind)?);
            let nodes = archive.nodes_of(element);
            let corners = element_type::face(role, nodes, pressure.face)?.into_iter();
            let mut corners: Vec<u32> =
                corners.filter_map(|corner| part.node(corner.into())).collect();
            corners.sort_unstable();
            corners.dedup();
            part.face(given, &corners)
        });
        match face {
            Some(face) => {
                let known = pressures.entry(pressure.value.to_bits()).or_default();
                *known = (pressure.value, std::mem::take(&mut known.1));
                known.1.push(face);
            }
            None => without_face += 1,
        }
    }
    if without_face > 0 {
        deck.lost.push(format!("pressures on what is no face of a solid: {without_face}"));
    }

    for (i, (pressure, mut faces)) in pressures.into_values().enumerate() {
        let set = format!("SFE_{}", i + 1);
        faces.sort_unstable();
        faces.dedup();
        sets.faces.insert(set.clone(), faces);
        deck.loads.push(DeckLoad { case: CASE.into(), load: SetLoad::Pressure { set, pressure } });
    }
    body_loads(archive, deck);
}

fn body_loads(archive: &Archive, deck: &mut Deck) {
    // ACEL is the acceleration of the ground: what stands on it feels the opposite.
    if archive.acceleration != [0.0; 3] {
        let acceleration = archive.acceleration.map(|a| 0.0 - a);
        deck.loads.push(DeckLoad { case: CASE.into(), load: SetLoad::Gravity { acceleration } });
    }
    if archive.rotation != [0.0; 3] {
        let load = SetLoad::Centrifugal { center: [0.0; 3], angular_velocity: archive.rotation };
        deck.loads.push(DeckLoad { case: CASE.into(), load });
    }
}

/// The materials of the solids; each with an element set of its own if there are several.
pub(super) fn materials(
    archive: &Archive,
    solids: &[super::archive::Element],
    sets: &mut FileSets,
    deck: &mut Deck,
) {
    let mut members = BTreeMap::<u32, Vec<u32>>::new();
    for (given, solid) in (0..).zip(solids) {
        members.entry(solid.material).or_default().push(given);
    }
    let several = members.len() > 1;
    for (number, given) in members {
        let set = several.then(|| format!("MAT_{number}"));
        if let Some(set) = &set {
            sets.elements.insert(set.clone(), given);
        }
        let Some(properties) = archive.materials.get(&number) else { continue };
        let value = |names: &[&str]| {
            names.iter().find_map(|name| properties.get(name)).map(|property| property.value)
        };
        deck.materials.push(DeckMaterial {
            name: number.to_string(),
            set,
            youngs_modulus: value(&["EX"]),
            poissons_ratio: value(&["NUXY", "PRXY"]),
            mass_density: value(&["DENS"]),
            ..Default::default()
        });
    }
}
