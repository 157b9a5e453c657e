//! The forces on nodes that `[[loads]]` amount to.

use std::collections::BTreeMap;
use std::ops::Range;

use topopt_fem::surface_load;
use topopt_mesh::Face;

use crate::case::{Lookup, NodalForces};
use crate::config::{Load, LoadQuantity};
use crate::report::Finding;

impl Lookup<'_> {
    /// The load cases, in the order in which the file first names them.
    pub(crate) fn load_cases(&self, findings: &mut Vec<Finding>) -> Vec<NodalForces> {
        let mut cases: Vec<(&str, BTreeMap<u32, [f64; 3]>)> = Vec::new();
        for load in &self.config.loads {
            let index = cases.iter().position(|(name, _)| *name == load.case);
            let index = index.unwrap_or_else(|| {
                cases.push((&load.case, BTreeMap::new()));
                cases.len() - 1
            });
            for (node, force) in self.forces(load, findings) {
                let total = cases[index].1.entry(node).or_default();
                *total = std::array::from_fn(|i| total[i] + force[i]);
            }
        }
        let weight = |name: &str| {
            let entry = self.config.load_cases.iter().find(|entry| entry.name.get_ref() == name);
            entry.map_or(1.0, |entry| entry.weight)
        };
        let finished = |(name, forces): (&str, BTreeMap<_, _>)| NodalForces {
            name: name.to_owned(),
            weight: weight(name),
            forces: forces.into_iter().collect(),
        };
        cases.into_iter().map(finished).collect()
    }

    /// Forces of one entry on the nodes of its set.
    fn forces(&self, load: &Load, findings: &mut Vec<Finding>) -> Vec<(u32, [f64; 3])> {
        let (name, span) = (load.set.get_ref(), load.set.span());
        let mut forces = Vec::new();
        for (quantity, place) in load.quantities() {
            let faces = self.faces(name);
            let nodes = |findings: &mut _| self.nodes(name, span.clone(), findings);
            forces.extend(match (quantity, faces) {
                (LoadQuantity::Force(force), _) => {
                    nodes(findings).into_iter().map(|node| (node, force)).collect()
                }
                (LoadQuantity::TotalForce(force), Some(faces)) => {
                    surface_load::total_force(self.mesh, &faces, force)
                }
                (LoadQuantity::TotalForce(force), None) => {
                    let nodes = nodes(findings);
                    let share = force.map(|f| f / nodes.len() as f64);
                    nodes.into_iter().map(|node| (node, share)).collect()
                }
                (LoadQuantity::Traction(traction), Some(faces)) => {
                    surface_load::traction(self.mesh, &faces, traction)
                }
                (LoadQuantity::Pressure(pressure), Some(faces)) => {
                    surface_load::pressure(self.mesh, &faces, pressure)
                }
                (LoadQuantity::Traction(_), None) => {
                    findings.extend(self.no_faces(load, "traction", place));
                    Vec::new()
                }
                (LoadQuantity::Pressure(_), None) => {
                    findings.extend(self.no_faces(load, "pressure", place));
                    Vec::new()
                }
            });
        }
        forces
    }

    /// The faces of the set, each once; none if there is no face set of this name with a face.
    fn faces(&self, name: &str) -> Option<Vec<Face>> {
        let mut faces = self.sets.faces.get(name)?.clone();
        faces.sort_unstable();
        faces.dedup();
        (!faces.is_empty()).then_some(faces)
    }

    /// A load per area on a set that has no area. Sets that are not there, or empty, are told of
    /// as such.
    fn no_faces(&self, load: &Load, key: &str, place: Range<usize>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let name = load.set.get_ref();
        let nodes = self.nodes(name, load.set.span(), &mut findings).len();
        if findings.is_empty() {
            let message = format!("`{key}` needs faces, and set `{name}` has none: {nodes} nodes");
            findings.push(
                Finding::new(message).at(self.config.source(), place, "per area").remedy(
                    "name a face set: a physical surface of Gmsh, or a [[select]] with `kind = \
                 \"faces\"`; or give `total_force`, which nodes take in equal shares",
                ),
            );
        }
        findings
    }

    /// Load cases that do no work: forces zero, or all on held components.
    pub(crate) fn idle_loads(&self, fixed: &[Vec<u32>; 3], cases: &[NodalForces]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for case in cases {
            let mut pushes = case.forces.iter().flat_map(|(node, force)| {
                (0..3).filter(|&i| force[i] != 0.0).map(move |i| (i, node))
            });
            let is_zero = pushes.clone().next().is_none();
            let first = self.config.loads.iter().find(|load| load.case == case.name);
            if let Some(load) = first
                && pushes.all(|(i, node)| fixed[i].binary_search(node).is_ok())
            {
                let (message, label, span) = if is_zero {
                    ("has no force: its sum is zero on every node", "zero", load.span())
                } else {
                    let message = "acts only where the part is held, so nothing is loaded";
                    (message, "held in the direction of the force", load.set.span())
                };
                findings.push(
                    Finding::new(format!("load case `{}` {message}", case.name))
                        .at(self.config.source(), span, label)
                        .remedy("give a force on a set that is free to move in its direction"),
                );
            }
        }
        findings
    }
}
