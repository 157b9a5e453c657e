//! From an input file to a checked mesh.

use std::collections::{BTreeMap, HashSet};
use std::mem::take;

use topopt_mesh::Sets;

use super::deck::Deck;
use super::error::Fault;
use super::sets::{Block, Members};
use crate::import::{ImportedMesh, Nodes, Numbering, UNUSED, add_nodes};
use crate::quote::printable;
use crate::read_error::{self, Parsed};

/// Different loads of one direction that get a node set each.
const MAX_LOAD_SETS: usize = 32;

/// Resolves nodes and sets and checks the mesh.
pub(super) fn import(mut deck: Deck) -> Parsed<ImportedMesh> {
    only_hexahedra(&deck)?;
    let mut notes = notes_on_elements(&deck);
    notes.append(&mut deck.notes);
    deck.hexes.sort_by_key(|(tag, _)| *tag);
    deck.no_solids.sort_by_key(|(tag, _)| *tag);
    let tags: Vec<u64> = deck.hexes.iter().map(|(tag, _)| *tag).collect();
    let all_tags = all_tags(&deck, &tags)?;
    let nodes = Nodes::new(take(&mut deck.node_tags), take(&mut deck.coordinates))?;
    let numbering = Numbering::new(nodes, tags, deck.hexes.iter().map(|(_, corners)| *corners))?;
    notes.extend(numbering.elements.note(|_| 0));
    notes.extend(numbering.note());
    let elements = Elements { deck: &deck, tags: &all_tags, numbering: &numbering };
    let mut sets = Sets::default();
    node_sets(&deck, &numbering, &mut sets, &mut notes)?;
    elements.sets(&mut sets, &mut notes)?;
    Ok(numbering.into_mesh(sets, notes)?)
}

fn only_hexahedra(deck: &Deck) -> Result<(), Fault> {
    let first = deck.other_solids.iter().min_by_key(|(_, (_, element))| *element);
    match first {
        Some((kind, &(count, element))) => {
            Err(Fault::NotHexahedra { kind: kind.clone(), count, element })
        }
        None if deck.hexes.is_empty() => Err(Fault::NoHexahedra),
        None => Ok(()),
    }
}

fn notes_on_elements(deck: &Deck) -> Vec<String> {
    let corners = deck.hex_types.iter().filter(|(kind, _)| !kind.starts_with("C3D8"));
    let corners = corners.map(|(kind, count)| {
        format!("{count} elements of type {kind} were read by their eight corners")
    });
    let special = deck.hex_types.keys().filter(|kind| kind.starts_with("C3D8") && *kind != "C3D8");
    let special = special.map(|kind| format!("elements of type {kind} are computed as C3D8"));
    let others = deck.no_solid_types.iter().map(|(kind, count)| {
        format!("{count} elements of type {kind}, which are not solids, were left out")
    });
    corners.chain(special).chain(others).collect()
}

/// The numbers of all elements, those that are no solids too, ascending.
fn all_tags(deck: &Deck, hexes: &[u64]) -> Result<Vec<u64>, read_error::Fault> {
    let mut tags = hexes.to_vec();
    tags.extend(deck.no_solids.iter().map(|(tag, _)| *tag));
    if !deck.no_solids.is_empty() {
        tags.sort_unstable();
    }
    match tags.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(read_error::Fault::DuplicateElement(pair[0])),
        None => Ok(tags),
    }
}

fn node_sets(
    deck: &Deck,
    numbering: &Numbering,
    sets: &mut Sets,
    notes: &mut Vec<String>,
) -> Parsed<()> {
    let members = Members::new("node", numbering.node_tags(), &deck.node_sets)?;
    let mut found = BTreeMap::<String, Vec<u32>>::new();
    for (name, key) in visible(deck, &deck.node_sets) {
        found.insert(name, members.set(key).unwrap_or_default().to_vec());
    }

    let crowded = crowded_directions(deck);
    for condition in &deck.conditions {
        let name = match condition.load {
            Some(direction) if crowded.contains_key(&direction) => format!("cload_{direction}"),
            _ => condition.block.name.clone(),
        };
        members.add(found.entry(name).or_default(), &condition.block)?;
    }

    notes.extend(crowded.into_iter().map(|(direction, count)| {
        format!("the nodes of {count} different loads in direction {direction} form one set")
    }));
    for (name, positions) in found {
        let positions = sorted(positions);
        let number = |&i: &u32| numbering.node(numbering.node_tags()[i as usize]);
        add_nodes(sets, &name, positions.iter().filter_map(number).collect(), notes);
    }
    Ok(())
}

/// Directions with too many different loads for a set each, and how many there are.
fn crowded_directions(deck: &Deck) -> BTreeMap<u64, usize> {
    let mut names = BTreeMap::<u64, HashSet<&str>>::new();
    for condition in &deck.conditions {
        if let Some(direction) = condition.load {
            names.entry(direction).or_default().insert(&condition.block.name);
        }
    }
    let counts = names.into_iter().map(|(direction, names)| (direction, names.len()));
    counts.filter(|(_, count)| *count > MAX_LOAD_SETS).collect()
}

