//! Loads per area, and the pin in a bore.

use std::ops::Range;

use topopt_fem::bearing::{BearingError, bearing};
use topopt_fem::surface_load::{self, NodalForces};
use topopt_mesh::numbers::shown;

use super::kind::{LoadKey, LoadKind, Place, Shape};
use crate::config::{Load, PhysicsKind};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// Remedy for a set of nodes.
const TOTAL: &str = "`total_force`, which is shared equally by nodes";

/// The load `traction`.
pub(super) const TRACTION: LoadKind = LoadKind::new(
    &[LoadKey::new("traction", Shape::Vector, "Force per area [x, y, z] on the faces of the set.")],
    " (per area)",
    Place::Faces("a load per area", "total_force"),
    |lookup, load, findings| {
        let traction = load.vector("traction").unwrap_or_default();
        let faces = lookup.loaded_faces(load, "traction", ["per area", TOTAL], findings);
        surface_load::traction(lookup.mesh, &faces, traction)
    },
);

/// The load `pressure`.
pub(super) const PRESSURE: LoadKind = LoadKind::new(
    &[LoadKey::new(
        "pressure",
        Shape::Number,
        "Force per area on the faces of the set, along their normals; positive pushes.",
    )],
    " (per area, along the normal)",
    Place::Faces("a load per area", "total_force"),
    |lookup, load, findings| {
        let pressure = load.number("pressure").unwrap_or_default();
        let faces = lookup.loaded_faces(load, "pressure", ["per area", TOTAL], findings);
        surface_load::pressure(lookup.mesh, &faces, pressure)
    },
);

/// The load `heat_flux`.
pub(super) const HEAT_FLUX: LoadKind = LoadKind {
    physics: Some(PhysicsKind::Heat),
    ..LoadKind::new(
        &[LoadKey::new(
            "heat_flux",
            Shape::Number,
            "Heat per time and area into the faces of the set.",
        )],
        " (per area)",
        Place::Faces("a load per area", "total_heat"),
        |lookup, load, findings| {
            let flux = load.number("heat_flux").unwrap_or_default();
            let instead = "`total_heat`, which is shared equally by nodes";
            let faces = lookup.loaded_faces(load, "heat_flux", ["per area", instead], findings);
            let areas = surface_load::areas(lookup.mesh, &faces);
            areas.into_iter().map(|(node, area)| (node, [flux * area, 0.0, 0.0])).collect()
        },
    )
};

/// The load `bearing`.
pub(super) const BEARING: LoadKind = LoadKind::new(
    &[LoadKey::new(
        "bearing",
        Shape::Vector,
        "Force [x, y, z] of a pin on the faces of a bore: a pressure by the cosine of the angle from \
         the force, on the side to which it points.",
    )],
    " (a pin in a bore)",
    Place::Faces("a bearing", "total_force"),
    pin,
);

fn pin(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
    let force = load.vector("bearing").unwrap_or_default();
    let faces = lookup.loaded_faces(load, "bearing", ["in a bore", TOTAL], findings);
    if force == [0.0; 3] || faces.is_empty() {
        return vec![];
    }
    bearing(lookup.mesh, &faces, force).unwrap_or_else(|error| {
        let set = load.set.as_ref().map_or("", |set| set.get_ref());
        let place = load.span_of("bearing").unwrap_or(0..0);
        findings.push(no_bearing(lookup, set, error, place));
        vec![]
    })
}

/// A force that the faces of a bore do not take.
fn no_bearing(lookup: &Lookup, name: &str, error: BearingError, place: Range<usize>) -> Finding {
    let (message, label, remedy) = match error {
        BearingError::NoFace => (
            format!("no face of set `{name}` takes this bearing load"),
            "no outward normal points against it",
            "name the faces of the bore that the force presses on, or turn the force",
        ),
        BearingError::Sideways(share) => (
            format!(
                "the faces of set `{name}` leave {} % of this bearing load: a pin only pushes along \
                 their normals",
                shown((100.0 * share).round())
            ),
            "points along the faces",
            "name all faces of the bore, and give the part along its axis as `total_force`",
        ),
    };
    Finding::new(message).at(lookup.config.source(), place, label).remedy(remedy)
}
