//! The proof of a design for heat: temperatures and the account of heat of the exported shape.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::lookup::Lookup;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::physics::heat::FILLER;
use topopt_fem::{Diffusion, Problem};
use topopt_io::vtk::{Array, Compression, Values, vtu};

use super::built::Built;
use super::carried::Carried;
use super::compared::Compared;
use super::limits::{Limits, SolvedShape};
use super::moved::Ground;
use super::request::{REMEDY, Request};
use super::shape::{Shape, VOID};
use crate::design_file::DesignFile;
use crate::failure::Failure;
use crate::place::Place;
use crate::result_files::{VERIFIED, VERIFIED_DESIGN, write_json};
use crate::run_directory::RunDirectory;
use crate::solved::{Conditions, States, mass};
use crate::thermal::{Fields, Part, ThermalCase};

/// Results of `topopt verify` for heat, as [`Verification`](super::Verification) for an elastic
/// design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThermalVerification {
    /// Conductivity of a void element, as a share of the solid's.
    pub void_conductivity: f64,
    /// Weighted thermal compliance (heat times temperature).
    pub compliance: Compared,
    /// The highest temperature of all load cases.
    pub largest_temperature: LargestTemperature,
    /// The shape.
    #[serde(flatten)]
    pub built: Built,
    /// Mass of the solid elements, where all materials have a mass density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Every load case by itself.
    pub load_cases: Vec<ThermalCase>,
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

/// The highest temperature of nodes with material, and where it is in the verified design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LargestTemperature {
    /// Both designs.
    #[serde(flatten)]
    pub compared: Compared,
    /// Number of the node.
    pub node: u64,
    /// Coordinates of the node.
    pub at: [f64; 3],
    /// Load case.
    pub load_case: String,
}

impl ThermalVerification {
    /// Solves the design in `results` again as the solid that is exported: elements have the
    /// conductivity of the share that it fills. Void has what the last stage of the run gave it, at
    /// least 1e-9. Computes where the case says, and writes verify.json and verify.vtu beside the
    /// design.
    ///
    /// Where void conducts less than a share of 1e-4, heat on nodes of void alone is moved as forces are
    /// in elasticity; else it flows through the void.
    ///
    /// # Errors
    /// A case in time; else as [`Verification::of`](super::Verification::of).
    pub fn of(
        results: &RunDirectory,
        config: &Config,
        request: &Request,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        if config.transient.is_some() {
            return Err(InputError::from(in_time(results.path())).into());
        }
        let summary = results.summary().map_err(InputError::from)?;
        let case = Case::<1>::of::<Diffusion>(config, &request.gmsh, interrupt)?;
        let place = Place::find(config.solver.device).map_err(InputError::from)?;
        let needs_colors = place.needs_colors(config);
        let mut model = Model::<Diffusion, 1>::build(config, case.clone(), needs_colors)?;
        let file = DesignFile::read(&results.design()).map_err(InputError::from)?;
        let shape = Shape::new(&model, &file, request).map_err(InputError::from)?;

        let void = void(config);
        let solid = match void < FILLER {
            true => shape.is_touched.clone(),
            false => vec![true; shape.is_touched.len()],
        };
        let carried = Carried::of(&model.problem, &solid);
        let (problem, notes) =
            standing(&case.lookup(config), &model, &carried).map_err(InputError::from)?;
        model.problem = problem;

        let filling = shape.filling(config, &model, &carried, void);
        let conditions = Conditions { config, place: &place, interrupt, remedy: REMEDY };
        let states = States::new(&model, &filling, conditions)?;
        let (case, model, filling) = (&case, &model, &filling);
        let part = Part { config, case, model, filling };
        let verified = Verified { part, shape, carried, states, notes };
        let optimized = optimized(&file, model)?;
        let verification = verified.verification(&summary, optimized, &place)?;
        verified.write(results.path())?;
        write_json(&results.path().join(VERIFIED), &verification)?;
        Ok(verification)
    }
}

/// A design for heat in time, which is not verified.
fn in_time(results: &Path) -> Finding {
    let message = "the design is one for heat in time, and `topopt verify` solves steady states";
    Finding::new(message).remedy(format!(
        "`topopt solve CASE --design {}` steps through the design with its densities",
        results.display()
    ))
}

/// Conductivity of void in the last stage of the run, as a share of the solid's.
fn void(config: &Config) -> f64 {
    let last = config.continuation.iter().rev().find_map(|stage| stage.penalty);
    config.design.contrast(last.unwrap_or(config.design.penalty)).max(VOID)
}

