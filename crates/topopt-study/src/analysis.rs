//! The analysis of a part as it is, or of a given design: solved once, without optimization.

mod request;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::interpolation;
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::unit_names::UnitNames;
use topopt_fem::{DIM, Elasticity};
use topopt_io::{WriteError, atomic};
use topopt_mesh::HexMesh;

use crate::doubts;
use crate::failure::{Failure, Remedies};
use crate::place::Place;
use crate::result_files::{ANALYSIS, ANALYSIS_FIELDS, CASE, write_json};
use crate::solved::{
    COLUMNS, Conditions, FieldFile, Fields, Filling, GaussPoints, Given, Means, Measured, Part,
    Solved, carrying_nodes, mass,
};
use crate::starting_design::StartingDesign;
use crate::summary::Preconditioner;
use crate::thread_pool::thread_pool;

pub use request::Request;
pub(crate) use request::made_ready;

/// Results of `topopt solve`, in units of the case; nodes and elements have the numbers of the mesh
/// file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis<C> {
    /// Version of the program.
    pub topopt: &'static str,
    /// Title of the case.
    pub title: Option<String>,
    /// Nothing where the case does not say.
    pub units: Option<UnitNames>,
    /// Path of the case file.
    pub case: String,
    /// Path of the design that was solved; none for the full part.
    pub design: Option<String>,
    /// Nodes of the mesh.
    pub nodes: usize,
    /// Elements of the mesh.
    pub elements: usize,
    /// Unknowns that are not held.
    pub free_dofs: usize,
    /// Elements that `design.void` keeps empty.
    pub void_elements: usize,
    /// Mean width of an element.
    pub element_width: f64,
    /// Volume of the material.
    pub volume: f64,
    /// Mass of the material, where all materials have a mass density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Every load case; in time the end.
    pub load_cases: Vec<C>,
    /// How it went in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<InTime>,
    /// Name of the compute target.
    pub device: String,
    /// How the stiffness was applied.
    pub strategy: &'static str,
    /// The preconditioner and its levels.
    pub preconditioner: Preconditioner,
    /// Iterations of conjugate gradients, summed over solves.
    pub pcg_iterations: usize,
    /// Largest relative residual of a solve.
    pub pcg_residual: f64,
    /// A sentence where rounding stopped a solve before it reached the tolerance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding: Option<String>,
    /// Wall time of the preconditioner and of conjugate gradients, in seconds.
    pub seconds: f64,
    /// Notes on the mesh as read, on the device and on stresses left out, one sentence each.
    pub notes: Vec<String>,
    /// Warnings about the part, one sentence each.
    pub warnings: Vec<String>,
    /// Mesh and fields of an analysis that writes no files.
    #[serde(skip)]
    pub found: Option<(HexMesh, Fields)>,
}

/// How an analysis went in time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InTime {
    /// Time steps.
    pub steps: usize,
    /// The end.
    pub end: f64,
    /// Theta of the scheme.
    pub theta: f64,
    /// Heat that is stored in the part since the beginning.
    pub stored: f64,
    /// Largest difference of what came in and what was stored in a step, as a share of the largest
    /// heat that went anywhere in a step.
    pub imbalance: f64,
}

/// A physics whose parts are analyzed.
pub trait Analyzed<const N: usize>: Measured<N> {
    /// Takes the steps in time of a case that has some.
    ///
    /// # Errors
    /// A solve that does not converge or is interrupted, files that cannot be written.
    fn in_time(
        _part: &Part<Self, N>,
        _request: &Request,
        _conditions: Conditions,
    ) -> Result<Option<Analysis<Self::Case>>, Failure> {
        Ok(None)
    }

    /// Collects the Gauss points of all load cases, where there are stresses at them.
    fn gauss_points<'s>(_solved: &'s Solved<Self, N>) -> Vec<GaussPoints<'s>> {
        Vec::new()
    }
}

impl Analyzed<DIM> for Elasticity {
    fn gauss_points<'s>(solved: &'s Solved<Self, DIM>) -> Vec<GaussPoints<'s>> {
        (0..solved.states.states.len()).map(|k| GaussPoints::of(solved, k)).collect()
    }
}

/// Relative residual of the solve where the case does not say: a single solve takes little time,
/// and reactions are to balance the loads to many digits.
pub const TOLERANCE: f64 = 1e-8;

/// Relative residual that is enough where rounding stops a solve to [`TOLERANCE`], as it does in
/// slender parts, where forces of elements that are far larger than the loads cancel at the nodes.
pub(crate) const ROUNDED: f64 = 1e-6;

