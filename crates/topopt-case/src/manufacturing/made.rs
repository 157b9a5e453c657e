//! `Made`: a measure of a built part by a demand of its making.

use serde::{Deserialize, Serialize};
use topopt_mesh::numbers::shown;

/// Measure of a built part, with its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Meaning of the measure, such as `lost when it is printed at 50 degrees`.
    pub measure: String,
    /// Amount that the share is of: the volume of the design elements that are solid, or void, or
    /// the surface.
    #[serde(default)]
    pub of: Whole,
    /// Share that misses the demand.
    pub share: f64,
    /// Largest share that is accepted.
    pub at_most: f64,
    /// Whether the limit is kept.
    pub met: bool,
}

/// Amount that a measure is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whole {
    /// Volume of the design elements that are solid.
    #[default]
    Volume,
    /// Surface of the part.
    Surface,
    /// Volume of the design elements that are void.
    Void,
}

/// Largest share of the volume that may miss a demand: elements at a surface are cut anywhere.
const AT_MOST: f64 = 0.01;

impl Made {
    pub(super) fn new(measure: String, share: f64) -> Self {
        let (of, at_most) = (Whole::Volume, AT_MOST);
        Self { measure, of, share, at_most, met: share <= at_most }
    }

    /// Measures widths: `share` is that of the surface.
    pub(super) fn of_surface(measure: String, share: f64) -> Self {
        Self { of: Whole::Surface, ..Self::new(measure, share) }
    }

    /// Measures voids: `share` is that of their volume.
    pub(super) fn of_void(measure: String, share: f64) -> Self {
        Self { of: Whole::Void, ..Self::new(measure, share) }
    }

    /// Returns measure, value and verdict, such as `0.3 % of the volume is undercut along the draw
    /// (at most 1 %: met)`.
    pub fn in_words(&self) -> String {
        let percent = |share: f64| shown((1e4 * share).round() / 1e2);
        let met = if self.met { "met" } else { "NOT MET" };
        let [share, most] = [self.share, self.at_most].map(percent);
        let whole = match self.of {
            Whole::Volume => "volume",
            Whole::Surface => "surface",
            Whole::Void => "void",
        };
        format!("{share} % of the {whole} is {} (at most {most} %: {met})", self.measure)
    }

    /// Warns of a limit that is not kept.
    pub fn warning(&self) -> Option<String> {
        (!self.met).then(|| format!("of the built part {}", self.in_words()))
    }
}