/// The problem in which all that does not carry is void, with what was moved to what does, a sentence
/// each. What convection brings from the ambient stays where nothing carries, as the film does.
fn standing(
    lookup: &Lookup,
    model: &Model<Diffusion, 1>,
    carried: &Carried,
) -> Result<(Problem<Diffusion, 1>, Vec<String>), Finding> {
    let problem = &model.problem;
    let new_node = &model.renumbering.new_nodes();
    let (constraints, keep_loaded) = (problem.constraints(), lookup.config.design.keep_loaded);
    let ground = Ground { mesh: &model.mesh, constraints, new_node, carried, keep_loaded };
    let mut cases = Diffusion::conditions(lookup, &mut Vec::new()).load_cases;
    let loads = Diffusion::nodal_loads(lookup);
    let notes = ground.move_loads::<Diffusion>(&loads, &mut cases)?;
    Ok((carried.problem(problem, &cases, &[], &model.renumbering)?, notes))
}

/// The highest temperature of the design as it was optimized.
fn optimized(file: &DesignFile, model: &Model<Diffusion, 1>) -> Result<f64, InputError> {
    let cases = model.problem.load_cases().iter();
    let names: Vec<&str> = cases.map(|case| case.name.as_str()).collect();
    let carries = file.carrying_nodes();
    let temperatures = file.temperatures(&names)?;
    let of_case = |all: &Vec<f64>| {
        let carried = all.iter().zip(&carries).filter(|(_, carries)| **carries);
        carried.map(|(temperature, _)| *temperature).fold(f64::NEG_INFINITY, f64::max)
    };
    Ok(temperatures.iter().map(of_case).fold(f64::NEG_INFINITY, f64::max))
}

/// A shape that has been solved.
struct Verified<'a> {
    part: Part<'a>,
    shape: Shape,
    carried: Carried,
    states: States,
    notes: Vec<String>,
}

impl Verified<'_> {
    /// `summary`: that of the run; `optimized`: the highest temperature there.
    ///
    /// # Errors
    /// A finding if nothing is left of the set of a response.
    fn verification(
        &self,
        summary: &Value,
        optimized: f64,
        place: &Place,
    ) -> Result<ThermalVerification, Failure> {
        let Self { part, shape, carried, states, notes } = self;
        let Part { config, case, model, .. } = part;
        let all = states.states.iter().zip(&states.compliances).enumerate();
        let load_cases: Vec<ThermalCase> =
            all.map(|(k, (state, value))| part.found(k, state, Some(*value), None)).collect();
        let temperature = |case: &&ThermalCase| case.hottest.temperature;
        let hottest =
            load_cases.iter().reduce(|a, b| if temperature(&b) > temperature(&a) { b } else { a });
        let hottest = hottest.expect("a problem has a load case");
        let solved = SolvedShape {
            model,
            carried,
            shape,
            states: &states.states,
            compliances: &states.compliances,
            compliance: states.compliance,
        };
        let limits = solved.limits(summary)?;
        let built = Built::of(shape, model, case.tags.as_ref(), summary);
        let warnings = solved.warnings(&limits, &built, config.physics.kind);
        Ok(ThermalVerification {
            void_conductivity: void(config),
            compliance: Compared::new(
                summary["compliance"].as_f64().unwrap_or(f64::NAN),
                states.compliance,
            ),
            largest_temperature: LargestTemperature {
                compared: Compared::new(optimized, hottest.hottest.temperature),
                node: hottest.hottest.node,
                at: hottest.hottest.at,
                load_case: hottest.name.clone(),
            },
            built,
            mass: mass(config, model, &shape.shares).map(|mass| shape.scale * mass),
            load_cases,
            device: place.name(),
            pcg_iterations: states.pcg_iterations,
            pcg_residual: states.pcg_residual,
            limits,
            warnings,
            notes: notes.clone(),
        })
    }

    /// Writes the design of solid and void in the mesh file's numbering.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let Self { part, shape, states, .. } = self;
        let (mesh, renumbering) = (&part.model.mesh, &part.model.renumbering);
        let solid: Vec<u8> = shape.is_solid.iter().map(|&is_solid| is_solid.into()).collect();
        let solid = renumbering.elements_to_original(&solid);
        let shares = renumbering.elements_to_original(&shape.shares);
        let (temperatures, fluxes) = Fields::of(part).of_cases(&states.states);

        let array =
            |name, components, values| Array { name, components, values: Values::F64(values) };
        let points: Vec<_> = temperatures
            .iter()
            .map(|(name, values)| array(name.as_str(), 1, values.as_slice()))
            .collect();
        let mut cells = vec![
            array("share", 1, shares.as_slice()),
            Array { name: "solid", components: 1, values: Values::U8(&solid) },
        ];
        cells
            .extend(fluxes.iter().map(|(name, values)| array(name.as_str(), 3, values.as_slice())));
        let path = folder.join(VERIFIED_DESIGN);
        let (x, hexes) = (mesh.coordinates(), mesh.hexes());
        Ok(vtu::write(&path, x, hexes, &points, &cells, Compression::default())?)
    }
}
