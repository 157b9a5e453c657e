//! Ways to a mesh, one after the other until one passes.

use nalgebra::Matrix3;
use topopt_mesh::Face;
use topopt_mesh::hexahedron::FACES;

use crate::attempt::attempt;
use crate::draft::{Draft, Quad};
use crate::error::HexmeshError;
use crate::features::Features;
use crate::report::Report;
use crate::surface::{Surface, Vec3};
use crate::turn::axes;

/// Sizes of the attempts, as shares of the size asked for: other places of the grid first, then
/// smaller cells.
const SIZES: [f64; 6] = [1.0, 0.96, 1.05, 0.9, 0.8, 0.67];
/// Least scaled Jacobian that ends the attempts.
const GOOD: f64 = 0.3;
/// Valid meshes that are compared.
const ENOUGH: usize = 3;
/// Most cells of a grid, which are numbered by 32 bits.
const MOST_CELLS: f64 = 1e9;

/// Mesh of hexahedra, and its skin.
#[derive(Debug, Clone, PartialEq)]
pub struct Meshed {
    /// Nodes, `[n_nodes][3]`.
    pub points: Vec<[f64; 3]>,
    /// Nodes of the hexahedra in the order of VTK, `[n_hexes][8]`.
    pub hexes: Vec<[u32; 8]>,
    /// Faces of the skin.
    pub faces: Vec<NumberedFace>,
    /// Quality, and what was kept.
    pub report: Report,
}

/// Face of a hexahedron on the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedFace {
    /// Element and local face.
    pub face: Face,
    /// Number of the face of the part that it lies on.
    pub number: u32,
}

/// Meshes the inside of `surface` by hexahedra of edges of about `size`, on grids of at most so many
/// cells as `most_cells`. Where that is not possible, grids of other sizes are tried;
/// [`Report::failed`] says which and why.
///
/// # Errors
/// [`HexmeshError`]: no way led to a valid mesh.
pub fn mesh(surface: &Surface, size: f64, most_cells: f64) -> Result<Meshed, HexmeshError> {
    if !(size > 0.0 && size.is_finite()) {
        return Err(HexmeshError::BadSize(size));
    }
    let turn = axes(surface);
    let turned = surface.moved(|x| turn.transpose() * x);
    let [low, high] = turned.bounds();
    let cells: f64 = (high - low).iter().map(|length| (length / size).ceil() + 5.0).product();
    if cells > most_cells.min(MOST_CELLS) {
        return Err(HexmeshError::TooFine { size, cells, most: most_cells.min(MOST_CELLS) });
    }

    let features = Features::of(&turned);
    match best(&turned, &features, size) {
        (Some((draft, report)), failed) => {
            Ok(finished(&turned, &features, &draft, turn, Report { failed, ..report }))
        }
        (None, failed) => Err(HexmeshError::NoMesh { size, fault: failed.join("; ") }),
    }
}

/// Finds the first good mesh, or the best of some valid ones, and says what failed.
fn best(
    surface: &Surface,
    features: &Features,
    size: f64,
) -> (Option<(Draft, Report)>, Vec<String>) {
    let (mut best, mut failed, mut n_valid): (Option<(Draft, Report)>, _, _) =
        (None, Vec::new(), 0);
    for size in SIZES.map(|share| share * size) {
        match attempt(surface, features, size) {
            Ok(found) => {
                n_valid += 1;
                let least = found.1.least;
                if least < GOOD {
                    let least = format!("the least scaled Jacobian is {least:.2}");
                    failed.push(format!("size {size:.4}: {least}"));
                }
                if best.as_ref().is_none_or(|(_, best)| least > best.least) {
                    best = Some(found);
                }
            }
            Err(fault) => failed.push(format!("size {size:.4}: {fault}")),
        }
        if n_valid >= ENOUGH || best.as_ref().is_some_and(|(_, report)| report.least >= GOOD) {
            break;
        }
    }
    (best, failed)
}

/// Turns the mesh back, and gives each face of the skin the number of the nearest face of the part.
fn finished(
    surface: &Surface,
    features: &Features,
    draft: &Draft,
    turn: Matrix3<f64>,
    report: Report,
) -> Meshed {
    let numbered = |quad: &Quad| numbered(surface, features, draft, quad);
    let mut faces: Vec<NumberedFace> = draft.quads.iter().map(numbered).collect();
    faces.sort_unstable_by_key(|face| face.face);
    let points = draft.points.iter().map(|x| (turn * x).into()).collect();
    Meshed { points, hexes: draft.hexes.clone(), faces, report }
}

fn numbered(surface: &Surface, features: &Features, draft: &Draft, quad: &Quad) -> NumberedFace {
    let center = quad.nodes.map(|v| draft.points[v as usize]).iter().sum::<Vec3>() / 4.0;
    let foot = features.patches[quad.patch as usize].foot(&center);
    let hex = draft.hexes[quad.hex as usize];
    let is_own = |face: &[usize; 4]| face.iter().all(|&a| quad.nodes.contains(&hex[a]));
    let local = FACES.iter().position(is_own).unwrap_or_default() as u8;
    let face = Face { element: quad.hex, local };
    NumberedFace { face, number: surface.faces[foot.index] }
}
