//! Cases from files and texts, and what is computed of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use topopt_case::case;
use topopt_case::config::Config;
use topopt_case::finding::Finding as Refused;
use topopt_case::finding::InputError as Wrong;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_case::of_physics;
use topopt_mesh::HexMesh;
use topopt_study::analysis;
use topopt_study::doubts;
use topopt_study::failure::Failure;
use topopt_study::output_folder::Earlier;
use topopt_study::place::Place;
use topopt_study::ranks::Team;
use topopt_study::run::{Request, run};
use topopt_study::studied::Studied;
use topopt_study::temperatures;
use topopt_study::thread_pool::thread_pool;

use crate::attended::{attended, none};
use crate::errors::{Finding, failed, refused, wrong};
use crate::mesh::Mesh;
use crate::own::Functions;
use crate::result::Result as RunResult;
use crate::run::{Event, Keeper};
use crate::solution::{Found, Solution};
use crate::system::System;

/// A case: its settings, with a mesh in memory or that of the settings.
#[pyclass(frozen, module = "topopt3d")]
pub struct Case {
    path: PathBuf,
    /// Text of the settings; none if the file at `path` has them.
    text: Option<String>,
    overrides: Vec<String>,
    mesh: Option<Arc<HexMesh>>,
}

/// Keys of a mesh in memory: of a generator that is not asked.
const IN_MEMORY: [&str; 2] = ["mesh.generator=\"cantilever\"", "mesh.elements=1"];

impl Case {
    /// Reads the settings for an optimization.
    pub fn config(&self) -> Result<Config, Wrong> {
        match &self.text {
            Some(text) => Config::parse(&self.path, text.clone(), &self.overrides),
            None => Config::load(&self.path, &self.overrides),
        }
    }

    /// Reads the settings for an analysis.
    fn of_part(&self) -> Result<Config, Wrong> {
        let mut config = match &self.text {
            Some(text) => Config::parse_for_analysis(&self.path, text.clone(), &self.overrides)?,
            None => Config::load_for_analysis(&self.path, &self.overrides)?,
        };
        if !config.gives("solver.tolerance") {
            config.solver.tolerance = analysis::TOLERANCE;
        }
        Ok(config)
    }

    /// Mesh in memory.
    fn mesh(&self) -> Option<HexMesh> {
        self.mesh.as_deref().cloned()
    }

    /// Builds all but the solver, for an optimization where there is something to design.
    fn look(&self) -> Result<Vec<Finding>, Failure> {
        let part = self.of_part()?;
        let config = if part.gives("design") { self.config()? } else { part };
        of_physics!(config.physics.kind, look_at(&config, self.mesh()))
    }

    /// Refuses to write what could not be read again from a folder.
    fn check_kept(&self, has_forces: bool) -> Result<(), Refused> {
        let (what, remedy) = match (&self.mesh, has_forces) {
            (Some(_), _) => (
                "the results of a mesh in memory",
                "write the mesh by `mesh.write(\"part.msh\")` and name that file in the case",
            ),
            (None, true) => ("results under loads of Python", "run without `output`"),
            (None, false) => return Ok(()),
        };
        let message = format!("{what} could not be read again from a folder");
        Err(Refused::new(message).remedy(remedy))
    }

    fn request(&self, density: Option<Vec<f64>>) -> analysis::Request {
        let (mesh, gmsh) = (self.mesh(), Gmsh::default());
        analysis::Request { design: None, density, mesh, files: None, gauss: None, gmsh }
    }
}

#[pymethods]
impl Case {
    /// Takes the settings of a `text`, or of the file at `path`, with overrides `key.path=value`.
    #[new]
    #[pyo3(signature = (path, text, overrides, mesh))]
    fn new(
        path: PathBuf,
        text: Option<String>,
        mut overrides: Vec<String>,
        mesh: Option<&Mesh>,
    ) -> PyResult<Self> {
        let mesh = mesh.map(|mesh| mesh.mesh.clone());
        if mesh.is_some() {
            overrides.extend(IN_MEMORY.map(str::to_owned));
        }
        let case = Self { path, text, overrides, mesh };
        case.of_part().map_err(|error| wrong(&error))?;
        Ok(case)
    }

    /// Writes values given as JSON, as a document of TOML.
    #[staticmethod]
    fn toml(json: &str) -> PyResult<String> {
        let invalid = |error: String| PyValueError::new_err(error);
        let table: toml::Table =
            serde_json::from_str(json).map_err(|error| invalid(error.to_string()))?;
        toml::to_string(&table).map_err(|error| invalid(error.to_string()))
    }

    /// Writes a value given as JSON, as a value of TOML.
    #[staticmethod]
    fn toml_value(json: &str) -> PyResult<String> {
        let value = serde_json::from_str::<toml::Value>(json);
        let value = value.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(value.to_string())
    }

