//! TEMP and TEMPD: temperatures that elements expand by.

use super::conditions::SET;
use super::lines::Card;
use super::model::{LoadCase, Model};
use super::read::Reader;
use crate::found::Found;
use crate::read_error::Parsed;
use crate::temperatures::Temperatures;

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

/// Adds the temperatures that load cases select.
pub(super) fn add(model: &Model, cases: &[LoadCase], found: &mut Found) {
    let deck = model.deck;
    let selected = cases.iter().filter_map(|case| Some((&case.name, case.temperatures?)));
    if !found.expands() {
        if selected.count() > 0 {
            found.lose("TEMP and TEMPD: no material expands");
        }
        return;
    }
    for (case, set) in selected {
        let of_rest = deck.default_temperatures.get(&set).copied();
        let own = deck.temperatures.get(&set);
        if of_rest.is_none() && own.is_none() {
            found.lose(format!("temperatures {set} of load case `{case}`, which are not there"));
        }
        let own = own.into_iter().flatten();
        let at_nodes = own.filter_map(|(&grid, &value)| Some((model.part.node(grid)?, value)));
        found.add_temperatures(
            model.part,
            &Temperatures {
                case,
                keyword: "TEMP",
                word: format!("temp_{set}_"),
                of_rest,
                at_nodes: at_nodes.filter(|(node, _)| model.part.is_used(*node)).collect(),
            },
        );
    }
}
