//! A load case by itself.

use serde::Serialize;

use super::balance::Balance;
use super::measures::{Displacement, Stress};
use super::safety::Safety;
use super::structure::Solved;

/// Results of a solve for one load case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SolvedCase {
    /// Name of the load case.
    pub name: String,
    /// Weight of the load case in the compliance.
    pub weight: f64,
    /// Compliance without the weight (force times length).
    pub compliance: f64,
    /// Largest displacement.
    pub largest_displacement: Displacement,
    /// Stresses of von Mises.
    pub von_mises: Stress,
    /// Safety factors by these stresses, of each material with a yield strength.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub safety_factors: Vec<Safety>,
    /// Applied forces and reactions.
    #[serde(flatten)]
    pub balance: Balance,
}

impl Solved<'_> {
    /// All load cases, in their order.
    pub fn cases(&self) -> Vec<SolvedCase> {
        let of = |case: usize| {
            let given = &self.model.problem.load_cases()[case];
            SolvedCase {
                name: given.name.clone(),
                weight: given.weight,
                compliance: self.solution.compliances[case],
                largest_displacement: self.displacement(case),
                von_mises: self.stress(&self.solution.von_mises[case], |_| case),
                safety_factors: self.safety_at_centers(case),
                balance: self.balance(case),
            }
        };
        (0..self.model.problem.load_cases().len()).map(of).collect()
    }
}
