//! Supports and springs of a part, entry by entry of the case file.

use serde::{Deserialize, Serialize};

use topopt_case::case::Case;
use topopt_case::config::Config;

/// Whether something is held in place or by springs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestraintKind {
    /// An entry of `[[supports]]`.
    Support,
    /// An entry of `[[springs]]`.
    Springs,
}

/// An entry of `[[supports]]` or `[[springs]]`, by nodes as the user numbers them.
pub struct Restraint {
    pub kind: RestraintKind,
    /// Name of its set.
    pub set: String,
    /// Nodes and the components that it holds, or the stiffness by component.
    pub hold: Hold,
}

pub enum Hold {
    Components(Vec<(u32, usize)>),
    Stiffness(Vec<(u32, [f64; 3])>),
}

impl Restraint {
    /// All of a case, supports first. A component of a node that several supports hold belongs to
    /// the first of them.
    pub fn all(config: &Config, case: &Case) -> Vec<Self> {
        let lookup = case.lookup(config);
        // Every set was found when the case was built.
        let mut findings = Vec::new();
        let mut is_taken = vec![[false; 3]; case.mesh.n_nodes()];
        let mut all = Vec::with_capacity(config.supports.len() + config.springs.len());

        for support in &config.supports {
            let nodes = lookup.nodes(&support.set, support.kind, &mut findings);
            let components = |node: u32| support.fix.iter().map(move |&axis| (node, axis as usize));
            let mut held: Vec<_> = nodes.into_iter().flat_map(components).collect();
            held.retain(|&(node, i)| !std::mem::replace(&mut is_taken[node as usize][i], true));
            all.push(Self {
                kind: RestraintKind::Support,
                set: support.set.get_ref().clone(),
                hold: Hold::Components(held),
            });
        }

        for spring in &config.springs {
            all.push(Self {
                kind: RestraintKind::Springs,
                set: spring.set.get_ref().clone(),
                hold: Hold::Stiffness(lookup.stiffness(spring, &mut findings)),
            });
        }
        all
    }
}
