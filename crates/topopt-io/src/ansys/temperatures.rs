//! Temperatures by which elements expand (BF, BFUNIF, TUNIF).

use std::collections::BTreeMap;

use super::archive::Archive;
use super::carried::CASE;
use crate::deck::DeckPhysics;
use crate::found::Found;
use crate::part::Part;
use crate::temperatures::Temperatures;

/// Adds the temperature of the part and those of single nodes, if a material expands.
pub(super) fn add(archive: &Archive, part: &Part, found: &mut Found) {
    if found.deck.physics == DeckPhysics::Heat {
        return;
    }
    if !found.expands() {
        // That of the part may be what properties are taken at.
        let varies = archive.materials.values().flat_map(BTreeMap::values).any(|it| it.varies);
        let reference = archive.temperature.reference;
        let is_uniform = archive.temperature.uniform.is_some_and(|t| t != reference);
        if is_uniform && !varies || !archive.body_temperatures.is_empty() {
            found.lose("BF, BFUNIF and TUNIF of temperatures: no material expands");
        }
        return;
    }

    let own = archive.body_temperatures.iter();
    let at_nodes = own.filter_map(|(&node, &value)| Some((part.node(node.into())?, value)));
    found.add_temperatures(
        part,
        &Temperatures {
            case: CASE,
            keyword: "BF,TEMP",
            word: "BF_TEMP_".into(),
            of_rest: Some(archive.temperature.of_part()),
            at_nodes: at_nodes.filter(|(node, _)| part.is_used(*node)).collect(),
        },
    );
}
