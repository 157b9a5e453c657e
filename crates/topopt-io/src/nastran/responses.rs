//! The objective and the limits of OptiStruct, as responses of a case.

use std::collections::BTreeSet;

use super::design_data::{Limit, Response, Selection};
use super::error::Fault;
use super::measured::Measured;
use super::model::{LoadCase, Model};
use super::origin::Origin;
use crate::deck::SetLoad;
use crate::deck_design::{DeckLimit, DeckMeasure, DeckObjective, DeckResponse};
use crate::found::Found;
use crate::read_error::Parsed;

/// Compliances of OptiStruct are the energy, half of force times displacement.
const HALF: f64 = 0.5;

/// The responses of a deck and the load cases they may belong to.
pub(super) struct Responses<'a> {
    pub model: &'a Model<'a>,
    pub cases: &'a [LoadCase],
}

impl Responses<'_> {
    /// The limits that case control selects; those without a counterpart are lost.
    pub fn limits(&self, found: &mut Found) -> Parsed<Vec<DeckLimit>> {
        let design = &self.model.deck.design;
        if design.selections.is_empty() && !design.limits.is_empty() {
            found.lose(
                "the limits DCONSTR: neither DESGLB nor DESSUB selects a set of them, and none holds in \
                 OptiStruct",
            );
        }

        // Several selections may have one limit.
        let (mut carried, mut known) = (Vec::new(), BTreeSet::new());
        for selection in &design.selections {
            for limit in self.selected(selection)? {
                let user = format!("DCONSTR {}", limit.number);
                let response = self.response(limit.response, user, limit.origin)?;
                match self.limit(limit, response, selection, found) {
                    Ok(limits) => {
                        let is_new = |limit: &DeckLimit| known.insert(format!("{limit:?}"));
                        carried.extend(limits.into_iter().filter(is_new));
                    }
                    Err(why) => {
                        let words = words(limit, response);
                        let lost = format!("the limit {words}: {why}; write it in [[constraints]]");
                        if known.insert(lost.clone()) {
                            found.lose(lost);
                        }
                    }
                }
            }
        }
        Ok(carried)
    }

    /// The objective, if the deck has one.
    pub fn objective(&self, found: &mut Found) -> Parsed<Option<DeckObjective>> {
        let Some(objective) = &self.model.deck.design.objective else { return Ok(None) };
        let words = &objective.words;
        let (words, carried) = match objective.response {
            None => (words.clone(), Err("it is not understood".into())),
            Some(number) => {
                let response = self.response(number, words.clone(), objective.origin)?;
                let words = format!("{words}, the response {number} ({})", response.kind);
                (words, self.measured(response, objective.subcase, found))
            }
        };
        let why = match carried.as_deref() {
            Ok([response]) => {
                let (response, is_maximum) = (response.clone(), objective.is_maximum);
                return Ok(Some(DeckObjective::Response { response, is_maximum }));
            }
            Ok(_) => "it is several",
            Err(why) => why,
        };
        found.lose(format!("the objective {words}: {why}; write another one in [objective]"));
        Ok(Some(DeckObjective::Other(words)))
    }

    /// The weights of load cases in WCOMP: 0 for those without one, where others have one.
    pub fn weights(&self) -> Vec<(String, f64)> {
        let design = &self.model.deck.design;
        let is_weighted = design.responses.values().any(|response| response.kind == "WCOMP");
        if !is_weighted || design.weights.is_empty() || self.cases.len() < 2 {
            return Vec::new();
        }
        let weight = |case: &LoadCase| {
            let own = design.weights.get(&case.subcase).or_else(|| design.weights.get(&None));
            (case.name.clone(), own.copied().unwrap_or(0.0))
        };
        self.cases.iter().map(weight).collect()
    }

    /// The limits of a set, and of those that it adds.
    fn selected(&self, selection: &Selection) -> Parsed<Vec<&Limit>> {
        let design = &self.model.deck.design;
        let sums = design.sums.get(&selection.set);
        let sets: BTreeSet<u64> =
            sums.into_iter().flatten().copied().chain([selection.set]).collect();
        let limits: Vec<&Limit> =
            design.limits.iter().filter(|limit| sets.contains(&limit.number)).collect();
        if limits.is_empty() {
            let (user, what) = (selection.word.into(), "constraint set");
            let fault = Fault::Missing { user, what, number: selection.set };
            return Err(self.model.deck.at(selection.origin, fault));
        }
        Ok(limits)
    }

    fn response(&self, number: u64, user: String, origin: Origin) -> Parsed<&Response> {
        let missing = || {
            let fault = Fault::Missing { user, what: "response", number };
            self.model.deck.at(origin, fault)
        };
        self.model.deck.design.responses.get(&number).ok_or_else(missing)
    }

    /// A limit in each load case and of each number that it holds for.
    fn limit(
        &self,
        limit: &Limit,
        response: &Response,
        selection: &Selection,
        found: &mut Found,
    ) -> Result<Vec<DeckLimit>, String> {
        if limit.is_special {
            return Err("its bounds are those of a table or of a probability".into());
        }
        let of_each = match (selection.word, selection.subcase) {
            ("DESSUB", None) if self.cases.len() > 1 => {
                let subcases = self.cases.iter().filter_map(|case| case.subcase);
                let all = subcases.map(|subcase| self.measured(response, Some(subcase), found));
                all.collect::<Result<Vec<_>, _>>()?.concat()
            }
            _ => self.measured(response, selection.subcase, found)?,
        };

        let mut limits = Vec::new();
        for response in of_each {
            let is_compliance = response.measure == DeckMeasure::Compliance;
            let factor = if is_compliance { HALF } else { 1.0 };
            for (value, is_most) in [(limit.least, false), (limit.most, true)] {
                limits.extend(value.map(|value| DeckLimit {
                    response: response.clone(),
                    value: value / factor,
                    is_most,
                    words: format!("DCONSTR {}", limit.number),
                }));
            }
        }
        Ok(limits)
    }

    /// The responses that one of the deck is, in the load case of a subcase, if it has one.
    fn measured(
        &self,
        response: &Response,
        subcase: Option<usize>,
        found: &mut Found,
    ) -> Result<Vec<DeckResponse>, String> {
        let measured = Measured { model: self.model, response };
        let mut responses = measured.responses(found)?;
        // The work of moved supports counts with another sign here.
        let is_compliance = |response: &DeckResponse| response.measure == DeckMeasure::Compliance;
        if responses.iter().any(is_compliance) && has_own_strain(found) {
            return Err("with moved supports or temperatures it is another compliance here".into());
        }
        if response.kind == "WCOMP" {
            self.is_plain_sum()?;
        }
        if measured.is_of_subcase() {
            let case = self.case(subcase)?;
            responses.iter_mut().for_each(|response| response.case.clone_from(&case));
        }
        Ok(responses)
    }

    /// Refuses weighted sums of compliances that are not those of [`Responses::weights`].
    fn is_plain_sum(&self) -> Result<(), String> {
        let design = &self.model.deck.design;
        if design.is_normalized && self.cases.len() > 1 {
            return Err("each compliance is divided by its first value (AUTOWGHT)".into());
        }
        let is_one = design.weights.values().all(|weight| *weight == 1.0);
        if self.cases.len() == 1 && !is_one {
            return Err("its only load case has a weight other than 1".into());
        }
        match self.weights().iter().find(|(_, weight)| *weight <= 0.0) {
            Some((case, weight)) => Err(format!("load case `{case}` has the weight {weight:?}")),
            None => Ok(()),
        }
    }

    /// The name of the load case of a subcase; none where there is only one.
    fn case(&self, subcase: Option<usize>) -> Result<Option<String>, String> {
        let case = self.cases.iter().find(|case| case.subcase == subcase);
        match (self.cases, subcase) {
            ([_], None) => Ok(None),
            ([only], _) if only.subcase == subcase => Ok(None),
            (_, None) => Err("it is of one subcase, and selected above all of them".into()),
            (_, Some(place)) => match case {
                Some(case) => Ok(Some(case.name.clone())),
                None => {
                    let number = self.model.deck.subcases[place].number;
                    Err(format!("subcase {number} has no loads"))
                }
            },
        }
    }
}

/// A limit in the words of the deck.
fn words(limit: &Limit, response: &Response) -> String {
    format!("DCONSTR {} of the response {} ({})", limit.number, limit.response, response.kind)
}

/// Whether parts are strained by temperatures or moved supports.
fn has_own_strain(found: &Found) -> bool {
    let is_warm = |load: &SetLoad| matches!(load, SetLoad::Temperature { .. });
    found.deck.loads.iter().any(|load| is_warm(&load.load))
        || found.deck.supports.iter().any(|support| support.displacement != [0.0; 3])
}
