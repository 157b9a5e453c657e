//! A structure that has been solved, with all that its numbers are made from.

use topopt_case::case::Case;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::Config;
use topopt_case::model::Model;
use topopt_case::tags::Tags;
use topopt_fem::stress;
use topopt_mesh::quality::{LEAST_OF_STRESSES, Quality};

use super::ductile::Ductile;
use super::filling::Filling;
use super::restraints::Restraint;
use super::solve::{Conditions, Solution};
use crate::failure::Failure;

/// Case data for the results of a solve, by nodes and elements as the user numbers them.
pub(crate) struct Given {
    /// Numbers of the mesh file.
    pub tags: Option<Tags>,
    /// The loads that act, an entry per load case.
    pub loads: Vec<CaseLoads>,
    /// Supports and springs of the part.
    pub restraints: Vec<Restraint>,
    /// Materials with a yield strength.
    pub(super) ductile: Vec<Ductile>,
}

impl Given {
    /// All of `case`.
    pub fn of(config: &Config, case: &Case) -> Self {
        let (tags, loads) = (case.tags.clone(), case.load_cases.clone());
        let restraints = Restraint::all(config, case);
        Self { tags, loads, restraints, ductile: Ductile::all(config, case) }
    }
}

/// A structure that has been solved.
pub(crate) struct Solved<'a> {
    /// The model.
    pub model: &'a Model,
    /// Loads, restraints and mesh numbers of the case.
    pub given: Given,
    /// Material in the elements.
    pub filling: Filling,
    /// Results of the solve.
    pub solution: Solution,
    /// Whether the stresses of an element mean something, `[n_elements]`: not those of a nearly flat
    /// one, unless all are.
    pub has_stress: Vec<bool>,
}

impl<'a> Solved<'a> {
    /// Solves `model` with the elements that `filling` gives, under `conditions`.
    ///
    /// # Errors
    /// A solve that does not converge or is interrupted, a device that fails or is too small.
    pub fn new(
        model: &'a Model,
        given: Given,
        filling: Filling,
        conditions: Conditions,
    ) -> Result<Self, Failure> {
        let solution = Solution::new(model, &filling, conditions)?;
        let mesh = model.problem.mesh();
        let jacobians = Quality::of(mesh).scaled_jacobian;
        let mut has_stress: Vec<bool> = jacobians.iter().map(|j| *j >= LEAST_OF_STRESSES).collect();
        if !has_stress.contains(&true) {
            has_stress.fill(true);
        }
        Ok(Self { model, given, filling, solution, has_stress })
    }

    /// The stresses at the centers of the elements in load case `case`, `[n_elements]`, in the order
    /// of the problem (force per area).
    pub fn stresses(&self, case: usize) -> Vec<stress::Stress> {
        self.solution.stresses(self.model, &self.filling, case)
    }
}
