//! Named sets of nodes, faces and elements.

use std::collections::{BTreeMap, BTreeSet};

use crate::hexahedron::distinct;

/// One face of one element: the element and the row of [`crate::hexahedron::FACES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Face {
    /// Element, from 0.
    pub element: u32,
    /// Local face, 0 to 5.
    pub local: u8,
}

/// What a named set holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetKind {
    /// Nodes.
    Node,
    /// Faces of elements.
    Face,
    /// Elements.
    Element,
}

impl SetKind {
    /// `node`, `face` or `element`.
    pub fn name(self) -> &'static str {
        match self {
            SetKind::Node => "node",
            SetKind::Face => "face",
            SetKind::Element => "element",
        }
    }
}

/// Named sets; a name may stand once in each kind. Entries are in the order of the source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sets {
    /// Node sets by name.
    pub nodes: BTreeMap<String, Vec<u32>>,
    /// Face sets by name.
    pub faces: BTreeMap<String, Vec<Face>>,
    /// Element sets by name.
    pub elements: BTreeMap<String, Vec<u32>>,
}

/// A set that was asked for by name and is not there.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{wanted} set `{name}` is not in the mesh; it has {}", list(.available))]
pub struct SetError {
    /// The name asked for.
    pub name: String,
    /// What was wanted, in words.
    pub wanted: &'static str,
    /// What there is: name and kind.
    pub available: Vec<(String, SetKind)>,
}

fn list(available: &[(String, SetKind)]) -> String {
    if available.is_empty() {
        return "no sets at all".into();
    }
    let names: Vec<_> = available.iter().map(|(n, k)| format!("`{n}` ({})", k.name())).collect();
    names.join(", ")
}

impl Sets {
    /// All sets as (name, kind, number of entries), by name.
    pub fn summary(&self) -> Vec<(String, SetKind, usize)> {
        let nodes = self.nodes.iter().map(|(n, s)| (n.clone(), SetKind::Node, s.len()));
        let faces = self.faces.iter().map(|(n, s)| (n.clone(), SetKind::Face, s.len()));
        let elements = self.elements.iter().map(|(n, s)| (n.clone(), SetKind::Element, s.len()));
        let mut all: Vec<_> = nodes.chain(faces).chain(elements).collect();
        all.sort();
        all
    }

    /// The element set `name`.
    ///
    /// # Errors
    /// [`SetError`] if there is none.
    pub fn element_set(&self, name: &str) -> Result<&[u32], SetError> {
        self.elements.get(name).map(Vec::as_slice).ok_or_else(|| self.missing(name, "element"))
    }

    /// The sorted nodes of everything called `name`: node set, nodes of a face set, nodes of an
    /// element set. `hexes` is the connectivity that faces and elements refer to.
    ///
    /// # Errors
    /// [`SetError`] if there is no set of that name.
    pub fn nodes_of(&self, name: &str, hexes: &[[u32; 8]]) -> Result<Vec<u32>, SetError> {
        let mut nodes = BTreeSet::new();
        let mut found = false;
        if let Some(set) = self.nodes.get(name) {
            found = true;
            nodes.extend(set);
        }
        if let Some(set) = self.faces.get(name) {
            found = true;
            nodes.extend(set.iter().flat_map(|face| face.nodes(hexes)));
        }
        if let Some(set) = self.elements.get(name) {
            found = true;
            nodes.extend(set.iter().flat_map(|&e| hexes[e as usize]));
        }
        if found {
            Ok(nodes.into_iter().collect())
        } else {
            Err(self.missing(name, "node, face or element"))
        }
    }

    fn missing(&self, name: &str, wanted: &'static str) -> SetError {
        let available = self.summary().into_iter().map(|(n, k, _)| (n, k)).collect();
        SetError { name: name.into(), wanted, available }
    }
}

impl Face {
    /// The four nodes of the face, counter-clockwise seen from outside. That of a wedge may be a
    /// triangle, with one node twice, or collapsed to an edge.
    pub fn nodes(self, hexes: &[[u32; 8]]) -> [u32; 4] {
        let hex = &hexes[self.element as usize];
        crate::hexahedron::FACES[self.local as usize].map(|a| hex[a])
    }

    /// The same for all faces with the same set of nodes: increasing, then [`u32::MAX`].
    pub fn key(nodes: [u32; 4]) -> [u32; 4] {
        let mut key = [u32::MAX; 4];
        key.iter_mut().zip(distinct(&nodes)).for_each(|(key, node)| *key = node);
        key.sort_unstable();
        key
    }
}
