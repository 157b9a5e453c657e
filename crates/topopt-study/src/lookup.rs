//! The sets that a case file names, in its mesh.

use toml::Spanned;
use topopt_mesh::{HexMesh, Sets};

use crate::config::Config;
use crate::finding::Finding;

/// Finds the sets that the case file names in its mesh.
pub struct Lookup<'a> {
    /// The case file.
    pub config: &'a Config,
    /// The mesh.
    pub mesh: &'a HexMesh,
    /// Sets of the mesh and selections.
    pub sets: &'a Sets,
}

impl Lookup<'_> {
    pub(crate) fn elements(&self, name: &Spanned<String>, findings: &mut Vec<Finding>) -> Vec<u32> {
        match self.sets.element_set(name.get_ref()) {
            Ok([]) => findings.push(self.empty(name.get_ref(), name.span())),
            Ok(set) => return set.to_vec(),
            Err(error) => findings.push(self.not_there(&error, name.span())),
        }
        Vec::new()
    }
}

/// Each number once, increasing.
pub fn sorted(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
