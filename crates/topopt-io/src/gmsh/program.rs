//! Gmsh run as a program: from a geometry to a mesh of hexahedra.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, io};

use tempfile::TempDir;
use topopt_mesh::hexahedron;
use topopt_mesh::numbers::place;
use topopt_mesh::quality::{LEAST_SCALED_JACOBIAN, Worst};

use super::attempts::{self, Attempt, OF_FACETS, OF_SURFACES};
use super::error::Fault as GmshFault;
use super::numbered;
use super::supervised::Supervised;
use super::trust::{self, Suspect};
use crate::import::{Cutting, ImportedMesh};
use crate::quote::printable;
use crate::read_error::{Fault, ReadError, list};

/// How a geometry is meshed.
#[derive(Debug, Clone)]
pub struct Meshing {
    /// The program: a path, or a name to look for on PATH. Else `$GMSH`, else `gmsh`.
    pub program: Option<PathBuf>,
    /// How hexahedra are made.
    pub hexes: Hexes,
    /// How large the elements are.
    pub size: ElementSize,
    /// Unit of the mesh, into which STEP and IGES files, which have units, are converted: `MM`, `M`
    /// and the like.
    pub length_unit: &'static str,
    /// Gmsh is ended after this time, with all that it has started.
    pub timeout: Duration,
    /// Whether the geometry may run programs and write files.
    pub trust: bool,
}

/// How large the elements of a geometry are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ElementSize {
    /// As the geometry says.
    OfGeometry,
    /// Largest edge of the hexahedra (length).
    Edge(f64),
    /// So that there are about so many. The geometry is meshed up to five times.
    Number(usize),
}

/// How Gmsh makes hexahedra.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hexes {
    /// As the geometry file says; where that leaves other elements, by [`Hexes::Subdivide`].
    Auto,
    /// Volumes of six sides as bent boxes.
    Transfinite,
    /// Quadrilaterals that the file's own extrusion in layers takes through the volume.
    Extrude,
    /// Tetrahedra, each cut into four hexahedra.
    Subdivide,
}

/// Why a geometry could not be meshed.
#[derive(Debug, thiserror::Error)]
pub enum MeshingError {
    /// The geometry cannot be read.
    #[error(
        "{}: cannot read the file: {cause}; check its name and its permissions",
        path.display()
    )]
    Geometry {
        /// The geometry.
        path: PathBuf,
        /// What the operating system says.
        cause: io::Error,
    },
    /// The geometry, or a file that it reads, may run a program or write a file.
    #[error("{}: line {line}: `{word}` may run programs or write files", path.display())]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        word: String,
    },
    /// The program cannot be started.
    #[error("cannot start `{}`, which meshes geometries: {cause}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// What the operating system says.
        cause: io::Error,
    },
    /// The folder for what Gmsh writes cannot be used.
    #[error("cannot use the system's folder for temporary files: {0}")]
    Folder(io::Error),
    /// Gmsh says that it failed, or did not come to its end.
    #[error("Gmsh could not mesh {} ({status}):\n{}", path.display(), lines.join("\n"))]
    Failed {
        /// The geometry.
        path: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it said about errors, or else last.
        lines: Vec<String>,
    },
    /// Gmsh took too long.
    #[error("Gmsh did not mesh {} within {} s and was stopped", path.display(), timeout.as_secs_f64())]
    Timeout {
        /// The geometry.
        path: PathBuf,
        /// The time it had.
        timeout: Duration,
    },
    /// The user asked to stop.
    #[error("interrupted while Gmsh was meshing")]
    Interrupted,
    /// A mesh without volume elements.
    #[error("Gmsh created no volume elements from {}", .0.display())]
    NoVolumes(PathBuf),
    /// A mesh with other volume elements than hexahedra.
    #[error("Gmsh left {} in the mesh of {}", list(shapes), path.display())]
    NotHexahedra {
        /// The geometry.
        path: PathBuf,
        /// Shapes besides hexahedra, plural, and how many elements have them.
        shapes: Vec<(&'static str, usize)>,
    },
    /// A mesh with an element that is inverted or as good as flat.
    #[error(
        "Gmsh left element {element} at {} of {} inverted or flat: its scaled Jacobian is \
         {scaled_jacobian:.3e}, and at least {LEAST_SCALED_JACOBIAN} is needed",
        place(*center), path.display()
    )]
    Flat {
        /// The geometry.
        path: PathBuf,
        /// The element of the smallest scaled Jacobian.
        element: u64,
        /// Its center.
        center: [f64; 3],
        /// Its scaled Jacobian.
        scaled_jacobian: f64,
    },
    /// A mesh that is refused for another reason.
    #[error(transparent)]
    Refused(#[from] ReadError),
}

