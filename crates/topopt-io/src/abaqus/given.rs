//! Steps, amplitudes, supports, loads, couplings and springs as they stand in a file.

use super::lines::capitals;
use super::sets::{Block, Item};
use crate::quote::printable;
use crate::values::interpolated;

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

    /// The displacement, temperature, force, heat or moment.
    pub fn value(&self) -> f64 {
        match *self {
            Self::Held(.., value) | Self::Force(_, value) | Self::Moment(_, value) => value,
            Self::HeldRotation => 0.0,
        }
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

/// *SPRING: the elements, their directions, from 0, and stiffness.
pub(super) struct Springs {
    pub block: Block,
    pub directions: Vec<usize>,
    pub stiffness: f64,
}

/// A step of a deck.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Name of its load case.
    pub name: String,
    pub procedure: Procedure,
    /// Length in time.
    pub period: f64,
    /// Keywords whose earlier entries the step removes, by `OP=NEW`.
    pub released: Vec<&'static str>,
}

/// A kind of computation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Procedure {
    /// Not said, or not known.
    Other,
    Static,
    /// Heat, steady.
    Heat,
    /// Heat in time, by steps of a length.
    HeatInTime(f64),
}

/// A factor over time.
#[derive(Debug, Clone, Default)]
pub(super) struct Amplitude {
    /// In capitals.
    pub name: String,
    /// Whether its times are those of all steps, and not of one.
    pub is_total: bool,
    /// Times, increasing, and factors.
    pub points: Vec<[f64; 2]>,
    /// Reason why it is not understood.
    pub not_understood: Option<String>,
}

impl Amplitude {
    /// The factor at `time`.
    fn at(&self, time: f64) -> f64 {
        interpolated(&self.points, time).unwrap_or(1.0)
    }
}

impl Step {
    /// A step of this name.
    pub fn new(name: String) -> Self {
        Self { name, procedure: Procedure::Other, period: 1.0, released: Vec::new() }
    }

    /// Whether it computes temperatures.
    pub fn is_heat(&self) -> bool {
        matches!(self.procedure, Procedure::Heat | Procedure::HeatInTime(_))
    }
}

/// The factor of `amplitude` at the end of step `s`, or of step `own` if its times are those of one
/// step; why not, if it is not understood.
pub(super) fn factor(
    (steps, amplitudes): (&[Step], &[Amplitude]),
    amplitude: Option<&str>,
    [own, s]: [usize; 2],
) -> Result<f64, String> {
    let Some(name) = amplitude else { return Ok(1.0) };
    let Some(amplitude) = amplitudes.iter().find(|a| a.name == capitals(name)) else {
        return Err(format!("amplitude `{}`, which is not defined", printable(name)));
    };
    if let Some(why) = &amplitude.not_understood {
        return Err(why.clone());
    }
    let during = if amplitude.is_total { 0..=s } else { own..=own };
    let time = match steps.get(during) {
        Some(steps) => steps.iter().map(|step| step.period).sum(),
        None => 1.0,
    };
    Ok(amplitude.at(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_those_at_the_end_of_steps() {
        let period = |period| Step { period, ..Step::new(String::new()) };
        let steps = [period(1.0), period(2.0)];
        let points = vec![[0.0, 0.0], [1.0, 0.5], [2.0, 0.75]];
        let amplitudes = [false, true].map(|is_total| Amplitude {
            name: is_total.to_string().to_uppercase(),
            is_total,
            points: points.clone(),
            not_understood: None,
        });
        let at = |name, s| factor((&steps, &amplitudes), name, [s, s]).unwrap();
        assert_eq!([at(None, 0), at(Some("false"), 0), at(Some("false"), 1)], [1.0, 0.5, 0.75]);
        assert_eq!([at(Some("true"), 0), at(Some("true"), 1)], [0.5, 0.75]);
        // A load of the first step keeps its factor in the second.
        let kept = |name| factor((&steps, &amplitudes), Some(name), [0, 1]).unwrap();
        assert_eq!([kept("false"), kept("true")], [0.5, 0.75]);
        assert!(factor((&steps, &amplitudes), Some("x"), [0, 0]).is_err());
        let between = Amplitude { points: vec![[0.0, 1.0], [4.0, 3.0]], ..Amplitude::default() };
        assert_eq!(between.at(1.0), 1.5);
    }
}
