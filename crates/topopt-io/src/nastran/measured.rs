//! DRESP1 as a measure of the part, of elements or of nodes.

use std::collections::BTreeSet;

use super::design_data::Response;
use super::model::Model;
use super::tables;
use crate::deck_design::{DeckMeasure, DeckResponse};
use crate::found::Found;

/// Kinds of responses that have a counterpart.
const KINDS: [(&str, DeckMeasure, Of); 8] = [
    ("COMP", DeckMeasure::Compliance, Of::Subcase),
    ("WCOMP", DeckMeasure::Compliance, Of::AllSubcases),
    ("VOLUME", DeckMeasure::Volume, Of::Elements),
    ("VOLFRAC", DeckMeasure::VolumeShare, Of::Elements),
    ("MASS", DeckMeasure::Mass, Of::Elements),
    ("MASSFRAC", DeckMeasure::MassShare, Of::Elements),
    ("DISP", DeckMeasure::Displacement, Of::Grids),
    ("TEMP", DeckMeasure::Temperature, Of::Grids),
];

/// Things that a response is of, besides the part.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Subcase,
    AllSubcases,
    Elements,
    Grids,
}

/// Components of DISP, by word or number; none is the size.
const COMPONENTS: [(&str, &str, Option<[f64; 3]>); 4] = [
    ("1", "TX", Some([1.0, 0.0, 0.0])),
    ("2", "TY", Some([0.0, 1.0, 0.0])),
    ("3", "TZ", Some([0.0, 0.0, 1.0])),
    ("7", "TXYZ", None),
];

/// Most grids of one response that get limits, each of which takes a solve.
const MOST_GRIDS: usize = 20;

/// A response of a deck that is measured.
pub(super) struct Measured<'a> {
    pub model: &'a Model<'a>,
    pub response: &'a Response,
}

impl Measured<'_> {
    /// Whether it belongs to the subcase that selects it.
    pub fn is_of_subcase(&self) -> bool {
        matches!(self.kind(), Some((_, Of::Subcase | Of::Grids)))
    }

    fn kind(&self) -> Option<(DeckMeasure, Of)> {
        let row = KINDS.iter().find(|(word, ..)| *word == self.response.kind);
        row.map(|(_, measure, of)| (*measure, *of))
    }

    /// The responses of a case that it is, one for each of its numbers, without a load case; why
    /// not, as an error.
    pub fn responses(&self, found: &mut Found) -> Result<Vec<DeckResponse>, String> {
        let Some((measure, of)) = self.kind() else {
            return Err("it has no counterpart".into());
        };
        let Response { kind, of: word, component, sum, numbers, more, origin } = self.response;
        if let Some(more) = more {
            return Err(format!("DRESP1 on line {} with {more}", origin.line));
        }
        let is_heat = self.model.deck.is_heat;
        if is_heat != (measure == DeckMeasure::Temperature) && of != Of::Elements {
            return Err(format!("there is no {kind} in this physics"));
        }

        let sets = match of {
            Of::Grids => self.grids(found)?,
            Of::Elements if component.is_empty() => self.elements(found)?,
            _ if [word, component, sum].iter().all(|word| word.is_empty())
                && numbers.is_empty() =>
            {
                vec![None]
            }
            _ => return Err(format!("it is a {kind} of some elements, or of another kind")),
        };
        let direction = if measure == DeckMeasure::Displacement { self.direction()? } else { None };
        let response = |set| DeckResponse { measure, set, direction, case: None };
        Ok(sets.into_iter().map(response).collect())
    }

    /// Direction of a displacement; none for its size.
    fn direction(&self) -> Result<Option<[f64; 3]>, String> {
        let component = &self.response.component;
        let is_it = |(number, word, _): &&(&str, &str, _)| component == number || component == word;
        match COMPONENTS.iter().find(is_it) {
            Some((.., direction)) => Ok(*direction),
            None => Err(format!("its component is `{component}`")),
        }
    }

    /// A node set for each grid.
    fn grids(&self, found: &mut Found) -> Result<Vec<Option<String>>, String> {
        let numbers = &self.response.numbers;
        if numbers.is_empty() || numbers.len() > MOST_GRIDS {
            return Err(format!("it is of {} grids, not of 1 to {MOST_GRIDS}", numbers.len()));
        }
        let part = self.model.part;
        let mut sets = Vec::new();
        for number in numbers {
            let position = part.node(*number).filter(|position| part.is_used(*position));
            let Some(position) = position else {
                return Err(format!("grid {number} is not at a corner of a solid"));
            };
            let system = self.model.grid(position).moves_in;
            if system.unwrap_or(self.model.deck.defaults.moves_in) != 0 {
                return Err(format!("grid {number} moves in a system of its own"));
            }
            let set = format!("grid_{number}");
            found.add_listed(&set, vec![position]);
            sets.push(Some(set));
        }
        Ok(sets)
    }

    /// An element set for each property or material, or one for their sum; none for the part.
    fn elements(&self, found: &mut Found) -> Result<Vec<Option<String>>, String> {
        let Response { kind, of, sum, numbers, .. } = self.response;
        let deck = self.model.deck;
        if kind == "MASS" && deck.mass_factor.is_some_and(|factor| factor != 1.0) {
            return Err("PARAM,WTMASS makes a weight of the mass".into());
        }
        let is_lost = |name: &String| !tables::is_idle_element(name);
        let is_whole = of.is_empty() && numbers.is_empty();
        if is_whole && kind != "VOLFRAC" && deck.others.keys().any(is_lost) {
            return Err("elements that are no solids count in it".into());
        }
        if is_whole && (sum.is_empty() || sum == "SUM") {
            return Ok(vec![None]);
        }

        let parts: Vec<BTreeSet<u64>> = match of.as_str() {
            "PSOLID" => numbers.iter().map(|number| BTreeSet::from([*number])).collect(),
            "MAT" => numbers.iter().map(|number| self.of_material(*number)).collect(),
            _ => return Err(format!("it is of `{of}`, neither PSOLID nor MAT")),
        };
        let parts = match sum.as_str() {
            "" => parts,
            "SUM" => vec![parts.into_iter().flatten().collect()],
            other => return Err(format!("it is of the kind `{other}`")),
        };
        // A share of the design volume leaves out what is no part of it.
        let solid = if kind == "VOLFRAC" { deck.solid_properties() } else { Vec::new() };
        let set = |part: BTreeSet<u64>| {
            let counted = part.into_iter().filter(|property| !solid.contains(property)).collect();
            self.set(&counted, found).map(Some)
        };
        parts.into_iter().map(set).collect()
    }

    /// The properties of a material.
    fn of_material(&self, number: u64) -> BTreeSet<u64> {
        let properties = self.model.deck.properties.iter();
        properties.filter(|(_, material)| **material == number).map(|(it, _)| *it).collect()
    }

    /// The element set of properties.
    fn set(&self, properties: &BTreeSet<u64>, found: &mut Found) -> Result<String, String> {
        let sets: Vec<String> = properties.iter().map(|it| format!("property_{it}")).collect();
        let members = sets.iter().filter_map(|set| found.sets.elements.get(set));
        let mut members: Vec<u32> = members.flatten().copied().collect();
        if members.is_empty() {
            return Err("it is of no designed solids".into());
        }
        if let [one] = sets.as_slice() {
            return Ok(one.clone());
        }
        members.sort_unstable();
        let all: Vec<String> = properties.iter().map(u64::to_string).collect();
        let name = format!("properties_{}", all.join("_"));
        found.sets.elements.insert(name.clone(), members);
        Ok(name)
    }
}
