//! DRESP: the responses that OBJ_FUNC and CONSTRAINT name.

use super::commands::Command;
use super::groups::{Of, unknown};
use super::reader::Reader;
use crate::deck_design::{DeckLimit, DeckMeasure, DeckObjective, DeckResponse};
use crate::quote::excerpt;
use crate::read_error::Parsed;

/// A response, or why there is none.
type Read = Parsed<Result<DeckResponse, String>>;

impl Reader<'_> {
    /// Objective of an OBJ_FUNC, with the weights of load cases: one response, or the weighted sum
    /// of compliances.
    pub fn objective(&mut self, function: &Command) -> Parsed<(DeckObjective, Vec<(String, f64)>)> {
        let mut responses = Vec::new();
        for item in function.all("DRESP") {
            let name = item.values.first().map_or("", String::as_str);
            let has_weight = item.values.len() > 1;
            let weight = if has_weight { item.number(1, &function.to_string())? } else { 1.0 };
            if weight <= 0.0 {
                let words = format!("{function} with the weight {weight}");
                return Ok((DeckObjective::Other(words), Vec::new()));
            }
            responses.push((self.response(function, name)?, weight));
        }

        let target = function.keyword("TARGET");
        let is_maximum = target == "MAX";
        let other = |words: String| Ok((DeckObjective::Other(words), Vec::new()));
        if !matches!(target.as_str(), "" | "MIN" | "MAX") {
            return other(format!("{function} with TARGET = {}", excerpt(&target)));
        }
        match responses.as_slice() {
            [(Ok(response), _)] => {
                let response = response.clone();
                Ok((DeckObjective::Response { response, is_maximum }, Vec::new()))
            }
            [(Err(why), _)] => other(why.clone()),
            all => match weights(all) {
                Some(weights) if !is_maximum && weights.len() == self.cases().len() => {
                    let response = DeckResponse {
                        measure: DeckMeasure::Compliance,
                        set: None,
                        direction: None,
                        case: None,
                    };
                    Ok((DeckObjective::Response { response, is_maximum }, weights))
                }
                _ => other(format!("{function} of {} responses", all.len())),
            },
        }
    }

    /// The limit of a CONSTRAINT, if a case can have it.
    pub fn limit(&mut self, constraint: &Command) -> Parsed<Option<DeckLimit>> {
        let name = constraint.needed("DRESP", "the response that it limits")?;
        let response = self.response(constraint, &name.values[0])?;
        let is_relative = constraint.keyword("MAGNITUDE") == "REL";
        let bounds = ["LE_VALUE", "GE_VALUE", "EQ_VALUE"];
        let given =
            bounds.map(|key| constraint.number(key)).into_iter().collect::<Parsed<Vec<_>>>()?;
        let (value, is_most) = match given[..] {
            [Some(most), None, None] => (most, true),
            [None, Some(least), None] => (least, false),
            [None, None, Some(equal)] => {
                self.lose(format!(
                    "EQ_VALUE of {constraint}: the value is the largest one allowed"
                ));
                (equal, true)
            }
            _ => {
                self.lose(format!("{constraint}, which has no one limit"));
                return Ok(None);
            }
        };

        let is_weighted = self.design.weights.iter().any(|(_, weight)| *weight != 1.0);
        let limit = response.and_then(|response| {
            if response.measure == DeckMeasure::Compliance && response.case.is_none() && is_weighted
            {
                return Err("load cases would count by the weights of OBJ_FUNC".into());
            }
            self.in_deck_units(response, value, is_relative)
        });
        match limit {
            Ok((response, value)) => {
                Ok(Some(DeckLimit { response, value, is_most, words: constraint.to_string() }))
            }
            Err(why) => {
                self.lose(format!("{constraint}: {why}"));
                Ok(None)
            }
        }
    }

    /// A response and its limit; if `is_relative`, the `value` is a share of that of the full part.
    fn in_deck_units(
        &self,
        mut response: DeckResponse,
        value: f64,
        is_relative: bool,
    ) -> Result<(DeckResponse, f64), String> {
        let value = match (response.measure, is_relative) {
            // The energy is half of the compliance.
            (DeckMeasure::Compliance, false) => 2.0 * value,
            (DeckMeasure::Volume, true) => value * self.volume(response.set.as_deref()),
            (DeckMeasure::Mass, true) => {
                response.measure = DeckMeasure::MassShare;
                value
            }
            (_, false) => value,
            (_, true) => return Err("a limit that is relative to the full part".into()),
        };
        Ok((response, value))
    }

    /// The volume of the elements of a set, or of all.
    fn volume(&self, set: Option<&str>) -> f64 {
        let imported = &self.imported;
        match set.and_then(|set| self.sets.elements.get(set)) {
            Some(elements) => imported.volume_of(elements.iter().copied()),
            None => imported.volume_of(0..imported.mesh.n_elements() as u32),
        }
    }

    /// The DRESP that a command names.
    fn response(&mut self, by: &Command, name: &str) -> Read {
        let named = self.named(by, "DRESP", name)?;
        if self.said.insert(named.line) {
            self.lose_unread(named);
        }

        let kind = named.keyword("TYPE");
        let direction = |axis| Some(std::array::from_fn(|i| f64::from(u8::from(i == axis))));
        let (measure, direction) = match kind.as_str() {
            "STRAIN_ENERGY" => (DeckMeasure::Compliance, None),
            "VOLUME" => (DeckMeasure::Volume, None),
            "WEIGHT" => (DeckMeasure::Mass, None),
            "DISP_X" => (DeckMeasure::Displacement, direction(0)),
            "DISP_Y" => (DeckMeasure::Displacement, direction(1)),
            "DISP_Z" => (DeckMeasure::Displacement, direction(2)),
            "DISP_ABS" => (DeckMeasure::Displacement, None),
            _ => return Ok(Err(format!("{named} with TYPE = {}", excerpt(&kind)))),
        };

        let operation = named.keyword("DEF_TYPE");
        if !matches!(operation.as_str(), "" | "SYSTEM") {
            return Ok(Err(format!("{named} with DEF_TYPE = {}", excerpt(&operation))));
        }
        for (key, is_meant) in [("CS", ""), ("CS_REF", ""), ("LC_SEL", ""), ("GROUP_OPER", "SUM")] {
            let given = named.keyword(key);
            let is_of_one = measure == DeckMeasure::Displacement && key == "GROUP_OPER";
            if !given.is_empty() && given != is_meant && !is_of_one {
                return Ok(Err(format!("{named} with {key} = {}", excerpt(&given))));
            }
        }

        let set = match measure {
            DeckMeasure::Displacement => self.node_of(named)?.map(Some),
            _ => self.elements_of(named, measure)?,
        };
        let case = if measure == DeckMeasure::Volume { Ok(None) } else { self.case(named) };
        Ok(set.and_then(|set| Ok(DeckResponse { measure, set, direction, case: case? })))
    }

    /// The set of elements that a response is of; none for all.
    fn elements_of(
        &mut self,
        response: &Command,
        measure: DeckMeasure,
    ) -> Parsed<Result<Option<String>, String>> {
        let Some(group) = response.first("EL_GROUP").and_then(|item| item.values.first()) else {
            return Ok(Ok(None));
        };
        let members = self.members(Of::Elements, response, group)?;
        if members.len() == self.imported.mesh.n_elements() {
            return Ok(Ok(None));
        }
        if measure == DeckMeasure::Compliance {
            return Ok(Err(format!("{response} of the elements {} alone", excerpt(group))));
        }
        Ok(Ok(Some(self.named_set(Of::Elements, group, members))))
    }

    /// The set of the one node that a response is of.
    fn node_of(&mut self, response: &Command) -> Parsed<Result<String, String>> {
        let node = response.first("NODE").and_then(|item| item.values.first());
        let group = response.first("ND_GROUP").and_then(|item| item.values.first());
        let (name, members) = match (node, group) {
            (Some(node), _) => {
                let tags = &self.imported.node_tags;
                let place = node.parse().ok().and_then(|tag| crate::import::position(tags, tag));
                let place = place.ok_or_else(|| unknown(response, "node", node))?;
                (format!("node_{node}"), vec![place as u32])
            }
            (None, Some(group)) => (group.clone(), self.members(Of::Nodes, response, group)?),
            (None, None) => return Ok(Err(format!("{response} of no node"))),
        };
        match members.len() {
            1 => Ok(Ok(self.named_set(Of::Nodes, &name, members))),
            n => Ok(Err(format!("{response} of {n} nodes"))),
        }
    }

    /// The load case of `LC_SET = type, number, step`; none for all of them.
    fn case(&self, response: &Command) -> Result<Option<String>, String> {
        let mut sets = response.all("LC_SET");
        let (first, others) = (sets.next(), sets.count());
        let Some(first) = first else { return Ok(None) };
        let lost =
            || Err(format!("{response} with LC_SET = {}", excerpt(&first.values.join(", "))));
        let [kind, number, ..] = first.values.as_slice() else { return lost() };
        let is_static = kind.eq_ignore_ascii_case("STATIC") || kind.eq_ignore_ascii_case("ALL");
        if others > 0 || !is_static {
            return lost();
        }
        if number.eq_ignore_ascii_case("ALL") {
            return Ok(None);
        }

        // Names of steps have their numbers, unless the deck gives others.
        let cases = self.cases();
        let step = format!("step_{number}");
        let is_numbered = cases.iter().any(|case| case.starts_with("step_"));
        let place = number.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let case = match is_numbered {
            true => cases.iter().find(|case| **case == step),
            false => place.and_then(|place| cases.get(place)),
        };
        match case {
            Some(_) if cases.len() == 1 => Ok(None),
            Some(case) => Ok(Some((*case).to_owned())),
            None => lost(),
        }
    }

    /// Names of the load cases, in the order of their loads and displacements.
    fn cases(&self) -> Vec<&str> {
        let deck = &self.imported.deck;
        let loaded = deck.loads.iter().map(|load| load.case.as_str());
        let moved = deck.supports.iter().filter_map(|support| support.case.as_deref());
        let mut cases = Vec::new();
        for case in loaded.chain(moved) {
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        cases
    }
}

/// Weights of load cases where all responses are compliances of different ones.
fn weights(responses: &[(Result<DeckResponse, String>, f64)]) -> Option<Vec<(String, f64)>> {
    let weight = |(response, weight): &(Result<DeckResponse, String>, f64)| {
        let response = response.as_ref().ok()?;
        let is_compliance = response.measure == DeckMeasure::Compliance;
        Some((response.case.clone().filter(|_| is_compliance)?, *weight))
    };
    let weights: Option<Vec<_>> = responses.iter().map(weight).collect();
    let mut names: Vec<String> = weights.iter().flatten().map(|(case, _)| case.clone()).collect();
    names.sort_unstable();
    names.dedup();
    weights.filter(|weights| weights.len() == names.len() && !names.is_empty())
}
