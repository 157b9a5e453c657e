//! Supports, loads, couplings and materials as they stand in a file.

use super::sets::{Block, Item};

/// Nodes with a support or a force of one kind.
pub(super) struct Condition {
    /// The nodes; its name is that of the node set.
    pub block: Block,
    pub kind: ConditionKind,
    pub when: When,
}

/// Time and strength of a load or support.
#[derive(Debug, Clone, Default)]
pub(super) struct When {
    /// The step by its order, if it stands in one.
    pub step: Option<usize>,
    /// The amplitude that it is multiplied with.
    pub amplitude: Option<String>,
}

/// Kind and values of a condition at nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ConditionKind {
    /// Displaced by a value, or held if that is 0, in the directions from the first to the last, 0
    /// to 2; of [`HEAT`] a temperature.
    Held(usize, usize, f64),
    /// A force in a direction, 0 to 2, on each node; of [`HEAT`] a heat flow.
    Force(usize, f64),
    /// A moment about a direction, 0 to 2.
    Moment(usize, f64),
    /// Rotations that are held, which only a reference node has.
    HeldRotation,
}

impl ConditionKind {
    /// Whether it is a force, a moment or a heat flow.
    pub fn is_load(&self) -> bool {
        matches!(self, Self::Force(..) | Self::Moment(..))
    }
}

/// The direction of temperatures, from 0.
pub(super) const HEAT: usize = 10;

/// A load on elements, faces or the whole part.
pub(super) struct Distributed {
    /// Elements, or the name of a surface.
    pub block: Block,
    pub kind: DistributedKind,
    pub when: When,
}

/// Kind and values of a distributed load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DistributedKind {
    /// On a face of each element, by its number from 1.
    Face(usize, OnFaces),
    /// On a surface.
    Surface(OnFaces),
    /// Acceleration of elements.
    Gravity([f64; 3]),
    /// Rotation of elements: the square of the angular velocity, a point of the axis, and its
    /// direction.
    Centrifugal(f64, [f64; 3], [f64; 3]),
    /// Heat per time and volume of elements.
    Source(f64),
}

/// A load per area of faces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OnFaces {
    Pressure(f64),
    /// Force per area.
    Traction([f64; 3]),
    /// Heat per time and area.
    Flux(f64),
    /// The film coefficient and the temperature of the ambient.
    Film(f64, f64),
}

impl DistributedKind {
    /// Gravity or rotation with forces that are `factor` times as large; other loads as they are.
    pub fn times(self, factor: f64) -> Self {
        match self {
            Self::Gravity(acceleration) => Self::Gravity(acceleration.map(|a| factor * a)),
            Self::Centrifugal(square, center, axis) => {
                Self::Centrifugal(factor * square, center, axis)
            }
            other => other,
        }
    }

    /// Whether it is heat.
    pub fn is_heat(&self) -> bool {
        match self {
            Self::Face(_, on) | Self::Surface(on) => {
                matches!(on, OnFaces::Flux(_) | OnFaces::Film(..))
            }
            Self::Source(_) => true,
            Self::Gravity(_) | Self::Centrifugal(..) => false,
        }
    }
}

/// A reference node that a surface or a node set follows.
pub(super) struct Coupling {
    pub reference: Item,
    /// A second node that has the rotations.
    pub rotation: Option<Item>,
    /// The surface or node set, as it is written and for comparison.
    pub name: String,
    pub key: String,
    /// Whether it makes the set rigid.
    pub is_rigid: bool,
    /// Keyword and line.
    pub at: String,
}

/// A material.
#[derive(Default)]
pub(super) struct Material {
    pub name: String,
    pub elastic: Option<[f64; 2]>,
    pub density: Option<f64>,
    pub conductivity: Vec<f64>,
    pub specific_heat: Option<f64>,
    /// Words on elasticity or conductivity that are not understood.
    pub not_understood: Option<String>,
}

/// *SPRING: the elements, their directions, from 0, and stiffness.
pub(super) struct Springs {
    pub block: Block,
    pub directions: Vec<usize>,
    pub stiffness: f64,
}
