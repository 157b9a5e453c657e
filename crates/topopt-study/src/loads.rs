//! The load cases that `[[loads]]` and displaced supports amount to.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use topopt_fem::surface_load;

use crate::case::{CaseLoads, Lookup};
use crate::config::{Load, LoadQuantity};
use crate::finding::Finding;

/// What a set of nodes can have in place of a force per area.
const TOTAL: &str = "`total_force`, which is shared equally by nodes";

impl Lookup<'_> {
    /// The load cases, in the order in which the file first names them.
    pub fn load_cases(&self, findings: &mut Vec<Finding>) -> Vec<CaseLoads> {
        let weight = |name: &str| {
            let entry = self.config.load_cases.iter().find(|entry| entry.name.get_ref() == name);
            entry.map_or(1.0, |entry| entry.weight)
        };

        let mut case = |name: &str| {
            let mut forces: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
            let mut gravity = [0.0; 3];
            for load in self.config.loads.iter().filter(|load| load.case == name) {
                for (node, force) in self.forces(load, findings) {
                    let total = forces.entry(node).or_default();
                    *total = std::array::from_fn(|i| total[i] + force[i]);
                }
                if let Some(more) = load.gravity.as_ref().map(|gravity| gravity.get_ref()) {
                    gravity = std::array::from_fn(|i| gravity[i] + more[i]);
                }
            }

            CaseLoads {
                name: name.to_owned(),
                weight: weight(name),
                forces: forces.into_iter().collect(),
                gravity,
                displacements: self.displacements(name, findings),
            }
        };
        self.config.load_case_names().into_iter().map(&mut case).collect()
    }

    /// Forces of one entry on the nodes of its set.
    fn forces(&self, load: &Load, findings: &mut Vec<Finding>) -> Vec<(u32, [f64; 3])> {
        let Some(set) = &load.set else { return Vec::new() };
        let mut forces = Vec::new();
        for (quantity, place) in load.quantities() {
            let faces = self.faces(set, load.kind);
            let nodes = |findings: &mut _| self.nodes(set, load.kind, findings);
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
                    findings.extend(self.no_faces(set, "traction", place, TOTAL));
                    Vec::new()
                }
                (LoadQuantity::Pressure(_), None) => {
                    findings.extend(self.no_faces(set, "pressure", place, TOTAL));
                    Vec::new()
                }
                (LoadQuantity::Gravity(_), _) => Vec::new(),
            });
        }
        forces
    }

    /// Something per area on a set that has no area; `instead` is what nodes can have. Sets that
    /// are not there, or empty, are told of as such.
    pub fn no_faces(
        &self,
        set: &Spanned<String>,
        key: &str,
        place: Range<usize>,
        instead: &str,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let name = set.get_ref();
        let nodes = self.nodes(set, None, &mut findings).len();
        if findings.is_empty() {
            let message =
                format!("`{key}` needs faces, but set `{name}` has none, only {nodes} nodes");
            findings.push(
                Finding::new(message).at(self.config.source(), place, "per area").remedy(format!(
                    "name a face set: a physical surface of Gmsh, or a [[select]] with `kind = \
                     \"faces\"`; or give {instead}"
                )),
            );
        }
        findings
    }

    /// Load cases that do no work: forces zero, or all on held components.
    pub fn idle_loads(&self, fixed: &[Vec<u32>; 3], cases: &[CaseLoads]) -> Vec<Finding> {
        let mut findings = Vec::new();
        // Gravity and moved supports load a part whatever the forces are.
        let by_forces =
            |case: &&CaseLoads| case.gravity == [0.0; 3] && case.displacements.is_empty();
        for case in cases.iter().filter(by_forces) {
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
                    let set = load.set.as_ref().map_or_else(|| load.span(), |set| set.span());
                    (message, "held in the direction of the force", set)
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
