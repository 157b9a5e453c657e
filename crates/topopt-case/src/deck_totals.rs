//! The sums of the loads that a deck becomes, by load case, and those of the deck itself.

use std::collections::BTreeMap;

use topopt_fem::surface_load::{self, NodalForces};
use topopt_io::ImportedMesh;
use topopt_io::deck::{DeckPhysics, Resultant, SetLoad};
use topopt_mesh::HexMesh;
use topopt_mesh::numbers::{shown, without_rounding};
use topopt_mesh::vector::length;

/// Sums of forces that differ by less than this, as a share of all that is summed, are equal.
const EQUAL: f64 = 1e-9;

/// Load sums of a load case, without gravity and rotation, which depend on the density.
#[derive(Default)]
struct Total {
    /// Resultant of the loads at nodes and reference nodes.
    nodal: Resultant,
    /// Resultant of the loads on faces.
    on_faces: Resultant,
    /// Heat per time.
    heat: f64,
    /// Whether gravity or rotation act besides.
    has_body: bool,
    /// The sum of the lengths of forces, by which a difference is measured.
    size: f64,
}

/// The sums of each load case, a sentence each.
pub fn lines(imported: &ImportedMesh) -> Vec<String> {
    let vector = |vector: [f64; 3]| {
        let shown = vector.map(|value| shown(value + 0.0));
        format!("({})", shown.join(", "))
    };
    let line = |(case, total): (String, Total)| match imported.deck.physics {
        DeckPhysics::Heat => format!("load case {case}: heat adds up to {}", shown(total.heat)),
        DeckPhysics::Elasticity => {
            let mut all = total.nodal;
            all.add_scaled(1.0, &total.on_faces);
            let [force, moment] =
                [all.force, all.moment].map(|v| vector(without_rounding(v, total.size)));
            let body = if total.has_body { ", besides gravity and rotation" } else { "" };
            format!(
                "load case {case}: forces add up to {force}, moments about the origin to {moment}{body}"
            )
        }
    };
    totals(imported).into_iter().map(line).collect()
}

/// Load cases whose forces at nodes are others than the deck's, a sentence each.
pub(crate) fn differences(imported: &ImportedMesh) -> Vec<String> {
    // Every mesh that is read comes by here, and few have sums to compare.
    if imported.deck.given.is_empty() {
        return Vec::new();
    }
    let totals = totals(imported);
    let mut found = Vec::new();
    for (case, given) in &imported.deck.given {
        let (nodal, size) = totals.get(case).map_or_else(Default::default, |t| (t.nodal, t.size));
        let off = [0, 1, 2].map(|i| given.force[i] - nodal.force[i]);
        if length(off) > EQUAL * size.max(length(given.force)) {
            found.push(format!(
                "load case {case}: forces at nodes add up to {:?} in the deck, and to {:?} here",
                given.force, nodal.force
            ));
        }
    }
    found
}

fn totals(imported: &ImportedMesh) -> BTreeMap<String, Total> {
    let (mesh, deck) = (&imported.mesh, &imported.deck);
    let sets = mesh.sets();
    let nodes = |set: &String| sets.nodes.get(set).map_or(&[][..], Vec::as_slice);
    let faces = |set: &String| sets.faces.get(set).map_or(&[][..], Vec::as_slice);

    let mut totals = BTreeMap::<String, Total>::new();
    for load in &deck.loads {
        let total = totals.entry(load.case.clone()).or_default();
        match &load.load {
            SetLoad::Force { set, force } => {
                nodes(set).iter().for_each(|&node| total.at_node(mesh, node, *force));
            }
            SetLoad::ByNode { set } => {
                let forces = deck.nodal.get(set).map_or(&[][..], Vec::as_slice);
                for (&node, &force) in nodes(set).iter().zip(forces) {
                    total.at_node(mesh, node, force);
                    total.heat += force[0];
                }
            }
            SetLoad::Remote { at, force, moment, .. } => {
                total.nodal.add(*at, *force);
                total.nodal.add_scaled(1.0, &Resultant { force: [0.0; 3], moment: *moment });
                total.size += length(*force);
            }
            SetLoad::Pressure { set, pressure } => {
                total.on_faces(mesh, surface_load::pressure(mesh, faces(set), *pressure));
            }
            SetLoad::Traction { set, traction } => {
                total.on_faces(mesh, surface_load::traction(mesh, faces(set), *traction));
            }
            SetLoad::HeatFlux { set, heat_flux } => {
                let areas = surface_load::areas(mesh, faces(set)).into_iter();
                total.heat += heat_flux * areas.map(|(_, area)| area).sum::<f64>();
            }
            SetLoad::HeatSource { set, heat_source } => {
                let volumes = mesh.volumes();
                let volume: f64 = match set {
                    Some(set) => {
                        let members = sets.elements.get(set).map_or(&[][..], Vec::as_slice);
                        members.iter().map(|&element| volumes[element as usize]).sum()
                    }
                    None => volumes.iter().sum(),
                };
                total.heat += heat_source * volume;
            }
            SetLoad::NodalHeat { set, heat } => total.heat += heat * nodes(set).len() as f64,
            SetLoad::Temperature { .. } => {}
            SetLoad::Gravity { .. } | SetLoad::Centrifugal { .. } => total.has_body = true,
        }
    }
    totals
}

impl Total {
    fn at_node(&mut self, mesh: &HexMesh, node: u32, force: [f64; 3]) {
        self.nodal.add(mesh.coordinates()[node as usize], force);
        self.size += length(force);
    }

    fn on_faces(&mut self, mesh: &HexMesh, forces: NodalForces) {
        for (node, force) in forces {
            self.on_faces.add(mesh.coordinates()[node as usize], force);
            self.size += length(force);
        }
    }
}
