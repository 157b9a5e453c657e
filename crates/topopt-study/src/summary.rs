//! `Summary`: content of summary.json, written by a run and read by reports and verifications.

mod at_end;
mod of_run;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use topopt_case::config::{self, Config};
use topopt_case::finding::Finding;
use topopt_case::materials::MaterialShare;
use topopt_case::unit_names::UnitNames;
use topopt_fem::ElementPreconditioner;
use topopt_io::WriteError;
use topopt_linalg::Backend;

use crate::asked::{Limited, ObjectiveFound};
use crate::computer::Neighbors;
use crate::done::Done;
use crate::islands::Islands;
use crate::result_files::{SUMMARY, write_json};

pub use of_run::RunSummary;

/// Content of summary.json: everything worth keeping of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Summary {
    /// Version of the program.
    pub topopt: String,
    /// Title of the case.
    pub title: Option<String>,
    /// Nothing where the case does not say.
    pub units: Option<UnitNames>,
    /// Path of the case file.
    pub case: String,
    /// `running`, then `done`, `interrupted`, `solver_failed`, `not_finite`, or `failed` where a file
    /// could not be written or the device failed.
    pub status: String,
    /// The stop rule that was met.
    pub stopped_by: Option<String>,
    /// Nodes of the mesh.
    pub nodes: usize,
    /// Elements of the mesh.
    pub elements: usize,
    /// Displacement components that are not held.
    pub free_dofs: usize,
    /// Elements that stay solid.
    pub solid_elements: usize,
    /// Elements that stay solid only because they lie at loads or supports.
    pub kept_elements: usize,
    /// Elements that stay void.
    pub void_elements: usize,
    /// Materials of the elements, `[material]` first.
    pub materials: Vec<MaterialShare>,
    /// Names of the load cases.
    pub load_cases: Vec<String>,
    /// Mean width of an element.
    pub element_width: f64,
    /// Radius of the filter at the begin.
    pub filter_radius: Option<f64>,
    /// How the filter finds neighbors.
    pub neighbors: Option<Neighbors>,
    /// Name of the compute target.
    pub device: String,
    /// How the stiffness is applied.
    pub strategy: String,
    /// The preconditioner and its levels.
    pub preconditioner: Preconditioner,
    /// Objective, and its value in the last design.
    pub objective: ObjectiveFound,
    /// Limits, and what the last design has.
    pub constraints: Vec<Limited>,
    /// Work done so far, by all parts of a run that was resumed.
    #[serde(flatten)]
    pub done: Done,
    /// Whether the last design has the largest volume allowed, to a thousandth; none where the
    /// volume has no limit.
    pub volume_met: Option<bool>,
    /// Peak memory of the process, where the system reports it.
    pub peak_memory_mb: Option<f64>,
    /// Islands that the last design leaves out, where it had any.
    pub islands: Option<Islands>,
    /// Iteration of the design that the run went back to, where members broke after it.
    pub went_back_to: Option<usize>,
    /// Compliance of the last design over that of the stiffest one of its volume before, where
    /// members broke in between.
    #[serde(default)]
    pub torn_by: Option<f64>,
    /// The settings in force.
    pub settings: Settings,
    /// Warnings before the run and at its end: limits that are missed, grey material, stages that
    /// were cut off; a sentence each.
    pub warnings: Vec<String>,
    /// Notes on what was left out or changed, a sentence each.
    pub notes: Vec<String>,
}

/// The preconditioner and its levels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Preconditioner {
    /// Name as in the case file.
    pub name: String,
    /// `V`, `W` or `K`, where there are levels.
    pub cycle: Option<String>,
    /// Unknowns of every level, the finest first, where there are levels.
    pub levels: Vec<usize>,
    /// Entries of the matrices of all levels for each of the finest, where there are levels.
    pub operator_complexity: Option<f64>,
}

impl Preconditioner {
    /// Describes `preconditioner`.
    pub fn of<B: Backend>(preconditioner: &dyn ElementPreconditioner<B>) -> Self {
        let levels = preconditioner.levels();
        let entries: usize = levels.iter().map(|level| level.entries).sum();
        Self {
            name: preconditioner.name().into(),
            cycle: preconditioner.cycle().map(|cycle| cycle.name().into()),
            levels: levels.iter().map(|level| level.unknowns).collect(),
            operator_complexity: levels.first().map(|l| entries as f64 / l.entries as f64),
        }
    }
}

/// The settings in force, defaults and overrides included.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// Physics that is solved.
    pub physics: config::PhysicsKind,
    /// The material.
    #[serde(deserialize_with = "config::Material::deserialize_plain")]
    pub material: config::Material,
    /// The largest volume asked for.
    pub volume_fraction: Option<f64>,
    /// Style of the design, `smooth` or `crisp`.
    pub style: config::Style,
    /// How the modulus follows the density.
    pub interpolation: config::Interpolation,
    /// Exponent or slope of the interpolation.
    pub penalty: f64,
    /// The density of void.
    pub density_min: f64,
    /// The filter.
    pub filter: config::Filter,
    /// The projection.
    pub projection: Option<config::Projection>,
    /// Settings that change in the course of the run.
    pub continuation: Vec<config::Continuation>,
    /// The optimizer.
    pub optimizer: config::Optimizer,
    /// The linear solver.
    pub solver: config::Solver,
    /// The results.
    pub output: config::Output,
}

impl Settings {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            physics: config.physics.kind,
            material: config.material.clone(),
            volume_fraction: config.volume_bound(),
            style: config.design.style,
            interpolation: config.design.interpolation,
            penalty: config.design.penalty,
            density_min: config.design.density_min,
            filter: config.filter.get_ref().clone(),
            projection: config.projection.clone(),
            continuation: config.continuation.clone(),
            optimizer: config.optimizer.clone(),
            solver: config.solver.clone(),
            output: config.output.clone(),
        }
    }
}

impl Summary {
    /// Reads the summary.json of the results in `directory`.
    ///
    /// # Errors
    /// A finding if it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Finding> {
        let path = directory.join(SUMMARY);
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        let read = text.and_then(|t| serde_json::from_str(&t).map_err(|error| error.to_string()));
        read.map_err(|error| Finding::new(format!("cannot read {}: {error}", path.display())))
    }

    /// Writes summary.json.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), WriteError> {
        write_json(&directory.join(SUMMARY), self)
    }
}

/// Words for the stop rule that summary.json calls so.
pub fn rule_text(rule: &str) -> &str {
    match rule {
        "max_iterations" => "iteration limit reached",
        "change_tolerance" => "change tolerance reached",
        "compliance_tolerance" => "objective tolerance reached",
        "absolute_compliance_tolerance" => "absolute objective tolerance reached",
        "kkt_tolerance" => "KKT tolerance reached",
        other => other,
    }
}
