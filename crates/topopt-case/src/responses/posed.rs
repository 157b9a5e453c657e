//! The problem that a case poses: its responses on the nodes and elements of its mesh.

use std::cell::LazyCell;

use serde::{Deserialize, Serialize};
use topopt_design::{IterationReport, When};
use topopt_mesh::numbers::shown;
use topopt_mesh::vector::length;
use topopt_mesh::{HexMesh, Renumbering};

use super::Form;
use super::form::Numbers;
use super::own::{OwnResponse, Role};

/// Objective and constraints of a case.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Posed {
    /// Responses of the objective; the worst of several is minimized or maximized.
    pub objective: Vec<PosedResponse>,
    /// Responses with limits.
    pub constraints: Vec<PosedConstraint>,
    /// Whether the objective is maximized.
    pub is_maximized: bool,
}

/// A response.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PosedResponse {
    /// Description in words, such as `displacement of tip in down`.
    pub label: String,
    /// Factor in a worst case, > 0.
    pub weight: f64,
    /// Kind of the response.
    pub form: Form,
    /// When it counts, where it is of states in time.
    pub when: Option<When>,
    /// Reference value: for a temperature the coldest one that is held, else 0.
    pub zero: f64,
}

/// A response with a limit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PosedConstraint {
    /// The response.
    pub response: PosedResponse,
    /// Limit of the response.
    pub limit: f64,
    /// Whether it is the largest value allowed, else the smallest.
    pub is_upper: bool,
    /// The entry of `[[constraints]]`; none for `design.volume_fraction`.
    pub entry: Option<usize>,
}

impl Form {
    /// Whether no design changes it, as all that it is of `is_held`, with `n` unknowns per node.
    pub fn is_held(&self, n: usize, is_held: impl Fn(u32, usize) -> bool) -> bool {
        let mut form = self.clone();
        match form.numbers() {
            Some(Numbers::Weights(weights)) => {
                let fixes = |(node, along): &(u32, [f64; 3])| {
                    (0..n).all(|i| along[i] == 0.0 || is_held(*node, i))
                };
                !weights.is_empty() && weights.iter().all(fixes)
            }
            Some(Numbers::Nodes(nodes)) => {
                let is_fixed = |&node: &u32| (0..n).all(|i| is_held(node, i));
                !nodes.is_empty() && nodes.iter().all(is_fixed)
            }
            Some(Numbers::Elements(_) | Numbers::Order { .. }) | None => false,
        }
    }

    /// Nodes whose states it is a function of, where it has a list of them.
    pub fn nodes(&self) -> Vec<u32> {
        let mut form = self.clone();
        match form.numbers() {
            Some(Numbers::Weights(weights)) => weights.iter().map(|(node, _)| *node).collect(),
            Some(Numbers::Nodes(nodes)) => nodes.clone(),
            Some(Numbers::Elements(_) | Numbers::Order { .. }) | None => Vec::new(),
        }
    }

    /// Restricts the response to nodes for which `is_there`, `[n_nodes]`, is set, and rescales its
    /// weights; none if no node is left.
    pub fn on_nodes(&self, is_there: &[bool]) -> Option<Self> {
        let mut form = self.clone();
        let is_left = match form.numbers() {
            Some(Numbers::Nodes(nodes)) => {
                nodes.retain(|node| is_there[*node as usize]);
                !nodes.is_empty()
            }
            Some(Numbers::Weights(weights)) => {
                let before = size(weights);
                weights.retain(|(node, _)| is_there[*node as usize]);
                let scale = before / size(weights);
                weights.iter_mut().for_each(|(_, w)| *w = w.map(|w| scale * w));
                !weights.is_empty()
            }
            Some(Numbers::Elements(_) | Numbers::Order { .. }) | None => true,
        };
        is_left.then_some(form)
    }
}

fn size(weights: &[(u32, [f64; 3])]) -> f64 {
    weights.iter().map(|(_, w)| length(*w)).sum()
}

impl PosedResponse {
    /// Whether the iterations report it anyway.
    pub fn is_usual(&self) -> bool {
        self.when.is_none() && self.form.posed().is_usual()
    }

    /// Returns the column name in a table: the label without spaces and commas.
    pub fn column(&self) -> String {
        self.label.replace([' ', ','], "_")
    }
}

impl PosedConstraint {
    /// Whether a response of this value keeps the limit, to a thousandth.
    pub fn is_met(&self, value: f64) -> bool {
        let excess = if self.is_upper { value - self.limit } else { self.limit - value };
        excess <= TOLERANCE * (self.limit - self.response.zero).abs()
    }
}

/// Largest share by which a response may miss its limit.
const TOLERANCE: f64 = 1e-3;

impl Posed {
    /// Whether limited responses of these values keep all limits.
    pub fn are_met(&self, values: &[f64]) -> bool {
        self.constraints.iter().zip(values).all(|(constraint, value)| constraint.is_met(*value))
    }

    /// The responses that have columns of their own in the table of the iterations, the objective
    /// first.
    pub fn columns(&self) -> Vec<String> {
        let objective = self.objective.first().filter(|response| !response.is_usual());
        let limited = self.constraints.iter().map(|constraint| &constraint.response);
        let mut columns: Vec<String> = objective.map(|_| "objective".into()).into_iter().collect();
        for response in limited.filter(|response| !response.is_usual()) {
            let name = response.column();
            let is_new = |name: &String| !columns.contains(name);
            let again = || (2..).map(|n| format!("{name}_{n}")).find(is_new);
            let own = Some(name.clone()).filter(is_new).or_else(again);
            columns.extend(own);
        }
        columns
    }

