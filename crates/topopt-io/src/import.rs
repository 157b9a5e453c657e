//! From the tags of a file to a checked mesh: what the readers share.

use std::fs::File;
use std::path::Path;

use topopt_mesh::{HexMesh, MeshError, Sets};

use crate::elements::Elements;
use crate::quote::printable;
use crate::read_error::{Fault, Located, Parsed, ReadError};

/// A mesh from a file, with the numbers that the file gives to its nodes and elements.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedMesh {
    /// The mesh.
    pub mesh: HexMesh,
    /// Tags of the nodes in the file, `[n_nodes]`, ascending.
    pub node_tags: Vec<u64>,
    /// Tags of the elements in the file, `[n_elements]`, ascending.
    pub element_tags: Vec<u64>,
    /// What was left out or changed, a sentence each.
    pub notes: Vec<String>,
}

/// Reads the file at `path` with `parse`, and adds its name to what goes wrong.
pub(crate) fn read<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Parsed<T>) -> Result<T, ReadError> {
    named(path, std::fs::read(path).map_err(io).and_then(|bytes| parse(&bytes)))
}

/// As [`read`], without the whole file in memory: `parse` takes the file and its length in bytes.
pub(crate) fn stream<T>(
    path: &Path,
    parse: impl FnOnce(&mut File, u64) -> Parsed<T>,
) -> Result<T, ReadError> {
    let open = || -> std::io::Result<_> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    };
    named(path, open().map_err(io).and_then(|(mut file, length)| parse(&mut file, length)))
}

fn named<T>(path: &Path, parsed: Parsed<T>) -> Result<T, ReadError> {
    parsed.map_err(|Located { place, fault }| ReadError { path: path.into(), place, fault })
}

fn io(cause: std::io::Error) -> Located {
    Fault::Io(cause).into()
}

/// The nodes of a file, in the order of their tags.
#[derive(Default)]
pub(crate) struct Nodes {
    tags: Vec<u64>,
    coordinates: Vec<[f64; 3]>,
}

impl Nodes {
    /// Brings the nodes into the order of their tags; none may stand twice.
    pub fn new(mut tags: Vec<u64>, mut coordinates: Vec<[f64; 3]>) -> Result<Self, Fault> {
        if tags.len() >= UNUSED as usize {
            return Err(Fault::Mesh(MeshError::TooLarge(tags.len())));
        }
        if !tags.is_sorted() {
            let mut order: Vec<usize> = (0..tags.len()).collect();
            order.sort_by_key(|&i| tags[i]);
            tags = order.iter().map(|&i| tags[i]).collect();
            coordinates = order.iter().map(|&i| coordinates[i]).collect();
        }
        match tags.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Fault::DuplicateNode(pair[0])),
            None => Ok(Self { tags, coordinates }),
        }
    }

    /// Where the node `tag`, which `element` names, stands among the nodes.
    pub fn position(&self, element: u64, tag: u64) -> Result<u32, Fault> {
        let at = position(&self.tags, tag).ok_or(Fault::MissingNode { element, node: tag })?;
        Ok(at as u32)
    }
}

/// The hexahedra of a file by node numbers, and the numbers of the nodes that they use.
pub(crate) struct Numbering {
    nodes: Nodes,
    /// Number of every node of the file, or `UNUSED`.
    numbers: Vec<u32>,
    /// How many nodes are used.
    pub n_used: usize,
    /// Connectivity, `[n_elements][8]`, of each element once.
    pub hexes: Vec<[u32; 8]>,
    /// The elements of the file.
    pub elements: Elements,
}

/// The number of a node that no hexahedron uses.
pub(crate) const UNUSED: u32 = u32::MAX;

impl Numbering {
    /// Numbers the nodes that `corners`, `[n_given][8]`, name, in the order of their tags.
    /// `element_tags`, `[n_given]`, must ascend; of elements of the same nodes one is kept.
    pub fn new(
        nodes: Nodes,
        element_tags: Vec<u64>,
        corners: impl Iterator<Item = [u64; 8]>,
    ) -> Result<Self, Fault> {
        let mut hexes = vec![[0; 8]; element_tags.len()];
        for ((hex, corners), &element) in hexes.iter_mut().zip(corners).zip(&element_tags) {
            for (corner, tag) in hex.iter_mut().zip(corners) {
                *corner = nodes.position(element, tag)?;
            }
        }
        Self::of_positions(nodes, element_tags, hexes)
    }

    /// As [`Numbering::new`], with the positions of the corners in `nodes`.
    pub fn of_positions(
        nodes: Nodes,
        element_tags: Vec<u64>,
        mut hexes: Vec<[u32; 8]>,
    ) -> Result<Self, Fault> {
        let elements = Elements::once(element_tags, &mut hexes)?;
        let mut numbers = vec![UNUSED; nodes.tags.len()];
        for &node in hexes.as_flattened() {
            numbers[node as usize] = 0;
        }
        let mut n_used = 0;
        for number in numbers.iter_mut().filter(|number| **number != UNUSED) {
            *number = n_used;
            n_used += 1;
        }
        for node in hexes.as_flattened_mut() {
            *node = numbers[*node as usize];
        }
        Ok(Self { nodes, numbers, n_used: n_used as usize, hexes, elements })
    }

