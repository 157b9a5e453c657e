//! Hexahedra of a geometry by the mesher of this program.

use std::path::Path;

use topopt_hexmesh::{HexmeshError, Meshed, Surface, mesh};
use topopt_io::ImportedMesh;
use topopt_io::gmsh::{
    Boundary, ElementSize, Meshing, MeshingError, Skin, approached, boundary, note_on_number,
};
use topopt_mesh::hexahedron::FACES;
use topopt_mesh::numbers::shown;

use crate::free_memory;
use crate::interrupt::Interrupt;

/// Why a geometry gets no hexahedra.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoHexahedra {
    /// It has no surface that Gmsh triangulates, or more than hexahedra keep.
    #[error(transparent)]
    Surface(#[from] MeshingError),
    /// The mesher finds no valid mesh.
    #[error(transparent)]
    Mesh(#[from] HexmeshError),
    /// The elements are too poor.
    #[error(
        "the poorest hexahedron of size {} would have a scaled Jacobian of {least:.2}, and at least \
         {LEAST} is asked for", shown(*size)
    )]
    Poor {
        /// Edge of the elements.
        size: f64,
        /// Least scaled Jacobian.
        least: f64,
    },
}

/// Least scaled Jacobian of a mesh that is taken.
const LEAST: f64 = 0.2;

/// Distance, in elements, of nodes from their curve.
const TOLERANCE: f64 = 1e-3;

/// Meshes the geometry at `path` as `meshing` says, and notes on how.
///
/// # Errors
/// [`NoHexahedra`]: other elements may do.
pub(crate) fn of(
    path: &Path,
    meshing: &Meshing,
    interrupt: &Interrupt,
) -> Result<ImportedMesh, NoHexahedra> {
    let [elements, cells] = free_memory::of_hexahedra();
    let part = {
        let _listening = interrupt.listen();
        boundary(path, meshing, elements, interrupt.flag())?
    };
    let (vertices, triangles) = (part.vertices.clone(), part.triangles.clone());
    let surface = Surface::new(vertices, triangles, part.faces.clone())?;

    // The first signal ends the program from here on: nothing has to be cleared up.
    let of_edge = |edge: Option<f64>| mesh(&surface, edge.unwrap_or(part.edge), cells);
    let (meshed, note) = match meshing.size {
        ElementSize::Number(asked) => of_number(asked, part.edge, of_edge)?,
        _ => (of_edge(None)?, None),
    };
    let (least, size) = (meshed.report.least, meshed.report.size);
    if least < LEAST {
        return Err(NoHexahedra::Poor { size, least });
    }
    let mut filled = filled(&part, &meshed)?;
    filled.notes.extend(note);
    filled.notes.extend(notes(&meshed));
    Ok(filled)
}

/// The mesh of about `asked` elements, and a note on it.
fn of_number(
    asked: usize,
    edge: f64,
    of_edge: impl FnMut(Option<f64>) -> Result<Meshed, HexmeshError>,
) -> Result<(Meshed, Option<String>), HexmeshError> {
    let count = |meshed: &Meshed| meshed.hexes.len();
    let next = |meshed: &Meshed| edge * (count(meshed) as f64 / asked as f64).cbrt();
    let (meshed, found) = approached(asked, next, of_edge, count, |_| true)?;
    let note = note_on_number(asked, count(&meshed), found.or(Some(edge)));
    Ok((meshed, Some(note)))
}

/// The checked mesh with the sets of the geometry.
fn filled(part: &Boundary, meshed: &Meshed) -> Result<ImportedMesh, MeshingError> {
    let of_face = |face: &topopt_hexmesh::NumberedFace| {
        let hex = meshed.hexes[face.face.element as usize];
        (FACES[face.face.local as usize].map(|a| hex[a]), face.number)
    };
    let faces: Vec<([u32; 4], u32)> = meshed.faces.iter().map(of_face).collect();
    let (points, hexes) = (&meshed.points, &meshed.hexes);
    let tolerance = TOLERANCE * meshed.report.size;
    part.filled(Skin { points, hexes, faces: &faces, tolerance })
}

/// Says how the mesh was made, and how good it is.
fn notes(meshed: &Meshed) -> Vec<String> {
    let (report, n) = (&meshed.report, meshed.hexes.len());
    let mut notes = vec![format!(
        "meshed by {n} hexahedra of size {}: scaled Jacobian {:.2} at least, {:.2} at 5 % and {:.2} on \
         average; volume {:+.2} %",
        shown(report.size),
        report.least,
        report.fifth_percentile,
        report.mean,
        100.0 * report.volume_error()
    )];
    if !report.failed.is_empty() {
        notes.push(format!("tried before: {}", report.failed.join("; ")));
    }
    notes
}