/// Names and keys of the sets that are shown. A set of the part gets the instance before its name
/// if the model has a set of that name.
fn visible<'a>(deck: &Deck, blocks: &'a [Block]) -> Vec<(String, &'a str)> {
    let keys: HashSet<&str> = blocks.iter().map(|block| block.key.as_str()).collect();
    let mut seen = HashSet::new();
    let mut shown = Vec::new();
    for block in blocks.iter().filter(|block| !block.hidden) {
        if !seen.insert(block.key.as_str()) {
            continue;
        }
        let taken = block.key.strip_prefix('.').is_some_and(|key| keys.contains(key));
        let instance = deck.instance.as_deref().unwrap_or("part");
        let name = if taken {
            format!("{}.{}", printable(instance), block.name)
        } else {
            block.name.clone()
        };
        shown.push((name, block.key.as_str()));
    }
    shown
}

/// The elements of a file: hexahedra and those that are no solids.
struct Elements<'a> {
    deck: &'a Deck,
    /// Numbers of all of them, ascending.
    tags: &'a [u64],
    numbering: &'a Numbering,
}

impl Elements<'_> {
    /// Element sets and face sets.
    fn sets(&self, sets: &mut Sets, notes: &mut Vec<String>) -> Parsed<()> {
        let members = Members::new("element", self.tags, &self.deck.element_sets)?;
        for (name, key) in visible(self.deck, &self.deck.element_sets) {
            let (hexes, others) = self.split(members.set(key).unwrap_or_default());

            if !others.is_empty() {
                notes.push(format!(
                    "element set `{name}` names {} elements that are not solids: their nodes become \
                     node set `{name}`",
                    others.len()
                ));
                let nodes = self.nodes_of(&others)?;
                let set = sets.nodes.entry(name.clone()).or_default();
                set.extend(nodes);
                *set = sorted(take(set));
            }

            // A set that was empty in the file stays, to be noted.
            if !hexes.is_empty() || others.is_empty() {
                let number = |&given: &u32| self.numbering.elements.number(given);
                sets.elements.insert(name, sorted(hexes.iter().map(number).collect()));
            }
        }
        self.face_sets(&members, sets, notes)
    }

    fn face_sets(&self, members: &Members, sets: &mut Sets, notes: &mut Vec<String>) -> Parsed<()> {
        let mut left_out = BTreeMap::<&str, usize>::new();
        for (block, local) in &self.deck.surfaces {
            let mut positions = Vec::new();
            members.add(&mut positions, block)?;
            let (hexes, others) = self.split(&positions);
            *left_out.entry(&block.name).or_default() += others.len();
            let Numbering { elements, hexes: corners, .. } = self.numbering;
            let faces = hexes.into_iter().map(|given| elements.face(given, *local, corners));
            sets.faces.entry(block.name.clone()).or_default().extend(faces);
        }

        // Once all surfaces are in: several lines of the file may name the same face.
        for set in sets.faces.values_mut() {
            *set = sorted(take(set));
        }

        let left_out = left_out.into_iter().filter(|(_, count)| *count > 0);
        notes.extend(left_out.map(|(name, count)| {
            format!(
                "{count} faces of surface `{name}` were left out: their elements are not solids"
            )
        }));
        Ok(())
    }

    /// The given hexahedra at `positions`, and the numbers in the file of the others.
    fn split(&self, positions: &[u32]) -> (Vec<u32>, Vec<u64>) {
        let (mut hexes, mut others) = (Vec::new(), Vec::new());
        for &position in positions {
            let tag = self.tags[position as usize];
            if self.deck.no_solids.is_empty() {
                hexes.push(position);
                continue;
            }
            match self.deck.hexes.binary_search_by_key(&tag, |(tag, _)| *tag) {
                Ok(element) => hexes.push(element as u32),
                Err(_) => others.push(tag),
            }
        }
        (hexes, others)
    }

    /// The nodes of elements that are no solids, as far as hexahedra use them.
    fn nodes_of(&self, others: &[u64]) -> Parsed<Vec<u32>> {
        let mut numbers = Vec::new();
        for tag in others {
            let found = self.deck.no_solids.binary_search_by_key(tag, |(tag, _)| *tag);
            for &node in found.iter().flat_map(|&i| &self.deck.no_solids[i].1) {
                let missing = read_error::Fault::MissingNode { element: *tag, node };
                numbers.push(self.numbering.node(node).ok_or(missing)?);
            }
        }
        numbers.retain(|&node| node != UNUSED);
        Ok(numbers)
    }
}

/// Each entry once, increasing.
fn sorted<T: Ord>(mut set: Vec<T>) -> Vec<T> {
    set.sort_unstable();
    set.dedup();
    set
}