/// Whether the file at `path` is a geometry that Gmsh meshes, by its extension.
pub fn is_geometry(path: &Path) -> bool {
    is_one_of(path, &["geo"]) || is_solid(path)
}

/// Meshes the file at `geometry` with hexahedra. Gmsh is ended soon after `interrupt` is set.
///
/// A `.geo` file may say `DefineConstant[element_size = 2];`, and gets the value of
/// the largest edge, if there is one.
///
/// # Errors
/// [`MeshingError`]; nothing is left behind.
pub fn mesh(
    geometry: &Path,
    meshing: &Meshing,
    interrupt: &AtomicBool,
) -> Result<ImportedMesh, MeshingError> {
    let of_edge = |edge| Geometry { path: geometry, meshing, edge, interrupt }.mesh();
    let meshed = match meshing.size {
        ElementSize::OfGeometry => of_edge(None),
        ElementSize::Edge(edge) => of_edge(Some(edge)),
        ElementSize::Number(asked) => numbered::mesh(asked, of_edge, may_help),
    }?;

    let worst = Worst::of(&meshed.mesh);
    let e = worst.element as usize;
    if worst.is_flat() {
        return Err(MeshingError::Flat {
            path: geometry.into(),
            element: meshed.element_tags[e],
            center: hexahedron::center(&meshed.mesh.element_coordinates(e)),
            scaled_jacobian: worst.scaled_jacobian,
        });
    }
    Ok(meshed)
}

/// Whether another size or other settings may help.
fn may_help(error: &MeshingError) -> bool {
    matches!(error, MeshingError::Failed { .. } | MeshingError::Refused(_))
}

/// Boundaries of bodies, which say nothing of meshes.
fn is_solid(path: &Path) -> bool {
    is_one_of(path, &["step", "stp", "brep", "iges", "igs"]) || is_of_facets(path)
}

/// Triangles alone: Gmsh makes surfaces from them before it meshes.
fn is_of_facets(path: &Path) -> bool {
    is_one_of(path, &["stl"])
}

fn is_one_of(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().unwrap_or_default();
    extensions.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// A geometry to be meshed.
struct Geometry<'a> {
    path: &'a Path,
    meshing: &'a Meshing,
    /// Largest edge of the hexahedra, if the geometry does not say.
    edge: Option<f64>,
    interrupt: &'a AtomicBool,
}

