//! Gmsh run as a program: from a geometry to a mesh of hexahedra or tetrahedra.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::facets::Triangulation;
use super::finer::FinerBox;
use super::meshing_error::MeshingError;
use super::raw::RawMesh;
use super::sections;
use super::supervised::{Supervised, Workplace};
use crate::quote::printable;

/// How a geometry is meshed.
#[derive(Debug, Clone)]
pub struct Meshing {
    /// The program: a path, or a name to look for on PATH. Else `$GMSH`, else `gmsh`.
    pub program: Option<PathBuf>,
    /// How hexahedra are made.
    pub hexes: Hexes,
    /// Size of the elements.
    pub size: ElementSize,
    /// Places with smaller ones.
    pub finer: Vec<FinerBox>,
    /// Unit of the mesh, into which STEP and IGES files, which have units, are converted: `MM`, `M`
    /// and the like.
    pub length_unit: &'static str,
    /// Gmsh is ended after this time, with all that it has started.
    pub timeout: Duration,
    /// Whether the geometry may run programs and write files.
    pub trust: bool,
    /// Closed surface that is meshed in place of a file; the path of the geometry only names it.
    pub surface: Option<Triangulation>,
}

/// Size of the elements of a geometry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ElementSize {
    /// Sizes that the geometry gives.
    OfGeometry,
    /// Largest edge of the elements (length).
    Edge(f64),
    /// Approximate number of elements; the geometry is meshed up to five times.
    Number(usize),
}

/// Way in which Gmsh makes elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hexes {
    /// Commands of the geometry file; where these leave other elements, [`Hexes::Subdivide`].
    Auto,
    /// Volumes of six sides as bent boxes.
    Transfinite,
    /// Quadrilaterals that the file's own extrusion in layers takes through the volume.
    Extrude,
    /// Tetrahedra, each cut into four hexahedra.
    Subdivide,
    /// Commands of the geometry file; where these leave other elements, tetrahedra of second order.
    Tetrahedra,
}

impl Hexes {
    /// Whether commands of the geometry file come first.
    pub(super) fn is_by_commands(self) -> bool {
        matches!(self, Hexes::Auto | Hexes::Tetrahedra)
    }
}

/// Extensions of geometries that Gmsh meshes.
pub(crate) const GEOMETRIES: [&str; 7] = ["step", "stp", "iges", "igs", "brep", "stl", "geo"];

/// Whether the file at `path` is a geometry that Gmsh meshes, by its extension.
pub fn is_geometry(path: &Path) -> bool {
    is_one_of(path, &GEOMETRIES)
}

/// Whether another size or other settings may help.
pub(super) fn may_help(error: &MeshingError) -> bool {
    matches!(
        error,
        MeshingError::Failed { .. } | MeshingError::Refused(_) | MeshingError::Volume { .. }
    )
}

/// Boundaries of bodies, which say nothing of meshes.
pub(super) fn is_solid(path: &Path) -> bool {
    is_step(path) || is_one_of(path, &["brep"]) || is_iges(path)
}

/// Bodies with names and colors of their faces.
pub(super) fn is_step(path: &Path) -> bool {
    is_one_of(path, &["step", "stp"])
}

/// Surfaces that Gmsh cannot convert to a unit and seldom joins by itself.
pub(super) fn is_iges(path: &Path) -> bool {
    is_one_of(path, &["iges", "igs"])
}

/// Triangles alone: Gmsh makes surfaces from them before it meshes.
pub(super) fn is_of_facets(path: &Path) -> bool {
    is_one_of(path, &["stl"])
}

/// Programs of Gmsh, which may describe the elements.
pub(super) fn is_script(path: &Path) -> bool {
    is_one_of(path, &["geo"])
}

fn is_one_of(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().unwrap_or_default();
    extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// One run of Gmsh.
pub(super) struct Task<'a> {
    /// File that Gmsh reads: the geometry, or one that was made of it.
    pub geometry: &'a Path,
    /// Product that is wanted.
    pub wanted: Wanted,
    /// Options that must be set before the geometry is read.
    pub numbers: &'a [(&'static str, f64)],
    /// Read behind the geometry, so that it prevails.
    pub settings: String,
    /// Time after which the run is ended.
    pub timeout: Duration,
}

/// Product of Gmsh for a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A mesh, as [`MESH`].
    Mesh,
    /// A mesh of the surface, as [`MESH`].
    Surface,
    /// Triangles of the surface in the format of STL, as [`MESH`].
    Triangles,
    /// No more than what the settings print.
    Nothing,
}

