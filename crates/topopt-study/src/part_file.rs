//! The surface of the part as CAD has it, kept beside the results: a mesh cuts curves short.

use std::path::{Path, PathBuf};

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::{self, Gmsh};
use topopt_io::gmsh::Triangulation;
use topopt_io::{WriteError, ply};
use topopt_mesh::HexMesh;
use topopt_surface::{Part, TriangleSurface};

use crate::result_files::PART;

/// Triangulates the geometry that the `case` of `config` is meshed from; none for a mesh. A
/// geometry that has no closed surface of triangles is among the notes.
pub(crate) fn triangulated<const N: usize>(
    config: &Config,
    case: &mut Case<N>,
    gmsh: &Gmsh,
    interrupt: &Interrupt,
) -> Option<Triangulation> {
    if let Some(bodies) = &case.bodies {
        return Some(bodies.space.clone());
    }
    let path = config.mesh_path()?;
    let meshing = meshing::of(config, gmsh).ok()?;
    match meshing::triangulate(&path, &meshing, interrupt)? {
        Ok(part) => Some(part),
        Err(error) => {
            case.notes.push(format!(
                "the surface of the geometry could not be triangulated, and surfaces of designs end \
                 at the mesh: {error}"
            ));
            None
        }
    }
}

/// Writes the surface of a part beside results in `folder`.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn write(folder: &Path, part: &Triangulation) -> Result<(), WriteError> {
    ply::write(&folder.join(PART), &part.vertices, &part.triangles)
}

/// The part of a design.
pub struct PartFile {
    /// The part.
    pub part: Part,
    /// Whether its surface is that of the geometry; else it is the boundary of the mesh.
    pub is_exact: bool,
    /// Folder of the results, if they have one.
    pub(crate) folder: Option<PathBuf>,
}

impl PartFile {
    /// Reads the part beside the results in `folder`; without them or it, takes that within the
    /// boundary of `mesh`.
    ///
    /// # Errors
    /// A mesh whose boundary encloses nothing.
    pub fn read(folder: Option<&Path>, mesh: &HexMesh) -> Result<Self, Finding> {
        let triangles = folder.and_then(|folder| ply::read(&folder.join(PART)).ok());
        let exact =
            triangles.and_then(|(x, triangles)| Part::within(TriangleSurface::new(x, triangles)));
        let is_exact = exact.is_some();
        let part = exact.or_else(|| Part::of_mesh(mesh)).ok_or_else(|| {
            Finding::new("the boundary of the mesh encloses no body")
                .remedy("join parts of the mesh that lie in each other")
        });
        Ok(Self { part: part?, is_exact, folder: folder.map(Path::to_owned) })
    }
}
