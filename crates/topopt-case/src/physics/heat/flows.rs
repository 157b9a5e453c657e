//! Heat flows into nodes, of loads and of convection.

use topopt_fem::{Coupling, lumped_capacity, surface_load};

use crate::config::{Convection, Load, LoadQuantity};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// Heat flows of one entry into the nodes of its set.
pub(super) fn flows(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> Vec<(u32, f64)> {
    let Some((quantity, place)) = load.quantities().into_iter().next() else { return Vec::new() };
    let scaled = |shares: Vec<(u32, f64)>, factor: f64| {
        shares.into_iter().map(|(node, share)| (node, factor * share)).collect()
    };
    match (quantity, &load.set) {
        (LoadQuantity::HeatFlux(flux), Some(set)) => match lookup.faces(set, load.kind) {
            Some(faces) => scaled(surface_load::areas(lookup.mesh, &faces), flux),
            None => {
                let instead = "`total_heat`, which is shared equally by nodes";
                findings.extend(lookup.no_faces(set, "heat_flux", place, instead));
                Vec::new()
            }
        },
        (LoadQuantity::HeatSource(source), _) => {
            scaled(volumes(lookup, &heated(lookup, load, findings)), source)
        }
        (LoadQuantity::TotalHeat(heat), Some(set)) => {
            let shares = match lookup.faces(set, load.kind) {
                Some(faces) => surface_load::areas(lookup.mesh, &faces),
                None => {
                    let nodes = lookup.nodes(set, load.kind, findings);
                    nodes.into_iter().map(|node| (node, 1.0)).collect()
                }
            };
            let total: f64 = shares.iter().map(|(_, share)| share).sum();
            scaled(shares, heat / total)
        }
        (LoadQuantity::FromMesh, Some(set)) => {
            let flows = lookup.of_mesh_file(set, place, findings);
            flows.into_iter().map(|(node, [flow, ..])| (node, flow)).collect()
        }
        _ => Vec::new(),
    }
}

/// The elements of a heat source.
pub(super) fn heated(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> Vec<u32> {
    match &load.set {
        Some(set) => lookup.elements(set, findings),
        None => (0..lookup.mesh.n_elements() as u32).collect(),
    }
}

/// The volumes of `elements` that their nodes stand for: the integral of N_a, by increasing node.
fn volumes(lookup: &Lookup, elements: &[u32]) -> Vec<(u32, f64)> {
    let mut is_there = vec![0.0; lookup.mesh.n_elements()];
    elements.iter().for_each(|&e| is_there[e as usize] = 1.0);
    let shares = lumped_capacity(lookup.mesh, &is_there);
    (0..).zip(shares).filter(|(_, share)| *share != 0.0).collect()
}

/// The integral of h N_a over the faces of a convection, by increasing node.
pub(super) fn film_flows(
    lookup: &Lookup,
    film: &Convection,
    findings: &mut Vec<Finding>,
) -> Vec<(u32, f64)> {
    let Some(faces) = lookup.faces(&film.set, film.kind) else {
        let instead = "[[supports]] with a `temperature`";
        findings.extend(lookup.no_faces(&film.set, "convection", film.set.span(), instead));
        return Vec::new();
    };
    let areas = surface_load::areas(lookup.mesh, &faces);
    areas.into_iter().map(|(node, area)| (node, film.film_coefficient * area)).collect()
}

/// The integral of h N_a N_b over the faces of a convection for pairs of different nodes; none where
/// [`film_flows`] finds no faces.
pub(super) fn film_couplings(lookup: &Lookup, film: &Convection) -> Vec<Coupling> {
    let faces = lookup.faces(&film.set, film.kind).unwrap_or_default();
    let coupling = |(nodes, area)| Coupling { nodes, weight: film.film_coefficient * area };
    surface_load::couplings(lookup.mesh, &faces).into_iter().map(coupling).collect()
}
