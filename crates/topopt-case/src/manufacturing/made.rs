//! `Made`: a measure of a built part by a demand of its making.

use serde::{Deserialize, Serialize};
use topopt_mesh::numbers::{place, shown};

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
    /// Largest share that is accepted; none where the measure is for information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Whether the limit is kept.
    pub met: bool,
    /// Volume that misses the demand, and its first place; said of what is kept solid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Elements with cubes that miss the demand, one per cube, in the order of the problem.
    #[serde(skip)]
    pub cubes: Vec<u32>,
}

/// Volume that misses a demand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// Volume, in cubes of the unit of length.
    pub volume: f64,
    /// First place: of a part that is printed the lowest.
    pub at: [f64; 3],
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
    /// Volume of the part, with what is kept solid.
    Part,
}

/// Remedy where elements stay solid in the air.
pub(crate) const HOLD_UP: &str = "give another `build_direction`, leave them out of \
                                  `design.solid`, or free those at loads by \
                                  `design.keep_loaded = \"free\"`";

/// Largest share of the volume that may miss a demand: elements at a surface are cut anywhere.
const AT_MOST: f64 = 0.01;

impl Made {
    pub(super) fn new(measure: String, share: f64) -> Self {
        let (of, at_most, met) = (Whole::Volume, Some(AT_MOST), share <= AT_MOST);
        Self { measure, of, share, at_most, met, missing: None, cubes: Vec::new() }
    }

    /// Gives the elements in which cubes miss the demand, one per cube.
    pub(super) fn at(self, cubes: Vec<u32>) -> Self {
        Self { cubes, ..self }
    }

    /// Measures for information: `share` is that of the surface.
    pub(super) fn without_limit(measure: String, share: f64) -> Self {
        Self { at_most: None, met: true, ..Self::of_surface(measure, share) }
    }

    /// Measures what is kept solid: `share` is that of the part, and `missing` its volume.
    pub(super) fn of_part(measure: String, share: f64, missing: Option<Missing>) -> Self {
        Self { of: Whole::Part, missing, ..Self::new(measure, share) }
    }

    /// Measures widths: `share` is that of the surface.
    pub(super) fn of_surface(measure: String, share: f64) -> Self {
        Self { of: Whole::Surface, ..Self::new(measure, share) }
    }

    /// Measures voids: `share` is that of their volume.
    pub(super) fn of_void(measure: String, share: f64) -> Self {
        Self { of: Whole::Void, ..Self::new(measure, share) }
    }

    /// Returns measure, value and verdict if there is a limit, such as `0.3 % of the volume is
    /// undercut along the draw (at most 1 %: met)`.
    pub fn in_words(&self) -> String {
        let percent = |share: f64| shown((1e4 * share).round() / 1e2);
        let met = if self.met { "met" } else { "NOT MET" };
        let verdict = |most| format!(" (at most {} %: {met})", percent(most));
        let (share, verdict) = (percent(self.share), self.at_most.map_or(String::new(), verdict));
        let whole = match self.of {
            Whole::Volume => "volume",
            Whole::Surface => "surface",
            Whole::Void => "void",
            Whole::Part => "part",
        };
        let missing = self.missing.map_or(String::new(), |Missing { volume, at }| {
            format!(", a volume of {} from {} on", shown(volume), place(at))
        });
        format!("{share} % of the {whole} is {}{missing}{verdict}", self.measure)
    }

    /// Whether places that miss the demand are part of the picture of these.
    pub fn is_seen(&self) -> bool {
        self.share > 0.0 && matches!(self.of, Whole::Volume | Whole::Void) && self.at_most.is_some()
    }

    /// Warns of a limit that is not kept.
    pub fn warning(&self) -> Option<String> {
        let remedy = if self.of == Whole::Part { format!("; {HOLD_UP}") } else { String::new() };
        (!self.met).then(|| format!("of the built part {}{remedy}", self.in_words()))
    }
}
