//! Heat flows into nodes, of loads and of convection.

use topopt_fem::{Coupling, surface_load};

use crate::config::{Convection, Load};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// Heat flows of one entry into the nodes of its set.
pub(super) fn flows(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> Vec<(u32, f64)> {
    let flows = lookup.on_nodes(load, findings);
    flows.into_iter().map(|(node, [flow, ..])| (node, flow)).collect()
}

/// The integral of h N_a over the faces of a convection, by increasing node.
pub(super) fn film_flows(
    lookup: &Lookup,
    film: &Convection,
    findings: &mut Vec<Finding>,
) -> Vec<(u32, f64)> {
    let Some(faces) = lookup.faces(&film.set, film.kind) else {
        let instead = "[[supports]] with a `temperature`";
        findings.extend(lookup.no_faces(
            &film.set,
            "convection",
            (film.set.span(), "per area"),
            instead,
        ));
        return Vec::new();
    };
    let areas = surface_load::areas(lookup.mesh, &faces);
    areas.into_iter().map(|(node, area)| (node, film.film_coefficient * area)).collect()
}

/// The integral of h N_a N_b over the faces of a convection for pairs of different nodes; none
/// where [`film_flows`] finds no faces.
pub(super) fn film_couplings(lookup: &Lookup, film: &Convection) -> Vec<Coupling> {
    let faces = lookup.faces(&film.set, film.kind).unwrap_or_default();
    let coupling = |(nodes, area)| Coupling { nodes, weight: film.film_coefficient * area };
    surface_load::couplings(lookup.mesh, &faces).into_iter().map(coupling).collect()
}
