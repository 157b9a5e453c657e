//! What stands in an archive, before anything is made of it.

use std::collections::BTreeMap;

use super::lines::Lines;

/// The model in an Ansys archive, by the numbers of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Archive {
    /// The element types of the file by their numbers in it.
    pub element_types: BTreeMap<u32, ElementType>,
    /// Nodes, `[n_nodes]`, in the order of the file.
    pub node_tags: Vec<u32>,
    /// Their coordinates, `[n_nodes][3]`.
    pub coordinates: Vec<[f64; 3]>,
    /// Nodes with a rotated coordinate system, in the order of the file.
    pub rotated_nodes: Vec<u32>,
    /// Elements of every type, in the order of the file.
    pub elements: Vec<Element>,
    /// Nodes of all elements, one element after the other.
    pub connectivity: Vec<u32>,
    /// Node components by name.
    pub node_components: BTreeMap<String, Ranges>,
    /// Element components by name.
    pub element_components: BTreeMap<String, Ranges>,
    /// Material properties by material and label (EX, NUXY, PRXY, DENS).
    pub materials: BTreeMap<u32, BTreeMap<&'static str, Property>>,
    /// Displacements given at nodes (D), in the order of the file.
    pub displacements: Vec<NodalValue>,
    /// Forces at nodes (F), in the order of the file.
    pub forces: Vec<NodalValue>,
    /// Pressures on faces (SFE), in the order of the file.
    pub pressures: Vec<FacePressure>,
    /// Acceleration of the ground (ACEL).
    pub acceleration: [f64; 3],
    /// Angular velocity about the axes through the origin (OMEGA), radians per time.
    pub rotation: [f64; 3],
    /// Commands with a meaning for the model that were passed over: how often, and the first line.
    pub passed_over: BTreeMap<String, (usize, usize)>,
}

/// Numbers from the first to the last of each pair.
pub type Ranges = Vec<(u32, u32)>;

/// An element type of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ElementType {
    /// Its number in Ansys' element library, such as 185 for SOLID185.
    pub number: u32,
    /// The value of its first key option, 0 if none is given.
    pub first_key: u32,
}

/// An element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Its number.
    pub tag: u32,
    /// The number of its type in the file, a key of [`Archive::element_types`].
    pub kind: u32,
    /// The number of its material.
    pub material: u32,
    /// Where its nodes begin in [`Archive::connectivity`].
    pub first: usize,
    /// How many nodes it has.
    pub n_nodes: usize,
}

/// A material property.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Property {
    /// Its first value.
    pub value: f64,
    /// Whether more follow, for other temperatures.
    pub varies: bool,
}

/// A displacement or force at a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodalValue {
    /// The node.
    pub node: u32,
    /// The direction, 0 to 2; `None` for all.
    pub axis: Option<usize>,
    /// The value.
    pub value: f64,
}

/// A pressure on a face of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FacePressure {
    /// The element.
    pub element: u32,
    /// The number of the face, from 1.
    pub face: u32,
    /// The pressure; positive pushes.
    pub value: f64,
}

impl Archive {
    /// The nodes of an element.
    pub fn nodes_of(&self, element: &Element) -> &[u32] {
        &self.connectivity[element.first..][..element.n_nodes]
    }

    /// Counts a command that is not read, at the line read last.
    pub(super) fn pass_over(&mut self, what: &str, lines: &Lines) {
        self.passed_over.entry(what.into()).or_insert((0, lines.number())).0 += 1;
    }
}
