//! The solid of a file: its cells, cut into hexahedra where they must be, or tetrahedra that are
//! kept, and its sets.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use topopt_mesh::cells::{Cells, Cut, CutError, NO_NODE, Shape};
use topopt_mesh::{Face, HexMesh, MeshError, Sets};

use crate::deck::Deck;
use crate::elements::{Elements, edges_of_middles, only_bricks_and_wedges};
use crate::file_sets::{CellFace, FileSets};
use crate::import::{Cutting, ImportedMesh, Nodes, UncutCells, position};
use crate::notes;
use crate::quote::printable;
use crate::read_error::Fault;

/// The solid cells of a file between its nodes, and the hexahedra they become.
pub(crate) struct Part {
    /// The elements of the file, and which of them are kept.
    pub elements: Elements,
    /// Cells that are kept, by the positions of their nodes among those of the file.
    pub cells: Cells,
    /// Tags of the nodes of the file, ascending.
    pub node_tags: Vec<u64>,
    /// The ends of the edge that each node of the file is in the middle of, or [`NO_NODE`]; empty
    /// if no cell has nodes in the middle of edges.
    edges: Vec<[u32; 2]>,
    cut: Cut,
    /// For every node of the file, and then those of the cut, whether a hexahedron uses it.
    is_used: Vec<bool>,
    /// Elements whose nodes were counted the wrong way round, ascending.
    turned: Vec<usize>,
}

/// The place that a node of a file has in the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    /// A hexahedron uses it.
    Node,
    /// Middle of the edge between these nodes, left out: each bears half, exact in sum and moment.
    Edge([u32; 2]),
    /// No solid has it.
    Nowhere,
}

impl Part {
    /// The solid of `cells`, between `nodes` by position. `tags`, `[n_cells]`, must ascend; of
    /// cells of the same corners one is kept.
    ///
    /// # Errors
    /// Elements of one tag, cells with a corner twice, more than 32 bits can number, and cells that
    /// must be cut where that is refused, and a node in the middles of two edges.
    pub fn new(
        nodes: Nodes,
        tags: Vec<u64>,
        mut cells: Cells,
        cutting: Cutting,
    ) -> Result<Self, Fault> {
        if tags.len() >= NO_NODE as usize {
            return Err(Fault::Mesh(MeshError::TooLarge(tags.len())));
        }
        let elements = Elements::once(tags, &mut cells)?;
        let turned = cells.turn_left_handed(&nodes.coordinates);
        let are_kept = cutting.keeps_tetrahedra() && only_tetrahedra(&cells);
        if cutting.refuses() && !are_kept {
            only_bricks_and_wedges(&cells, &elements)?;
        }

        let node_tags = nodes.tags;
        let edges = edges_of_middles(&cells, &elements, &node_tags)?;
        let cut = if are_kept { Cut::keeping_tetrahedra } else { Cut::of };
        let cut = cut(&cells, nodes.coordinates).map_err(|error| match error {
            CutError::TooLarge(count) => Fault::Mesh(MeshError::TooLarge(count)),
            CutError::Repeated { cell, node, count } => Fault::RepeatedNode {
                element: elements.tag(cell as u32),
                node: node_tags[node as usize],
                count,
            },
        })?;

        let mut is_used = vec![false; cut.coordinates.len()];
        for &node in cut.hexes.as_flattened().iter().chain(cut.tetrahedra.as_flattened()) {
            is_used[node as usize] = true;
        }
        Ok(Self { elements, cells, node_tags, edges, cut, is_used, turned })
    }

    /// Returns the position of the node `tag` among those of the file, if it is there.
    pub fn node(&self, tag: u64) -> Option<u32> {
        position(&self.node_tags, tag).map(|at| at as u32)
    }

    /// Coordinates of the node of the file at a position.
    pub fn given_place(&self, position: u32) -> [f64; 3] {
        self.cut.coordinates[position as usize]
    }

    /// Whether a hexahedron uses the node at a position.
    pub fn is_used(&self, position: u32) -> bool {
        self.is_used[position as usize]
    }

    /// How many nodes of the file the mesh uses.
    pub fn n_used(&self) -> usize {
        self.is_used[..self.node_tags.len()].iter().filter(|is_used| **is_used).count()
    }

    /// The place in the mesh of the node of the file at a position.
    pub fn stand(&self, position: u32) -> Stand {
        match self.edges.get(position as usize) {
            _ if self.is_used(position) => Stand::Node,
            Some(&ends) if ends != [NO_NODE; 2] => Stand::Edge(ends),
            _ => Stand::Nowhere,
        }
    }