/// Folder of an analysis by default: that of a run of the case with `-analysis` behind.
pub fn default_directory(config: &Config) -> PathBuf {
    let mut name = config.output_directory().into_os_string();
    name.push("-analysis");
    name.into()
}

/// Solves the part of `config`; see [`Studied::analyze`](crate::studied::Studied::analyze).
pub(crate) fn of<K: Analyzed<N>, const N: usize>(
    config: &Config,
    request: &Request,
    interrupt: &Interrupt,
) -> Result<Analysis<K::Case>, Failure> {
    thread_pool(config.solver.threads)?.install(|| {
        let Ready { place, model, given, filling, design, notes, warnings } =
            Ready::<K, N>::of(config, request, interrupt)?;
        let conditions = conditions(config, &place, interrupt);
        let part = Part { config, model: &model, given, filling };
        let mut analysis = match K::in_time(&part, request, conditions)? {
            Some(analysis) => analysis,
            None => steady(part, request, conditions)?,
        };
        analysis.design = design.map(|design| design.path().display().to_string());
        analysis.notes.splice(..0, notes);
        analysis.warnings.splice(..0, warnings);
        if request.files.is_some() {
            write_json(&config.output_directory().join(ANALYSIS), &analysis)?;
        }
        Ok(analysis)
    })
}

/// A part that is ready to be solved.
pub(crate) struct Ready<K, const N: usize> {
    pub place: Place,
    pub model: Model<K, N>,
    given: Given<N>,
    pub filling: Filling,
    design: Option<StartingDesign>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

impl<K: Analyzed<N>, const N: usize> Ready<K, N> {
    /// Builds the part of `config`, all solid, or filled as the request says.
    ///
    /// # Errors
    /// Input that cannot be solved.
    pub fn of(config: &Config, request: &Request, interrupt: &Interrupt) -> Result<Self, Failure> {
        request.check(config).map_err(InputError::from)?;
        let design = request.design.as_deref().map(StartingDesign::read).transpose()?;

        // A GPU takes a while to open.
        let case = || match &request.mesh {
            Some(mesh) => Case::<N>::on::<K>(config, mesh.clone()),
            None => Case::<N>::of::<K>(config, &request.gmsh, interrupt),
        };
        let (place, case) = rayon::join(|| Place::find(config.solver.device), case);
        let (place, case) = (place.map_err(InputError::from)?, case?);
        let place = place.on_mesh(config, &case.mesh).map_err(InputError::from)?;

        let mut notes = case.notes.clone();
        let given = Given::of::<K>(config, &case);
        let model = Model::<K, N>::build(config, case, place.needs_colors(config))?;
        notes.extend(place.note().map(str::to_owned));
        notes.extend(place.note_on_precision(&config.solver));
        let warnings = doubts::of_part(config, &model);

        let density = match (&design, &request.density) {
            (Some(design), _) => Some(design.on(&model).map_err(InputError::from)?),
            (None, Some(density)) => Some(in_problem(density, &model).map_err(InputError::from)?),
            (None, None) => None,
        };
        let filling = filling(config, &model, density);
        Ok(Self { place, model, given, filling, design, notes, warnings })
    }
}

/// Conditions of a solve in `place`.
pub(crate) fn conditions<'a>(
    config: &'a Config,
    place: &'a Place,
    interrupt: &'a Interrupt,
) -> Conditions<'a> {
    let rounded = rounded(config);
    Conditions { config, place, interrupt, rounded, remedies: REMEDIES }
}

/// Returns a density that is given in the user's numbering, in that of the problem.
///
/// # Errors
/// A finding if it is not one of the mesh.
fn in_problem<K: Physics<N>, const N: usize>(
    density: &[f64],
    model: &Model<K, N>,
) -> Result<Vec<f64>, Finding> {
    let (n, elements) = (density.len(), model.mesh.n_elements());
    if n == elements && density.iter().all(|rho| rho.is_finite()) {
        return Ok(model.renumbering.elements_from_original(density));
    }
    let message = match density.iter().position(|rho| !rho.is_finite()) {
        Some(element) => {
            format!("the density of element {element}, from 0, is {}", density[element])
        }
        None => format!("there are {n} densities for {elements} elements"),
    };
    Err(Finding::new(message).remedy("give a finite density per element of the mesh"))
}

