//! A response of the case file as data: its name, its keys and its limits.

use topopt_mesh::numbers::shown;

use crate::config::{Config, PhysicsKind, ResponseKeys};

/// A response as data.
pub struct ResponseKind {
    /// Name in the case file.
    pub name: &'static str,
    /// Description in the schema of the case file.
    pub text: &'static str,
    /// The physics that it belongs to; none if it belongs to all.
    pub physics: Option<PhysicsKind>,
    /// Whether it depends on the states, and so on the load case.
    pub is_of_states: bool,
    /// Purpose of the set of nodes that it needs, such as `to measure the displacement at`.
    pub measured_at: Option<&'static str>,
    /// Remedy where a set is given that it does not have.
    pub no_set: Option<&'static str>,
    /// Whether it takes a direction, and the remedy where it needs one.
    pub direction: Direction,
    /// Whether it is a p-norm that approximates a maximum.
    pub is_norm: fn(ResponseKeys) -> bool,
    /// Whether a limit of it may be zero or negative.
    pub has_sign: fn(ResponseKeys) -> bool,
    /// Remedy where a limit is not positive.
    pub positive: &'static str,
    /// Largest limit, with message and remedy for those above.
    pub most: Option<(f64, &'static str, &'static str)>,
    /// Whether it is a share of the design volume where it has no set.
    pub is_share: bool,
    /// Whether all materials need a mass.
    pub is_of_mass: bool,
    /// Whether it is the output of a mechanism, on which springs work.
    pub is_output: bool,
    /// Whether it is the work of the loads, which held values other than 0 do not count in.
    pub is_work: bool,
    /// Name in sentences, without set and load case.
    pub words: fn(ResponseKeys) -> &'static str,
    /// Reference value from which it counts.
    pub zero: fn(&Config) -> f64,
}

/// Use of the key `direction`.
pub enum Direction {
    /// A response without one.
    None,
    /// A response with or without one.
    Optional,
    /// A response that needs one, with the remedy.
    Needed(&'static str),
}

impl ResponseKind {
    /// A response to the loads of all physics, without keys of its own.
    pub(super) const fn new(
        name: &'static str,
        text: &'static str,
        words: fn(ResponseKeys) -> &'static str,
    ) -> Self {
        Self {
            name,
            text,
            physics: None,
            is_of_states: true,
            measured_at: None,
            no_set: None,
            direction: Direction::None,
            is_norm: |_| false,
            has_sign: |_| false,
            positive: "give a number above 0",
            most: None,
            is_share: false,
            is_of_mass: false,
            is_output: false,
            is_work: false,
            words,
            zero: |_| 0.0,
        }
    }

    /// Describes the response, such as `displacement of tip in down`; `case` names one load case of
    /// several.
    pub(super) fn label(&self, keys: ResponseKeys, case: Option<&str>) -> String {
        let mut label = (self.words)(keys).to_owned();
        if let Some(set) = keys.set {
            label += &format!(" of {}", set.get_ref());
        }
        if let Some(case) = case {
            label += &format!(" in {case}");
        }
        label
    }

    /// Message and remedy for a limit that nothing meets, or that everything does.
    pub(crate) fn bad_limit(&self, keys: ResponseKeys, limit: f64) -> Option<[String; 3]> {
        if limit <= 0.0 && !(self.has_sign)(keys) {
            let message = format!("the limit of the {} is not positive", self.name);
            return Some([message, "must be greater than 0".into(), self.positive.into()]);
        }
        let (most, message, remedy) = self.most.filter(|(most, ..)| limit > *most)?;
        Some([message.into(), format!("must be at most {}", shown(most)), remedy.into()])
    }
}
