//! Conversion of a Nastran deck to a checked mesh.

use std::collections::{BTreeMap, BTreeSet};

use topopt_mesh::cells::{Cells, NO_NODE};

use super::coordinates::Systems;
use super::couplings::Couplings;
use super::deck::{Deck, Solid};
use super::error::Fault;
use super::model::Model;
use super::{heat, loads, optimization, supports, tables};
use crate::deck::{DeckLaw, DeckMaterial, DeckPhysics};
use crate::found::Found;
use crate::handed;
use crate::import::{Cutting, ImportedMesh, Nodes, finite};
use crate::part::Part;
use crate::read_error::{self, Parsed};

/// Resolves grids and sets and checks the mesh.
pub(super) fn import(mut deck: Deck, cutting: Cutting) -> Parsed<ImportedMesh> {
    if deck.solids.is_empty() {
        let others: Vec<&str> = deck.others.keys().map(String::as_str).collect();
        return Err(Fault::NoSolids { others: others.join(", ") }.into());
    }
    deck.grids.sort_by_key(|grid| grid.tag);
    deck.solids.sort_by_key(|solid| solid.tag);

    let systems = Systems::of(&deck)?;
    let coordinates = coordinates(&deck, &systems)?;
    let tags = deck.grids.iter().map(|grid| grid.tag).collect();
    let nodes = Nodes::new(tags, coordinates.clone())?;
    let n_turned = right_handed(&mut deck, &nodes)?;
    let cells = cells(&deck, &nodes)?;
    let element_tags = deck.solids.iter().map(|solid| solid.tag).collect();
    let part = Part::new(nodes, element_tags, cells, cutting)?;
    let mut found = Found { notes: notes(&deck), ..Found::default() };
    if n_turned > 0 {
        found.notes.push(format!(
            "left-handed elements, whose grids were put in the order of right-handed ones: {n_turned}"
        ));
    }
    found.notes.extend(part.elements.note(|_| 0));

    let model = Model { deck: &deck, systems: &systems, coordinates: &coordinates, part: &part };
    properties(&model, &mut found);
    given_sets(&model, &mut found);
    let couplings = Couplings::add(&model, &mut found);
    if model.deck.is_heat {
        found.deck.physics = DeckPhysics::Heat;
        heat::add_temperatures(&model, &mut found);
    } else {
        supports::add(&model, &couplings, &mut found)?;
    }
    heat::say_other_physics(&model, &mut found);
    let cases = loads::add(&model, &couplings, &mut found)?;
    optimization::add(&model, &cases, &mut found)?;
    say_what_is_lost(&deck, &mut found);

    Ok(found.import(part)?)
}

/// Reports as lost the entries that are not carried over, and elements that are no solids.
fn say_what_is_lost(deck: &Deck, found: &mut Found) {
    found.deck.inertia_relief = deck.inertia_relief;
    // With inertia relief they only say where displacements are 0.
    let is_lost = |name: &str| !(deck.inertia_relief && name.starts_with("SUPORT"));
    for (name, (count, origin)) in deck.lost.iter().filter(|(name, _)| is_lost(name)) {
        let line = origin.line;
        let file = match origin.file.checked_sub(1) {
            Some(included) => format!(" of `{}`", deck.included[included]),
            None => String::new(),
        };
        found.lose(match count {
            1 => format!("{name} on line {line}{file}"),
            _ => format!("{name}, {count} times, the first on line {line}{file}"),
        });
    }
    for (name, count) in deck.others.iter().filter(|(name, _)| !tables::is_idle_element(name)) {
        found.lose(format!(
            "{name} elements, which are no solids: {count}; their stiffness and mass are lost"
        ));
    }
}

/// Reorders the grids of left-handed elements, and returns the number of these.
fn right_handed(deck: &mut Deck, nodes: &Nodes) -> Result<usize, read_error::Fault> {
    let mut count = 0;
    let mut positions = Vec::new();
    for &Solid { tag, shape, first, n_nodes, .. } in &deck.solids {
        let tags = &mut deck.connectivity[first..][..n_nodes];
        place(tag, tags, nodes, &mut positions)?;
        if handed::right_handed(shape, &mut positions, &nodes.coordinates) {
            count += 1;
            for (tag, &position) in tags.iter_mut().zip(&positions) {
                *tag = if position == NO_NODE { 0 } else { nodes.tags[position as usize] };
            }
        }
    }
    Ok(count)
}

/// The grids in the basic system.
fn coordinates(deck: &Deck, systems: &Systems) -> Result<Vec<[f64; 3]>, read_error::Fault> {
    deck.grids.iter().map(|grid| finite(grid.tag, systems.place(deck, grid)?)).collect()
}

/// The solid elements by the positions of their nodes.
fn cells(deck: &Deck, nodes: &Nodes) -> Result<Cells, read_error::Fault> {
    let mut cells = Cells::default();
    let mut positions = Vec::new();
    for &Solid { tag, shape, first, n_nodes, .. } in &deck.solids {
        place(tag, &deck.connectivity[first..][..n_nodes], nodes, &mut positions)?;
        let (corners, middles) = positions.split_at(shape.n_corners());
        cells.push(shape, corners, middles);
    }
    Ok(cells)
}

