//! Forces on each node of a set: one for all, or as the mesh file has them.

use topopt_fem::surface_load::NodalForces;

use super::kind::{LoadKey, LoadKind, Place, Shape};
use super::on_set::TOTAL_FORCE;
use crate::config::Load;
use crate::finding::Finding;
use crate::lookup::Lookup;

/// The load `force`.
pub(super) const FORCE: LoadKind = LoadKind::new(
    &[LoadKey::new("force", Shape::Vector, "Force [x, y, z] on each node of the set.")],
    " (on each node)",
    Place::Nodes,
    force,
);

/// The load `from_mesh`.
pub(super) const FROM_MESH: LoadKind = LoadKind {
    physics: None,
    ..LoadKind::new(
        &[LoadKey::new(
            "from_mesh",
            Shape::Flag,
            "Take the force on each node of the set, or the heat per time into it, from the mesh \
             file: a solver's deck with more different forces than sets should have. `topopt init` \
             writes it.",
        )],
        "",
        Place::Nodes,
        from_mesh,
    )
};

impl Load {
    /// Gives what acts on each of `n` nodes as what acts on all of them; none of what differs from
    /// node to node.
    pub(crate) fn on_all(mut self, n: usize) -> Option<Self> {
        if self.gives(FROM_MESH.key()) {
            return None;
        }
        if let Some(force) = self.vector(FORCE.key()) {
            self.replace(FORCE.key(), TOTAL_FORCE.key(), force.map(|f| n as f64 * f));
        }
        Some(self)
    }
}

fn force(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
    let Some((set, force)) = load.set.as_ref().zip(load.vector("force")) else { return vec![] };
    let nodes = lookup.nodes(set, load.kind, findings);
    let share = lookup.config.share_of_node(set.get_ref(), load.kind, nodes.len());
    nodes.into_iter().map(|node| (node, force.map(|f| share * f))).collect()
}

fn from_mesh(lookup: &Lookup, load: &Load, findings: &mut Vec<Finding>) -> NodalForces {
    let Some((set, place)) = load.set.as_ref().zip(load.span_of("from_mesh")) else {
        return vec![];
    };
    lookup.of_mesh_file(set, place, findings)
}
