//! The sums of the loads that a deck becomes, by load case, and those of the deck itself.

use std::collections::BTreeMap;

use topopt_io::ImportedMesh;
use topopt_io::deck::{DeckPhysics, Resultant, SetLoad};
use topopt_mesh::numbers::{shown, without_rounding};
use topopt_mesh::vector::length;
use topopt_mesh::{Face, HexMesh};

/// Sums of forces that differ by less than this, as a share of all that is summed, are equal.
const EQUAL: f64 = 1e-9;

/// The points of Gauss on [0, 1].
const POINTS: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];

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
                total.on_faces(mesh, faces(set), |normal| normal.map(|n| -pressure * n));
            }
            SetLoad::Traction { set, traction } => {
                total.on_faces(mesh, faces(set), |normal| traction.map(|t| length(normal) * t));
            }
            SetLoad::HeatFlux { set, heat_flux } => {
                let areas = faces(set).iter().flat_map(|&face| normals(mesh, face));
                total.heat += heat_flux * areas.map(|(_, normal)| length(normal)).sum::<f64>();
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

    fn on_faces(&mut self, mesh: &HexMesh, faces: &[Face], force: impl Fn([f64; 3]) -> [f64; 3]) {
        for (at, normal) in faces.iter().flat_map(|&face| normals(mesh, face)) {
            let force = force(normal);
            self.on_faces.add(at, force);
            self.size += length(force);
        }
    }
}

/// The points of Gauss of a face, and the outward normal of the length of the area there.
fn normals(mesh: &HexMesh, face: Face) -> impl Iterator<Item = ([f64; 3], [f64; 3])> {
    let x = face.nodes(mesh).map(|node| mesh.coordinates()[node as usize]);
    let of_point = move |(s, t): (f64, f64)| {
        let mix = |weights: [f64; 4]| -> [f64; 3] {
            std::array::from_fn(|i| (0..4).map(|a| weights[a] * x[a][i]).sum())
        };
        let at = mix([(1.0 - s) * (1.0 - t), s * (1.0 - t), s * t, (1.0 - s) * t]);
        let along_s = mix([t - 1.0, 1.0 - t, t, -t]);
        let along_t = mix([s - 1.0, -s, s, 1.0 - s]);
        (at, topopt_mesh::vector::cross(along_s, along_t).map(|n| n / 4.0))
    };
    POINTS.into_iter().flat_map(|s| POINTS.map(|t| (s, t))).map(of_point)
}
