//! Supports and loads of an elastic part, as `topopt check` reports them.

use serde::Serialize;
use topopt_case::case::Case;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::{Config, Units};
use topopt_case::materials::MaterialShare;
use topopt_case::model::Model;
use topopt_fem::{Elasticity, FreePart};
use topopt_mesh::numbers::shown;

use super::design::is_designed;
use super::forecast::{Acting, Loads};
use super::load::{Load, count, mean_density, nodes, sum};

/// Supports, springs and load cases.
#[derive(Debug, Serialize)]
pub(super) struct Held {
    held_nodes: usize,
    held_components: usize,
    /// Nodes tied to the ground, and the sum of the stiffness of their springs.
    spring_nodes: usize,
    spring_stiffness: [f64; 3],
    /// Rigid motions of a free part that its inertia balances.
    balanced_motions: usize,
    loads: Vec<Load>,
}

impl Acting<3> for Held {
    type Kernel = Elasticity;

    const SHOWS_ONE_MATERIAL: bool = false;

    fn given(_: &Config, case: &Case) -> Vec<CaseLoads> {
        case.load_cases.clone()
    }

    fn of(config: &Config, model: &Model, loads: &Loads<3>) -> Self {
        let problem = &model.problem;
        let density = if is_designed(config) { mean_density(config, model) } else { 1.0 };
        let cases = problem.load_cases().iter().zip(&loads.all);
        let supports = problem.supports();
        let springs = supports.springs().map_or([].as_slice(), |springs| springs.as_chunks().0);
        let is_held = |&n: &usize| (0..3).any(|i| supports.is_fixed(n, i));
        Self {
            held_nodes: (0..supports.n_nodes()).filter(is_held).count(),
            held_components: supports.n_fixed(),
            spring_nodes: count(springs),
            spring_stiffness: sum(springs),
            balanced_motions: problem.free_part().map_or(0, FreePart::n_motions),
            loads: cases.map(|(case, load)| Load::of(case, load, config, density)).collect(),
        }
    }

    fn rows(&self, free: usize) -> Vec<(&'static str, String)> {
        let held = self.held_components;
        let mut rows = vec![
            ("supports", format!("{}, {held} displacements held", nodes(self.held_nodes))),
            ("unknowns", format!("{free} displacements")),
        ];
        rows.extend((self.balanced_motions > 0).then(|| {
            let n = self.balanced_motions;
            let motions = if n == 1 { "motion" } else { "motions" };
            ("inertia relief", format!("balances {n} free rigid {motions}"))
        }));
        rows.extend((self.spring_nodes > 0).then(|| {
            let [x, y, z] = self.spring_stiffness.map(shown);
            let tied = nodes(self.spring_nodes);
            ("springs", format!("{tied}, stiffness adds up to ({x}, {y}, {z})"))
        }));
        rows.extend(self.loads.iter().map(|load| ("load case", load.text())));
        rows
    }

    fn units(units: Units) -> String {
        units.text()
    }

    fn made_of(material: &MaterialShare) -> String {
        let density = material.mass_density.map(|d| format!(", mass density {d}"));
        let (name, n) = (material.name(), material.elements);
        let elements = if n == 1 { "element" } else { "elements" };
        let modulus = material.coefficient();
        format!("{name}: {n} {elements}, Young's modulus {modulus}{}", density.unwrap_or_default())
    }
}
