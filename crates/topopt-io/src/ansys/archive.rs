//! `Archive`: the content of an Ansys archive, before anything is made of it.

use std::collections::BTreeMap;

use super::lines::Lines;
use crate::values::interpolated;

/// The model in an Ansys archive, by the numbers of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Archive {
    /// The element types of the file by their numbers in it.
    pub element_types: BTreeMap<u32, ElementType>,
    /// Nodes, `[n_nodes]`, in the order of the file.
    pub node_tags: Vec<u32>,
    /// Their coordinates, `[n_nodes][3]`.
    pub coordinates: Vec<[f64; 3]>,
    /// Nodes with a rotated coordinate system: the angles THXY, THYZ and THZX in degrees, none
    /// where the file does not give them (NROTAT).
    pub rotated_nodes: BTreeMap<u32, Option<[f64; 3]>>,
    /// Elements of every type, in the order of the file.
    pub elements: Vec<Element>,
    /// Nodes of all elements, one element after the other.
    pub connectivity: Vec<u32>,
    /// Node components by name.
    pub node_components: BTreeMap<String, Ranges>,
    /// Element components by name.
    pub element_components: BTreeMap<String, Ranges>,
    /// Material properties by material and label (EX, NUXY, PRXY, DENS and others).
    pub materials: BTreeMap<u32, BTreeMap<&'static str, Property>>,
    /// Tables of material behavior (TB) by material, each as `TB,BISO (line 7)`.
    pub behaviors: BTreeMap<u32, Vec<String>>,
    /// Elastic matrices (TB,ANEL) by material.
    pub anisotropic: BTreeMap<u32, Anisotropic>,
    /// The temperature of the part, by which properties are taken (TUNIF, BFUNIF, else TREF).
    pub temperature: Temperatures,
    /// Whether elements have coordinate systems of their own (ESYS).
    pub has_element_systems: bool,
    /// Whether a material expands with the temperature (ALPX and the like).
    pub expands: bool,
    /// Displacements given at nodes (D) in x, y and z.
    pub displacements: BTreeMap<u32, [Option<Held>; 3]>,
    /// Temperatures given at nodes (D).
    pub temperatures: BTreeMap<u32, Held>,
    /// Forces at nodes (F).
    pub forces: BTreeMap<u32, [f64; 3]>,
    /// Heat into nodes (F).
    pub heats: BTreeMap<u32, f64>,
    /// Loads on faces (SFE, SF).
    pub surfaces: BTreeMap<FaceLabel, CornerValues>,
    /// Temperatures of nodes by which elements expand (BF).
    pub body_temperatures: BTreeMap<u32, f64>,
    /// Heat per volume of elements (BFE).
    pub sources: BTreeMap<u32, CornerValues>,
    /// Acceleration of the ground (ACEL).
    pub acceleration: [f64; 3],
    /// Whether inertia balances the loads (IRLF,1).
    pub inertia_relief: bool,
    /// Angular velocity about the axes through the origin (OMEGA), radians per time.
    pub rotation: [f64; 3],
    /// Rigid regions (CERIG).
    pub rigid: Vec<Rigid>,
    /// First real constants (R) by their number: the stiffness of springs.
    pub reals: BTreeMap<u32, f64>,
    /// Commands with a meaning for the model that were passed over: how often, and the first line.
    pub passed_over: BTreeMap<String, (usize, usize)>,
}

/// Numbers from the first to the last of each pair.
pub type Ranges = Vec<(u32, u32)>;

/// An element type of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ElementType {
    /// Number of the type in Ansys' element library, such as 185 for SOLID185.
    pub number: u32,
    /// The values of its first three key options, 0 if none are given.
    pub keys: [u32; 3],
}

/// An element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Number of the element.
    pub tag: u32,
    /// The number of its type in the file, a key of [`Archive::element_types`].
    pub kind: u32,
    /// The number of its material.
    pub material: u32,
    /// The number of its real constants.
    pub real: u32,
    /// Start of the nodes in [`Archive::connectivity`].
    pub first: usize,
    /// Number of nodes.
    pub n_nodes: usize,
}

/// A material property.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Property {
    /// First value of the property.
    pub value: f64,
    /// Whether more follow, for other temperatures.
    pub varies: bool,
    /// The table of temperatures and values (MPDATA) from which it is taken.
    pub table: Vec<[f64; 2]>,
    /// The coefficients of a polynomial of the temperature (MP) from which it is taken.
    pub polynomial: Vec<f64>,
}

/// A table of 21 elastic constants (TB,ANEL).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Anisotropic {
    /// Upper triangle of the matrix by rows, with components as xx, yy, zz, xy, yz, xz.
    pub constants: [f64; 21],
    /// Constants up to the last one that is given.
    pub n_given: usize,
    /// Whether it is the matrix from stresses to strains.
    pub is_compliance: bool,
    /// Whether it has constants of several temperatures.
    pub has_several: bool,
    /// The line of the command.
    pub line: usize,
}

/// Temperatures of the whole part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Temperatures {
    /// TUNIF or BFUNIF.
    pub uniform: Option<f64>,
    /// TREF.
    pub reference: f64,
}

/// A displacement or temperature given at a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// The value.
    pub value: f64,
    /// Whether the command named all directions at once.
    pub by_all: bool,
}

/// Quantity that is given on faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surface {
    /// Pressure; positive pushes.
    Pressure,
    /// Heat per area.
    HeatFlux,
    /// Film coefficient.
    Film,
    /// Temperature of the ambient of a film.
    Ambient,
}

/// A face: what is given there, the element and the number of the face, from 1.
pub type FaceLabel = (Surface, u32, u32);

/// Values at the corners of a face or an element; one is the value of all.
pub type CornerValues = Vec<f64>;

/// A rigid region.
#[derive(Debug, Clone, PartialEq)]
pub struct Rigid {
    /// The node that moves it.
    pub master: u32,
    /// Nodes that move with it.
    pub slaves: Vec<u32>,
    /// The line of the command.
    pub line: usize,
}

impl Property {
    /// The value at a temperature: linear in a table, and constant beyond its ends.
    pub fn at(&self, temperature: f64) -> f64 {
        if !self.polynomial.is_empty() {
            return self.polynomial.iter().rev().fold(0.0, |sum, c| sum * temperature + c);
        }
        interpolated(&self.table, temperature).unwrap_or(self.value)
    }
}

impl Temperatures {
    /// The temperature at which properties are taken.
    pub fn of_part(&self) -> f64 {
        self.uniform.unwrap_or(self.reference)
    }
}

impl Archive {
    /// The nodes of an element.
    pub fn nodes_of(&self, element: &Element) -> &[u32] {
        &self.connectivity[element.first..][..element.n_nodes]
    }

    /// Turns the coordinate systems of all nodes by angles that the file does not give.
    pub(super) fn rotate_unknown(&mut self) {
        self.rotated_nodes.extend(self.node_tags.iter().map(|tag| (*tag, None)));
    }

    /// Counts a command that is not read, at the line read last.
    pub(super) fn pass_over(&mut self, what: &str, lines: &Lines) {
        self.pass_over_at(what, lines.number());
    }

    /// Counts a command that is not read, at a line.
    pub(super) fn pass_over_at(&mut self, what: &str, line: usize) {
        self.passed_over.entry(what.into()).or_insert((0, line)).0 += 1;
    }
}
