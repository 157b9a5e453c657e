//! Objective and limits of a design, with their values in the built shape.

use serde::{Deserialize, Serialize};
use topopt_analysis::Moment;
use topopt_case::config::PhysicsKind;
use topopt_case::finding::{Finding, InputError};
use topopt_case::manufacturing::Made;
use topopt_case::model::Model;
use topopt_case::responses::form::Measure;
use topopt_case::responses::posed::{PosedConstraint, PosedResponse};
use topopt_linalg::Cpu;
use topopt_mesh::numbers::shown;

use super::built::Built;
use super::carried::Carried;
use super::compared::Compared;
use super::shape::Shape;
use crate::computer::Solvable;
use crate::failure::Failure;
use crate::summary::Summary;

/// Objective and limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Objective in both designs.
    pub objective: VerifiedObjective,
    /// Responses with a limit.
    pub constraints: Vec<VerifiedLimit>,
    /// Whether the built shape keeps all limits, to a thousandth, and what its making demands; none
    /// where there is neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits_met: Option<bool>,
}

/// Objective of the run, with its values in both designs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifiedObjective {
    /// The response in words.
    pub response: String,
    /// `minimize` or `maximize`.
    pub goal: String,
    /// Both designs.
    #[serde(flatten)]
    pub compared: Compared,
    /// The true maximum in the built shape, where the response is a p-norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<f64>,
}

/// A response with its limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifiedLimit {
    /// The response in words.
    pub response: String,
    /// Both designs.
    #[serde(flatten)]
    pub compared: Compared,
    /// The true maximum in the built shape, where the response is a p-norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<f64>,
    /// The largest value allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The smallest value allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Whether the built shape keeps it, to a thousandth: by the true largest value where there is one.
    pub met: bool,
}

/// Value of a response in the built shape, and its true largest value where the response is a norm.
#[derive(Clone, Copy)]
struct Found {
    value: f64,
    largest: Option<f64>,
}

/// A solved shape, in the order of the problem.
pub(super) struct SolvedShape<'a, K, const N: usize> {
    pub model: &'a Model<K, N>,
    pub carried: &'a Carried,
    pub shape: &'a Shape,
    /// State of every load case, `[n_nodes][N]`.
    pub states: &'a [Vec<f64>],
    /// Compliance of every load case, without its weight.
    pub compliances: &'a [f64],
    /// Weighted compliance of all load cases.
    pub compliance: f64,
}

impl<K: Solvable<N>, const N: usize> SolvedShape<'_, K, N> {
    /// Objective and limits; `summary` is that of the run.
    ///
    /// # Errors
    /// A finding if nothing is left of the set of a response.
    pub fn limits(&self, summary: &Summary) -> Result<Limits, Failure> {
        let posed = &self.model.posed;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let objective = self.objective()?;
        let compared = Compared::new(number(summary.objective.value), objective.value);
        let objective = VerifiedObjective {
            response: posed.objective_label(),
            goal: if posed.is_maximized { "maximize" } else { "minimize" }.into(),
            compared,
            largest: objective.largest,
        };

        let limited = posed.constraints.iter().enumerate().map(|(i, constraint)| {
            let found = self.found(&constraint.response)?;
            let optimized = number(summary.constraints.get(i).and_then(|limited| limited.value));
            Ok(VerifiedLimit::of(constraint, optimized, found))
        });
        let constraints: Vec<VerifiedLimit> = limited.collect::<Result<_, Failure>>()?;
        let limits_met = constraints.iter().map(|constraint| constraint.met).reduce(|a, b| a && b);
        Ok(Limits { objective, constraints, limits_met })
    }

    /// Missed limits, an objective that is another one as built, loose pieces, thin members, and
    /// what is doubtful about mesh and loads, a sentence each.
    pub fn warnings(&self, limits: &Limits, built: &Built, physics: PhysicsKind) -> Vec<String> {
        let mut warnings = limits.missed(physics);
        warnings.extend(limits.objective.change(physics));
        warnings.extend(built.pieces());
        warnings.extend(self.idle_pieces());
        warnings.extend(built.thin_member());
        warnings.extend(K::thin_members(self.model, Some(&self.carried.is_carrying)));
        warnings.extend(self.model.diagnosis.warnings.iter().cloned());
        warnings
    }

    fn idle_pieces(&self) -> Vec<String> {
        let volumes = self.shape.shares.iter().zip(&self.model.space.volumes);
        let filled: Vec<f64> = volumes.map(|(share, volume)| share * volume).collect();
        self.carried.idle_pieces(&self.model.problem, &filled)
    }

    /// The worst of several responses times their weights, as the run counts them.
    fn objective(&self) -> Result<Found, Failure> {
        let posed = &self.model.posed;
        if let [only] = &posed.objective[..] {
            return self.found(only);
        }
        let mut worst = Found { value: f64::NAN, largest: None };
        for response in &posed.objective {
            let found = self.found(response)?;
            let value = response.weight * found.value;
            let is_worse =
                if posed.is_maximized { value < worst.value } else { value > worst.value };
            if worst.value.is_nan() || is_worse {
                worst = Found { value, ..found };
            }
        }
        Ok(worst)
    }

    fn found(&self, response: &PosedResponse) -> Result<Found, Failure> {
        let form = response.form.on_nodes(&self.carried.is_carrying_node);
        let form = form.ok_or_else(|| InputError::from(nothing_left(response)))?;
        let part = self.model.subject().part();
        let value = match form.measure::<Cpu>(part, &Cpu, response.zero)? {
            Measure::Compliance(None) => self.compliance,
            Measure::Compliance(Some(case)) => self.compliances[case],
            // A verification has the case alone, and no function of a caller's.
            Measure::Host(_) => f64::NAN,
            Measure::Volume => self.shape.volume_fraction.verified,
            Measure::Densities(weights) => {
                weights.iter().zip(&self.shape.shares).map(|(weight, share)| weight * share).sum()
            }
            Measure::State(case, mut function) => {
                let state = &self.states[case];
                let loads = &self.model.problem.load_cases()[case].forces;
                function.value(&Moment::steady(&Cpu, state, loads))?
            }
        };
        let state = form.posed().case().map(|case| &self.states[case]);
        let largest = state.and_then(|state| form.posed().largest(state, N));
        Ok(Found { value, largest })
    }
}

