//! The proof of a design: the exported shape, solved again.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use topopt_case::candidates;
use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::manufacturing::Made;
use topopt_case::model::Model;
use topopt_case::physics::heat::FILLER;
use topopt_fem::Problem;
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::HexMesh;
use topopt_surface::Shaping;

use super::built::Built;
use super::carried::Carried;
use super::compared::Compared;
use super::limits::{Limits, SolvedShape};
use super::moved::Ground;
use super::remeshed::{self, Remeshed, Settings};
use super::request::{REMEDIES, Request};
use super::shape::Shape;
use super::springs::MovedSprings;
use super::verified::Verified;
use crate::built_shape::BuiltShape;
use crate::design_file::DesignFile;
use crate::failure::Failure;
use crate::part_file::PartFile;
use crate::place::Place;
use crate::result_files::{SUMMARY, VERIFIED, VERIFIED_DESIGN, write_json};
use crate::run_directory::RunDirectory;
use crate::solved::{Conditions, Field, Fields, Given, Part, Solved, mass};
use crate::solved_file::MISSED;
use crate::summary::Summary;
use crate::whole::said_to_be_torn;

/// Results of `topopt verify`: numbers of the optimized design and of the one of solid and void,
/// with C of a load case and O of all of them. Units are those of the case; nodes and elements have
/// the numbers of the mesh file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verification<O, C> {
    /// Void, and the largest values of all load cases.
    #[serde(flatten)]
    pub overall: O,
    /// Weighted compliance (force times length, or heat times temperature).
    pub compliance: Compared,
    /// The shape.
    #[serde(flatten)]
    pub built: Built,
    /// Mass of the solid elements, where all materials have a mass density.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Every load case by itself.
    pub load_cases: Vec<C>,
    /// Name of the compute target.
    pub device: String,
    /// Iterations of conjugate gradients, summed over load cases.
    pub pcg_iterations: usize,
    /// Largest relative residual over load cases.
    pub pcg_residual: f64,
    /// Objective and limits.
    #[serde(flatten)]
    pub limits: Limits,
    /// The built shape on a mesh that fits it, where that was asked for.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub remeshed: Option<Remeshed<O, C>>,
    /// Missed limits, pieces that carry nothing, and doubts about mesh and loads, a sentence each.
    pub warnings: Vec<String>,
    /// Notes on what was moved or left out, a sentence each.
    pub notes: Vec<String>,
    /// Fields of the solid, of a verification that writes no files.
    #[serde(skip)]
    pub fields: Fields,
}

/// Name of the array of the share of each element that the solid fills.
const SHARE: &str = "share";

/// A design to be verified.
pub struct Optimized {
    /// Summary of its run.
    pub summary: Summary,
    /// Densities on its mesh.
    pub file: DesignFile,
    /// Mesh in place of that of the case.
    pub mesh: Option<HexMesh>,
    /// Folder of its results, which takes those of the verification; none for a verification that
    /// writes no files and returns its fields.
    pub folder: Option<PathBuf>,
}

impl Optimized {
    /// Reads the design in `results`, which is made by `config`.
    ///
    /// # Errors
    /// A finding if it cannot be read.
    pub fn read(results: &RunDirectory, config: &Config) -> Result<Self, Finding> {
        Ok(Self {
            summary: results.summary()?,
            file: DesignFile::read(&results.design())?.made_by(config),
            mesh: None,
            folder: Some(results.path().to_owned()),
        })
    }
}

/// Warns of files of temperatures that are newer than the design in `folder`.
fn changed(config: &Config, folder: &Path) -> Vec<String> {
    let time = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let end = time(&folder.join(SUMMARY));
    let paths = config.computed_temperatures().map(|given| given.get_ref().path(config.folder()));
    let newer = paths.filter(|path| end.is_some() && time(path) > end);
    let said = newer.map(|path| {
        format!(
            "{} has changed since the run: its temperatures may be others than the design was made for",
            path.display()
        )
    });
    said.collect()
}

