//! From a deck to a checked mesh.

use std::collections::{BTreeMap, BTreeSet};

use topopt_mesh::cells::{Cells, NO_NODE};

use super::coordinates::Systems;
use super::couplings::Couplings;
use super::deck::{Deck, Solid};
use super::error::Fault;
use super::model::{Found, Model};
use super::{loads, supports};
use crate::deck::DeckMaterial;
use crate::import::{Cutting, ImportedMesh, Nodes};
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
    let cells = cells(&deck, &nodes)?;
    let element_tags = deck.solids.iter().map(|solid| solid.tag).collect();
    let part = Part::new(nodes, element_tags, cells, cutting)?;
    let mut notes = notes(&deck);
    notes.extend(part.elements.note(|_| 0));

    let model = Model::new(&deck, &systems, &coordinates, &part);
    let mut found = Found::default();
    properties(&model, &mut found);
    given_sets(&model, &mut found);
    let couplings = Couplings::add(&model, &mut found);
    supports::add(&model, &couplings, &mut found)?;
    loads::add(&model, &couplings, &mut found)?;
    for (name, count) in &deck.lost {
        found.lose(format!("{name} entries are not carried over: {count}"));
    }

    let Found { sets, deck } = found;
    let mut imported = part.into_mesh(sets, notes)?;
    imported.deck = deck;
    Ok(imported)
}

/// The grids in the basic system.
fn coordinates(deck: &Deck, systems: &Systems) -> Result<Vec<[f64; 3]>, read_error::Fault> {
    let mut coordinates = Vec::with_capacity(deck.grids.len());
    for grid in &deck.grids {
        let place = systems.place(deck, grid)?;
        if place.iter().any(|x| !x.is_finite()) {
            return Err(read_error::Fault::NotFinite { node: grid.tag, coordinates: place });
        }
        coordinates.push(place);
    }
    Ok(coordinates)
}

/// The solid elements by the positions of their nodes.
fn cells(deck: &Deck, nodes: &Nodes) -> Result<Cells, read_error::Fault> {
    let mut cells = Cells::default();
    let mut positions = Vec::new();
    for &Solid { tag, shape, first, n_nodes, .. } in &deck.solids {
        positions.clear();
        for &node in &deck.connectivity[first..][..n_nodes] {
            positions.push(if node == 0 { NO_NODE } else { nodes.position(tag, node)? });
        }
        let (corners, middles) = positions.split_at(shape.n_corners());
        cells.push(shape, corners, middles);
    }
    Ok(cells)
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
        found.sets.elements.insert(set.clone(), given);
        let Some(tag) = deck.properties.get(&property) else { continue };
        let Some(material) = deck.materials.get(tag) else {
            unknown.insert(tag);
            continue;
        };
        let (youngs_modulus, poissons_ratio) = material.elastic();
        found.deck.materials.push(DeckMaterial {
            name: tag.to_string(),
            set: (!is_only).then_some(set),
            youngs_modulus,
            poissons_ratio,
            mass_density: material.mass_density,
            ..Default::default()
        });
    }
    for tag in unknown {
        found.lose(format!("material {tag} is not given by MAT1"));
    }
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
