//! `Lookup`: resolves the set names of a case file in its mesh.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use topopt_mesh::{HexMesh, Sets};

use crate::config::Config;
use crate::finding::Finding;

/// Resolves set names of a case file to nodes, faces and elements of its mesh.
pub struct Lookup<'a> {
    /// The case file.
    pub config: &'a Config,
    /// The mesh.
    pub mesh: &'a HexMesh,
    /// Sets of the mesh and selections.
    pub sets: &'a Sets,
    /// Forces on the nodes of sets, from the mesh file.
    pub nodal: &'a NodalOfMesh,
}

/// Forces on the nodes of node sets from a mesh file, in the order of each set; for heat, heat per
/// time in the first component.
pub type NodalOfMesh = BTreeMap<String, Vec<[f64; 3]>>;

impl Lookup<'_> {
    /// Forces on the nodes of a set from the mesh file; `place` is the span of the key, for findings.
    pub(crate) fn of_mesh_file(
        &self,
        set: &Spanned<String>,
        place: Range<usize>,
        findings: &mut Vec<Finding>,
    ) -> Vec<(u32, [f64; 3])> {
        let name = set.get_ref();
        if let Some((forces, nodes)) = self.nodal.get(name).zip(self.sets.nodes.get(name)) {
            return nodes.iter().copied().zip(forces.iter().copied()).collect();
        }
        let known: Vec<_> = self.nodal.keys().map(|name| format!("`{name}`")).collect();
        let message = format!("the mesh file has no forces on the nodes of a set `{name}`");
        let remedy = match known.is_empty() {
            true => {
                "only a solver's deck with many different forces has such sets; give `force` or \
                     `total_force`"
                    .into()
            }
            false => format!("it has them for {}", known.join(", ")),
        };
        let finding = Finding::new(message).at(self.config.source(), place, "here");
        findings.push(finding.remedy(remedy));
        Vec::new()
    }

    pub(crate) fn elements(&self, name: &Spanned<String>, findings: &mut Vec<Finding>) -> Vec<u32> {
        match self.sets.element_set(name.get_ref()) {
            Ok([]) => findings.push(self.empty(name.get_ref(), name.span())),
            Ok(set) => return set.to_vec(),
            Err(error) => findings.push(self.not_there(&error, name.span())),
        }
        Vec::new()
    }
}

/// Returns `numbers` in increasing order, without duplicates.
pub fn sorted(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
