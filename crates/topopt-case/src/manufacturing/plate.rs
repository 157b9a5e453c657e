//! The plate of a part that is printed.

use toml::Spanned;
use topopt_design::OverhangCone;
use topopt_mesh::numbers::shown;
use topopt_mesh::surface::{area_vector, face_coordinates};
use topopt_mesh::vector::{dot, length};
use topopt_mesh::{Face, HexMesh};

use super::kind::Asked;
use super::named::{Named, faces_of};
use crate::case::Case;
use crate::finding::Finding;

/// Key of the plate's set.
pub(super) const PLATE: &str = "plate";

/// Angle in degrees from straight down from which on a face looks sideways: plates may be oblique,
/// and walls are never exactly upright.
const SIDEWAYS: f64 = 60.0;

/// Returns the faces of a `set` that can stand on a plate, in the order of the user; a note says how
/// many others the set has.
///
/// # Errors
/// A finding about a set that is not there, or none of whose faces can.
pub(super) fn plate<const N: usize>(
    asked: &Asked,
    set: &Spanned<String>,
    cone: &OverhangCone,
    case: &Case<N>,
    notes: &mut Vec<String>,
) -> Result<Vec<Face>, Finding> {
    let Named { free, n_inner } = faces_of(asked.config, set, case)?;
    let (name, n) = (set.get_ref(), free.len() + n_inner);
    let leans: Vec<f64> = free.iter().map(|&face| lean(&case.mesh, face, cone.up)).collect();
    let is_below = |lean: &f64| *lean < SIDEWAYS;
    let n_below = leans.iter().filter(|lean| is_below(lean)).count();
    if n_below == 0 {
        return Err(no_plate(asked, name, n_inner, &leans));
    }

    if n_below < n {
        notes.push(format!(
            "the part stands on {n_below} of the {n} faces of `plate = \"{name}\"`: {n_inner} lie \
             within the part, and {} look sideways or up",
            n - n_below - n_inner
        ));
    }
    let stands = free.into_iter().zip(&leans).filter(|(_, lean)| is_below(lean));
    Ok(stands.map(|(face, _)| face).collect())
}

/// Angle in degrees between the outward normal of a `face` and straight down.
fn lean(mesh: &HexMesh, face: Face, up: [f64; 3]) -> f64 {
    let normal = area_vector(&face_coordinates(mesh, face));
    (-dot(normal, up) / length(normal)).clamp(-1.0, 1.0).acos().to_degrees()
}

/// Builds the finding about the set `name` on none of whose faces a part can stand.
fn no_plate(asked: &Asked, name: &str, n_inner: usize, leans: &[f64]) -> Finding {
    let least = leans.iter().copied().fold(f64::INFINITY, f64::min);
    let why = match (leans.len(), n_inner) {
        (0, 0) => "no face of the part's surface has all its nodes in it".to_owned(),
        (0, n) => format!("its {n} faces lie within the part"),
        (n, _) => format!(
            "the {n} faces that it has on the part's surface look sideways or up, {} degrees from \
             straight down or more",
            shown(least.round())
        ),
    };
    asked.finding(
        asked.entries[0],
        PLATE,
        [
            &format!("`{name}` cannot be the plate: {why}"),
            "stands on nothing",
            "name faces whose outward normals are against `build_direction`, or leave `plate` out: the \
             part then stands on its lowest faces",
        ],
    )
}