/// Solves for the steady state of every load case, and writes its files.
fn steady<K: Analyzed<N>, const N: usize>(
    part: Part<K, N>,
    request: &Request,
    conditions: Conditions,
) -> Result<Analysis<K::Case>, Failure> {
    let solved = Solved::new(part, conditions)?;
    let (part, states, cases) = (&solved.part, &solved.states, solved.cases(true));
    let numbers =
        (states.means.clone(), states.pcg_iterations, states.pcg_residual, states.seconds);
    let mut analysis = Analysis::new(part, conditions.place, cases, numbers);
    analysis.notes.extend(K::note(&solved));
    analysis.warnings.extend(K::warning(&solved));
    if request.files.is_none() {
        analysis.found = Some((part.model.mesh.clone(), K::fields(&solved)));
        return Ok(analysis);
    }

    let _lock = made_ready(part.config, request, None).map_err(InputError::from)?;
    write_case(part.config)?;
    let path = part.config.output_directory().join(ANALYSIS_FIELDS);
    FieldFile::of(part).write(&path, &K::fields(&solved))?;
    let points = request.gauss.as_deref().map(|path| (path, K::gauss_points(&solved)));
    points.map_or(Ok(()), |(path, points)| write_gauss_points(path, &points))?;
    Ok(analysis)
}

impl<C> Analysis<C> {
    /// Numbers of a solved `part`: means, iterations, residual and seconds of its solves.
    pub(crate) fn new<K: Physics<N>, const N: usize>(
        Part { config, model, filling, .. }: &Part<K, N>,
        place: &Place,
        load_cases: Vec<C>,
        (means, pcg_iterations, pcg_residual, seconds): (Means, usize, f64, f64),
    ) -> Self {
        Self {
            topopt: env!("CARGO_PKG_VERSION"),
            title: config.title.clone(),
            units: UnitNames::of(config),
            case: config.path().display().to_string(),
            design: None,
            nodes: model.mesh.n_nodes(),
            elements: model.mesh.n_elements(),
            free_dofs: model.n_free_dofs(),
            void_elements: model.space.void.len(),
            element_width: model.element_width,
            volume: filling.material.iter().sum(),
            mass: mass(config, model, &filling.density),
            load_cases,
            transient: None,
            device: place.name(),
            strategy: means.strategy,
            preconditioner: means.preconditioner,
            pcg_iterations,
            pcg_residual,
            rounding: (pcg_residual > config.solver.tolerance).then(|| {
                format!(
                    "solved to a relative residual of {pcg_residual:.1e}: rounding allows no less on \
                     this mesh"
                )
            }),
            seconds,
            notes: Vec::new(),
            warnings: Vec::new(),
            found: None,
        }
    }
}

/// Relative residual that is enough where rounding stops a solve: none, where the user asks for a
/// tolerance. A case file that topopt wrote repeats the one that an analysis had.
fn rounded(config: &Config) -> f64 {
    let is_repeated = config.is_written_by_us() && config.solver.tolerance == TOLERANCE;
    if is_repeated || !config.gives("solver.tolerance") { ROUNDED } else { 0.0 }
}

/// Writes the case with all of its settings.
pub(crate) fn write_case(config: &Config) -> Result<(), Failure> {
    let case = config.to_toml().map_err(InputError::from)?;
    let path = config.output_directory().join(CASE);
    Ok(atomic::write(&path, |file| file.write_all(case.as_bytes()))?)
}

/// Remedies for a solve that does not converge.
const REMEDIES: Remedies = Remedies {
    limited: "raise `solver.max_iterations` or loosen `solver.tolerance`",
    rounded: "loosen `solver.tolerance`: rounding allows no less on this mesh",
};

/// The elements of the full part, or of a design of `density`, `[n_elements]`.
pub(crate) fn filling<K: Physics<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
    density: Option<Vec<f64>>,
) -> Filling {
    let least = model.space.density_min;
    let density: Vec<f64> = match density {
        Some(density) => density.iter().map(|rho| rho.clamp(least, 1.0)).collect(),
        None => {
            let mut full = vec![1.0; model.mesh.n_elements()];
            model.space.void.iter().for_each(|&element| full[element as usize] = least);
            full
        }
    };

    let mut interpolation = interpolation::of(config, K::coefficient(config));
    interpolation.penalty = config.last_penalty();
    let mut filling = Filling {
        material: density.iter().zip(&model.space.volumes).map(|(rho, v)| rho * v).collect(),
        is_carrying_node: carrying_nodes(model.problem.mesh(), &density),
        interpolation,
        contrast: model.contrast,
        stress_moduli: Vec::new(),
        density,
    };
    filling.stress_moduli = filling.moduli(model);
    filling
}

fn write_gauss_points(path: &Path, load_cases: &[GaussPoints]) -> Result<(), Failure> {
    Ok(atomic::write(path, |file| {
        writeln!(file, "{}", COLUMNS.join(","))?;
        load_cases.iter().try_for_each(|points| points.write(file))
    })
    .map_err(|error: WriteError| {
        let remedy = "choose an existing, writable folder with enough space";
        InputError::from(Finding::new(error.to_string()).remedy(remedy))
    })?)
}
