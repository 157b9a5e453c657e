//! Nodes of faces and of named sets.

use crate::cells::Shape;
use crate::sets::{Face, SetError, SetKind, Sets};
use crate::{HexMesh, hexahedron, tetrahedron};

impl Face {
    /// The four corners of the face, counter-clockwise seen from outside. That of a wedge may be a
    /// triangle, with one node twice, or collapsed to an edge; that of a tetrahedron has its last
    /// corner twice.
    pub fn nodes(self, mesh: &HexMesh) -> [u32; 4] {
        if mesh.shape() == Shape::Tetrahedron {
            let [a, b, c, ..] = self.nodes_of_triangle(mesh);
            return [a, b, c, c];
        }
        let hex = &mesh.hexes()[self.element as usize];
        hexahedron::FACES[self.local as usize].map(|a| hex[a])
    }

    /// The six nodes of a face of a tetrahedron: its corners, counter-clockwise seen from outside,
    /// and the middles of the edges after each of them.
    pub fn nodes_of_triangle(self, mesh: &HexMesh) -> [u32; 6] {
        let nodes = mesh.element(self.element as usize);
        tetrahedron::FACES[self.local as usize].map(|a| nodes[a])
    }

    /// All nodes of the face: its corners, and in the middles of its edges if it has any.
    pub fn all_nodes(self, mesh: &HexMesh) -> impl Iterator<Item = u32> + use<> {
        let is_triangle = mesh.shape() == Shape::Tetrahedron;
        let middles =
            if is_triangle { self.nodes_of_triangle(mesh)[3..].to_vec() } else { Vec::new() };
        self.nodes(mesh).into_iter().chain(middles)
    }
}

impl Sets {
    /// The sorted nodes of the set `name`. Where it is of several kinds the most specific one is
    /// taken: what a preprocessor names as nodes and as the elements behind them is meant as nodes.
    /// `mesh` has the faces and elements that sets refer to.
    ///
    /// # Errors
    /// [`SetError`] if there is no set of that name.
    pub fn nodes_of(&self, name: &str, mesh: &HexMesh) -> Result<Vec<u32>, SetError> {
        if let Some(&(kind, _)) = self.kinds_of(name).first() {
            return self.nodes_of_kind(name, kind, mesh);
        }
        let is_there = self.summary().iter().any(|(known, ..)| known == name);
        if is_there { Ok(Vec::new()) } else { Err(self.missing(name, "node, face or element")) }
    }

    /// Returns the sorted nodes of the set `name` of one `kind`; see [`Sets::nodes_of`].
    ///
    /// # Errors
    /// [`SetError`] if there is no such set.
    pub fn nodes_of_kind(
        &self,
        name: &str,
        kind: SetKind,
        mesh: &HexMesh,
    ) -> Result<Vec<u32>, SetError> {
        let nodes = match kind {
            SetKind::Node => self.nodes.get(name).cloned(),
            SetKind::Face => self
                .faces
                .get(name)
                .map(|set| set.iter().flat_map(|face| face.all_nodes(mesh)).collect()),
            SetKind::Element => self
                .elements
                .get(name)
                .map(|set| set.iter().flat_map(|&e| mesh.element(e as usize)).copied().collect()),
        };
        let mut nodes: Vec<u32> = nodes.ok_or_else(|| self.missing(name, kind.name()))?;
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_name_the_most_specific_kind_is_taken() {
        let hexes = vec![[0, 1, 2, 3, 4, 5, 6, 7]];
        let mesh = HexMesh::new(hexahedron::NODES.to_vec(), hexes, Sets::default()).unwrap();
        let mut sets = Sets::default();
        sets.elements.insert("a".into(), vec![0]);
        assert_eq!(sets.nodes_of("a", &mesh).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        sets.faces.insert("a".into(), vec![Face { element: 0, local: 4 }]);
        assert_eq!(sets.nodes_of("a", &mesh).unwrap(), [0, 1, 2, 3]);
        sets.nodes.insert("a".into(), Vec::new());
        assert_eq!(sets.nodes_of("a", &mesh).unwrap(), [0, 1, 2, 3], "an empty set is none");
        sets.nodes.insert("a".into(), vec![3, 1]);
        assert_eq!(sets.nodes_of("a", &mesh).unwrap(), [1, 3]);
        let kinds = [(SetKind::Node, 2), (SetKind::Face, 1), (SetKind::Element, 1)];
        assert_eq!(sets.kinds_of("a"), kinds);
        let of_kind = |kind| sets.nodes_of_kind("a", kind, &mesh).unwrap().len();
        assert_eq!([SetKind::Node, SetKind::Face, SetKind::Element].map(of_kind), [2, 4, 8]);
        assert!(sets.nodes_of_kind("b", SetKind::Node, &mesh).is_err());
    }

    #[test]
    fn an_empty_set_is_there_and_an_unknown_one_is_not() {
        let sets = Sets { nodes: [("a".into(), Vec::new())].into(), ..Sets::default() };
        let mesh = HexMesh::of_part(Shape::Hexahedron, Vec::new(), Vec::new());
        assert_eq!(sets.nodes_of("a", &mesh).unwrap(), []);
        let error = sets.nodes_of("b", &mesh).unwrap_err();
        assert_eq!(
            error.to_string(),
            "node, face or element set `b` is not in the mesh; it has `a` (node)"
        );
    }
}