impl Geometry<'_> {
    /// The mesh, made in several ways where one is not good enough.
    fn mesh(&self) -> Result<ImportedMesh, MeshingError> {
        let attempts = if is_of_facets(self.path) { OF_FACETS } else { OF_SURFACES };
        let subdivided = || {
            attempts::best(attempts, |attempt| self.mesh_as(Hexes::Subdivide, attempt), may_help)
        };
        let hexes = self.meshing.hexes;
        if hexes == Hexes::Subdivide || hexes == Hexes::Auto && is_solid(self.path) {
            return subdivided();
        }
        match self.mesh_as(hexes, attempts[0]) {
            // Meshed again, so that the hexahedra have the size that the elements were to have.
            Err(MeshingError::NotHexahedra { .. }) if hexes == Hexes::Auto => subdivided(),
            meshed => meshed,
        }
    }

    fn mesh_as(&self, hexes: Hexes, attempt: Attempt) -> Result<ImportedMesh, MeshingError> {
        let unreadable = |cause| MeshingError::Geometry { path: self.path.into(), cause };
        // Before Gmsh starts, so that a file that cannot be opened is not reported as its failure.
        File::open(self.path).map_err(unreadable)?;

        if !self.meshing.trust
            && let Some(Suspect { path, line, word }) = trust::suspect(self.path)
        {
            return Err(MeshingError::Untrusted { path, line, word });
        }

        let folder = tempfile::Builder::new().prefix("topopt-gmsh-").tempdir();
        let folder = folder.map_err(MeshingError::Folder)?;
        let log = self.run(self.settings(hexes, attempt), &folder)?;

        let cutting = if hexes == Hexes::Subdivide { Cutting::Allowed } else { Cutting::Refused };
        let read = super::read(&folder.path().join(MESH), cutting);
        let mut mesh = read.map_err(|error| self.refused(error))?;
        mesh.notes.extend(version(&log).map(|version| format!("meshed by Gmsh {version}")));

        let sets = mesh.mesh.sets();
        if sets.nodes.is_empty() && sets.faces.is_empty() {
            mesh.notes.push(
                "the geometry has no named surfaces, curves or points: to name them in a .geo file, \
                 write `Physical Surface(\"fixed\") = {1};`"
                    .into(),
            );
        }
        Ok(mesh)
    }

    /// Runs Gmsh in `folder`; what it said.
    fn run(&self, settings: String, folder: &TempDir) -> Result<String, MeshingError> {
        let inside = |name: &str| folder.path().join(name);
        fs::write(inside(SETTINGS), settings).map_err(MeshingError::Folder)?;

        let log = File::create(inside(LOG)).map_err(MeshingError::Folder)?;
        let errors = log.try_clone().map_err(MeshingError::Folder)?;
        let program = program(self.meshing.program.as_deref());
        let path = absolute(self.path);

        let mut command = Command::new(&program);
        command.args(["-setstring", "Geometry.OCCTargetUnit", self.meshing.length_unit]);
        if let Some(size) = self.edge {
            command.args(["-setnumber", "element_size", &format!("{size:?}")]);
        }

        // The settings come after the geometry, so that they prevail.
        command.arg("-3").arg(path.map_err(MeshingError::Folder)?).arg(inside(SETTINGS));
        command.args(["-format", "msh41", "-bin", "-o"]).arg(inside(MESH));
        command.stdin(Stdio::null()).stdout(log).stderr(errors);

        let child = Supervised::spawn(command, folder.path());
        let child = child.map_err(|cause| MeshingError::Program { program, cause })?;
        let status = self.wait(child)?;
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

    /// Settings that Gmsh reads after the geometry, so that they prevail.
    fn settings(&self, hexes: Hexes, attempt: Attempt) -> String {
        let by_tetrahedra = attempt.settings();
        let mut settings = if is_of_facets(self.path) { BODY.into() } else { String::new() };
        if let Some(size) = self.edge {
            settings += &format!("Mesh.MeshSizeMax = {size:?};\n");
        }

        settings += match hexes {
            Hexes::Auto => "",
            Hexes::Transfinite => {
                "Transfinite Surface {:};\nTransfinite Volume {:};\nRecombine Surface {:};\n"
            }
            Hexes::Extrude => {
                "Mesh.Algorithm = 8;\nMesh.RecombinationAlgorithm = 1;\nRecombine Surface {:};\n"
            }
            Hexes::Subdivide => &by_tetrahedra,
        };
        settings
    }

    fn wait(&self, mut child: Supervised) -> Result<ExitStatus, MeshingError> {
        let start = Instant::now();
        loop {
            let ended = child.try_wait().map_err(MeshingError::Folder)?;
            let timeout = self.meshing.timeout;
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

    /// What is wrong with the mesh, in terms of the geometry.
    fn refused(&self, error: ReadError) -> MeshingError {
        let path = self.path.to_owned();
        match (error.fault.format::<GmshFault>(), &*error.fault) {
            (_, Fault::CutRefused { shapes, .. }) => {
                MeshingError::NotHexahedra { path, shapes: shapes.clone() }
            }
            (Some(GmshFault::NoSolids | GmshFault::MissingSection(_)), _)
            | (None, Fault::Io(_)) => MeshingError::NoVolumes(path),
            _ => MeshingError::Refused(ReadError { path, place: None, ..error }),
        }
    }
}

/// From the triangles of an STL file to a body of smooth surfaces, which meet at angles of 40 degrees
/// and more. The facets themselves say nothing of the size of elements, nor does their curvature.
const BODY: &str = "ClassifySurfaces{40 * Pi / 180, 1, 1, Pi};
CreateGeometry;
Surface Loop(1) = Surface{:};
Volume(1) = {1};
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeExtendFromBoundary = 0;
";

/// Names of files in the temporary folder.
const MESH: &str = "mesh.msh";
const SETTINGS: &str = "settings.geo";
const LOG: &str = "log.txt";

/// The program to run: the one asked for, `$GMSH`, or `gmsh`.
fn program(asked: Option<&Path>) -> PathBuf {
    let variable = || std::env::var_os("GMSH").filter(|value| !value.is_empty());
    let default = || OsString::from("gmsh");
    asked.map_or_else(|| variable().unwrap_or_else(default).into(), Path::to_owned)
}

/// The message of a line of Gmsh that tells of an error; it ends with status 0 all the same.
fn error_in(line: &str) -> Option<&str> {
    let (kind, message) = line.split_once(':')?;
    (kind.trim_end() == "Error").then_some(message.trim())
}

/// The version that Gmsh says it is: `... [Gmsh 4.15.2, 1 node, max. 1 thread]`.
fn version(log: &str) -> Option<&str> {
    let (_, rest) = log.split_once("[Gmsh ")?;
    rest.split([',', ']']).next()
}
