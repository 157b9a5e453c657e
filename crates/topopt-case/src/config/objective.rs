//! The keys of `[objective]` and `[[constraints]]`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::select::SelectKind;

/// What is minimized or maximized: exactly one of `minimize` and `maximize`. Without this table it
/// is the compliance that is minimized.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// The response that is minimized.
    #[schemars(with = "Option<Quantity>")]
    pub minimize: Option<Spanned<Quantity>>,
    /// The response that is maximized.
    #[schemars(with = "Option<Quantity>")]
    pub maximize: Option<Spanned<Quantity>>,
    /// The set that a displacement, a volume or a mass is of: nodes, faces or elements.
    #[schemars(with = "Option<String>")]
    pub set: Option<Spanned<String>>,
    /// Which set is meant where several have this name: of nodes, faces or elements. When left out,
    /// the first kind that exists.
    pub kind: Option<SelectKind>,
    /// Direction [x, y, z] of a displacement, of any length: the response is the mean of the
    /// component along it. Without a direction it is the largest displacement of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub direction: Option<Spanned<[f64; 3]>>,
    /// The load case of the response. A compliance without one is the sum of all with their
    /// weights.
    #[schemars(with = "Option<String>")]
    pub case: Option<Spanned<String>>,
    /// Exponent p of the p-norm that stands for the largest displacement of a set; 30 by default.
    #[schemars(with = "Option<f64>", extend("minimum" = 2, "maximum" = 200))]
    pub exponent: Option<Spanned<f64>>,
    /// Of heat in time: whether the response at the end counts, which is the default, or its mean over
    /// time.
    #[schemars(with = "Option<TimeOf>")]
    pub time: Option<Spanned<TimeOf>>,
    /// Whether the worst load case counts, with the weights of the load cases, in place of their
    /// sum.
    #[schemars(with = "Option<bool>")]
    pub worst_case: Option<Spanned<bool>>,
}

/// A limit of a response: exactly one of `at_most` and `at_least`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    /// The response.
    #[schemars(with = "Quantity")]
    pub response: Spanned<Quantity>,
    /// The largest value that it may have.
    #[schemars(with = "Option<f64>")]
    pub at_most: Option<Spanned<f64>>,
    /// The smallest value that it may have.
    #[schemars(with = "Option<f64>")]
    pub at_least: Option<Spanned<f64>>,
    /// The set that a displacement, a volume or a mass is of: nodes, faces or elements.
    #[schemars(with = "Option<String>")]
    pub set: Option<Spanned<String>>,
    /// Which set is meant where several have this name: of nodes, faces or elements. When left out,
    /// the first kind that exists.
    pub kind: Option<SelectKind>,
    /// Direction [x, y, z] of a displacement, of any length: the response is the mean of the
    /// component along it. Without a direction it is the largest displacement of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub direction: Option<Spanned<[f64; 3]>>,
    /// The load case of the response. A compliance without one is the sum of all with their
    /// weights; a displacement without one has the limit in every load case.
    #[schemars(with = "Option<String>")]
    pub case: Option<Spanned<String>>,
    /// Exponent p of the p-norm that stands for the largest displacement of a set; 30 by default.
    #[schemars(with = "Option<f64>", extend("minimum" = 2, "maximum" = 200))]
    pub exponent: Option<Spanned<f64>>,
    /// Of heat in time: whether the response at the end counts, which is the default, or its mean over
    /// time.
    #[schemars(with = "Option<TimeOf>")]
    pub time: Option<Spanned<TimeOf>>,
}

/// When a response counts, of heat in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeOf {
    /// At the end.
    #[default]
    End,
    /// As a mean over time.
    Mean,
}

/// A response: what a design is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The compliance (force times length).
    Compliance,
    /// Share of the design volume that material fills; of a set, share of its volume.
    Volume,
    /// Mass of the part, or of the elements of a set. All materials need a `mass_density`.
    Mass,
    /// Displacement of a set (length).
    Displacement,
    /// The same of the output of a mechanism: a set with springs, which stand for what it works on.
    OutputDisplacement,
    /// Mean temperature of a set.
    MeanTemperature,
    /// Largest temperature of a set, in place of which a p-norm stands.
    LargestTemperature,
}

