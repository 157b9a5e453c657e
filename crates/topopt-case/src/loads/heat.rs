//! Heat in elements, and into a set as a whole.

use topopt_fem::surface_load::NodalForces;
use topopt_fem::{lumped_capacity, nodal_body_forces};

use super::kind::{LoadKey, LoadKind, Place, Shape};
use crate::config::{Capacity, Load, PhysicsKind};
use crate::finding::Finding;
use crate::lookup::Lookup;

/// The load `heat_source`.
pub(super) const HEAT_SOURCE: LoadKind = LoadKind {
    physics: Some(PhysicsKind::Heat),
    ..LoadKind::new(
        &[LoadKey::new(
            "heat_source",
            Shape::Number,
            "Heat per time and volume in the elements of the set; without `set` in the whole part.",
        )],
        " (per volume)",
        Place::Elements,
        |lookup, load, findings| {
            let source = load.number("heat_source").unwrap_or_default();
            let volumes = volumes(lookup, &lookup.heated(load, findings));
            volumes.into_iter().map(|(node, share)| (node, [source * share, 0.0, 0.0])).collect()
        },
    )
};

/// The load `total_heat`.
pub(super) const TOTAL_HEAT: LoadKind = LoadKind {
    physics: Some(PhysicsKind::Heat),
    ..LoadKind::new(
        &[LoadKey::new(
            "total_heat",
            Shape::Number,
            "Heat per time into the set as a whole: into faces by their areas, into nodes in equal \
             shares.",
        )],
        " (into the whole set)",
        Place::Set,
        total_heat,
    )
};

fn total_heat(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
    let Some((set, heat)) = load.set.as_ref().zip(load.number("total_heat")) else {
        return vec![];
    };
    let shares = lookup.areas(set, load.kind, findings);
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    let factor = heat / total;
    shares.into_iter().map(|(node, share)| (node, [factor * share, 0.0, 0.0])).collect()
}

/// Tributary volumes of the nodes of `elements`, by increasing node: the integral of N_a. Where
/// capacities are lumped they are lumped alike, so that a source warms all nodes alike: at the
/// vertices of tetrahedra the integral of N_a is negative.
fn volumes(lookup: &Lookup, elements: &[u32]) -> Vec<(u32, f64)> {
    let mut is_there = vec![0.0; lookup.mesh.n_elements()];
    elements.iter().for_each(|&e| is_there[e as usize] = 1.0);
    let transient = lookup.config.transient.as_ref();
    let shares = match transient.is_some_and(|keys| keys.capacity == Capacity::Lumped) {
        true => lumped_capacity(lookup.mesh, &is_there),
        false => nodal_body_forces(lookup.mesh, Some(&is_there), &[1.0].into()).into_flattened(),
    };
    (0..).zip(shares).filter(|(_, share)| *share != 0.0).collect()
}

impl Lookup<'_> {
    /// Returns the elements of a heat source.
    pub(crate) fn heated(&self, load: &Load, findings: &mut Vec<Finding>) -> Vec<u32> {
        match &load.set {
            Some(set) => self.elements(set, findings),
            None => (0..self.mesh.n_elements() as u32).collect(),
        }
    }
}
