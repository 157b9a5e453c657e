//! TEMP and TEMPD: temperatures that elements expand by.

use std::collections::BTreeMap;

use super::conditions::SET;
use super::lines::Card;
use super::model::{LoadCase, MOST_SETS, Model};
use super::read::Reader;
use crate::deck::SetLoad;
use crate::found::Found;
use crate::read_error::Parsed;

const TEMPERATURE: &str = "a temperature";

impl Reader {
    /// TEMP: `set`, then up to three times `grid, temperature`; TEMPD: up to four times `set,
    /// temperature`.
    pub fn temperatures(&mut self, card: &Card) -> Parsed<()> {
        if card.name == "TEMPD" {
            for field in [2, 4, 6, 8].into_iter().filter(|&field| !card.is_blank(field)) {
                let temperature = card.real(field + 1, TEMPERATURE)?;
                self.deck.default_temperatures.insert(card.tag(field, SET)?, temperature);
            }
            return Ok(());
        }
        let known = self.deck.temperatures.entry(card.tag(2, SET)?).or_default();
        for field in [3, 5, 7].into_iter().filter(|&field| !card.is_blank(field)) {
            let temperature = card.real(field + 1, TEMPERATURE)?;
            known.insert(card.tag(field, "the number of a grid")?, temperature);
        }
        Ok(())
    }
}

/// Adds the temperatures that load cases select, with a node set for each value.
pub(super) fn add(model: &Model, cases: &[LoadCase], found: &mut Found) {
    let deck = model.deck;
    let expanding =
        deck.materials.values().filter(|material| !material.thermal_expansion.is_empty());
    let mut references: Vec<f64> = expanding.map(|material| material.reference).collect();
    let first = references.first().copied();
    references.sort_by(f64::total_cmp);
    references.dedup();
    let selected = cases.iter().filter_map(|case| Some((&case.name, case.temperatures?)));
    let Some(reference) = first else {
        if selected.count() > 0 {
            found.lose("TEMP and TEMPD: no material expands");
        }
        return;
    };
    for (case, set) in selected {
        if references.len() > 1 {
            found.lose(format!(
                "MAT1 of several reference temperatures: all take {reference}, that of the first"
            ));
        }
        let default = deck.default_temperatures.get(&set).copied();
        let own = deck.temperatures.get(&set);
        if default.is_none() && own.is_none() {
            found.lose(format!("temperatures {set} of load case `{case}`, which are not there"));
        }
        let mut by_value = BTreeMap::<u64, Vec<u32>>::new();
        for (&grid, value) in own.into_iter().flatten() {
            let node = model.part.node(grid).filter(|&node| model.part.is_used(node));
            by_value.entry(value.to_bits()).or_default().extend(node);
        }
        if by_value.len() > MOST_SETS {
            let n = by_value.len();
            found.lose(format!("TEMP of {n} different values in load case `{case}`"));
            continue;
        }
        if let Some(temperature) = default {
            found.load(case, SetLoad::Temperature { set: None, temperature, reference });
        }
        for (bits, mut nodes) in by_value.into_iter().filter(|(_, nodes)| !nodes.is_empty()) {
            let temperature = f64::from_bits(bits);
            let name = format!("temp_{set}_{temperature:?}");
            nodes.sort_unstable();
            found.sets.nodes.insert(name.clone(), nodes);
            let set = Some(name);
            found.load(case, SetLoad::Temperature { set, temperature, reference });
        }
    }
}
