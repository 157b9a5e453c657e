//! Topology optimization of OptiStruct: DTPL, DRESP1, DCONSTR, and what case control says of them.

use std::collections::BTreeSet;

use super::deck::Constraint;
use super::lines::Card;
use super::model::Model;
use super::read::Reader;
use crate::deck::DeckDesign;
use crate::found::Found;
use crate::read_error::Parsed;

/// The first fields of lines of DTPL that begin a list of properties of some kind.
const KINDS: [&str; 4] = ["PSOLID", "PSHELL", "PCOMP", "PBAR"];

impl Reader {
    /// Reads an entry of an optimization; false if it is none.
    pub fn design_entry(&mut self, card: &Card) -> Parsed<bool> {
        match card.name.as_str() {
            "DTPL" => self.design_space(card)?,
            "DRESP1" => {
                let number = card.tag(2, "the number of a response")?;
                let kind = String::from_utf8_lossy(card.text(4)).to_uppercase();
                self.deck.design.responses.insert(number, crate::quote::excerpt(&kind));
            }
            "DCONSTR" => {
                // -1e20 and 1e20 are no limits.
                let limit = |field| -> Parsed<Option<f64>> {
                    Ok(card.real_if_any(field, "a limit")?.filter(|v| v.abs() < 1e19))
                };
                let constraint = Constraint {
                    number: card.tag(2, "the number of a constraint")?,
                    response: card.tag(3, "the number of a response")?,
                    least: limit(4)?,
                    most: limit(5)?,
                };
                self.deck.design.constraints.push(constraint);
            }
            // Sums of constraints: all of them are read.
            "DCONADD" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `number, PSOLID, properties`, and lines that begin with a word, such as `MEMBSIZ, smallest,
    /// largest`.
    fn design_space(&mut self, card: &Card) -> Parsed<()> {
        let mut properties = self.deck.design.properties.take().unwrap_or_default();
        let is_kind = KINDS.iter().any(|kind| card.is_word(3, kind));
        if !is_kind {
            self.lose("DTPL of other properties than PSOLID", card.line);
        }

        for first in (2..card.n_fields() + 2).step_by(8) {
            let word = String::from_utf8_lossy(card.text(first)).to_uppercase();
            let is_word = first > 2 && word.starts_with(|c: char| c.is_ascii_alphabetic());
            if is_word && word == "MEMBSIZ" {
                let size = card.real_or(first + 1, 0.0, "the smallest size of members")?;
                self.deck.design.smallest_member = Some(size).filter(|size| *size > 0.0);
                if !(card.is_blank(first + 2) && card.is_blank(first + 3)) {
                    self.lose("DTPL with a largest member size or gap", card.line);
                }
            } else if is_word {
                self.lose(&crate::quote::excerpt(&format!("DTPL with {word}")), card.line);
            } else {
                let from = if first == 2 { 4 } else { first };
                for field in (from..first + 8).filter(|field| !card.is_blank(*field)) {
                    properties.insert(card.tag(field, "the number of a property")?);
                }
            }
        }

        self.deck.design.properties = Some(properties);
        Ok(())
    }

    /// `DESOBJ(MIN) = response` of case control.
    pub fn design_objective(&mut self, text: &str, value: &str) {
        let is_maximum = text.to_uppercase().contains("(MAX");
        self.deck.design.objectives.extend(value.parse().ok().map(|number| (number, is_maximum)));
    }
}

/// Adds what the deck says of its optimization; what a case cannot say is lost.
pub(super) fn add(model: &Model, found: &mut Found) {
    let design = &model.deck.design;
    let Some(properties) = &design.properties else {
        if !design.responses.is_empty() {
            found.lose("responses and constraints of an optimization without DTPL");
        }
        return;
    };

    let of_mesh: BTreeSet<u64> = model.deck.solids.iter().map(|solid| solid.property).collect();
    let mut carried = DeckDesign {
        solid: of_mesh
            .difference(properties)
            .map(|property| format!("property_{property}"))
            .collect(),
        // The radius of the filter reaches from the middle of a member to its surface.
        filter_radius: design.smallest_member.map(|size| size / 2.0),
        volume_fraction: None,
    };

    for Constraint { number, response, least, most } in &design.constraints {
        let kind = design.responses.get(response).map_or("?", String::as_str);
        match (kind, least, most) {
            ("VOLFRAC", None, Some(most)) if carried.volume_fraction.is_none() => {
                carried.volume_fraction = Some(*most);
            }
            _ => found.lose(format!(
                "the limit DCONSTR {number} of the response {response} ({kind}); write it in \
                 [[constraints]]"
            )),
        }
    }

    for &(response, is_maximum) in &design.objectives {
        let kind = design.responses.get(&response).map_or("?", String::as_str);
        if is_maximum || !matches!(kind, "COMP" | "WCOMP") {
            found.lose(format!(
                "the objective DESOBJ, the response {response} ({kind}): here the compliance is \
                 minimized; write another one in [objective]"
            ));
        }
    }
    found.deck.design = Some(carried);
}