    /// Whether a solid has the node at a position, be it in the middle of an edge that is straight here.
    pub fn is_of_solid(&self, position: u32) -> bool {
        self.stand(position) != Stand::Nowhere
    }

    /// Returns the position of the node `tag`, if a solid has it.
    pub fn node_of_solid(&self, tag: u64) -> Option<u32> {
        self.node(tag).filter(|position| self.is_of_solid(*position))
    }

    /// Returns the nodes that bear a load on the node at a position, with their shares: itself, or
    /// in equal shares the ends of the edge in whose middle it is, if no hexahedron uses it.
    pub fn shares(&self, position: u32) -> Vec<(u32, f64)> {
        match self.stand(position) {
            Stand::Edge([a, b]) => vec![(a, 0.5), (b, 0.5)],
            Stand::Node | Stand::Nowhere => vec![(position, 1.0)],
        }
    }

    /// Splits `forces`, by position of the node, among the nodes that [share](Part::shares) them.
    pub fn shared(&self, forces: &BTreeMap<u32, [f64; 3]>) -> BTreeMap<u32, [f64; 3]> {
        let mut shared = BTreeMap::<u32, [f64; 3]>::new();
        for (&position, force) in forces {
            for (node, share) in self.shares(position) {
                let sum = shared.entry(node).or_default();
                (0..3).for_each(|i| sum[i] += share * force[i]);
            }
        }
        shared
    }

    /// Notes which nodes the supports of `deck` on `sets` hold beyond the file: the ends of edges
    /// whose middles alone it holds.
    pub fn say_held_edges(&self, sets: &FileSets, deck: &mut Deck) {
        for support in &deck.supports {
            let Some(members) = sets.nodes.get(&support.set) else { continue };
            let (ends, n_middles) = self.ends_of_middles(members);
            if !ends.is_empty() {
                deck.lost.push(format!(
                    "the support `{}` holds nodes in the middle of edges whose ends it does not hold \
                     ({n_middles}): the elements here have no such nodes, and the ends are held in \
                     their place ({}), which is stiffer",
                    support.set,
                    ends.len()
                ));
            }
        }
    }

    /// The ends of edges whose middles, which are left out, are `members`, as far as they are no
    /// members themselves, and how many middles have such ends.
    fn ends_of_middles(&self, members: &[u32]) -> (BTreeSet<u32>, usize) {
        let mut middles = Vec::new();
        for &member in members {
            if let Stand::Edge(ends) = self.stand(member) {
                middles.push(ends);
            }
        }
        if middles.is_empty() {
            return (BTreeSet::new(), 0);
        }
        let members: HashSet<u32> = members.iter().copied().collect();
        let is_new = |end: &u32| !members.contains(end);
        let n_middles = middles.iter().filter(|ends| ends.iter().any(is_new)).count();
        (middles.into_iter().flatten().filter(is_new).collect(), n_middles)
    }

    /// The face of the cell of a `given` element with these corners, three or four different
    /// positions in any order; none if it has no such face.
    pub fn face(&self, given: u32, corners: &[u32]) -> Option<CellFace> {
        let (cell, key) = (self.elements.number(given), Face::key_of(corners));
        let of_cell = self.cells.get(cell as usize);
        let faces = of_cell.shape.faces().iter();
        let mut keys = faces.map(|face| of_cell.face_key(face));
        keys.any(|other| other == key).then_some(CellFace { cell, key })
    }

    /// Returns the value of every hexahedron from those of the given elements, `[n_given]`.
    pub fn of_hexahedra(&self, values: Vec<f64>) -> Vec<f64> {
        let of_cells = self.elements.kept_of(values.into_iter());
        let of_cell = |(cell, value)| std::iter::repeat_n(value, self.cut.elements_of(cell).len());
        of_cells.into_iter().enumerate().flat_map(of_cell).collect()
    }

    /// The mesh with its `sets`; an empty set is noted, an error names tags of the file.
    pub fn into_mesh(self, sets: FileSets, notes: Vec<String>) -> Result<ImportedMesh, Fault> {
        self.into_mesh_or(sets, notes, |_, _| None)
    }