    /// Returns the values of [`Posed::columns`] in an iteration.
    pub fn own_values(&self, report: &IterationReport) -> Vec<f64> {
        let is_own = self.objective.first().is_some_and(|response| !response.is_usual());
        let limited = self.constraints.iter().zip(&report.constraints);
        let limited = limited.filter(|(constraint, _)| !constraint.response.is_usual());
        is_own.then_some(report.objective).into_iter().chain(limited.map(|(_, v)| *v)).collect()
    }

    /// The responses with limits in an iteration, the volume as a share.
    pub fn limited_values(&self, report: &IterationReport) -> Vec<f64> {
        let value = |(constraint, value): (&PosedConstraint, &f64)| {
            if constraint.response.form.posed().is_share() {
                report.volume_fraction
            } else {
                *value
            }
        };
        self.constraints.iter().zip(&report.constraints).map(value).collect()
    }

    /// Whether it asks for a mechanism: an output with a sign that works against springs, or that
    /// is to be as large as can be.
    pub(crate) fn is_of_mechanism(&self, has_springs: bool) -> bool {
        (has_springs || self.is_maximized)
            && self.responses().any(|response| response.form.posed().has_sign())
    }

    /// Describes the objective, such as `minimize mass`.
    pub fn goal(&self) -> String {
        let verb = if self.is_maximized { "maximize" } else { "minimize" };
        format!("{verb} {}", self.objective_label())
    }

    /// The limits of `[[constraints]]`, such as `mass at most 3`.
    pub fn limits(&self) -> impl Iterator<Item = String> {
        let posed = self.constraints.iter().filter(|constraint| constraint.entry.is_some());
        posed.map(Self::limit_text)
    }

    /// A limit in words.
    pub(crate) fn limit_text(constraint: &PosedConstraint) -> String {
        let PosedConstraint { response, limit, is_upper, .. } = constraint;
        let word = if *is_upper { "at most" } else { "at least" };
        format!("{} {word} {}", response.label, shown(*limit))
    }

    /// The objective in words.
    pub fn objective_label(&self) -> String {
        match &self.objective[..] {
            [only] => only.label.clone(),
            several => {
                let labels: Vec<_> = several.iter().map(|response| &*response.label).collect();
                format!("worst of {}", labels.join(", "))
            }
        }
    }
}

impl Posed {
    /// Adds a response of the caller's on `mesh`; an objective takes the place of that of the case.
    pub fn add(&mut self, own: &OwnResponse, mesh: &HexMesh) {
        let (label, form) = (own.label.clone(), own.form(mesh).into());
        let response = PosedResponse { label, weight: 1.0, form, when: None, zero: 0.0 };
        let (limit, is_upper) = match own.role {
            Role::AtMost(limit) => (limit, true),
            Role::AtLeast(limit) => (limit, false),
            Role::Minimized | Role::Maximized => {
                self.is_maximized = own.role == Role::Maximized;
                self.objective = vec![response];
                return;
            }
        };
        self.constraints.push(PosedConstraint { response, limit, is_upper, entry: None });
    }

    /// Returns the responses on the nodes and elements of `renumbering`.
    #[must_use]
    pub fn renumbered(mut self, renumbering: &Renumbering) -> Self {
        let nodes = LazyCell::new(|| renumbering.new_nodes());
        let elements = LazyCell::new(|| renumbering.new_elements());
        for numbers in self.forms_mut().filter_map(Form::numbers) {
            match numbers {
                Numbers::Elements(set) => renumber(set, &elements),
                Numbers::Nodes(set) => renumber(set, &nodes),
                Numbers::Order { nodes: of_nodes, elements: of_elements } => {
                    of_nodes.iter_mut().for_each(|node| *node = nodes[*node as usize]);
                    of_elements.iter_mut().for_each(|e| *e = elements[*e as usize]);
                }
                Numbers::Weights(weights) => {
                    weights.iter_mut().for_each(|(node, _)| *node = nodes[*node as usize]);
                }
            }
        }
        self
    }

    /// Returns the responses without nodes and elements, for ranks after the first, which has them.
    #[must_use]
    pub fn without_values(&self) -> Self {
        let mut posed = self.clone();
        for numbers in posed.forms_mut().filter_map(Form::numbers) {
            match numbers {
                Numbers::Elements(set) | Numbers::Nodes(set) => set.clear(),
                Numbers::Weights(weights) => weights.clear(),
                Numbers::Order { .. } => {} // ranks refuse it
            }
        }
        posed
    }

    /// Returns all responses, those of the objective first.
    pub fn responses(&self) -> impl Iterator<Item = &PosedResponse> + Clone {
        let limited = self.constraints.iter().map(|constraint| &constraint.response);
        self.objective.iter().chain(limited)
    }

    fn forms_mut(&mut self) -> impl Iterator<Item = &mut Form> {
        let limited = self.constraints.iter_mut().map(|constraint| &mut constraint.response);
        self.objective.iter_mut().chain(limited).map(|response| &mut response.form)
    }
}

fn renumber(numbers: &mut [u32], new: &[u32]) {
    numbers.iter_mut().for_each(|number| *number = new[*number as usize]);
    numbers.sort_unstable();
}