/// Solves the `optimized` design again; see [`Studied::verify`](crate::studied::Studied::verify).
pub(crate) fn of<K: Verified<N>, const N: usize>(
    optimized: &Optimized,
    config: &Config,
    request: &Request,
    interrupt: &Interrupt,
) -> Result<Verification<K::Overall, K::Case>, Failure> {
    if config.transient.is_some() {
        return Err(InputError::from(in_time(optimized.folder.as_deref())).into());
    }
    let Optimized { summary, file, folder, .. } = optimized;
    let built = || {
        let shaping = Shaping { threshold: request.threshold, ..Shaping::default() };
        let body = PartFile::read(folder.as_deref(), &file.mesh)?;
        Ok::<_, Finding>((BuiltShape::of(file, &body, &shaping)?, body))
    };
    // Much of both takes one thread.
    let posed = || Posed::<K, N>::of(optimized, config, request, interrupt);
    let (posed, built) = rayon::join(posed, built);
    let Posed { config, given, place, mut model } = posed?;
    let (config, (built, body)) = (&*config, built.map_err(InputError::from)?);
    let shape = Shape::new((config, &model), (file, &body, built), request);
    let shape = shape.map_err(InputError::from)?;

    let void = K::void(config);
    let is_solid = |is_touched: &bool| *is_touched || void >= FILLER;
    let is_solid: Vec<bool> = shape.is_touched.iter().map(is_solid).collect();
    let carried = Carried::of(&model.problem, &is_solid);
    let standing = standing(config, &model, &carried, given);
    // What is wrong with the surface of a cast part is why nothing stands.
    let why = shape.fallen_apart.clone().filter(|_| file.draw.is_some());
    let (given, problem, notes) = standing.map_err(|error| why.map_or(error, InputError::from))?;
    model.problem = problem;

    let filling = shape.filling(config, &model, &carried, void);
    let conditions =
        Conditions { config, place: &place, interrupt, rounded: 0.0, remedies: REMEDIES };
    let part = Part { config, model: &model, given, filling };
    let solved = Solved::new(part, conditions)?;
    let proof = Proof { solved, shape, carried };
    let mut verification = proof.verification(summary, file, &place, notes)?;
    verification.warnings.extend(folder.iter().flat_map(|folder| changed(config, folder)));
    if request.remesh {
        let settings = Settings { request, place: &place, interrupt };
        let verified = verification.compliance.verified;
        let lookup = proof.solved.part.lookup();
        let found = remeshed::solved::<K, N>(&lookup, (file, &body), verified, &settings)?;
        verification.remeshed = Some(found);
    }
    match folder {
        Some(folder) => {
            proof.write(folder)?;
            write_json(&folder.join(VERIFIED), &verification)?;
        }
        None => verification.fields = proof.fields(),
    }
    Ok(verification)
}

/// The problem of a case with a design, and where it is solved.
struct Posed<'a, K: Verified<N>, const N: usize> {
    config: Cow<'a, Config>,
    given: Given<N>,
    place: Place,
    model: Model<K, N>,
}

impl<'a, K: Verified<N>, const N: usize> Posed<'a, K, N> {
    /// The problem of the case in `config`, with the materials of the `optimized` design.
    fn of(
        optimized: &Optimized,
        config: &'a Config,
        request: &Request,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let mut case = match &optimized.mesh {
            Some(mesh) => Case::<N>::on::<K>(config, mesh.clone())?,
            None => Case::<N>::of::<K>(config, &request.gmsh, interrupt)?,
        };
        let config = candidates::placed(config, &mut case, &optimized.file.material);
        let given = Given::of::<K>(&config, &case);
        let place =
            Place::find(config.solver.device).and_then(|place| place.on_mesh(&config, &case.mesh));
        let place = place.map_err(InputError::from)?;
        let model = Model::build(&config, case, place.needs_colors(&config))?;
        Ok(Self { config, given, place, model })
    }
}

/// A design for heat in time, which is not verified.
fn in_time(results: Option<&Path>) -> Finding {
    let message = "the design is one for heat in time, and `topopt verify` solves steady states";
    Finding::new(message).remedy(format!(
        "`topopt solve CASE --design {}` steps through the design with its densities",
        results.unwrap_or(Path::new("RESULT")).display()
    ))
}