    /// Builds the mesh with its `sets`; `explain` may know more of an error at a given element.
    pub fn into_mesh_or(
        self,
        sets: FileSets,
        mut notes: Vec<String>,
        explain: impl FnOnce(&MeshError, &dyn Fn(u32) -> (u32, u64)) -> Option<Fault>,
    ) -> Result<ImportedMesh, Fault> {
        notes.extend(self.note_on_nodes());
        notes.extend(self.note_on_turned());
        let faces =
            sets.numbered.iter().map(|(&number, faces)| (number, self.faces_of(faces))).collect();
        let sets = self.sets(sets, &mut notes);
        let empty = sets.summary().into_iter().filter(|(.., entries)| *entries == 0);
        notes.extend(empty.map(|(name, kind, _)| format!("{} set `{name}` is empty", kind.name())));

        let of_cell = |cell| std::iter::repeat_n(cell as u32, self.cut.elements_of(cell).len());
        let of_elements: Vec<u32> = (0..self.cells.len()).flat_map(of_cell).collect();
        let element_tags: Vec<u64> =
            of_elements.iter().map(|&cell| self.elements.tag(cell)).collect();
        let (node_tags, uncut) = (self.tags_of_used_nodes(), self.uncut(&of_elements));

        let Self { elements, cells, cut, is_used, .. } = self;
        let (was_cut, straightened, moved) = (cut.n_cut(), cut.n_straightened, cut.moved);
        notes.extend(notes::on_tetrahedra(&cells, &cut));
        notes.extend(notes::on_order(&cells, &cut));
        notes.extend((moved.count > 0).then(|| notes::on_moved(moved)));
        notes.extend(notes::on_pyramids(&cells, &cut));

        match mesh_of(cut, &is_used, sets) {
            Ok(mesh) => {
                notes.extend(notes::on_wedges(&mesh));
                if let Some(uncut) = &uncut {
                    notes.insert(0, notes::on_cut(uncut, &mesh, was_cut, straightened));
                }
                let notes = notes.iter().map(|note| printable(note)).collect();
                let deck = Deck::default();
                let remarks = Vec::new();
                Ok(ImportedMesh {
                    mesh,
                    node_tags,
                    element_tags,
                    notes,
                    remarks,
                    uncut,
                    faces,
                    deck,
                })
            }
            Err(error) => {
                let given = |element: u32| {
                    let cell = of_elements[element as usize];
                    (elements.given(cell), elements.tag(cell))
                };
                let explained = explain(&error, &given);
                Err(explained.unwrap_or_else(|| Fault::by_tags(error, &node_tags, &element_tags)))
            }
        }
    }

    /// The cells as they are, with the cell of every element, if any of them was cut.
    fn uncut(&self, of_elements: &[u32]) -> Option<UncutCells> {
        let n_nodes = self.node_tags.len();
        (self.cut.n_cut() > 0).then(|| UncutCells {
            coordinates: self.cut.coordinates[..n_nodes].to_vec(),
            nodes: numbers(&self.is_used)[..n_nodes].to_vec(),
            cells: self.cells.clone(),
            tags: (0..self.cells.len()).map(|cell| self.elements.tag(cell as u32)).collect(),
            of_elements: of_elements.to_vec(),
        })
    }

    /// Tags of the nodes that hexahedra use: those of the cut get the numbers behind those of the file.
    fn tags_of_used_nodes(&self) -> Vec<u64> {
        let last = self.node_tags.last().copied().unwrap_or(0);
        let n_added = (self.is_used.len() - self.node_tags.len()) as u64;
        let added = (1..=n_added).map(|i| last.saturating_add(i));
        let tags = self.node_tags.iter().copied().chain(added).zip(&self.is_used);
        tags.filter(|(_, used)| **used).map(|(tag, _)| tag).collect()
    }