    /// What to say of nodes that no hexahedron uses, if there are any.
    pub fn note(&self) -> Option<String> {
        let dropped = self.numbers.len() - self.n_used;
        let (nodes, were) = if dropped == 1 { ("node", "was") } else { ("nodes", "were") };
        (dropped > 0)
            .then(|| format!("{dropped} {nodes} not used by any hexahedron {were} left out"))
    }

    /// The number of the node `tag`: `UNUSED` if no hexahedron uses it, none if it is not in the
    /// file.
    pub fn node(&self, tag: u64) -> Option<u32> {
        position(&self.nodes.tags, tag).map(|node| self.numbers[node])
    }

    /// The number of the node at a position among those of the file; `UNUSED` if no hexahedron
    /// uses it.
    pub fn number(&self, position: u32) -> u32 {
        self.numbers[position as usize]
    }

    /// The tags of all nodes of the file, ascending.
    pub fn node_tags(&self) -> &[u64] {
        &self.nodes.tags
    }

    /// The mesh with its `sets`; an empty set is noted, an error names tags of the file.
    pub fn into_mesh(self, sets: Sets, notes: Vec<String>) -> Result<ImportedMesh, Fault> {
        self.into_mesh_or(sets, notes, |_, _| None)
    }

    /// As [`Numbering::into_mesh`]; `explain` may know more of an error.
    pub fn into_mesh_or(
        self,
        sets: Sets,
        mut notes: Vec<String>,
        explain: impl FnOnce(&MeshError, &Elements) -> Option<Fault>,
    ) -> Result<ImportedMesh, Fault> {
        let empty = sets.summary().into_iter().filter(|(.., entries)| *entries == 0);
        notes.extend(empty.map(|(name, kind, _)| format!("{} set `{name}` is empty", kind.name())));

        let Self { nodes, numbers, hexes, elements, .. } = self;
        let Nodes { tags: mut node_tags, mut coordinates } = nodes;
        // Nodes that no hexahedron uses are dropped in place.
        let mut is_used = numbers.iter().map(|number| *number != UNUSED);
        node_tags.retain(|_| is_used.next().unwrap_or(false));
        let mut is_used = numbers.iter().map(|number| *number != UNUSED);
        coordinates.retain(|_| is_used.next().unwrap_or(false));
        drop(numbers);

        let element_tags = elements.kept_of(elements.tags().iter().copied());
        match HexMesh::new(coordinates, hexes, sets) {
            Ok(mesh) => {
                let wedges = mesh.n_wedges();
                if wedges > 0 {
                    notes.push(format!("wedges, read as hexahedra of six nodes: {wedges}"));
                }
                let notes = notes.iter().map(|note| printable(note)).collect();
                Ok(ImportedMesh { mesh, node_tags, element_tags, notes })
            }
            Err(error) => Err(explain(&error, &elements)
                .unwrap_or_else(|| by_tags(error, &node_tags, &element_tags))),
        }
    }
}

/// What to say of `count` nodes of a set that no hexahedron uses.
pub(crate) fn left_out_of_set(name: &str, count: usize) -> String {
    format!("{count} nodes of node set `{name}` were left out: they belong to no hexahedron")
}

/// Adds a node set; nodes that no hexahedron uses are left out with a note.
pub(crate) fn add_nodes(
    sets: &mut Sets,
    name: &str,
    mut members: Vec<u32>,
    notes: &mut Vec<String>,
) {
    let all = members.len();
    members.retain(|&node| node != UNUSED);
    if members.len() < all {
        notes.push(left_out_of_set(name, all - members.len()));
    }
    sets.nodes.insert(name.into(), members);
}

/// Where `tag` stands in the ascending `tags`; at once if they have no gaps.
fn position(tags: &[u64], tag: u64) -> Option<usize> {
    let guess = tag.checked_sub(*tags.first()?)? as usize;
    if tags.get(guess) == Some(&tag) { Some(guess) } else { tags.binary_search(&tag).ok() }
}

/// The same error, with the file's tags for nodes and elements.
fn by_tags(error: MeshError, node_tags: &[u64], element_tags: &[u64]) -> Fault {
    let node_tag = |node: u32| node_tags[node as usize];
    let element_tag = |element: u32| element_tags[element as usize];
    match error {
        MeshError::NotFinite { node, coordinates } => {
            Fault::NotFinite { node: node_tag(node), coordinates }
        }
        MeshError::RepeatedNode { element, node, count } => {
            Fault::RepeatedNode { element: element_tag(element), node: node_tag(node), count }
        }
        MeshError::Inverted { element, determinant, count } => {
            Fault::Inverted { element: element_tag(element), determinant, count }
        }
        other => Fault::Mesh(other),
    }
}
