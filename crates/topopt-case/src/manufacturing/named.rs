//! Nodes of the sets that demands name.

use toml::Spanned;
use topopt_mesh::{HexMesh, Renumbering};

use crate::case::Case;
use crate::config::Config;
use crate::finding::Finding;

/// Whether nodes of the `mesh` of the problem belong to a `set` of the case, `[n_nodes]`.
///
/// # Errors
/// A finding about a set that is not there.
pub(super) fn on_set<const N: usize>(
    config: &Config,
    set: &Spanned<String>,
    case: &Case<N>,
    renumbering: &Renumbering,
    mesh: &HexMesh,
) -> Result<Vec<bool>, Finding> {
    let mut findings = Vec::new();
    let nodes = case.lookup(config).nodes(set, None, &mut findings);
    if let Some(finding) = findings.pop() {
        return Err(finding);
    }
    let mut is_on = vec![false; mesh.n_nodes()];
    let new_node = renumbering.new_nodes();
    nodes.iter().for_each(|&node| is_on[new_node[node as usize] as usize] = true);
    Ok(is_on)
}
