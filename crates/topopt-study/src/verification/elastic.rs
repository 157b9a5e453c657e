//! The proof of an elastic design: stiffness, displacements and stresses of the exported shape.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::lookup::Lookup;
use topopt_case::model::Model;
use topopt_case::unit_names::UnitNames;
use topopt_fem::{Elasticity, Problem};
use topopt_io::vtk::{Array, Compression, Values, vtu};

use super::built::Built;
use super::carried::Carried;
use super::compared::Compared;
use super::limits::{Limits, SolvedShape};
use super::moved::Ground;
use super::request::{REMEDY, Request};
use super::shape::{Shape, VOID};
use crate::design_file::{DISPLACEMENT, DesignFile, array_name};
use crate::failure::Failure;
use crate::place::Place;
use crate::result_files::{VERIFIED, VERIFIED_DESIGN, write_json};
use crate::run_directory::RunDirectory;
use crate::solved::{Conditions, Displacement, Given, Solved, SolvedCase, Stress, mass};

/// Results of `topopt verify`: numbers of the optimized design and of the one of solid and void.
/// Units are those of the case; nodes and elements have the numbers of the mesh file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verification {
    /// Nothing where the case does not say.
    pub units: Option<UnitNames>,
    /// Young's modulus of a void element, as a share of the solid's.
    pub void_stiffness: f64,
    /// Weighted compliance (force times length).
    pub compliance: Compared,
    /// The shape.
    #[serde(flatten)]
    pub built: Built,
    /// Mass of the solid elements, where all materials have a mass density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// The largest displacement of a solid element's node.
    pub largest_displacement: Displacement,
    /// The stress of von Mises at the centers of the solid elements.
    pub von_mises: Stress,
    /// Every load case by itself.
    pub load_cases: Vec<SolvedCase>,
    /// Name of the compute target.
    pub device: String,
    /// Iterations of conjugate gradients, summed over load cases.
    pub pcg_iterations: usize,
    /// Largest relative residual over load cases.
    pub pcg_residual: f64,
    /// Objective and limits.
    #[serde(flatten)]
    pub limits: Limits,
    /// Missed limits, pieces that carry nothing, and doubts about mesh and loads, a sentence each.
    pub warnings: Vec<String>,
    /// Notes on what was moved or left out, a sentence each.
    pub notes: Vec<String>,
}

impl Verification {
    /// Solves the design in `results` again as the solid that is exported: elements have the
    /// stiffness of the share that it fills \[AllaireJouveToader2004\]. Computes where the case
    /// says, and writes verify.json and verify.vtu beside the design.
    ///
    /// Void elements keep 1e-9 of the stiffness. So the mesh stays as it is, with its numbers,
    /// operators and preconditioner, and neither loose pieces nor elements that meet in an edge
    /// make the system singular.
    ///
    /// # Errors
    /// Results that cannot be read, a threshold with nothing left, a design that does not connect
    /// loads and supports or has nothing where loads act, a solve that does not converge, a file that
    /// cannot be written.
    pub fn of(
        results: &RunDirectory,
        config: &Config,
        request: &Request,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let summary = results.summary().map_err(InputError::from)?;
        let case = Case::build_until(config, &request.gmsh, interrupt)?;
        let mut given = Given::of(config, &case);
        let (sets, nodal) = (case.sets.clone(), case.nodal.clone());
        let place = Place::find(config.solver.device).map_err(InputError::from)?;
        let mut model = Model::build(config, case, place.needs_colors(config))?;
        let file = DesignFile::read(&results.design()).map_err(InputError::from)?;
        let design = Shape::new(&model, &file, request).map_err(InputError::from)?;
        let carried = Carried::of(&model.problem, &design.is_touched);
        let lookup = Lookup { config, mesh: &model.mesh, sets: &sets, nodal: &nodal };
        let (problem, notes) =
            standing(&lookup, &model, &carried, &mut given).map_err(InputError::from)?;
        model.problem = problem;

        let filling = design.filling(config, &model, &carried, VOID);
        let conditions = Conditions { config, place: &place, interrupt, remedy: REMEDY };
        let solved = Solved::new(&model, given, filling, conditions)?;
        let verified = Verified { solved, design, carried, notes };
        let verification = verified.verification(config, &summary, &place)?;
        verified.write(results.path())?;
        write_json(&results.path().join(VERIFIED), &verification)?;
        Ok(verification)
    }
}

