//! The surface of the part as CAD has it, kept beside the results: a mesh cuts curves short.

use std::path::Path;

use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::{self, Gmsh};
use topopt_io::gmsh::Triangulation;
use topopt_io::{WriteError, ply};
use topopt_mesh::HexMesh;
use topopt_surface::{Part, Shape, Solid, TriangleSurface};

use crate::result_files::PART;

/// Triangulates the geometry that `config` is meshed from; none for a mesh. A geometry that has no
/// closed surface of triangles is among the `notes`.
pub(crate) fn triangulated(
    config: &Config,
    gmsh: &Gmsh,
    interrupt: &Interrupt,
    notes: &mut Vec<String>,
) -> Option<Triangulation> {
    let path = config.mesh_path()?;
    let meshing = meshing::of(config, gmsh).ok()?;
    match meshing::triangulate(&path, &meshing, interrupt)? {
        Ok(part) => Some(part),
        Err(error) => {
            notes.push(format!(
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

/// The part of a design, and whether its surface is that of the geometry; else it is the boundary
/// of `mesh`, as where the results have no `folder`.
///
/// # Errors
/// A mesh whose boundary encloses nothing.
pub fn read(folder: Option<&Path>, mesh: &HexMesh) -> Result<(Part, bool), Finding> {
    let triangles = folder.and_then(|folder| ply::read(&folder.join(PART)).ok());
    let exact =
        triangles.and_then(|(x, triangles)| Part::within(TriangleSurface::new(x, triangles)));
    if let Some(part) = exact {
        return Ok((part, true));
    }
    let part = Part::of_mesh(mesh).ok_or_else(|| {
        Finding::new("the boundary of the mesh encloses no body")
            .remedy("join parts of the mesh that lie in each other")
    });
    Ok((part?, false))
}

/// Cuts a solid with the surface of its part.
///
/// # Errors
/// A part that cannot be cut.
pub fn cut(solid: &Solid, part: &Part) -> Result<Shape, Finding> {
    solid.shape(part).map_err(|error| Finding::new(error.to_string()))
}
