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

/// Nodes by the bits of their temperatures.
type ByValue = BTreeMap<u64, Vec<u32>>;

impl Found {
    /// Adds temperatures, with a node set for each value. A part of one temperature gets it by its
    /// materials if these have several reference temperatures.
    pub fn add_temperatures(&mut self, part: &Part, given: &Temperatures) {
        let Temperatures { case, of_rest, at_nodes, .. } = given;
        let references = self.references();
        let Some(&(_, reference)) = references.first() else { return };
        let n_others = part.n_used() - at_nodes.len();
        if of_rest.is_none() && n_others > 0 && !at_nodes.is_empty() {
            self.lose(format!(
                "the temperatures of {n_others} nodes in load case `{case}`, which the deck does not give: \
                 here these nodes have {reference:?}, without thermal strain"
            ));
        }

        let mut by_value = ByValue::new();
        for (&node, value) in at_nodes {
            by_value.entry((value + 0.0).to_bits()).or_default().push(node);
        }
        let only = by_value.keys().next().filter(|_| by_value.len() == 1 && n_others == 0);
        let of_all = match only {
            Some(bits) => Some(f64::from_bits(*bits)),
            None => of_rest.filter(|_| by_value.is_empty()),
        };
        let is_one = references.iter().all(|(_, other)| *other == reference);
        if let Some(temperature) = of_all.filter(|_| !is_one) {
            return self.add_by_materials(case, temperature, references);
        }
        if !is_one {
            self.lose(format!(
                "several reference temperatures of materials in load case `{case}`, whose nodes have \
                 several temperatures: all take {reference:?}, that of the first"
            ));
        }
        self.add_by_nodes(given, by_value, reference);
    }

    /// Adds the temperature of the part by its materials, by their sets and reference temperatures.
    fn add_by_materials(
        &mut self,
        case: &str,
        temperature: f64,
        materials: Vec<(Option<String>, f64)>,
    ) {
        let kind = SetKind::Element;
        for (set, reference) in materials.into_iter().filter(|(_, of)| *of != temperature) {
            self.load(case, SetLoad::Temperature { set, kind, temperature, reference });
        }
    }

    /// Adds temperatures by nodes, and that of all others.
    fn add_by_nodes(&mut self, given: &Temperatures, by_value: ByValue, reference: f64) {
        let Temperatures { case, keyword, word, of_rest, .. } = given;
        if by_value.len() > MOST_TEMPERATURES {
            let n = by_value.len();
            self.lose(format!("{keyword} of {n} different values in load case `{case}`"));
            return;
        }
        let kind = SetKind::Node;
        if let Some(temperature) = of_rest.filter(|value| *value != reference) {
            self.load(case, SetLoad::Temperature { set: None, kind, temperature, reference });
        }
        for (bits, nodes) in by_value {
            let temperature = f64::from_bits(bits);
            let set = self.free_name(&format!("{word}{temperature:?}"));
            self.sets.nodes.insert(set.clone(), nodes);
            self.load(case, SetLoad::Temperature { set: Some(set), kind, temperature, reference });
        }
    }

    /// Whether a material expands.
    pub fn expands(&self) -> bool {
        self.deck.materials.iter().any(|material| !material.thermal_expansion.is_empty())
    }

    /// The reference temperatures of the materials that expand, with their sets.
    fn references(&self) -> Vec<(Option<String>, f64)> {
        let materials = self.deck.materials.iter();
        let expanding = materials.filter(|material| !material.thermal_expansion.is_empty());
        expanding.map(|material| (material.set.clone(), material.reference)).collect()
    }
}