impl Wanted {
    /// Dimension up to which is meshed, the format and the name of what is written.
    fn arguments(self) -> (&'static str, &'static [&'static str], &'static str) {
        match self {
            Self::Mesh => ("-3", &["-format", "msh41", "-bin"], MESH),
            Self::Surface => ("-2", &["-format", "msh41", "-bin"], MESH),
            Self::Triangles => ("-2", &["-format", "stl", "-bin"], MESH),
            Self::Nothing => ("-0", &[], UNROLLED),
        }
    }
}

/// Gmsh for one geometry.
#[derive(Clone, Copy)]
pub(super) struct Runner<'a> {
    /// The geometry, as the user named it.
    pub path: &'a Path,
    pub meshing: &'a Meshing,
    pub interrupt: &'a AtomicBool,
}

impl Runner<'_> {
    /// A folder for what a run writes.
    pub fn folder(&self) -> Result<Workplace, MeshingError> {
        Workplace::new("topopt-gmsh-").map_err(MeshingError::Folder)
    }

    /// Runs Gmsh in `folder`; what it said.
    pub fn run(&self, task: &Task, folder: &Workplace) -> Result<String, MeshingError> {
        let inside = |name: &str| folder.path().join(name);
        fs::write(inside(SETTINGS), &task.settings).map_err(MeshingError::Folder)?;

        let log = File::create(inside(LOG)).map_err(MeshingError::Folder)?;
        let errors = log.try_clone().map_err(MeshingError::Folder)?;
        let program = program(self.meshing.program.as_deref());
        let path = absolute(task.geometry);

        let mut command = Command::new(&program);
        if !is_iges(self.path) {
            command.args(["-setstring", "Geometry.OCCTargetUnit", self.meshing.length_unit]);
        }
        for (name, value) in task.numbers {
            command.args(["-setnumber", name, &format!("{value:?}")]);
        }

        // The settings come after the geometry, so that they prevail.
        let (dimension, format, output) = task.wanted.arguments();
        command.arg(dimension).arg(path.map_err(MeshingError::Folder)?).arg(inside(SETTINGS));
        command.args(format).arg("-o").arg(inside(output));
        command.stdin(Stdio::null()).stdout(log).stderr(errors);

        let child = folder.spawn(command);
        let child = child.map_err(|cause| MeshingError::Program { program, cause })?;
        let status = self.wait(child, task.timeout)?;
        let log = fs::read(inside(LOG)).map_err(MeshingError::Folder)?;
        let log = String::from_utf8_lossy(&log).into_owned();

        // Gmsh ends with status 0 after an error: its words count as well.
        let errors: Vec<_> = log.lines().filter_map(error_in).collect();
        if status.success() && errors.is_empty() {
            return Ok(log);
        }

        // Without a message of an error, its last words.
        let last = || log.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev();
        let lines = if errors.is_empty() { last().collect() } else { errors };
        let lines = lines.into_iter().take(10).map(printable).collect();
        Err(MeshingError::Failed { path: self.path.into(), status, lines })
    }

    /// Reads the mesh of the surface that a run has left in `folder`.
    pub fn surface(&self, folder: &Workplace) -> Result<RawMesh, MeshingError> {
        sections::read(&folder.path().join(MESH)).map_err(|mut error| {
            error.path = self.path.into();
            MeshingError::Refused(error)
        })
    }

    fn wait(
        &self,
        mut child: Supervised<'_>,
        timeout: Duration,
    ) -> Result<ExitStatus, MeshingError> {
        let start = Instant::now();
        loop {
            let ended = child.try_wait().map_err(MeshingError::Folder)?;
            let error = match ended {
                Some(_) if self.interrupt.load(Ordering::Relaxed) => MeshingError::Interrupted,
                Some(status) => return Ok(status),
                None if self.interrupt.load(Ordering::Relaxed) => MeshingError::Interrupted,
                None if start.elapsed() > timeout => {
                    MeshingError::Timeout { path: self.path.into(), timeout }
                }
                None => {
                    sleep(Duration::from_millis(10));
                    continue;
                }
            };
            child.end();
            return Err(error);
        }
    }
}

/// Names of files in the temporary folder.
pub(super) const MESH: &str = "mesh.msh";
const UNROLLED: &str = "geometry.geo_unrolled";
const SETTINGS: &str = "settings.geo";
const LOG: &str = "log.txt";

/// The program to run: the requested one, `$GMSH`, or `gmsh`.
fn program(asked: Option<&Path>) -> PathBuf {
    let variable = || std::env::var_os("GMSH").filter(|value| !value.is_empty());
    let default = || OsString::from("gmsh");
    asked.map_or_else(|| variable().unwrap_or_else(default).into(), Path::to_owned)
}

/// The message of a line of Gmsh that reports an error; Gmsh ends with status 0 in spite of it.
fn error_in(line: &str) -> Option<&str> {
    let (kind, message) = line.split_once(':')?;
    (kind.trim_end() == "Error").then_some(message.trim())
}

/// The version that Gmsh says it is: `... [Gmsh 4.15.2, 1 node, max. 1 thread]`.
pub(super) fn version(log: &str) -> Option<&str> {
    let (_, rest) = log.split_once("[Gmsh ")?;
    rest.split([',', ']']).next()
}
