//! Responses of a case: a file per response, and a line of each table below.

mod at_nodes;
mod compliance;
mod displacement;
pub mod form;
pub mod kind;
mod mass;
pub(crate) mod measures;
pub mod own;
pub mod posed;
mod posing;
mod temperature;
mod volume;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use topopt_linalg::{BackendError, Pointwise};

use crate::config::{Config, ResponseKeys, ResponseName};
use crate::finding::Finding;
use crate::lookup::Lookup;
use form::{Measure, Measured, Numbers, Part, PosedForm};
use kind::ResponseKind;

/// Declares the enum of the forms that responses take on a mesh.
macro_rules! forms {
    ($($form:ident: $of:path,)*) => {
        /// Form of a response on a mesh, with nodes and elements in the user's numbering.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        pub enum Form {
            $(#[doc = concat!("Form declared as `", stringify!($of), "`.")] $form($of),)*
        }

        impl Form {
            /// Returns the form behind its trait.
            pub fn posed(&self) -> &dyn PosedForm {
                match self { $(Self::$form(form) => form,)* }
            }

            fn numbers(&mut self) -> Option<Numbers<'_>> {
                match self { $(Self::$form(form) => form.numbers(),)* }
            }

            /// Measures the response on a backend; it counts from `zero`.
            ///
            /// # Errors
            /// [`BackendError`] if the device has no room.
            pub fn measure<'a, B: Pointwise + Sync + 'a>(
                &self,
                part: Part<'a>,
                backend: &B,
                zero: f64,
            ) -> Result<Measure<'a, B>, BackendError> {
                match self { $(Self::$form(form) => form.measure(part, backend, zero),)* }
            }
        }

        $(impl From<$of> for Form {
            fn from(form: $of) -> Self {
                Self::$form(form)
            }
        })*
    };
}

forms! {
    Compliance: compliance::Compliance,
    Volume: volume::Volume,
    Mass: mass::Mass,
    AtNodes: at_nodes::AtNodes,
    Own: own::Own,
}

/// Builds the forms of a response: one of all load cases where none is given, else one for each.
type Pose = fn(&Lookup, ResponseKeys, &[usize], &mut Vec<Finding>) -> Vec<Form>;

/// Declares the table of responses.
macro_rules! responses {
    ($($kind:path, $pose:path;)*) => {
        static RESPONSES: [(ResponseKind, Pose); [$(stringify!($kind)),*].len()] = [
            $(($kind, |lookup, keys, cases, findings| {
                $pose(lookup, keys, cases, findings).into_iter().map(Form::from).collect()
            }),)*
        ];
    };
}

responses! {
    compliance::COMPLIANCE, compliance::pose;
    volume::VOLUME, volume::pose;
    mass::MASS, mass::pose;
    displacement::DISPLACEMENT, displacement::pose;
    displacement::OUTPUT_DISPLACEMENT, displacement::pose_output;
    temperature::MEAN_TEMPERATURE, temperature::pose_mean;
    temperature::LARGEST_TEMPERATURE, temperature::pose_largest;
}

/// Returns all responses of the case file.
pub fn kinds() -> impl Iterator<Item = &'static ResponseKind> {
    RESPONSES.iter().map(|(kind, _)| kind)
}

/// Returns the response of `keys`, whose name the schema has checked, with the way to its forms.
fn row(keys: ResponseKeys) -> &'static (ResponseKind, Pose) {
    let name = &keys.name.get_ref().0;
    let found = RESPONSES.iter().find(|(kind, _)| kind.name == name);
    found.expect("the schema of the case file knows the responses")
}

/// Returns the response of `keys`.
pub(crate) fn kind(keys: ResponseKeys) -> &'static ResponseKind {
    &row(keys).0
}

impl Config {
    /// Returns the responses that the case asks for, the objective first.
    pub(crate) fn responses(&self) -> impl Iterator<Item = ResponseKeys<'_>> + Clone {
        let limited = self.constraints.iter().map(|constraint| constraint.keys());
        self.objective.iter().filter_map(|objective| objective.keys()).chain(limited)
    }

    /// Whether a response is of the mass, which all materials then need.
    pub(crate) fn measures_mass(&self) -> bool {
        self.responses().any(|keys| kind(keys).is_of_mass)
    }
}

impl JsonSchema for ResponseName {
    fn schema_name() -> Cow<'static, str> {
        "ResponseName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let choice = |kind: &ResponseKind| -> Value {
            json_schema!({ "description": kind.text, "type": "string", "const": kind.name }).into()
        };
        let choices: Vec<Value> = kinds().map(choice).collect();
        json_schema!({ "oneOf": choices })
    }
}
