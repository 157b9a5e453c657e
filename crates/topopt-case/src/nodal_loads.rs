//! The entries of `[[loads]]` by what each does to the nodes of its set.

use topopt_fem::DIM;
use topopt_mesh::SetKind;

use crate::config::{Load, SelectKind};
use crate::lookup::Lookup;

/// The forces of an entry of `[[loads]]` on nodes, as the user numbers them; of heat, flows into them.
#[derive(Debug, Clone)]
pub struct NodalLoad<const N: usize = DIM> {
    /// Name of its load case.
    pub case: String,
    /// Name of its set; none where it acts in the whole part.
    pub set: Option<String>,
    /// Nodes with their forces.
    pub forces: Vec<(u32, [f64; N])>,
    /// Whether it acts within elements, and not on faces, edges or points.
    pub is_within: bool,
}

/// The size of a force: the sum of its components without their signs.
pub fn size<const N: usize>(force: &[f64; N]) -> f64 {
    force.iter().map(|f| f.abs()).sum()
}

impl<const N: usize> NodalLoad<N> {
    /// Names the set in words: its quoted name, or `the whole part`.
    pub fn place(&self) -> String {
        self.set.as_ref().map_or("the whole part".into(), |set| format!("`{set}`"))
    }

    /// The sum of the sizes of its forces.
    pub fn size(&self) -> f64 {
        self.forces.iter().map(|(_, force)| size(force)).sum()
    }

    /// Share of its size on nodes for which `is_meant` holds; 0 where there is no force.
    pub fn share(&self, is_meant: impl Fn(u32) -> bool) -> f64 {
        let meant = self.forces.iter().filter(|(node, _)| is_meant(*node));
        let (meant, all) = (meant.map(|(_, force)| size(force)).sum::<f64>(), self.size());
        if all > 0.0 { meant / all } else { 0.0 }
    }
}

impl Lookup<'_> {
    /// Whether an entry acts on the elements of a set rather than on nodes or faces.
    pub(crate) fn is_within(&self, load: &Load) -> bool {
        let Some(set) = &load.set else { return true };
        let kinds = || self.sets.kinds_of(set.get_ref());
        match load.kind {
            Some(kind) => kind == SelectKind::Elements,
            None => kinds().first().is_some_and(|(kind, _)| *kind == SetKind::Element),
        }
    }
}