/// The problem in which all that does not carry is void, with what was moved to what does, a sentence
/// each; `given` is changed alike.
fn standing(
    lookup: &Lookup,
    model: &Model,
    carried: &Carried,
    given: &mut Given,
) -> Result<(Problem, Vec<String>), Finding> {
    let (config, problem) = (lookup.config, &model.problem);
    let new_node = &model.renumbering.new_nodes();
    let (constraints, keep_loaded) = (problem.constraints(), config.design.keep_loaded);
    let ground = Ground { mesh: &model.mesh, constraints, new_node, carried, keep_loaded };
    let mut notes = ground.empty_supports(lookup)?;
    let springs = ground.move_springs(config, &mut given.restraints)?;
    notes.extend(springs.notes);
    notes.extend(ground.move_loads::<Elasticity>(&lookup.nodal_loads(), &mut given.loads)?);
    let problem = carried.problem(problem, &given.loads, &springs.added, &model.renumbering)?;
    Ok((problem, notes))
}

/// A shape that has been solved.
struct Verified<'a> {
    solved: Solved<'a>,
    design: Shape,
    carried: Carried,
    notes: Vec<String>,
}

impl Verified<'_> {
    /// `summary`: that of the run, for what it says of the optimized design.
    ///
    /// # Errors
    /// A finding if nothing is left of the set of a response.
    fn verification(
        &self,
        config: &Config,
        summary: &Value,
        place: &Place,
    ) -> Result<Verification, Failure> {
        let Self { solved, design, carried, notes } = self;
        let Solved { model, given, solution, .. } = solved;
        let optimized = |key: &str| summary[key].as_f64().unwrap_or(f64::NAN);

        let load_cases = solved.cases();
        let displacements = load_cases.iter().map(|case| &case.largest_displacement);
        let largest = displacements.max_by(|a, b| a.value.total_cmp(&b.value)).cloned();
        let shape = SolvedShape {
            model,
            carried,
            shape: design,
            states: &solution.displacements,
            compliances: &solution.compliances,
            compliance: solution.compliance,
        };
        let limits = shape.limits(summary)?;
        let built = Built::of(design, model, given.tags.as_ref(), summary);
        let warnings = shape.warnings(&limits, &built, config.physics.kind);
        Ok(Verification {
            units: UnitNames::of(config),
            void_stiffness: VOID,
            compliance: Compared::new(optimized("compliance"), solution.compliance),
            built,
            mass: mass(config, model, &design.shares).map(|mass| design.scale * mass),
            largest_displacement: largest.unwrap_or_else(|| solved.displacement(0)),
            von_mises: solved
                .stress(&solution.largest_von_mises, |element| solution.worst_case[element]),
            load_cases,
            device: place.name(),
            pcg_iterations: solution.pcg_iterations,
            pcg_residual: solution.pcg_residual,
            limits,
            warnings,
            notes: notes.iter().cloned().chain(solved.note_on_stresses()).collect(),
        })
    }

    /// Writes the design of solid and void in the mesh file's numbering.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let Self { solved: Solved { model, solution, .. }, design, .. } = self;
        let (mesh, renumbering) = (&model.mesh, &model.renumbering);
        let solid: Vec<u8> = design.is_solid.iter().map(|&is_solid| is_solid.into()).collect();
        let solid = renumbering.elements_to_original(&solid);
        let shares = renumbering.elements_to_original(&design.shares);
        let stress = renumbering.elements_to_original(&solution.largest_von_mises);

        let cells = [
            Array { name: "share", components: 1, values: Values::F64(&shares) },
            Array { name: "solid", components: 1, values: Values::U8(&solid) },
            Array { name: "von_mises", components: 1, values: Values::F64(&stress) },
        ];

        let cases = model.problem.load_cases().iter().zip(&solution.displacements);
        let displacements: Vec<(String, Vec<[f64; 3]>)> = cases
            .enumerate()
            .map(|(k, (case, u))| {
                let name = array_name(DISPLACEMENT, k, &case.name);
                (name, renumbering.nodes_to_original(u.as_chunks::<3>().0))
            })
            .collect();
        let points: Vec<Array> = displacements
            .iter()
            .map(|(name, u)| Array { name, components: 3, values: Values::F64(u.as_flattened()) })
            .collect();

        let path = folder.join(VERIFIED_DESIGN);
        let (x, hexes) = (mesh.coordinates(), mesh.hexes());
        Ok(vtu::write(&path, x, hexes, &points, &cells, Compression::default())?)
    }
}
