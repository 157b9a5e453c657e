//! From a geometry to a mesh of hexahedra.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use topopt_mesh::hexahedron;
use topopt_mesh::quality::Worst;

use super::geometry::Geometry;
use super::meshing_error::MeshingError;
use super::numbered;
use super::program::{ElementSize, Meshing, Runner, may_help};
use super::source::Source;
use crate::import::ImportedMesh;

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
    let runner = Runner { path: geometry, meshing, interrupt };
    let source = Source::of(runner)?;
    let of_edge = |edge| Geometry { runner, source: &source, edge }.mesh();
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