/// Response with its keys, of an objective or of a constraint.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The response, with its place.
    pub quantity: &'a Spanned<Quantity>,
    /// The set that it is of.
    pub set: Option<&'a Spanned<String>>,
    /// Kind of the set that is meant where several have this name.
    pub kind: Option<SelectKind>,
    /// Direction of a displacement.
    pub direction: Option<&'a Spanned<[f64; 3]>>,
    /// The load case.
    pub case: Option<&'a Spanned<String>>,
    /// Exponent of the p-norm.
    pub exponent: Option<&'a Spanned<f64>>,
    /// When it counts, of heat in time.
    pub time: Option<&'a Spanned<TimeOf>>,
}

impl Quantity {
    /// Returns the name of the quantity in the case file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compliance => "compliance",
            Self::Volume => "volume",
            Self::Mass => "mass",
            Self::Displacement => "displacement",
            Self::OutputDisplacement => "output_displacement",
            Self::MeanTemperature => "mean_temperature",
            Self::LargestTemperature => "largest_temperature",
        }
    }

    /// Whether it depends on the displacements, and so on the load case.
    pub fn is_of_states(self) -> bool {
        !matches!(self, Self::Volume | Self::Mass)
    }

    /// Whether it is of the states at a set of nodes.
    pub fn is_at_set(self) -> bool {
        self.is_displacement() || self.is_temperature()
    }

    /// Whether it is a temperature of a set.
    pub fn is_temperature(self) -> bool {
        matches!(self, Self::MeanTemperature | Self::LargestTemperature)
    }

    /// Whether it is a displacement of a set.
    pub fn is_displacement(self) -> bool {
        matches!(self, Self::Displacement | Self::OutputDisplacement)
    }
}

impl Objective {
    /// Returns the response and keys; a case file that was read has a response.
    pub fn judged(&self) -> Option<Judged<'_>> {
        let Self { set, kind, direction, case, exponent, time, .. } = self;
        Some(Judged {
            quantity: self.minimize.as_ref().or(self.maximize.as_ref())?,
            set: set.as_ref(),
            kind: *kind,
            direction: direction.as_ref(),
            case: case.as_ref(),
            exponent: exponent.as_ref(),
            time: time.as_ref(),
        })
    }

    /// Whether the worst load case counts.
    pub fn is_worst_case(&self) -> bool {
        self.worst_case.as_ref().is_some_and(|worst| *worst.get_ref())
    }
}

impl Constraint {
    /// Returns the response and keys.
    pub fn judged(&self) -> Judged<'_> {
        let Self { response, set, kind, direction, case, exponent, time, .. } = self;
        Judged {
            quantity: response,
            set: set.as_ref(),
            kind: *kind,
            direction: direction.as_ref(),
            case: case.as_ref(),
            exponent: exponent.as_ref(),
            time: time.as_ref(),
        }
    }

    /// The limit, and whether it is the largest value allowed; a case file that was read has one.
    pub fn limit(&self) -> (f64, bool) {
        let limit = self.at_most.as_ref().or(self.at_least.as_ref());
        (limit.map_or(f64::INFINITY, |limit| *limit.get_ref()), self.at_most.is_some())
    }

    /// Place of the limit.
    pub fn limit_span(&self) -> Range<usize> {
        let limit = self.at_most.as_ref().or(self.at_least.as_ref());
        limit.map_or_else(|| self.response.span(), |limit| limit.span())
    }
}

impl Judged<'_> {
    /// Whether it is the volume of all design elements.
    pub fn is_whole_volume(&self) -> bool {
        *self.quantity.get_ref() == Quantity::Volume && self.set.is_none()
    }

    /// Whether it is the compliance of all load cases with their weights.
    pub fn is_whole_compliance(&self) -> bool {
        *self.quantity.get_ref() == Quantity::Compliance && self.case.is_none()
    }

    /// Returns the response in words, such as `displacement of tip in down`; `case` names one load
    /// case of several.
    pub fn label(&self, case: Option<&str>) -> String {
        let quantity = *self.quantity.get_ref();
        let is_largest = quantity.is_displacement() && self.direction.is_none();
        let mut label = if is_largest { "largest ".to_owned() } else { String::new() };
        label += &quantity.name().replace('_', " ");
        if let Some(set) = self.set {
            label += &format!(" of {}", set.get_ref());
        }
        if let Some(case) = case {
            label += &format!(" in {case}");
        }
        label
    }
}
