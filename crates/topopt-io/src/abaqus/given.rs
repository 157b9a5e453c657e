//! Supports, loads, couplings and materials as they stand in a file.

use super::sets::{Block, Item};

/// Nodes with a support or a force of one kind.
pub(super) struct Condition {
    /// The nodes; its name is that of the node set.
    pub block: Block,
    pub kind: ConditionKind,
    /// The step, if it stands in one.
    pub case: Option<String>,
}

/// What a condition says of its nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ConditionKind {
    /// Displaced by a value, or held if that is 0, in the directions from the first to the last, 0
    /// to 2.
    Held(usize, usize, f64),
    /// A force in a direction, 0 to 2, on each node.
    Force(usize, f64),
    /// A moment about a direction, 0 to 2.
    Moment(usize, f64),
}

/// A load on elements, faces or the whole part.
pub(super) struct Distributed {
    /// Elements, or the name of a surface.
    pub block: Block,
    pub kind: DistributedKind,
    pub case: String,
}

/// What a distributed load is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DistributedKind {
    /// Pressure on a face of each element, by its number from 1.
    Face(usize, f64),
    /// Pressure on a surface.
    Pressure(f64),
    /// Force per area on a surface.
    Traction([f64; 3]),
    /// Acceleration of elements.
    Gravity([f64; 3]),
    /// Rotation of elements: the square of the angular velocity, a point of the axis, and its
    /// direction.
    Centrifugal(f64, [f64; 3], [f64; 3]),
}

/// A reference node that a surface or a node set follows.
pub(super) struct Coupling {
    pub reference: Item,
    /// The surface or node set.
    pub name: String,
    /// Whether it makes the set rigid.
    pub is_rigid: bool,
}

/// A material.
#[derive(Default)]
pub(super) struct Material {
    pub name: String,
    pub elastic: Option<[f64; 2]>,
    pub density: Option<f64>,
}
