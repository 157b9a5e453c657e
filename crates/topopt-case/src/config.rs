//! The case file: one TOML file a case, checked as a whole before anything is computed.
//!
//! Its keys are the fields of the structs in `keys` and its neighbors, whose documentation,
//! defaults and ranges make the JSON schema; `check` holds a file against that schema.

mod aliases;
mod analyzed;
mod candidates;
mod candidates_consistency;
mod check;
mod coarser;
mod consistency;
mod design;
mod design_consistency;
mod design_space;
mod elastic_laws;
mod elements;
mod expansions;
mod keys;
mod load_consistency;
mod loads;
mod making;
mod manufacturing;
mod material_names;
mod material_properties;
mod mesh;
mod named_materials;
mod objective;
mod objective_consistency;
mod output;
mod overrides;
mod own_keys;
mod physics;
mod physics_consistency;
mod property;
mod schema;
mod select;
mod solver;
mod style;
mod suited;
mod temperature;
mod temperatures;
mod thermal_expansion;
mod transient;
mod transient_consistency;
mod units;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

pub use aliases::present;
pub use candidates::Candidate;
pub use check::closest;
pub use design::{
    Changing, Continuation, Course, Design, Filter, FilterKind, FilterWeights, Interpolation, Keep,
    KeepLoaded, Making, Method, Optimizer, Projection, Quality, Start, Style,
};
pub use design_space::{
    Around, DesignSpace, Envelope, Fill, KEPT, KeepOut, KeptPart, NearFaces, Within,
};
pub use elements::{ElementKind, Elements};
pub use keys::{Config, Material, SetMaterial};
pub use loads::{Axis, Load, LoadCase, NodesOfSet, Spring, Support};
pub use manufacturing::Manufacturing;
pub use material_properties::{Given, MaterialProperty, number};
pub use mesh::{Generator, Hexes, Mesh, MeshMethod, Refine};
pub use objective::{Constraint, Objective, ResponseKeys, ResponseName, TimeOf};
pub use output::{Compression, Output};
pub use own_keys::{OwnKeys, Shape};
pub use physics::{Convection, Physics, PhysicsKind};
pub use property::{CellArray, Conductivity, Property};
pub use schema::schema;
pub use select::{
    Bounds, Condition, Cylinder, FaceForm, FaceKind, FaceName, Near, Normal, Plane, Select,
    SelectKind, Sphere,
};
pub use solver::{
    Cycle, Device, MOST_THREADS, Precision, Preconditioner, Smoother, Solver, Strategy,
};
pub use temperature::{ComputedTemperature, Temperature};
pub use thermal_expansion::ThermalExpansion;
pub use transient::{Capacity, MOST_STEPS, OverTime, Probe, STEP_COLUMNS, Transient};
pub use units::{ForceUnit, LengthUnit, Units};

use crate::finding::{Finding, InputError, Source};
use crate::{tetrahedra, written_case};

impl Config {
    /// The smallest modulus that a design of one material may have, as a share of the largest, in
    /// all stages.
    pub fn contrast(&self) -> f64 {
        let later = self.continuation.iter().filter_map(|stage| stage.penalty);
        let later = later.flat_map(|penalty| [penalty.start(), penalty.end()]);
        let penalties = std::iter::once(self.design.penalty).chain(later);
        penalties.map(|penalty| self.design.contrast(penalty)).fold(1.0, f64::min)
    }

    /// The penalty of the last stage.
    pub fn last_penalty(&self) -> f64 {
        let last = self.continuation.iter().rev().find_map(|stage| stage.penalty);
        last.map_or(self.design.penalty, Course::end)
    }

    /// Whether the user gives the tolerance of solves, and not we in the case file of results.
    pub fn has_own_tolerance(&self) -> bool {
        let is_ours =
            self.is_written_by_us() && self.solver.tolerance == Solver::default().tolerance;
        self.gives("solver.tolerance") && !is_ours
    }

    /// Whether a stage gives the surface a width.
    pub fn has_half_width(&self) -> bool {
        self.continuation.iter().any(|stage| stage.half_width.is_some())
    }

