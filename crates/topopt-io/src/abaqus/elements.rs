//! The elements of a file, the sets of them, and their faces.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::take;

use super::deck::Deck;
use super::element_type;
use super::error::Fault;
use super::sets::{Block, Members};
use crate::file_sets::{CellFace, FileSets};
use crate::part::Part;
use crate::quote::printable;
use crate::read_error::{self, Located, Parsed};

/// The elements of a file: solids and those that are none.
pub(super) struct Elements<'a> {
    pub deck: &'a Deck,
    /// Numbers of all of them, ascending.
    pub tags: &'a [u64],
    pub part: &'a Part,
    /// Members of the element sets.
    pub members: Members<'a>,
    /// Names of the sets.
    pub names: &'a Names,
}

impl Elements<'_> {
    /// Element sets and face sets.
    pub fn sets(&self, sets: &mut FileSets, notes: &mut Vec<String>) -> Parsed<()> {
        for (name, key) in visible(self.deck, self.deck.element_sets.iter().filter(is_shown)) {
            let (solids, others) = self.split(self.members.set(key).unwrap_or_default());

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
            if !solids.is_empty() || others.is_empty() {
                sets.elements.insert(name, solids);
            }
        }
        self.face_sets(sets, notes)
    }

    fn face_sets(&self, sets: &mut FileSets, notes: &mut Vec<String>) -> Parsed<()> {
        let mut left_out = BTreeMap::<&str, usize>::new();
        for (block, number) in &self.deck.surfaces {
            let (solids, others) = self.split(&self.members.named(block)?);
            let name = self.names.faces(&block.key).unwrap_or(&block.name);
            *left_out.entry(name).or_default() += others.len();
            let set = sets.faces.entry(name.to_owned()).or_default();
            for given in solids {
                set.push(
                    self.face(given, *number, &block.name)
                        .map_err(|fault| Located::at_line(block.line, fault))?,
                );
            }
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

    /// Faces by their number, from 1, of the solids that a block names.
    pub fn faces_of(&self, block: &Block, number: usize) -> Parsed<Vec<CellFace>> {
        let face = |given: u32| self.face(given, number, &block.name);
        let (solids, _) = self.split(&self.members.named(block)?);
        let faces = solids.into_iter().map(face).collect::<Result<_, _>>();
        faces.map_err(|fault| Located::at_line(block.line, fault))
    }

    /// The solids that a block names; all where it names nothing.
    pub fn solids_of(&self, block: &Block) -> Parsed<Vec<u32>> {
        if block.items.is_empty() {
            return Ok((0..self.deck.solids.len() as u32).collect());
        }
        Ok(self.split(&self.members.named(block)?).0)
    }

    /// Numbers in the file of the elements of a block that are no solids.
    pub fn others_of(&self, block: &Block) -> Parsed<Vec<u64>> {
        Ok(self.split(&self.members.named(block)?).1)
    }

    /// A face of a solid by its number, from 1.
    fn face(&self, given: u32, number: usize, surface: &str) -> Result<CellFace, Fault> {
        let solid = self.deck.solids[given as usize];
        let nodes = &self.deck.connectivity[solid.first..];
        let corners = element_type::face(solid.shape, number);
        let position = |&a: &usize| self.part.node(nodes[a]);
        let corners: Option<Vec<u32>> =
            corners.map(|face| face.iter().filter_map(position).collect());
        corners.and_then(|corners| self.part.face(given, &corners)).ok_or_else(|| Fault::NoFace {
            surface: surface.into(),
            number,
            element: solid.tag,
            n_faces: solid.shape.faces().len(),
        })
    }

    /// The given solids at `positions`, and the numbers in the file of the others.
    fn split(&self, positions: &[u32]) -> (Vec<u32>, Vec<u64>) {
        let (mut solids, mut others) = (Vec::new(), Vec::new());
        for &position in positions {
            let tag = self.tags[position as usize];
            if self.deck.no_solids.is_empty() {
                solids.push(position);
                continue;
            }
            match self.deck.solids.binary_search_by_key(&tag, |solid| solid.tag) {
                Ok(element) => solids.push(element as u32),
                Err(_) => others.push(tag),
            }
        }
        (solids, others)
    }

    /// The positions of the nodes of elements that are no solids, as far as solids use them.
    fn nodes_of(&self, others: &[u64]) -> Parsed<Vec<u32>> {
        let mut positions = Vec::new();
        for tag in others {
            let found = self.deck.no_solids.binary_search_by_key(tag, |(tag, _)| *tag);
            for &node in found.iter().flat_map(|&i| &self.deck.no_solids[i].1) {
                let missing = read_error::Fault::MissingNode { element: *tag, node };
                positions.push(self.part.node(node).ok_or(missing)?);
            }
        }
        positions.retain(|&node| self.part.is_used(node));
        Ok(positions)
    }
}

/// Names and keys of sets, each key once. A set of the part gets the instance before its name if
/// the model has a set of that name.
pub(super) fn visible<'a>(
    deck: &Deck,
    blocks: impl Iterator<Item = &'a Block> + Clone,
) -> Vec<(String, &'a str)> {
    let keys: HashSet<&str> = blocks.clone().map(|block| block.key.as_str()).collect();
    let mut seen = HashSet::new();
    let mut shown = Vec::new();
    for block in blocks {
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

/// Whether a set serves more than other keywords.
pub(super) fn is_shown(block: &&Block) -> bool {
    !block.hidden
}

fn surfaces(deck: &Deck) -> impl Iterator<Item = &Block> + Clone {
    deck.surfaces.iter().map(|(block, _)| block)
}

/// Names in the mesh of the sets of a deck, by their keys: a deck may write one name in capitals
/// here and in small letters there.
pub(super) struct Names {
    faces: HashMap<String, String>,
    nodes: HashMap<String, String>,
    elements: HashMap<String, String>,
}

impl Names {
    pub fn of(deck: &Deck) -> Self {
        let named = |all: Vec<(String, &str)>| {
            all.into_iter().map(|(name, key)| (key.to_owned(), name)).collect()
        };
        Self {
            faces: named(visible(deck, surfaces(deck))),
            nodes: named(visible(deck, deck.node_sets.iter().filter(is_shown))),
            elements: named(visible(deck, deck.element_sets.iter().filter(is_shown))),
        }
    }

    /// Name of a surface.
    pub fn faces(&self, key: &str) -> Option<&str> {
        of_key(&self.faces, key)
    }

    /// Name of an element set.
    pub fn elements(&self, key: &str) -> Option<&str> {
        of_key(&self.elements, key)
    }

    /// Name of a surface or else a node set.
    pub fn coupled(&self, key: &str) -> Option<&str> {
        self.faces(key).or_else(|| of_key(&self.nodes, key))
    }
}

/// A name by its key; in the model, a set of the part may go by its own name.
fn of_key<'n>(names: &'n HashMap<String, String>, key: &str) -> Option<&'n str> {
    names.get(key).or_else(|| names.get(&format!(".{key}"))).map(String::as_str)
}

/// Each entry once, increasing.
fn sorted<T: Ord>(mut set: Vec<T>) -> Vec<T> {
    set.sort_unstable();
    set.dedup();
    set
}
