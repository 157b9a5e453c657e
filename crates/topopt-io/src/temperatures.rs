//! Temperatures by which elements expand, as loads of a deck.

use std::collections::BTreeMap;

use topopt_mesh::SetKind;

use crate::deck::SetLoad;
use crate::found::Found;
use crate::part::Part;

/// More different temperatures than this get no sets.
const MOST_TEMPERATURES: usize = 1000;

/// Temperatures in a load case.
pub(crate) struct Temperatures<'a> {
    /// Name of the load case.
    pub case: &'a str,
    /// Keyword of those of nodes, for what is lost.
    pub keyword: &'static str,
    /// Beginning of the names of node sets; the temperature follows.
    pub word: String,
    /// Temperature of all other nodes; none if the deck gives none.
    pub of_rest: Option<f64>,
    /// Temperatures of single nodes of solids.
    pub at_nodes: BTreeMap<u32, f64>,
}

impl Found {
    /// Adds temperatures, with a node set for each value. A part that has one temperature gets it by
    /// its materials if these have several reference temperatures.
    pub fn add_temperatures(&mut self, part: &Part, given: Temperatures) {
        let Temperatures { case, keyword, word, of_rest, at_nodes } = given;
        let references = self.references();
        let Some(&(_, reference)) = references.first() else { return };
        let n_others = part.n_used() - at_nodes.len();
        if of_rest.is_none() && n_others > 0 && !at_nodes.is_empty() {
            self.lose(format!(
                "the temperatures of {n_others} nodes in load case `{case}`, which the deck does not give: \
                 here they are {reference:?}, without thermal strain"
            ));
        }

        let mut by_value = BTreeMap::<u64, Vec<u32>>::new();
        for (node, value) in at_nodes {
            by_value.entry((value + 0.0).to_bits()).or_default().push(node);
        }
        let only = by_value.keys().next().filter(|_| by_value.len() == 1 && n_others == 0);
        let of_all = match only {
            Some(bits) => Some(f64::from_bits(*bits)),
            None => of_rest.filter(|_| by_value.is_empty()),
        };
        let is_one = references.iter().all(|(_, other)| *other == reference);
        match of_all {
            Some(temperature) if !is_one => {
                for (set, reference) in references {
                    let kind = SetKind::Element;
                    self.load(case, SetLoad::Temperature { set, kind, temperature, reference });
                }
                return;
            }
            _ if is_one => {}
            _ => self.lose(format!(
                "several reference temperatures of materials in load case `{case}`, whose nodes have \
                 several temperatures: all take {reference:?}, that of the first"
            )),
        }
        if by_value.len() > MOST_TEMPERATURES {
            let n = by_value.len();
            self.lose(format!("{keyword} of {n} different values in load case `{case}`"));
            return;
        }

        let kind = SetKind::Node;
        if let Some(temperature) = of_rest {
            self.load(case, SetLoad::Temperature { set: None, kind, temperature, reference });
        }
        for (bits, nodes) in by_value {
            let temperature = f64::from_bits(bits);
            let set = self.free_name(&format!("{word}{temperature:?}"));
            self.sets.nodes.insert(set.clone(), nodes);
            self.load(case, SetLoad::Temperature { set: Some(set), kind, temperature, reference });
        }
    }

    /// The reference temperatures of the materials that expand, with their sets.
    fn references(&self) -> Vec<(Option<String>, f64)> {
        let materials = self.deck.materials.iter();
        let expanding = materials.filter(|material| !material.thermal_expansion.is_empty());
        expanding.map(|material| (material.set.clone(), material.reference)).collect()
    }
}
