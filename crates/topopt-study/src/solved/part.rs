//! A part with its material, before and after its solve.

use serde::Serialize;
use serde::de::DeserializeOwned;
use topopt_case::case::Case;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::Config;
use topopt_case::lookup::{Lookup, NodalOfMesh};
use topopt_case::model::Model;
use topopt_case::tags::Tags;
use topopt_mesh::{HexMesh, Sets};

use super::ductile::Ductile;
use super::fields::Fields;
use super::filling::Filling;
use super::restraints::Restraint;
use super::solve::{Conditions, States};
use crate::computer::Solvable;
use crate::failure::Failure;

/// A physics whose solved parts are measured.
pub trait Measured<const N: usize>: Solvable<N> {
    /// Numbers of a load case.
    type Case: Serialize + DeserializeOwned + Send;
    /// Values that its numbers are made of, besides the states.
    type Found;

    /// Lists supports and springs whose forces are balanced.
    fn restraints(_config: &Config, _case: &Case<N>) -> Vec<Restraint> {
        Vec::new()
    }

    /// Computes the values of all load cases.
    fn found(part: &Part<Self, N>, states: &States) -> Self::Found;

    /// Measures load case `case`; `in_detail` adds the numbers of an analysis.
    fn case(solved: &Solved<Self, N>, case: usize, in_detail: bool) -> Self::Case;

    /// Collects the fields of all load cases.
    fn fields(solved: &Solved<Self, N>) -> Fields;

    /// Returns a warning on the results, if there is one.
    fn warning(_solved: &Solved<Self, N>) -> Option<String> {
        None
    }

    /// Returns a note on what the numbers leave out.
    fn note(_solved: &Solved<Self, N>) -> Option<String> {
        None
    }
}

/// Case data for the results of a solve, by nodes and elements as the user numbers them.
pub struct Given<const N: usize> {
    /// Numbers of the mesh file.
    pub tags: Option<Tags>,
    /// The loads that act, an entry per load case.
    pub loads: Vec<CaseLoads<N>>,
    /// Stiffness of springs to the ground, or for heat of films.
    pub springs: Vec<(u32, [f64; N])>,
    /// Supports and springs of the part.
    pub restraints: Vec<Restraint>,
    /// Elements of each entry of `[[materials]]`.
    pub(super) materials: Vec<Vec<u32>>,
    /// Materials with a yield strength.
    pub(super) ductile: Vec<Ductile>,
    sets: Sets,
    nodal: NodalOfMesh,
}

impl<const N: usize> Given<N> {
    /// All of `case`.
    pub fn of<K: Measured<N>>(config: &Config, case: &Case<N>) -> Self {
        Self {
            tags: case.tags.clone(),
            loads: case.load_cases.clone(),
            springs: case.springs.clone(),
            restraints: K::restraints(config, case),
            materials: case.materials.clone(),
            ductile: Ductile::all(config, case),
            sets: case.sets.clone(),
            nodal: case.nodal.clone(),
        }
    }

    /// Returns the lookup of sets in the `mesh` of the case.
    pub fn lookup<'a>(&'a self, config: &'a Config, mesh: &'a HexMesh) -> Lookup<'a> {
        Lookup { config, mesh, sets: &self.sets, nodal: &self.nodal }
    }
}

/// A part ready to be solved.
pub struct Part<'a, K, const N: usize> {
    pub config: &'a Config,
    pub model: &'a Model<K, N>,
    /// Loads, restraints and mesh numbers of the case.
    pub given: Given<N>,
    /// Material in the elements.
    pub filling: Filling,
}

impl<K, const N: usize> Part<'_, K, N> {
    /// Returns the lookup of sets of its case.
    pub fn lookup(&self) -> Lookup<'_> {
        self.given.lookup(self.config, &self.model.mesh)
    }

    /// The number of a node of the problem in the mesh file, and its place.
    pub fn node(&self, node: usize) -> (u64, [f64; 3]) {
        let original = self.model.renumbering.original_nodes()[node];
        let number = Tags::node(self.given.tags.as_ref(), original);
        (number, self.model.mesh.coordinates()[original as usize])
    }
}

/// A part that has been solved.
pub struct Solved<'a, K: Measured<N>, const N: usize> {
    pub part: Part<'a, K, N>,
    /// Results of the solve.
    pub states: States,
    /// Values found from these.
    pub found: K::Found,
}

impl<'a, K: Measured<N>, const N: usize> Solved<'a, K, N> {
    /// Solves `part` under `conditions`.
    ///
    /// # Errors
    /// A solve that does not converge or is interrupted, a device that fails or is too small.
    pub fn new(part: Part<'a, K, N>, conditions: Conditions) -> Result<Self, Failure> {
        let states = States::new(part.model, &part.filling, conditions)?;
        let found = K::found(&part, &states);
        Ok(Self { part, states, found })
    }

    /// All load cases, in their order.
    pub fn cases(&self, in_detail: bool) -> Vec<K::Case> {
        (0..self.states.states.len()).map(|k| K::case(self, k, in_detail)).collect()
    }
}
