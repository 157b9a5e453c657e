//! Meshing of a geometry; a few attempts approach a requested number of them.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use topopt_mesh::numbers::shown;
use topopt_mesh::quality::Worst;

use super::geometry::Geometry;
use super::meshing_error::MeshingError;
use super::program::{ElementSize, Meshing, Runner, may_help};
use super::source::{Packing, Source};
use crate::import::ImportedMesh;

/// Meshes the file at `geometry`. Gmsh is ended soon after `interrupt` is set.
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
        ElementSize::Number(asked) => {
            mesh_of_number(asked, Packing::of(meshing.hexes).edge, of_edge, may_help)
        }
    }?;

    let worst = Worst::of(&meshed.mesh);
    let e = worst.element as usize;
    if worst.is_flat() {
        return Err(MeshingError::Flat {
            path: geometry.into(),
            element: meshed.element_tags[e],
            center: meshed.mesh.center(e),
            scaled_jacobian: worst.scaled_jacobian,
        });
    }
    Ok(meshed)
}

/// Meshings after the first one, at most.
const MOST: usize = 4;

/// A number of elements near enough to the one asked for: the largest error of its logarithm.
const NEAR: f64 = 0.1;

/// Another number by this factor needs a reason.
const FAR: usize = 2;

/// The mesh of about `asked` elements, of those that `mesh` makes for a largest edge; the first
/// without one, to find the volume. The next edge follows from the number of elements of the last
/// mesh, which goes with its inverse cube where the geometry does not prevent it.
///
/// # Errors
/// Errors of `mesh` on the first mesh; on others only where they cannot help.
fn mesh_of_number<E>(
    asked: usize,
    longest_edge: f64,
    mut mesh: impl FnMut(Option<f64>) -> Result<ImportedMesh, E>,
    may_help: impl Fn(&E) -> bool,
) -> Result<ImportedMesh, E> {
    let first = mesh(None)?;
    let volume: f64 = first.mesh.volumes().iter().sum();
    let mut edge = longest_edge * (volume / asked as f64).cbrt();
    let mut last = first.mesh.n_elements();
    let mut best = (first, None);

    let ratio = |n: usize| n as f64 / asked as f64;
    let off = |mesh: &ImportedMesh| ratio(mesh.mesh.n_elements()).ln().abs();
    for _ in 0..MOST {
        if off(&best.0) <= NEAR {
            break;
        }
        let next = match mesh(Some(edge)) {
            Ok(next) => next,
            Err(error) if may_help(&error) => break,
            Err(error) => return Err(error),
        };

        let n = next.mesh.n_elements();
        if off(&next) < off(&best.0) {
            best = (next, Some(edge));
        }
        if n == last {
            break; // the geometry decides, not the edge
        }
        edge *= ratio(n).cbrt();
        last = n;
    }

    let (mut mesh, edge) = best;
    mesh.notes.push(note_on_number(asked, mesh.mesh.n_elements(), edge));
    Ok(mesh)
}

/// Says how many elements were `made` where others were asked for, with the largest `edge`.
pub fn note_on_number(asked: usize, made: usize, edge: Option<f64>) -> String {
    let size = edge.map_or("the sizes of the geometry".into(), |edge| {
        format!("edges of at most {}", shown(edge))
    });
    let reason = if made > FAR * asked || asked > FAR * made {
        ": fillets, bores, thin walls or sizes in the geometry decide"
    } else {
        ""
    };
    format!("asked for {asked} elements, made {made} with {size}{reason}")
}
