//! Numbers of nodes that share a load or a spring, which a coarser mesh has fewer of.

use toml::Spanned;

use crate::case::Case;
use crate::config::{Config, NodesOfSet};

impl<const N: usize> Case<N> {
    /// Numbers of nodes of the sets whose nodes have a force or a spring each.
    pub fn nodes_of_sets(&self, config: &Config) -> Vec<NodesOfSet> {
        let loads = config.loads.iter().filter(|load| load.gives("force"));
        let loads = loads.filter_map(|load| Some((load.set.as_ref()?, load.kind)));
        let springs = config.springs.iter().filter(|spring| spring.stiffness.is_some());
        let sets = loads.chain(springs.map(|spring| (&spring.set, spring.kind)));
        let lookup = self.lookup(config);
        let nodes = |(set, kind): (&Spanned<String>, _)| NodesOfSet {
            set: set.get_ref().clone(),
            kind,
            n: lookup.nodes(set, kind, &mut Vec::new()).len(),
        };
        sets.map(nodes).collect()
    }
}
