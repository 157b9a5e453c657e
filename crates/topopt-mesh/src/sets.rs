//! Named sets of nodes, faces and elements.

use std::collections::BTreeMap;

use crate::hexahedron::distinct;

/// One face of one element: the element and the row of [`crate::hexahedron::FACES`] or
/// [`crate::tetrahedron::FACES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Face {
    /// Element, from 0.
    pub element: u32,
    /// Local face, 0 to 5, or to 3 of a tetrahedron.
    pub local: u8,
}

/// Kind of the entries of a named set, ordered from the most specific kind on.
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
    /// Kinds of set that were asked for, in words: `element`.
    pub wanted: &'static str,
    /// Name and kind of every set of the mesh.
    pub available: Vec<(String, SetKind)>,
}

fn list(available: &[(String, SetKind)]) -> String {
    if available.is_empty() {
        return "no sets".into();
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

    /// The kinds in which there is a set `name` with entries, and how many these are, from the most
    /// specific kind on.
    pub fn kinds_of(&self, name: &str) -> Vec<(SetKind, usize)> {
        let kinds = [
            (SetKind::Node, self.nodes.get(name).map(Vec::len)),
            (SetKind::Face, self.faces.get(name).map(Vec::len)),
            (SetKind::Element, self.elements.get(name).map(Vec::len)),
        ];
        let present = kinds.into_iter().filter_map(|(kind, n)| Some((kind, n?)));
        present.filter(|(_, n)| *n > 0).collect()
    }

    pub(crate) fn missing(&self, name: &str, wanted: &'static str) -> SetError {
        let available = self.summary().into_iter().map(|(n, k, _)| (n, k)).collect();
        SetError { name: name.into(), wanted, available }
    }
}

impl Face {
    /// Returns the key of all faces with the same set of nodes: increasing, then [`u32::MAX`].
    pub fn key(nodes: [u32; 4]) -> [u32; 4] {
        // Without branches: every second one would be mispredicted.
        let [a, b, c, d] = nodes;
        let (low, high) = ([a.min(b), c.min(d)], [a.max(b), c.max(d)]);
        let middle = [low[0].max(low[1]), high[0].min(high[1])];
        let [second, third] = [middle[0].min(middle[1]), middle[0].max(middle[1])];
        let sorted = [low[0].min(low[1]), second, third, high[0].max(high[1])];
        if sorted[0] < second && second < third && third < sorted[3] {
            return sorted;
        }

        let mut key = [u32::MAX; 4];
        key.iter_mut().zip(distinct(&sorted)).for_each(|(key, node)| *key = node);
        key
    }

    /// [`Face::key`] of the three or four corners of a face, in any order.
    pub fn key_of(corners: &[u32]) -> [u32; 4] {
        Self::key([0, 1, 2, 3].map(|i: usize| corners[i.min(corners.len() - 1)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_increasing_nodes() {
        for code in 0..256 {
            let nodes = [0, 2, 4, 6].map(|shift| code >> shift & 3);
            let mut expected =
                [0, 1, 2, 3].map(|node| if nodes.contains(&node) { node } else { u32::MAX });
            expected.sort_unstable();
            assert_eq!(Face::key(nodes), expected);
        }
    }
}