    /// The sets by nodes, hexahedra and their faces.
    fn sets(&self, of_file: FileSets, notes: &mut Vec<String>) -> Sets {
        let numbers = numbers(&self.is_used);
        let mut sets = Sets::default();
        for (name, mut members) in of_file.nodes {
            let is_nowhere = |node: &&u32| self.stand(**node) == Stand::Nowhere;
            let left_out = members.iter().filter(is_nowhere).count();
            if left_out > 0 {
                notes.push(notes::left_out_of_set(&name, left_out));
            }
            let (ends, n_middles) = self.ends_of_middles(&members);
            if !ends.is_empty() {
                notes.push(notes::ends_of_set(&name, n_middles, ends.len()));
                members.extend(ends);
                members.sort_unstable();
            }
            let has_more = self.cut.n_cut() > 0 || !self.cut.tetrahedra.is_empty();
            let grows = has_more && !of_file.as_listed.contains(&name);
            let added = if grows { self.middles_of(&members) } else { Vec::new() };
            let members = members.into_iter().chain(added);
            let used = members.map(|node| numbers[node as usize]).filter(|node| *node != NO_NODE);
            sets.nodes.insert(name, used.collect());
        }

        for (name, faces) in of_file.faces {
            sets.faces.insert(name, self.faces_of(&faces));
        }

        for (name, given) in of_file.elements {
            let elements = |given: u32| self.cut.elements_of(self.elements.number(given) as usize);
            let mut members: Vec<u32> = given.into_iter().flat_map(elements).collect();
            members.sort_unstable();
            members.dedup();
            sets.elements.insert(name, members);
        }
        sets
    }

    /// The faces of elements on faces of cells.
    fn faces_of(&self, faces: &[CellFace]) -> Vec<Face> {
        let of_cell = |&CellFace { cell, key }: &CellFace| {
            let corners = &key[..key.iter().take_while(|node| **node != NO_NODE).count()];
            self.cut.faces_of(cell as usize, &self.cells.get(cell as usize), corners)
        };
        faces.iter().flat_map(of_cell).collect()
    }

    /// The nodes in the middle of edges, faces and cells whose corners are all `members`.
    fn middles_of(&self, members: &[u32]) -> Vec<u32> {
        let mut chosen = vec![false; self.is_used.len()];
        members.iter().for_each(|&node| chosen[node as usize] = true);
        let given = chosen.clone();
        self.cut.add_middles(&self.cells, &mut chosen);
        (0..chosen.len()).filter(|&i| chosen[i] && !given[i]).map(|i| i as u32).collect()
    }

    /// Returns the note on left-handed elements, if there are any.
    fn note_on_turned(&self) -> Option<String> {
        let first = self.elements.tag(*self.turned.first()? as u32);
        let count = self.turned.len();
        Some(format!(
            "left-handed elements, whose nodes were reordered: {count}, the first is {first}"
        ))
    }

    /// Returns the note on nodes of the file that no solid element uses, if there are any.
    fn note_on_nodes(&self) -> Option<String> {
        let of_file = &self.is_used[..self.node_tags.len()];
        // A middle of second order that a cell does not need is no loose node.
        let mut loose: Vec<bool> = of_file.iter().map(|used| !used).collect();
        for node in self.cells.iter().flat_map(|cell| cell.middles) {
            if let Some(loose) = loose.get_mut(*node as usize) {
                *loose = false;
            }
        }
        let dropped = loose.into_iter().filter(|loose| *loose).count();
        let neither = "of a solid element nor in the middle of an edge";
        match dropped {
            0 => None,
            1 => Some(format!("1 node was left out: it is neither a corner {neither}")),
            _ => Some(format!("{dropped} nodes were left out: each is neither a corner {neither}")),
        }
    }
}

/// The numbers of the nodes that are used; [`NO_NODE`] for the others.
fn numbers(is_used: &[bool]) -> Vec<u32> {
    let mut next = 0;
    let number = |used: &bool| {
        next += u32::from(*used);
        if *used { next - 1 } else { NO_NODE }
    };
    is_used.iter().map(number).collect()
}

/// Whether there are cells, and all are tetrahedra.
fn only_tetrahedra(cells: &Cells) -> bool {
    !cells.is_empty() && cells.shapes().iter().all(|shape| *shape == Shape::Tetrahedron)
}

/// The mesh of hexahedra or of tetrahedra by the nodes that are used.
fn mesh_of(cut: Cut, is_used: &[bool], sets: Sets) -> Result<HexMesh, MeshError> {
    let Cut { mut coordinates, mut hexes, mut tetrahedra, .. } = cut;
    if is_used.contains(&false) {
        let numbers = numbers(is_used);
        let nodes = hexes.as_flattened_mut().iter_mut().chain(tetrahedra.as_flattened_mut());
        nodes.for_each(|node| *node = numbers[*node as usize]);
        let mut used = is_used.iter();
        coordinates.retain(|_| used.next().copied().unwrap_or(false));
    }
    match tetrahedra.is_empty() {
        true => HexMesh::new(coordinates, hexes, sets),
        false => HexMesh::of_tetrahedra(coordinates, tetrahedra, sets),
    }
}
