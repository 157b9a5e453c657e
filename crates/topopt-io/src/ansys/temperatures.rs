//! Temperatures by which elements expand (BF, BFUNIF, TUNIF).

use std::collections::BTreeMap;

use super::archive::Archive;
use super::carried::CASE;
use crate::deck::{DeckPhysics, SetLoad};
use crate::found::Found;
use crate::part::Part;

/// Most different temperatures that become a set each.
const MOST_TEMPERATURES: usize = 1000;

/// Adds the temperature of the part and those of single nodes, if a material expands.
pub(super) fn add(archive: &Archive, part: &Part, found: &mut Found) {
    let materials = archive.materials.values();
    let expanding = materials.filter(|properties| properties.contains_key("ALPX"));
    let own = |reference: f64| {
        let references = expanding.clone().filter_map(|properties| properties.get("REFT"));
        references.map(move |own| own.value).find(move |own| *own != reference)
    };
    if found.deck.physics == DeckPhysics::Heat {
        return;
    }
    let reference = archive.temperature.reference;
    if expanding.clone().next().is_none() {
        // That of the part may be what properties are taken at.
        let varies = archive.materials.values().flat_map(BTreeMap::values).any(|it| it.varies);
        let is_uniform = archive.temperature.uniform.is_some_and(|t| t != reference);
        if is_uniform && !varies || !archive.body_temperatures.is_empty() {
            found.lose("BF, BFUNIF and TUNIF of temperatures: no material expands");
        }
        return;
    }
    if let Some(other) = own(reference) {
        found.lose(format!("MP,REFT of {other}: the reference temperature is {reference} (TREF)"));
    }

    if let Some(temperature) = archive.temperature.uniform.filter(|t| *t != reference) {
        found.load(CASE, SetLoad::Temperature { set: None, temperature, reference });
    }
    let mut by_value = BTreeMap::<u64, Vec<u32>>::new();
    for (&node, value) in &archive.body_temperatures {
        let position = part.node_of_solid(node.into());
        by_value.entry(value.to_bits()).or_default().extend(position);
    }
    if by_value.len() > MOST_TEMPERATURES {
        found.lose(format!("BF,TEMP of {} different values", by_value.len()));
        return;
    }
    for (bits, mut nodes) in by_value.into_iter().filter(|(_, nodes)| !nodes.is_empty()) {
        let temperature = f64::from_bits(bits);
        let set = found.free_name(&format!("BF_TEMP_{temperature:?}"));
        nodes.sort_unstable();
        found.sets.nodes.insert(set.clone(), nodes);
        found.load(CASE, SetLoad::Temperature { set: Some(set), temperature, reference });
    }
}
