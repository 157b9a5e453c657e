//! Hexahedra of a geometry by the mesher of this program.

use std::path::Path;

use topopt_hexmesh::{
    Finer, HexmeshError, Meshed, NumberedFace, Refinement, Sizes, Surface, count, mesh,
};
use topopt_io::ImportedMesh;
use topopt_io::gmsh::{
    Boundary, ElementSize, FinerBox, Meshing, MeshingError, Skin, boundary, note_on_number,
};
use topopt_mesh::Plane;
use topopt_mesh::hexahedron::FACES;
use topopt_mesh::numbers::shown;

use crate::free_memory;
use crate::interrupt::Interrupt;

/// Why a geometry gets no hexahedra.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoHexahedra {
    /// No surface that Gmsh triangulates, or entities that hexahedra do not keep.
    #[error(transparent)]
    Surface(#[from] MeshingError),
    /// The mesher finds no valid mesh.
    #[error(transparent)]
    Mesh(#[from] HexmeshError),
    /// Two bodies that do not go together.
    #[error("{error}: {} and {}", names[0], names[1])]
    Bodies {
        /// Names of the bodies in the geometry.
        names: [String; 2],
        /// Error of the mesher.
        error: HexmeshError,
    },
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

/// Distance, in elements, of nodes from their curve: some are moved for the volume, and images in a
/// mirror plane lie off its chords.
const TOLERANCE: f64 = 0.1;

/// Meshes the geometry at `path` as `meshing` says, with at least so many hexahedra `across` its
/// walls, and notes on how.
///
/// # Errors
/// [`NoHexahedra`]: other elements may do.
pub(crate) fn of(
    path: &Path,
    meshing: &Meshing,
    across: usize,
    interrupt: &Interrupt,
) -> Result<ImportedMesh, NoHexahedra> {
    let [elements, cells] = free_memory::of_hexahedra();
    let part = {
        let _listening = interrupt.listen();
        boundary(path, meshing, elements, interrupt.flag())?
    };
    let (vertices, triangles) = (part.vertices.clone(), part.triangles.clone());
    let named = |error: HexmeshError| named(&part, error);
    let surface = Surface::of_bodies(vertices, triangles, part.faces.clone(), &part.bodies);
    let surface = surface.map_err(named)?;

    // The first signal ends the program from here on: nothing has to be cleared up.
    let sizes =
        |usual: f64| Sizes { usual, across, finer: meshing.finer.iter().map(finer).collect() };
    let edge = match meshing.size {
        ElementSize::Number(asked) => {
            let count = |edge| count(&surface, sizes(edge), cells);
            edge_of_number(asked, part.edge, count).map_err(named)?
        }
        _ => part.edge,
    };
    let meshed = mesh(&surface, sizes(edge), cells).map_err(named)?;
    let (least, size) = (meshed.report.least, meshed.report.size);
    if least < LEAST {
        return Err(NoHexahedra::Poor { size, least });
    }
    let mut filled = filled(&part, &meshed)?;
    if let ElementSize::Number(asked) = meshing.size {
        filled.notes.push(note_on_number(asked, meshed.hexes.len(), Some(edge)));
    }
    filled.notes.extend(notes(&meshed));
    Ok(filled)
}

/// An error of the mesher with the names of its bodies.
fn named(part: &Boundary, error: HexmeshError) -> NoHexahedra {
    match error.bodies() {
        None => NoHexahedra::Mesh(error),
        Some(bodies) => {
            NoHexahedra::Bodies { names: bodies.map(|body| part.body_name(body)), error }
        }
    }
}

fn finer(finer: &FinerBox) -> Finer {
    let FinerBox { bounds, size, .. } = *finer;
    Finer { low: bounds.min, high: bounds.max, size }
}

/// Counts until the number is right, at most.
const MOST_COUNTS: usize = 8;

/// A number of elements near enough to the one asked for: the largest error of its logarithm.
const NEAR: f64 = 0.1;

/// The edge of about `asked` elements, from a first one on. Their number rises in steps, so that
/// edges of too few and too many of them are halved between.
fn edge_of_number(
    asked: usize,
    first: f64,
    count: impl Fn(f64) -> Result<usize, HexmeshError>,
) -> Result<f64, HexmeshError> {
    let (mut edge, mut best) = (first, (f64::INFINITY, first));
    let (mut fine, mut coarse) = (None, None);
    for _ in 0..MOST_COUNTS {
        let ratio = count(edge)? as f64 / asked as f64;
        let off = ratio.ln().abs();
        if off < best.0 {
            best = (off, edge);
        }
        if off <= NEAR {
            break;
        }
        *(if ratio > 1.0 { &mut fine } else { &mut coarse }) = Some(edge);
        edge = match (fine, coarse) {
            (Some(fine), Some(coarse)) => f64::sqrt(fine * coarse),
            _ => edge * ratio.cbrt(),
        };
    }
    Ok(best.1)
}

/// The checked mesh with the sets of the geometry.
fn filled(part: &Boundary, meshed: &Meshed) -> Result<ImportedMesh, MeshingError> {
    let of_face = |face: &NumberedFace| {
        let hex = meshed.hexes[face.face.element as usize];
        (FACES[face.face.local as usize].map(|a| hex[a]), face.number)
    };
    let faces: Vec<([u32; 4], u32)> = meshed.faces.iter().map(of_face).collect();
    let (points, hexes, bodies) = (&meshed.points, &meshed.hexes, &meshed.bodies);
    let tolerance = TOLERANCE * meshed.report.size;
    part.filled(Skin { points, hexes, bodies, faces: &faces, tolerance })
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
    notes.extend(report.refinement.map(|own| of_refinement(&own)));
    let n_bodies = report.volumes.len();
    if n_bodies > 1 {
        notes.push(format!(
            "bodies: {n_bodies}, faces between them: {}; the volume of each is right to {:.2} %",
            report.n_interfaces,
            100.0 * report.worst_volume_error()
        ));
    }
    if !report.mirrors.is_empty() {
        let planes: Vec<String> = report.mirrors.iter().map(Plane::name).collect();
        notes.push(format!("the mesh mirrors itself about {}", planes.join(" and ")));
    }
    if !report.failed.is_empty() {
        notes.push(format!("tried besides: {}", report.failed.join("; ")));
    }
    notes
}

/// Says how elements get smaller in places, and how many either way takes.
fn of_refinement(refinement: &Refinement) -> String {
    let Refinement { levels, by_planes, by_transitions } = refinement;
    let times = if *levels > 1 { format!(", {levels} times") } else { String::new() };
    match levels {
        0 => format!(
            "smaller elements by planes of the grid, about {by_planes}; transitions would make \
             {by_transitions}"
        ),
        _ => format!(
            "smaller elements by division in three with transitions{times}, about \
             {by_transitions}; planes of the grid would make {by_planes}"
        ),
    }
}
