//! Why a geometry could not be meshed.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use topopt_mesh::numbers::{place, shown};
use topopt_mesh::quality::LEAST_SCALED_JACOBIAN;

use super::facets::FacetFault;
use super::trust::Harm;
use crate::read_error::{ReadError, list};

/// Elements that no machine holds.
pub(super) const MOST_ELEMENTS: f64 = 5e8;

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
        /// Cause that the operating system gives.
        cause: io::Error,
    },
    /// The geometry, or a file that it reads, may run a program, write a file or read the surroundings.
    #[error("{}: line {line}: `{word}` {harm}", path.display())]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Suspect word of the script, or a description of the suspect text.
        word: String,
        /// Harm that the word may do.
        harm: Harm,
    },
    /// The program cannot be started.
    #[error("cannot start `{}`, which meshes geometries: {cause}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// Cause that the operating system gives.
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
        /// Messages of Gmsh about errors, or else its last lines.
        lines: Vec<String>,
    },
    /// The facets of an STL file bound no body.
    #[error("{}: {fault}", path.display())]
    Facets {
        /// The file.
        path: PathBuf,
        /// Error in the facets.
        fault: FacetFault,
    },
    /// A file of surfaces or curves alone.
    #[error(
        "{} has no solid: {surfaces} surfaces and {curves} curves were found, and the surfaces do not \
         enclose a volume", path.display()
    )]
    NoSolid {
        /// The geometry.
        path: PathBuf,
        /// Number of surfaces.
        surfaces: usize,
        /// Number of curves.
        curves: usize,
    },
    /// More elements than can be made.
    #[error(
        "elements of {} in a part of volume {} are about {count:.1e}, more than {most:.1e}",
        shown(*edge), shown(*volume)
    )]
    TooMany {
        /// Largest edge.
        edge: f64,
        /// The volume of the part.
        volume: f64,
        /// Estimated number of elements.
        count: f64,
        /// The most that can be made.
        most: f64,
    },
    /// A mesh of another volume than the geometry.
    #[error(
        "Gmsh made a mesh of volume {} of {}, whose own volume is {}: {:.1} % off",
        shown(*meshed), path.display(), shown(*exact), 100.0 * (meshed / exact - 1.0).abs()
    )]
    Volume {
        /// The geometry.
        path: PathBuf,
        /// The volume of the elements.
        meshed: f64,
        /// The volume that the geometry bounds.
        exact: f64,
    },
    /// A geometry that hexahedra on a grid do not suit.
    #[error("{}: {reason}, which the mesher of hexahedra cannot keep", path.display())]
    NotForGrid {
        /// The geometry.
        path: PathBuf,
        /// The part of it, with the verb.
        reason: String,
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
        /// Center of the element.
        center: [f64; 3],
        /// Scaled Jacobian of the element.
        scaled_jacobian: f64,
    },
    /// A mesh that is refused for another reason.
    #[error(transparent)]
    Refused(#[from] ReadError),
}