/// Writes to `positions` those of the nodes of element `tag`; the number 0 is no node.
fn place(
    tag: u64,
    tags: &[u64],
    nodes: &Nodes,
    positions: &mut Vec<u32>,
) -> Result<(), read_error::Fault> {
    positions.clear();
    for &node in tags {
        positions.push(if node == 0 { NO_NODE } else { nodes.position(tag, node)? });
    }
    Ok(())
}

fn notes(deck: &Deck) -> Vec<String> {
    let others = deck.others.iter().map(|(name, count)| {
        format!("{name} elements, which are not solids, were left out: {count}")
    });
    let skipped = deck.skipped.iter().map(|(name, count)| match name.as_str() {
        "" => format!("lines that are no entries were skipped: {count}"),
        name => format!("{name} entries were skipped: {count}"),
    });
    others.chain(skipped).collect()
}

/// An element set for every property, and its material.
fn properties(model: &Model, found: &mut Found) {
    let deck = model.deck;
    let mut members = BTreeMap::<u64, Vec<u32>>::new();
    for (given, solid) in (0..).zip(&deck.solids) {
        members.entry(solid.property).or_default().push(given);
    }

    let is_only = members.len() == 1;
    let mut unknown = BTreeSet::new();
    for (property, given) in members {
        let set = format!("property_{property}");
        let count = given.len();
        found.sets.elements.insert(set.clone(), given);
        let Some(tag) = deck.properties.get(&property) else {
            // A mesh alone has no materials at all.
            if deck.properties.is_empty() {
                continue;
            }
            found.lose(format!(
                "property {property} of {count} elements is not given by PSOLID: they have no material"
            ));
            continue;
        };
        match material(deck, *tag) {
            Some(mut material) => {
                let set = (!is_only).then_some(set);
                if material.conductivity.len() > 1 && deck.turned_properties.contains(&property) {
                    material.conductivity.clear();
                    material.not_understood = Some("MAT5 in a system of PSOLID (CORDM)".into());
                }
                if material.law.is_some() && deck.turned_properties.contains(&property) {
                    material.law = None;
                    material.not_understood =
                        Some("MAT9 or MAT11 in a system of PSOLID (CORDM)".into());
                }
                found.deck.materials.push(DeckMaterial { set, ..material });
            }
            None => drop(unknown.insert(tag)),
        }
        if let Some(behaviors) = deck.behaviors.get(tag) {
            let behaviors = behaviors.join(", ");
            found.lose(format!("material {tag}: {behaviors}; the material is linear here"));
        }
    }
    for tag in unknown {
        found.lose(format!("material {tag} is not given by MAT1, MAT4, MAT5, MAT9 or MAT11"));
    }
}

/// A material by all entries of its number.
fn material(deck: &Deck, tag: u64) -> Option<DeckMaterial> {
    let (elastic, conductor) = (deck.materials.get(&tag), deck.conductors.get(&tag));
    let not_understood = deck.not_understood.get(&tag).cloned();
    if elastic.is_none() && conductor.is_none() && not_understood.is_none() {
        return None;
    }
    let (youngs_modulus, poissons_ratio) =
        elastic.map_or((None, None), |material| material.elastic());
    let law = elastic.and_then(|material| material.law);
    let law = law.map(|constants| DeckLaw { constants, frame: None });
    let mass_density = elastic.and_then(|material| material.mass_density);
    let mass_density = mass_density.or(conductor.and_then(|conductor| conductor.mass_density));
    Some(DeckMaterial {
        name: tag.to_string(),
        youngs_modulus,
        poissons_ratio,
        law,
        thermal_expansion: elastic
            .map_or_else(Vec::new, |material| material.thermal_expansion.clone()),
        reference: elastic.map_or(0.0, |material| material.reference),
        mass_density: mass_density.map(|density| deck.mass_factor.unwrap_or(1.0) * density),
        conductivity: conductor.map(|conductor| conductor.conductivity.clone()).unwrap_or_default(),
        heat_capacity: conductor.and_then(|conductor| conductor.heat_capacity),
        not_understood,
        ..Default::default()
    })
}

impl super::deck::Material {
    /// Young's modulus and Poisson's ratio, by two of E, G and NU.
    fn elastic(&self) -> (Option<f64>, Option<f64>) {
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        match (self.youngs_modulus, self.shear_modulus, self.poissons_ratio) {
            (Some(e), Some(g), None) => (Some(e), finite(e / (2.0 * g) - 1.0)),
            (None, Some(g), Some(nu)) => (finite(2.0 * g * (1.0 + nu)), Some(nu)),
            (e, _, nu) => (e, nu),
        }
    }
}

/// SETs of grids and of elements.
fn given_sets(model: &Model, found: &mut Found) {
    for set in &model.deck.sets {
        let name = format!("set_{}", set.tag);
        let (tags, sets) = if set.of_grids {
            (&model.part.node_tags[..], &mut found.sets.nodes)
        } else {
            (model.part.elements.tags(), &mut found.sets.elements)
        };
        let members = set.list.positions(tags).0;
        let set = sets.entry(name).or_default();
        set.extend(members);
        super::deck::sort(set);
    }
}
