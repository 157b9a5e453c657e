//! Objective and limits of a case, with the values that the last design of a run has.

use serde::{Deserialize, Serialize};
use topopt_mesh::numbers::shown;

use topopt_case::responses::posed::{Posed, PosedConstraint};

/// Objective of a case, and its value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ObjectiveFound {
    /// The response in words.
    pub response: String,
    /// `minimize` or `maximize`.
    pub goal: String,
    /// Value of the last design; none before the first iteration.
    pub value: Option<f64>,
}

/// A limit, and what the last design has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Limited {
    /// The response in words.
    pub response: String,
    /// The largest value allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The smallest value allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Value of the last design; none before the first iteration.
    pub value: Option<f64>,
    /// Whether it keeps the limit, to a thousandth.
    pub met: Option<bool>,
    /// Value with every design element solid, if solved before the run and beyond the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_part: Option<f64>,
}

impl ObjectiveFound {
    pub(crate) fn of(posed: &Posed, value: Option<f64>) -> Self {
        let goal = if posed.is_maximized { "maximize" } else { "minimize" };
        Self { response: posed.objective_label(), goal: goal.into(), value }
    }
}

impl Limited {
    pub(crate) fn of(
        constraint: &PosedConstraint,
        value: Option<f64>,
        full_part: Option<f64>,
    ) -> Self {
        let PosedConstraint { response, limit, is_upper, .. } = constraint;
        Self {
            response: response.label.clone(),
            at_most: is_upper.then_some(*limit),
            at_least: (!is_upper).then_some(*limit),
            value,
            met: value.map(|value| constraint.is_met(value)),
            full_part,
        }
    }

    /// A limit that is kept, for people.
    pub(crate) fn kept(&self) -> Option<String> {
        let value = shown(self.value.filter(|_| self.met == Some(true))?);
        Some(format!("{} {value}, {} allowed", self.response, self.limit()))
    }

    /// A limit that is missed, with why and what to do.
    pub(crate) fn missed(&self) -> Option<String> {
        let value = shown(self.value.filter(|_| self.met == Some(false))?);
        let why = match self.full_part {
            Some(full) => format!(
                "even the full part has {}; relax the limit, or change the part",
                shown(full)
            ),
            None => "allow more iterations or relax a limit".into(),
        };
        let (response, limit) = (&self.response, self.limit());
        Some(format!("{response} {value}, limit violated ({limit}): {why}"))
    }

    fn limit(&self) -> String {
        match (self.at_most, self.at_least) {
            (Some(limit), _) => format!("at most {}", shown(limit)),
            (None, limit) => format!("at least {}", shown(limit.unwrap_or(f64::NAN))),
        }
    }
}
