//! Conversion of `[[supports]]` and `[[springs]]` to held nodes, displaced nodes and stiffness.

use std::collections::BTreeMap;

use topopt_fem::surface_load;

use crate::config::{Spring, Support};
use crate::finding::Finding;
use crate::lookup::{Lookup, sorted};

impl Lookup<'_> {
    /// Nodes held in x, in y and in z, each sorted.
    pub fn fixed(&self, findings: &mut Vec<Finding>) -> [Vec<u32>; 3] {
        let mut fixed = [Vec::new(), Vec::new(), Vec::new()];
        for support in &self.config.supports {
            let nodes = self.nodes(&support.set, support.kind, findings);
            for axis in &support.fix {
                fixed[*axis as usize].extend(&nodes);
            }
        }
        fixed.map(sorted)
    }

    /// Displaced nodes of load case `case`, sorted. Supports that disagree are reported.
    pub fn displacements(&self, case: &str, findings: &mut Vec<Finding>) -> Vec<(u32, [f64; 3])> {
        let mut values: BTreeMap<u32, [Option<f64>; 3]> = BTreeMap::new();
        // In other cases than its own a displacement is 0, unless another support moves the nodes.
        let is_here =
            |support: &&Support| support.case.as_ref().is_none_or(|name| name.get_ref() == case);
        for support in self.config.supports.iter().filter(is_here) {
            // What is not there has been reported with the supports.
            let nodes = self.nodes(&support.set, support.kind, &mut Vec::new());

            let mut other = None;
            for node in nodes {
                let value = values.entry(node).or_default();
                let displacement = support.displacement_at(self.mesh.coordinates()[node as usize]);
                for axis in support.fix.iter().map(|axis| *axis as usize) {
                    let before = value[axis].replace(displacement[axis]);
                    other = other.or(before.filter(|before| *before != displacement[axis]));
                }
            }

            findings.extend(other.map(|other| {
                let motion = support.displacement.as_ref().or(support.rotation.as_ref());
                let place = motion.map_or(support.set.span(), |motion| motion.span());
                let message = "two supports move the same nodes differently";
                let label = format!("elsewhere moved by {other}");
                Finding::new(message).at(self.config.source(), place, &label).remedy(
                    "use sets that share no node, or leave the direction out of `fix` of one of \
                     them",
                )
            }));
        }

        let whole =
            |(node, value): (u32, [Option<f64>; 3])| (node, value.map(Option::unwrap_or_default));
        values.into_iter().map(whole).filter(|(_, value)| *value != [0.0; 3]).collect()
    }

    /// Stiffness of springs to the ground, by increasing node.
    pub fn springs(&self, findings: &mut Vec<Finding>) -> Vec<(u32, [f64; 3])> {
        let mut sums: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
        for spring in &self.config.springs {
            for (node, stiffness) in self.stiffness(spring, findings) {
                let sum = sums.entry(node).or_default();
                *sum = std::array::from_fn(|i| sum[i] + stiffness[i]);
            }
        }
        sums.into_iter().collect()
    }

    /// Stiffness of one entry of `[[springs]]` on its nodes.
    pub fn stiffness(&self, spring: &Spring, findings: &mut Vec<Finding>) -> Vec<(u32, [f64; 3])> {
        if let Some(stiffness) = &spring.stiffness {
            let nodes = self.nodes(&spring.set, spring.kind, findings);
            let share = self.config.share_of_node(spring.set.get_ref(), spring.kind, nodes.len());
            let stiffness = stiffness.get_ref().map(|k| share * k);
            return nodes.into_iter().map(|node| (node, stiffness)).collect();
        }
        let Some(stiffness) = &spring.stiffness_per_area else { return Vec::new() };
        let Some(faces) = self.faces(&spring.set, spring.kind) else {
            let key = "stiffness_per_area";
            let remedy = "`stiffness`, which each node has";
            findings.extend(self.no_faces(
                &spring.set,
                key,
                (stiffness.span(), "per area"),
                remedy,
            ));
            return Vec::new();
        };
        let springs = surface_load::traction(self.mesh, &faces, *stiffness.get_ref()).into_iter();
        // A corner of triangles of six nodes has no area, to rounding.
        springs.filter(|(_, stiffness)| stiffness.iter().any(|s| *s > 0.0)).collect()
    }
}