    /// Lists what is wrong or doubtful, and notes, without solving.
    fn check(&self, py: Python) -> PyResult<Vec<Finding>> {
        let found = attended(py, |_, _| self.look(), none)?;
        Ok(match found {
            Ok(found) => found,
            Err(Failure::Input(error)) => error.findings().iter().map(Finding::from).collect(),
            Err(failure) => return Err(failed(&failure)),
        })
    }

    /// Optimizes the case. `callback` sees each design; results go to the folder `output`, if one
    /// is given.
    #[pyo3(signature = (callback, output, overwrite, functions))]
    fn run(
        &self,
        py: Python,
        callback: Option<Py<PyAny>>,
        output: Option<PathBuf>,
        overwrite: bool,
        functions: Functions,
    ) -> PyResult<RunResult> {
        let mut config = self.config().map_err(|error| wrong(&error))?;
        config.output.directory = output.clone().or(config.output.directory);
        let unknowns = if config.physics.kind.data().has_forces { 3 } else { 1 };
        let (own, raised) = functions.of(unknowns)?;
        if !own.is_empty() {
            // A resumed run would go on without them, and they need not be symmetric.
            config.output.checkpoint_every = Some(0);
            if !config.gives("design.keep_symmetry") {
                config.design.keep_symmetry = Some(false);
            }
        }
        if output.is_some() {
            self.check_kept(!own.forces.is_empty()).map_err(refused)?;
        }
        let needs_own = own.is_needed();
        let treated = if overwrite { Earlier::Replace } else { Earlier::Keep };
        let request = Request {
            files: output.as_ref().map(|_| treated),
            mesh: self.mesh(),
            own,
            start_from: None,
            gmsh: Gmsh::default(),
            team: Team::of_threads(std::num::NonZeroUsize::MIN).map_err(refused)?,
        };

        let is_watched = callback.is_some();
        // The events end with the work, and not before: the caller looks for signals as long.
        let work = |events: Sender<Event>, interrupt: &Interrupt| {
            let mut keeper = Keeper::new(is_watched.then(|| events.clone()));
            let ended = run(&config, &request, &mut keeper, interrupt);
            (ended, keeper.close())
        };
        let answer = |py: Python, event: Event| match &callback {
            Some(callback) => event.answer(py, &config, callback),
            None => Ok(()),
        };
        let (ended, keeper) = attended(py, work, answer)?;
        if let Some(error) = raised.lock().ok().and_then(|mut raised| raised.take()) {
            return Err(error);
        }
        ended.map_err(|failure| failed(&failure))?;
        RunResult::of(py, config, keeper, (output, self.mesh.is_some(), needs_own))
    }

    /// Solves the full part once, or a design of `density`, `[n_elements]`.
    #[pyo3(signature = (density))]
    fn solve(&self, py: Python, density: Option<Vec<f64>>) -> PyResult<Solution> {
        let config = self.of_part().map_err(|error| wrong(&error))?;
        let request = self.request(density);
        let work = |_, interrupt: &Interrupt| {
            of_physics!(config.physics.kind, solved(&config, &request, interrupt))
        };
        let found = attended(py, work, none)?.map_err(|failure| failed(&failure))?;
        Solution::of(py, found)
    }

    /// Opens the linear system of the full part, or of a design of `density`, `[n_elements]`.
    #[pyo3(signature = (density))]
    fn system(&self, py: Python, density: Option<Vec<f64>>) -> PyResult<System> {
        let config = self.of_part().map_err(|error| wrong(&error))?;
        System::open(py, config, self.request(density))
    }
}

fn solved<K: Studied<N>, const N: usize>(
    config: &Config,
    request: &analysis::Request,
    interrupt: &Interrupt,
) -> Result<Found, Failure> {
    let mut analysis = K::analyze(config, request, interrupt)?;
    let found = analysis.found.take();
    Ok((serde_json::to_string(&analysis).map_err(std::io::Error::from)?, found))
}

/// Builds all of a case but its solver.
fn look_at<K: Studied<N>, const N: usize>(
    config: &Config,
    mesh: Option<HexMesh>,
) -> Result<Vec<Finding>, Failure> {
    thread_pool(config.solver.threads)?.install(|| {
        let config = &temperatures::solved(config, &Gmsh::default(), &Interrupt::new())?;
        let case = match mesh {
            Some(mesh) => case::Case::<N>::on::<K>(config, mesh)?,
            None => case::Case::<N>::of::<K>(config, &Gmsh::default(), &Interrupt::new())?,
        };
        let place =
            Place::find(config.solver.device).and_then(|place| place.on_mesh(config, &case.mesh));
        let place = place.map_err(Wrong::from)?;
        let notes = case.notes.clone();
        let model = K::model(config, case, &place)?;
        let warnings = doubts::of(config, &model).into_iter();
        let warnings = warnings.map(|warning| Finding::said("warning", warning));
        let notes = notes.into_iter().chain(model.notes.iter().cloned());
        Ok(warnings.chain(notes.map(|note| Finding::said("note", note))).collect())
    })
}