fn nothing_left(response: &PosedResponse) -> Finding {
    let message = format!(
        "nothing is left of the set whose {} counts: the built shape has no material there",
        response.label
    );
    Finding::new(message).remedy("name the elements at this set in `design.solid`, and run again")
}

/// Ratio of the built shape's objective to the optimized one, or its inverse, from which on it is said.
const MUCH: f64 = 1.25;

impl VerifiedObjective {
    /// Warns that the built shape has another value than was optimized.
    fn change(&self, physics: PhysicsKind) -> Option<String> {
        let Compared { optimized, verified, ratio } = self.compared;
        (!(1.0 / MUCH..=MUCH).contains(&ratio)).then(|| {
            format!(
                "the built shape is not what was optimized: its {} is {}, that of the run {}",
                physics.in_words(&self.response),
                shown(verified),
                shown(optimized)
            )
        })
    }
}

impl VerifiedLimit {
    fn of(constraint: &PosedConstraint, optimized: f64, Found { value, largest }: Found) -> Self {
        let PosedConstraint { response, limit, is_upper, .. } = constraint;
        Self {
            response: response.label.clone(),
            compared: Compared::new(optimized, value),
            largest,
            at_most: is_upper.then_some(*limit),
            at_least: (!is_upper).then_some(*limit),
            met: constraint.is_met(largest.unwrap_or(value)),
        }
    }

    /// Describes the limit, such as `at most 170`.
    pub fn limit(&self) -> String {
        match (self.at_most, self.at_least) {
            (Some(limit), _) => format!("at most {}", shown(limit)),
            (None, limit) => format!("at least {}", shown(limit.unwrap_or(f64::NAN))),
        }
    }
}

impl Limits {
    /// The limits that the built shape misses, a sentence each, in the words of `physics`.
    pub fn missed(&self, physics: PhysicsKind) -> Vec<String> {
        let missed = self.constraints.iter().filter(|limit| !limit.met);
        let said = missed.map(|limit| {
            format!(
                "in the built shape the {} is {}, and {} is asked for",
                physics.in_words(&limit.response),
                shown(limit.largest.unwrap_or(limit.compared.verified)),
                limit.limit()
            )
        });
        said.collect()
    }

    /// Counts demands of the making as limits.
    pub(super) fn count(&mut self, made: &[Made]) {
        let all = self.limits_met.into_iter().chain(made.iter().map(|made| made.met));
        self.limits_met = all.reduce(|a, b| a && b);
    }

    /// Nothing if the built shape keeps all limits, and the demands that `made` has measures of.
    ///
    /// # Errors
    /// [`Failure::LimitsMissed`].
    pub fn check(&self, physics: PhysicsKind, made: &[Made]) -> Result<(), Failure> {
        let mut missed = self.missed(physics);
        missed.extend(made.iter().filter_map(Made::warning));
        if missed.is_empty() { Ok(()) } else { Err(Failure::LimitsMissed { missed }) }
    }
}
