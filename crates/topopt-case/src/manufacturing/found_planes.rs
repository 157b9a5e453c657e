//! Planes of symmetry that a design keeps where the user gives none.

use topopt_mesh::Plane;
use topopt_mesh::numbers::place;
use topopt_mesh::surface::{face_center, face_coordinates};

use super::named::faces_of;
use super::{open_voids, overhang};
use crate::case::Case;
use crate::config::Config;
use crate::finding::Finding;
use crate::mirror_planes;
use crate::physics::Physics;

/// Keys that name sets.
const KEYS: [&str; 2] = [overhang::PLATE, open_voids::CLOSED];

/// Returns the planes about which the whole problem is symmetric for elements of these `volumes`,
/// within a tolerance (length), if they `mirror` the directions of its making, and the sets that
/// stand on the plate or close the part.
///
/// # Errors
/// A finding about a set that is not there.
pub(super) fn kept<K: Physics<N>, const N: usize>(
    config: &Config,
    case: &Case<N>,
    (volumes, tolerance): (&[f64], f64),
    mirror: impl Fn(&Plane) -> bool,
) -> Result<Vec<Plane>, Finding> {
    let mut found = mirror_planes::find::<K, N>(config, case, volumes, tolerance);
    found.retain(mirror);
    if found.is_empty() {
        return Ok(found);
    }

    let entries = config.manufacturing.iter();
    let sets = entries.flat_map(|entry| KEYS.iter().filter_map(|key| entry.text(key)));
    for set in sets {
        let faces = faces_of(config, &set, case)?.free;
        let center = |face: &_| face_center(&face_coordinates(&case.mesh, *face));
        let centers: Vec<[f64; 3]> = faces.iter().map(center).collect();
        found.retain(|plane| plane.paired(&centers, tolerance).is_some());
    }
    Ok(found)
}

/// Returns the sentence about a plane that was found.
pub(super) fn told(plane: &Plane) -> String {
    format!(
        "the problem is symmetric about the plane through {} across {}, and so is the design; \
         `design.keep_symmetry = false` leaves it free",
        place(plane.point),
        place(plane.normal)
    )
}

/// Returns the note that no planes are looked for beside a demand of this `kind`, if the case asks
/// for them.
pub(super) fn not_looked_for(config: &Config, kind: &str) -> Option<String> {
    // A style asks for planes as well where there are any, and written cases repeat what it asks.
    let is_asked = config.gives("design.keep_symmetry") && !config.is_written_by_us();
    (is_asked && config.design.keep_symmetry == Some(true)).then(|| {
        format!(
            "`design.keep_symmetry = true` has no effect beside `kind = \"{kind}\"`: planes are looked \
             for where no demand makes densities equal; give them as `kind = \"symmetry\"`"
        )
    })
}
