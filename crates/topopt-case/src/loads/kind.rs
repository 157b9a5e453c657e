//! `LoadKind`: a kind of load as a row of a table: its keys, its place and its nodal forces.

use topopt_fem::surface_load::NodalForces;

use crate::case_loads::Rotation;
pub use crate::config::Shape;
use crate::config::{Load, PhysicsKind};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// A kind of load: its keys, where it acts, and how it becomes forces on nodes.
pub struct LoadKind {
    /// Keys in the case file; the first one says how large the load is.
    pub keys: &'static [LoadKey],
    /// Physics with this load; none for a load of all physics.
    pub physics: Option<PhysicsKind>,
    /// Explanation after the key in a list of loads, such as ` (on each node)`.
    pub hint: &'static str,
    /// Nodes, faces or elements under the load.
    pub place: Place,
    /// Key that excludes this load, with message, label and remedy.
    pub never_with: Option<(&'static str, [&'static str; 3])>,
    /// Whether the forces add up to zero.
    pub is_moment: bool,
    /// Computes the forces on nodes; for heat, heat per time in the first component.
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
    /// Type of the value.
    pub shape: Shape,
    /// Label and remedy if the key is given without the first key of the kind.
    pub alone: [&'static str; 2],
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
    /// An elastic load without exclusions, moment or acceleration.
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

    /// Returns the key that gives the size of the load.
    pub fn key(&self) -> &'static str {
        self.keys[0].name
    }
}