    /// The optimizers of a run, the first one first, each once.
    pub fn methods(&self) -> Vec<Method> {
        let mut methods = vec![self.optimizer.method];
        for method in self.continuation.iter().filter_map(|stage| stage.method) {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        methods
    }

    /// Reads the case file at `path`, with the overrides `key.path=value` in their order. The case
    /// file among the results of a run has its own folder as the output directory.
    ///
    /// # Errors
    /// All that is wrong with the file or the overrides, with places and remedies.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, InputError> {
        let config = Self::read(path, overrides)?;
        consistency::check(&config)?;
        Ok(config)
    }

    /// Reads the case file for an analysis, as [`Config::load`] does; keys that only an
    /// optimization uses may be missing, and are left out.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_for_analysis(path: &Path, overrides: &[String]) -> Result<Self, InputError> {
        let mut config = Self::read(path, overrides)?;
        analyzed::reduce(&mut config);
        consistency::check_part(&config)?;
        Ok(config)
    }

    /// Parses `text` as [`Config::parse`] does, for an analysis as [`Config::load_for_analysis`].
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse_for_analysis(
        path: &Path,
        text: String,
        overrides: &[String],
    ) -> Result<Self, InputError> {
        let mut config = Self::of_text(path, text, overrides)?;
        analyzed::reduce(&mut config);
        consistency::check_part(&config)?;
        Ok(config)
    }

    /// Parses `text`, the content of the case file `path`, with overrides as in [`Config::load`].
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(path: &Path, text: String, overrides: &[String]) -> Result<Self, InputError> {
        let config = Self::of_text(path, text, overrides)?;
        consistency::check(&config)?;
        Ok(config)
    }

    fn read(path: &Path, overrides: &[String]) -> Result<Self, InputError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Finding::new(format!("cannot read the case file {}: {error}", path.display()))
                .remedy("`topopt init NAME` writes a case file to start from")
        })?;
        let mut config = Self::of_text(path, text, overrides)?;
        config.output.directory =
            config.output.directory.or_else(|| written_case::results_of(path));
        Ok(config)
    }

    /// Every key by itself is checked.
    fn of_text(path: &Path, text: String, overrides: &[String]) -> Result<Self, InputError> {
        let file = (path.display().to_string(), text);
        let arguments = overrides.iter().map(|argument| ("--set".to_owned(), argument.clone()));
        let source = Source::new(std::iter::once(file).chain(arguments));
        let table = overrides::merged(&source)?;
        check::check(&table, &source)?;
        let mut config = Self::deserialize(toml::de::Deserializer::from(table)).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            Finding::new(e.message()).at(&source, span, "here")
        })?;
        config.source = source;
        config.path = path.to_owned();
        config.keep_parts();
        named_materials::resolve(&mut config)?;
        making::resolve(&mut config);
        style::resolve(&mut config);
        suited::resolve(&mut config);
        Ok(config)
    }

    /// Adds the kept parts of a design space to what stays solid.
    fn keep_parts(&mut self) {
        let Some(space) = &self.mesh.get_ref().design_space else { return };
        let is_named = !space.get_ref().kept.is_empty();
        if is_named && self.design.solid.iter().all(|set| set.get_ref() != KEPT) {
            self.design.solid.push(Spanned::new(space.span(), KEPT.into()));
        }
    }

    /// Path of the case file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the mesh file, if the mesh is read and not generated.
    pub fn mesh_path(&self) -> Option<PathBuf> {
        self.mesh.get_ref().file.as_ref().map(|file| self.folder().join(file.get_ref()))
    }

    /// Paths of all files that the case is made of: its own, and those that it names.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let space = self.mesh.get_ref().design_space.iter();
        let bodies = space.flat_map(|space| space.get_ref().files());
        let bodies = bodies.map(|file| self.folder().join(file));
        let temperatures = self.computed_temperatures();
        let temperatures = temperatures.map(|given| given.get_ref().path(self.folder()));
        let own = [self.path.clone()].into_iter().chain(self.mesh_path());
        own.chain(bodies).chain(temperatures).collect()
    }

    /// Folder for the results: `output.directory`, else `results/` and the case's file name, as a
    /// whole where it would be a folder above without its extension.
    pub fn output_directory(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default();
        let stem = self.path.file_stem().filter(|stem| *stem != "." && *stem != "..");
        let default = || Path::new("results").join(stem.unwrap_or(name));
        self.output.directory.clone().unwrap_or_else(default)
    }

    /// A case file of all settings in force, for the folder of the results: the path of the mesh
    /// file is absolute, and there is no `output.directory`, see [`Config::load`]. The keys
    /// of a style are written out, so that the file means the same wherever it is read.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub fn to_toml(&self) -> Result<String, Finding> {
        let mut case = self.clone();
        case.output.directory = None;
        tetrahedra::resolve(&mut case);
        case.loads.iter_mut().for_each(|load| load.make_absolute(self.folder()));
        let absolute = self.mesh_path().map(std::path::absolute).transpose();
        if let (Ok(Some(absolute)), Some(file)) = (absolute, &mut case.mesh.get_mut().file) {
            *file.get_mut() = absolute;
        }
        if let Some(space) = &mut case.mesh.get_mut().design_space {
            space.get_mut().make_absolute(self.folder());
        }
        let text = toml::to_string(&case).map_err(|error| {
            let path =
                case.mesh.get_ref().file.as_ref().map(|file| file.get_ref().display().to_string());
            let message = format!("cannot write the settings as a case file: {error}");
            let remedy =
                format!("move the mesh to a path of UTF-8: it is {}", path.unwrap_or_default());
            Finding::new(message).remedy(remedy)
        })?;
        let foreign = self.physics.kind.data().foreign_keys;
        let is_own = |line: &&str| !foreign.contains(&line.split(" = ").next().unwrap_or(line));
        let lines = text.split_inclusive('\n').filter(is_own);
        Ok(format!("{}\n\n{}", written_case::CASE_MARK, lines.collect::<String>()))
    }

    /// Returns the texts that the values come from, to point at them.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Place of the value at `path`, with keys and positions in lists as in `--set`.
    pub fn span(&self, path: &str) -> Range<usize> {
        let table = overrides::merged(&self.source).ok();
        table.and_then(|table| overrides::span(&table, path)).unwrap_or(0..0)
    }

    /// Whether the case file, or the command line, gives the value at `path`.
    pub fn gives(&self, path: &str) -> bool {
        let table = overrides::merged(&self.source).ok();
        table.is_some_and(|table| overrides::span(&table, path).is_some())
    }

    /// Whether the case file is one that topopt wrote among results, with all settings.
    pub fn is_written_by_us(&self) -> bool {
        let mut texts = self.source.texts();
        texts.next().is_some_and(|(_, file)| file.starts_with(written_case::CASE_MARK))
    }

    /// The load cases: those of loads and displacements in the order in which they are first named,
    /// then, as a displacement of no case belongs to all, those that are listed.
    pub fn load_case_names(&self) -> Vec<&str> {
        let moves = |support: &&Support| {
            support.displacement.is_some()
                || support.rotation.is_some()
                || support.temperature.as_ref().is_some_and(|value| *value.get_ref() != 0.0)
        };
        let mut moved = self.supports.iter().filter(moves);
        let is_warm = self.convection.iter().any(|convection| convection.ambient != 0.0);
        let cases = self.supports.iter().filter_map(|support| support.case.as_ref());
        let of_supports = cases.map(|case| case.get_ref().as_str());
        let mut names: Vec<&str> =
            self.loads.iter().map(|load| load.case.as_str()).chain(of_supports).collect();
        if is_warm || moved.any(|support| support.case.is_none()) {
            names.extend(self.load_cases.iter().map(|entry| entry.name.get_ref().as_str()));
            if names.is_empty() {
                names.push("default");
            }
        }
        let mut known = BTreeSet::new();
        names.retain(|name| known.insert(*name));
        names
    }
}
