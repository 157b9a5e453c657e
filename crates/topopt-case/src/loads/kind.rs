//! A kind of load as data, with what it does to the nodes of a set.

use topopt_fem::surface_load::NodalForces;

use crate::case_loads::Rotation;
use crate::config::{Load, PhysicsKind};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// A kind of load.
pub struct LoadKind {
    /// Keys in the case file; the first one says how large the load is.
    pub keys: &'static [LoadKey],
    /// The physics that it belongs to; none if it belongs to all.
    pub physics: Option<PhysicsKind>,
    /// Explanation after its key in a list of loads, such as ` (on each node)`.
    pub hint: &'static str,
    /// Nodes, faces or elements that it acts on.
    pub place: Place,
    /// Message, label and remedy where a key of another kind is given beside it.
    pub never_with: Option<(&'static str, [&'static str; 3])>,
    /// Whether its forces add up to zero.
    pub is_moment: bool,
    /// Forces on nodes; of heat, heat per time in the first component.
    pub on_nodes: fn(&Lookup, &Load, &mut Vec<Finding>) -> NodalForces,
    /// Acceleration of the whole part.
    pub on_mass: fn(&Load) -> Option<OnMass>,
}

/// A key of a load.
pub struct LoadKey {
    /// Name in the case file.
    pub name: &'static str,
    /// Description in the schema of the case file.
    pub text: &'static str,
    /// Type of its value.
    pub shape: Shape,
    /// Label and remedy where it is given without the first key of its kind.
    pub alone: [&'static str; 2],
}

/// Type of a value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A text.
    Text,
    /// A kind of sets.
    SetKind,
    /// A number.
    Number,
    /// A list of three numbers.
    Vector,
    /// True or false.
    Flag,
    /// A list of pairs of numbers.
    Table,
}

/// Nodes, faces or elements that a load acts on.
pub enum Place {
    /// Each node of a set.
    Nodes,
    /// A set as a whole: its faces, if it has any, else its nodes.
    Set,
    /// Faces of a set: what it is, such as `a load per area`, and the key to take without faces.
    Faces(&'static str, &'static str),
    /// Elements of a set, or of the whole part.
    Elements,
    /// The mass of the whole part; the load in a sentence, such as `gravity`.
    WholePart(&'static str),
}

/// Acceleration of mass.
#[derive(Debug, Clone, Copy)]
pub enum OnMass {
    /// Acceleration by gravity.
    Gravity([f64; 3]),
    /// Acceleration by a rotation.
    Rotation(Rotation),
}

impl LoadKey {
    /// A key that gives a load its size.
    pub(super) const fn new(name: &'static str, shape: Shape, text: &'static str) -> Self {
        Self { name, text, shape, alone: ["", ""] }
    }
}

impl LoadKind {
    /// A load on each node of a set by forces.
    pub(super) const fn new(
        keys: &'static [LoadKey],
        hint: &'static str,
        place: Place,
        on_nodes: fn(&Lookup, &Load, &mut Vec<Finding>) -> NodalForces,
    ) -> Self {
        Self {
            keys,
            physics: Some(PhysicsKind::Elasticity),
            hint,
            place,
            never_with: None,
            is_moment: false,
            on_nodes,
            on_mass: |_| None,
        }
    }

    /// Returns the key that says how large it is.
    pub fn key(&self) -> &'static str {
        self.keys[0].name
    }
}
