//! The keys of `[objective]` and `[[constraints]]`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::select::SelectKind;

/// Declares a table with the keys of a response, after its own.
macro_rules! with_response_keys {
    ($(#[$meta:meta])* $name:ident { $($own:tt)* } $(#[$case:meta])* case) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($own)*
            /// Set of a displacement, a volume or a mass: nodes, faces or elements.
            #[schemars(with = "Option<String>")]
            pub set: Option<Spanned<String>>,
            /// Kind of the set if several have this name: nodes, faces or elements. When left out,
            /// the first kind that exists.
            pub kind: Option<SelectKind>,
            /// Direction [x, y, z] of a displacement, of any length: the response is the mean of the
            /// component along it. Without a direction it is the largest displacement of the set.
            #[schemars(with = "Option<[f64; 3]>")]
            pub direction: Option<Spanned<[f64; 3]>>,
            $(#[$case])*
            #[schemars(with = "Option<String>")]
            pub case: Option<Spanned<String>>,
            /// Exponent p of the p-norm that approximates the largest displacement of a set; 30 by
            /// default.
            #[schemars(with = "Option<f64>", extend("minimum" = 2, "maximum" = 200))]
            pub exponent: Option<Spanned<f64>>,
            /// For heat in time: whether the response at the end counts, which is the default, or
            /// its mean over time.
            #[schemars(with = "Option<TimeOf>")]
            pub time: Option<Spanned<TimeOf>>,
        }

        impl $name {
            fn keys_of<'a>(&'a self, name: &'a Spanned<ResponseName>) -> ResponseKeys<'a> {
                ResponseKeys {
                    name,
                    set: self.set.as_ref(),
                    kind: self.kind,
                    direction: self.direction.as_ref(),
                    case: self.case.as_ref(),
                    exponent: self.exponent.as_ref(),
                    time: self.time.as_ref(),
                }
            }
        }
    };
}

with_response_keys! {
    /// What is minimized or maximized: exactly one of `minimize` and `maximize`. Without this table
    /// it is the compliance that is minimized.
    Objective {
        /// The response that is minimized.
        #[schemars(with = "Option<ResponseName>")]
        pub minimize: Option<Spanned<ResponseName>>,
        /// The response that is maximized.
        #[schemars(with = "Option<ResponseName>")]
        pub maximize: Option<Spanned<ResponseName>>,
        /// Whether the worst load case counts, with the weights of the load cases, in place of
        /// their sum.
        #[schemars(with = "Option<bool>")]
        pub worst_case: Option<Spanned<bool>>,
    }
    /// The load case of the response. A compliance without one is the sum of all with their
    /// weights.
    case
}

with_response_keys! {
    /// A limit of a response: exactly one of `at_most` and `at_least`.
    Constraint {
        /// The response.
        #[schemars(with = "ResponseName")]
        pub response: Spanned<ResponseName>,
        /// The largest value that it may have.
        #[schemars(with = "Option<f64>")]
        pub at_most: Option<Spanned<f64>>,
        /// The smallest value that it may have.
        #[schemars(with = "Option<f64>")]
        pub at_least: Option<Spanned<f64>>,
    }
    /// The load case of the response. A compliance without one is the sum of all with their
    /// weights; a displacement without one has the limit in every load case.
    case
}

/// Name of a response; see [`crate::responses`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseName(pub String);

/// When a response counts, of heat in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeOf {
    /// At the end.
    #[default]
    End,
    /// The mean over time.
    Mean,
}

/// Response with its keys, of an objective or of a constraint.
#[derive(Debug, Clone, Copy)]
pub struct ResponseKeys<'a> {
    /// The response, with its place.
    pub name: &'a Spanned<ResponseName>,
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

impl ResponseName {
    /// Returns the name `name`, which has no place in the case file.
    pub(crate) fn spanned(name: &str) -> Spanned<Self> {
        Spanned::new(0..0, Self(name.into()))
    }
}

impl<'a> ResponseKeys<'a> {
    /// Returns the response `name` without other keys.
    pub(crate) fn of(name: &'a Spanned<ResponseName>) -> Self {
        let (set, kind, direction, case) = (None, None, None, None);
        Self { name, set, kind, direction, case, exponent: None, time: None }
    }

    /// Returns the exponent, `default` where it is left out.
    pub(crate) fn exponent_or(&self, default: f64) -> f64 {
        self.exponent.map_or(default, |exponent| *exponent.get_ref())
    }
}

impl Objective {
    /// Returns the response and keys; a case file that was read has a response.
    pub fn keys(&self) -> Option<ResponseKeys<'_>> {
        Some(self.keys_of(self.minimize.as_ref().or(self.maximize.as_ref())?))
    }

    /// Whether the worst load case counts.
    pub fn is_worst_case(&self) -> bool {
        self.worst_case.as_ref().is_some_and(|worst| *worst.get_ref())
    }
}

impl Constraint {
    /// Returns the response and keys.
    pub fn keys(&self) -> ResponseKeys<'_> {
        self.keys_of(&self.response)
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
