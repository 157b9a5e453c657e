//! The optimization that a deck describes, as one of topopt.

use std::collections::BTreeSet;

use super::deck::Deck;
use super::demands;
use super::model::{LoadCase, Model};
use super::responses::Responses;
use crate::deck_design::DeckDesign;
use crate::found::Found;
use crate::read_error::Parsed;

/// Adds what the deck says of its optimization; what a case cannot say is lost.
pub(super) fn add(model: &Model, cases: &[LoadCase], found: &mut Found) -> Parsed<()> {
    let design = &model.deck.design;
    if design.spaces.is_empty() {
        if !design.responses.is_empty() {
            found.lose("responses and constraints of an optimization without DTPL of solids");
        }
        return Ok(());
    }

    let solid = model.deck.solid_properties();
    let solid = solid.into_iter().map(|property| format!("property_{property}")).collect();
    let manufacturing = demands::common(model, found)?;
    let responses = Responses { model, cases };
    let limits = responses.limits(found)?;
    let objective = responses.objective(found)?;
    let weights = responses.weights();
    let design =
        DeckDesign { solid, objective, limits, weights, manufacturing, ..DeckDesign::default() };
    found.deck.design = Some(design);
    Ok(())
}

impl Deck {
    /// The properties of solids that are in no design space.
    pub fn solid_properties(&self) -> Vec<u64> {
        let of_mesh: BTreeSet<u64> = self.solids.iter().map(|solid| solid.property).collect();
        let is_designed = |property: &u64| {
            let mut spaces = self.design.spaces.iter().map(|space| &space.properties);
            spaces.any(|properties| properties.is_empty() || properties.contains(property))
        };
        of_mesh.into_iter().filter(|property| !is_designed(property)).collect()
    }
}