/// The problem in which all that does not carry is void, with what was moved to what does, a
/// sentence each; `given` is changed alike. What convection brings from the ambient stays where
/// nothing carries, as the film does.
fn standing<K: Verified<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
    carried: &Carried,
    mut given: Given<N>,
) -> Result<(Given<N>, Problem<K, N>, Vec<String>), InputError> {
    let problem = &model.problem;
    let new_node = &model.renumbering.new_nodes();
    let (constraints, keep_loaded) = (problem.held(), config.design.keep_loaded);
    let ground = Ground { mesh: &model.mesh, constraints, new_node, carried, keep_loaded };
    let (mut loads, mut restraints) = (given.loads.clone(), std::mem::take(&mut given.restraints));
    let lookup = given.lookup(config, &model.mesh);
    let MovedSprings { added, mut notes } = K::move_restraints(&ground, &lookup, &mut restraints)?;
    notes.extend(ground.move_loads::<K>(&K::nodal_loads(&lookup), &mut loads)?);
    let problem = carried.problem(problem, &loads, &added, &model.renumbering)?;
    (given.loads, given.restraints) = (loads, restraints);
    Ok((given, problem, notes))
}

/// A shape that has been solved.
struct Proof<'a, K: Verified<N>, const N: usize> {
    solved: Solved<'a, K, N>,
    shape: Shape,
    carried: Carried,
}

impl<K: Verified<N>, const N: usize> Proof<'_, K, N> {
    /// Compares the shape with the optimized design in `summary` and `file`.
    ///
    /// # Errors
    /// A finding if nothing is left of the set of a response.
    fn verification(
        &self,
        summary: &Summary,
        file: &DesignFile,
        place: &Place,
        notes: Vec<String>,
    ) -> Result<Verification<K::Overall, K::Case>, Failure> {
        let Self { solved, shape, carried } = self;
        let Solved { part: Part { config, model, given, .. }, states, .. } = solved;
        let optimized = summary.done.compliance.unwrap_or(f64::NAN);

        let solved_shape = SolvedShape {
            model,
            carried,
            shape,
            states: &states.states,
            compliances: &states.compliances,
            compliance: states.compliance,
        };

        let mut limits = solved_shape.limits(summary)?;
        let built = Built::of(shape, model, given.tags.as_ref(), summary);
        limits.count(&built.made);
        let mut warnings = solved_shape.warnings(&limits, &built, config.physics.kind);
        warnings.extend(built.made.iter().filter_map(Made::warning));
        warnings.extend(K::warning(solved));
        warnings.extend(shape.fallen_apart.iter().map(|finding| finding.message.clone()));
        warnings.extend(summary.torn_by.map(|times| said_to_be_torn(config.quality(), times)));
        let load_cases = solved.cases(false);

        Ok(Verification {
            overall: K::overall(solved, &load_cases, file)?,
            compliance: Compared::new(optimized, states.compliance),
            built,
            mass: mass(config, model, &shape.shares),
            load_cases,
            device: place.name(),
            pcg_iterations: states.pcg_iterations,
            pcg_residual: states.pcg_residual,
            limits,
            remeshed: None,
            warnings,
            notes: notes.into_iter().chain(K::note(solved)).collect(),
            fields: Fields::default(),
        })
    }

    /// Collects the fields of the solid, with the share of each element that it fills.
    fn fields(&self) -> Fields {
        let values = self.solved.part.model.renumbering.elements_to_original(&self.shape.shares);
        let share = Field { name: SHARE.into(), components: 1, values };
        let mut fields = Fields { points: Vec::new(), cells: vec![share] };
        fields.extend(K::shown_fields(&self.solved));
        fields
    }

    /// Writes the design of solid and void in the mesh file's numbering.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let Self { solved, shape, .. } = self;
        let (mesh, renumbering) = (&solved.part.model.mesh, &solved.part.model.renumbering);
        let solid: Vec<u8> = shape.is_solid.iter().map(|&is_solid| is_solid.into()).collect();
        let solid = renumbering.elements_to_original(&solid);
        let shares = renumbering.elements_to_original(&shape.shares);
        let fields = K::shown_fields(solved);
        let points: Vec<Array> = fields.points.iter().map(Field::array).collect();
        let mut cells = vec![
            Array { name: SHARE, components: 1, values: Values::F64(&shares) },
            Array { name: "solid", components: 1, values: Values::U8(&solid) },
        ];
        let missed = self.shape.missed.as_ref();
        let missed = missed.map(|missed| renumbering.elements_to_original(missed));
        let array = |values| Array { name: MISSED, components: 1, values: Values::F64(values) };
        cells.extend(missed.as_deref().map(array));
        cells.extend(fields.cells.iter().map(Field::array));
        let path = folder.join(VERIFIED_DESIGN);
        let x = mesh.coordinates();
        Ok(vtu::write(&path, x, mesh, &points, &cells, Compression::default())?)
    }
}
