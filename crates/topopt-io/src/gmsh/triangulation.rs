//! The surface of a geometry as triangles, near enough to its curves.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use topopt_mesh::numbers::rounded;

use super::facets::{Facets, Triangulation, Unread};
use super::meshing_error::MeshingError;
use super::program::{MESH, Meshing, Runner, Task, Wanted};
use super::source::Source;

/// Edges of a turn: chords that leave a bore by a thousandth of its radius.
pub(super) const PER_TURN: u32 = 72;

/// Smallest size that curvature asks for, as a share of the cube root of the volume.
const LEAST_SIZE: f64 = 0.002;

/// Largest relative difference from the volume of the geometry.
const MOST_OFF: f64 = 5e-3;

/// Triangulates the surface of the file at `geometry`, without regard to the size of elements; none
/// for a script in Gmsh's own kernel, which describes its mesh. Gmsh is ended soon after
/// `interrupt` is set.
///
/// # Errors
/// [`MeshingError`]; among them surfaces that are open, or meet inside of the geometry.
pub fn triangulate(
    geometry: &Path,
    meshing: &Meshing,
    interrupt: &AtomicBool,
) -> Result<Option<Triangulation>, MeshingError> {
    let runner = Runner { path: geometry, meshing, interrupt };
    let source = Source::of(runner)?;
    match source {
        Source::Facets(facets) => return Ok(Some(triangulation(facets))),
        // Layers and transfinite surfaces stay what they are, however curved: a connecting rod took
        // three minutes to gain nothing on its own mesh.
        Source::Script if !uses_opencascade(geometry) => return Ok(None),
        Source::Script | Source::Solid(_) => {}
    }

    let folder = runner.folder()?;
    let measure = source.measure();
    let linear = "Mesh.ElementOrder = 1;\nMesh.SecondOrderLinear = 1;\n";
    let settings = format!("{linear}{}", by_curvature(&source, PER_TURN));
    let numbers = source.options();
    let timeout = meshing.timeout;
    let wanted = Wanted::Triangles;
    runner.run(&Task { geometry, wanted, numbers, settings, timeout }, &folder)?;

    let facets = Facets::read(&folder.path().join(MESH)).map_err(|unread| match unread {
        Unread::Io(cause) => MeshingError::Folder(cause),
        Unread::Fault(fault) => MeshingError::Facets { path: geometry.into(), fault },
    })?;
    match measure {
        Some(measure) if (facets.volume / measure.volume - 1.0).abs() > MOST_OFF => {
            let (meshed, exact) = (facets.volume, measure.volume);
            Err(MeshingError::Volume { path: geometry.into(), meshed, exact })
        }
        _ => Ok(Some(triangulation(facets))),
    }
}

fn triangulation(facets: Facets) -> Triangulation {
    let (vertices, triangles) = facets.into_triangles();
    Triangulation { vertices, triangles }
}

/// Settings for all triangles of the surface of `source`, as large as their curvature allows at so
/// many edges `per_turn`.
pub(super) fn by_curvature(source: &Source, per_turn: u32) -> String {
    let volume = source.measure().map(|measure| measure.volume);
    let least = volume.map_or(0.0, |volume| rounded(LEAST_SIZE * volume.cbrt()));
    let repair = source.repair();
    format!(
        "{repair}Mesh.SaveAll = 1;\nMesh.MeshSizeFromCurvature = {per_turn};\nMesh.MeshSizeMin = {least:?};\n\
         Mesh.MeshSizeMax = 1e22;\nMesh.RecombineAll = 0;\nMesh.SubdivisionAlgorithm = 0;\n"
    )
}

/// Whether the script at `path` builds bodies of OpenCASCADE, which know their exact surface.
fn uses_opencascade(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|text| String::from_utf8_lossy(&text).contains("OpenCASCADE"))
}
