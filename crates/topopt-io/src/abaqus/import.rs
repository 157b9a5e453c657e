//! From an input file to a checked mesh.

use std::collections::{BTreeMap, HashSet};
use std::mem::take;

use topopt_mesh::cells::Cells;

use super::carried::Carrier;
use super::deck::{Deck, Solid};
use super::element_type;
use super::error::Fault;
use super::lines::at_line;
use super::sets::{Block, Members};
use crate::import::{Cutting, ImportedMesh, Nodes};
use crate::part::{CellFace, FileSets, Part};
use crate::quote::printable;
use crate::read_error::{self, Parsed};

/// Resolves nodes and sets and checks the mesh.
pub(super) fn import(mut deck: Deck, cutting: Cutting) -> Parsed<ImportedMesh> {
    only_known_solids(&deck)?;
    let mut notes = notes_on_elements(&deck);
    notes.append(&mut deck.notes);
    deck.solids.sort_by_key(|solid| solid.tag);
    deck.no_solids.sort_by_key(|(tag, _)| *tag);
    let tags: Vec<u64> = deck.solids.iter().map(|solid| solid.tag).collect();
    let all_tags = all_tags(&deck, &tags)?;

    let coordinates = take(&mut deck.coordinates).into_iter().map(|x| deck.motion.of(x));
    let nodes = Nodes::new(take(&mut deck.node_tags), coordinates.collect())?;
    let cells = cells(&deck, &nodes)?;
    let part = Part::new(nodes, tags, cells, cutting)?;
    notes.extend(part.elements.note(|_| 0));

    let members = Members::new("element", &all_tags, &deck.element_sets)?;
    let elements = Elements { deck: &deck, tags: &all_tags, part: &part, members };
    let nodes = Members::new("node", &part.node_tags, &deck.node_sets)?;
    let mut sets = FileSets::default();
    for (name, key) in visible(&deck, &deck.node_sets) {
        sets.nodes.insert(name, nodes.set(key).unwrap_or_default().to_vec());
    }
    elements.sets(&mut sets, &mut notes)?;

    let carrier = Carrier {
        deck: &deck,
        part: &part,
        elements: &elements,
        nodes: &nodes,
        sets: &mut sets,
        carried: Default::default(),
        remote: Default::default(),
    };
    let carried = carrier.carry()?;
    drop(nodes);
    Ok(ImportedMesh { deck: carried, ..part.into_mesh(sets, notes)? })
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
    let is_special = |kind: &&String| kind.starts_with("C3D8") && *kind != "C3D8";
    let special = deck.solid_types.iter().filter(is_special);
    let special = special.map(|kind| format!("elements of type {kind} are computed as C3D8"));
    let others = deck.no_solid_types.iter().map(|(kind, count)| {
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

/// The elements of a file: solids and those that are none.
pub(super) struct Elements<'a> {
    deck: &'a Deck,
    /// Numbers of all of them, ascending.
    tags: &'a [u64],
    part: &'a Part,
    members: Members<'a>,
}

impl Elements<'_> {
    /// Element sets and face sets.
    fn sets(&self, sets: &mut FileSets, notes: &mut Vec<String>) -> Parsed<()> {
        for (name, key) in visible(self.deck, &self.deck.element_sets) {
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
            let mut positions = Vec::new();
            self.members.add(&mut positions, block)?;
            let (solids, others) = self.split(&positions);
            *left_out.entry(&block.name).or_default() += others.len();
            let set = sets.faces.entry(block.name.clone()).or_default();
            for given in solids {
                set.push(
                    self.face(given, *number, &block.name)
                        .map_err(|fault| at_line(block.line, fault))?,
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
        let mut positions = Vec::new();
        self.members.add(&mut positions, block)?;
        let face = |given: u32| self.face(given, number, &block.name);
        let faces = self.split(&positions).0.into_iter().map(face).collect::<Result<_, _>>();
        faces.map_err(|fault| at_line(block.line, fault))
    }

    /// Whether a block names all solids.
    pub fn are_all(&self, block: &Block) -> Parsed<bool> {
        let mut positions = Vec::new();
        self.members.add(&mut positions, block)?;
        Ok(sorted(self.split(&positions).0).len() == self.deck.solids.len())
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

/// Each entry once, increasing.
fn sorted<T: Ord>(mut set: Vec<T>) -> Vec<T> {
    set.sort_unstable();
    set.dedup();
    set
}
