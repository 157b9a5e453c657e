//! Conversion of an Abaqus input file to a checked mesh.

use std::mem::take;

use topopt_mesh::cells::Cells;

use super::carried::Carrier;
use super::deck::{Deck, Solid};
use super::elements::{Elements, Names, is_shown, visible};
use super::error::Fault;
use super::sets::Members;
use crate::found::Found;
use crate::import::{Cutting, ImportedMesh, Nodes};
use crate::part::Part;
use crate::read_error::{self, Parsed};

/// Resolves nodes and sets and checks the mesh.
pub(super) fn import(mut deck: Deck, cutting: Cutting) -> Parsed<ImportedMesh> {
    only_known_solids(&deck)?;
    let mut found = Found { notes: notes_on_elements(&deck), ..Found::default() };
    found.notes.append(&mut deck.notes);
    deck.solids.sort_by_key(|solid| solid.tag);
    deck.no_solids.sort_by_key(|(tag, _)| *tag);
    let tags: Vec<u64> = deck.solids.iter().map(|solid| solid.tag).collect();
    let all_tags = all_tags(&deck, &tags)?;

    let coordinates = take(&mut deck.coordinates).into_iter().map(|x| deck.motion.of(x));
    let nodes = Nodes::new(take(&mut deck.node_tags), coordinates.collect())?;
    let cells = cells(&deck, &nodes)?;
    let part = Part::new(nodes, tags, cells, cutting)?;
    found.notes.extend(part.elements.note(|_| 0));

    let members = Members::new("element", &all_tags, &deck.element_sets)?;
    let names = Names::of(&deck);
    let elements = Elements { deck: &deck, tags: &all_tags, part: &part, members, names: &names };
    let nodes = Members::new("node", &part.node_tags, &deck.node_sets)?;
    for (name, key) in visible(&deck, deck.node_sets.iter().filter(is_shown)) {
        found.sets.nodes.insert(name, nodes.set(key).unwrap_or_default().to_vec());
    }
    elements.sets(&mut found.sets, &mut found.notes)?;

    Carrier::new(&elements, &nodes, &mut found).carry()?;
    drop(nodes);
    let Found { sets, notes, deck } = found;
    Ok(ImportedMesh { deck, ..part.into_mesh(sets, notes)? })
}

fn only_known_solids(deck: &Deck) -> Result<(), Fault> {
    let first = deck.other_solids.iter().min_by_key(|(_, (_, element))| *element);
    match first {
        Some((kind, &(count, element))) => {
            Err(Fault::OtherSolids { kind: kind.clone(), count, element })
        }
        None if deck.solids.is_empty() => Err(Fault::NoSolids),
        None => Ok(()),
    }
}

/// The solid elements by the positions of their nodes.
fn cells(deck: &Deck, nodes: &Nodes) -> Result<Cells, read_error::Fault> {
    let mut cells = Cells::default();
    let mut positions = Vec::new();
    for &Solid { tag, shape, first, n_nodes } in &deck.solids {
        positions.clear();
        for &node in &deck.connectivity[first..][..n_nodes] {
            positions.push(nodes.position(tag, node)?);
        }
        let (corners, rest) = positions.split_at(shape.n_corners());
        // C3D27 and C3D15V have nodes on faces behind those of the edges.
        let middles = rest.get(..shape.edges().len()).unwrap_or_default();
        cells.push(shape, corners, middles);
    }
    Ok(cells)
}

fn notes_on_elements(deck: &Deck) -> Vec<String> {
    let is_special =
        |kind: &&String| kind.starts_with("C3D8") && !matches!(kind.as_str(), "C3D8" | "C3D8I");
    let special = deck.solid_types.iter().filter(is_special).map(|kind| {
        format!(
            "elements of type {kind} are computed with incompatible modes, as C3D8I, or with \
             `elements.kind = \"full\"` as C3D8"
        )
    });
    // Springs are loads and supports here: what is not carried of them is lost by name.
    let others = deck.no_solid_types.iter().filter(|(kind, _)| !kind.starts_with("SPRING"));
    let others = others.map(|(kind, count)| {
        format!("{count} elements of type {kind}, which are not solids, were left out")
    });
    special.chain(others).collect()
}

/// The numbers of all elements, those that are no solids too, ascending.
fn all_tags(deck: &Deck, solids: &[u64]) -> Result<Vec<u64>, read_error::Fault> {
    let mut tags = solids.to_vec();
    tags.extend(deck.no_solids.iter().map(|(tag, _)| *tag));
    if !deck.no_solids.is_empty() {
        tags.sort_unstable();
    }
    match tags.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(read_error::Fault::DuplicateElement(pair[0])),
        None => Ok(tags),
    }
}
