//! Responses and limits of OptiStruct (DRESP1, DCONSTR, DCONADD, DOPTPRM), and what case control
//! selects of them.

use super::design_data::{Limit, Objective, Response, Selection};
use super::field;
use super::lines::Card;
use super::origin::Origin;
use super::read::Reader;
use crate::quote::excerpt;
use crate::read_error::Parsed;

/// Bounds beyond this are no limits: OptiStruct's own for none is 1e20.
const ENDLESS: f64 = 1e19;

impl Reader {
    /// Reads an entry of an optimization; false if it is none.
    pub fn design_entry(&mut self, card: &Card) -> Parsed<bool> {
        match card.name.as_str() {
            "DTPL" => self.design_space(card)?,
            "DRESP1" => self.response(card)?,
            "DRESP2" | "DRESP3" | "DSYSID" => {
                let origin = self.origin_of(card);
                let other = Response { kind: card.name.clone(), origin, ..Response::default() };
                self.deck.design.responses.insert(card.tag(2, "the number of a response")?, other);
            }
            "DCONSTR" => self.limit(card)?,
            "DCONADD" => {
                let number = card.tag(2, "the number of a set of limits")?;
                let sum = self.deck.design.sums.entry(number).or_default();
                for field in (3..card.n_fields() + 2).filter(|&field| !card.is_blank(field)) {
                    sum.push(card.tag(field, "the number of a set of limits")?);
                }
            }
            "DOPTPRM" => self.design_parameters(card)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The file and first line of an entry.
    pub fn origin_of(&self, card: &Card) -> Origin {
        Origin { line: card.line, ..self.origin }
    }

    /// `number, label, kind, word for what it is of, region, attribute, attribute, numbers`.
    fn response(&mut self, card: &Card) -> Parsed<()> {
        let number = card.tag(2, "the number of a response")?;
        let word = |field| excerpt(&String::from_utf8_lossy(card.text(field)).to_uppercase());
        let mut response = Response {
            kind: word(4),
            of: word(5),
            component: word(7),
            sum: word(8),
            origin: self.origin_of(card),
            ..Response::default()
        };
        for field in (9..card.n_fields() + 2).filter(|&field| !card.is_blank(field)) {
            match field::integer(card.text(field)) {
                Some(number) => response.numbers.push(number),
                None => response.more = response.more.or_else(|| Some(word(field))),
            }
        }
        self.deck.design.responses.insert(number, response);
        Ok(())
    }

    /// `number, response, lower bound, upper bound`, and fields of frequencies and probability.
    fn limit(&mut self, card: &Card) -> Parsed<()> {
        let bound = |field| -> Parsed<Option<f64>> {
            Ok(card.real_if_any(field, "a limit")?.filter(|value| value.abs() < ENDLESS))
        };
        // A whole number is that of a table.
        let is_table = |field| field::integer(card.text(field)).is_some();
        let limit = Limit {
            number: card.tag(2, "the number of a constraint")?,
            response: card.tag(3, "the number of a response")?,
            least: bound(4)?,
            most: bound(5)?,
            is_special: is_table(4) || is_table(5) || card.n_fields() > 4,
            origin: self.origin_of(card),
        };
        self.deck.design.limits.push(limit);
        Ok(())
    }

    /// `name, value, name, value, ...`; all other names control the optimizer.
    fn design_parameters(&mut self, card: &Card) -> Parsed<()> {
        for field in (2..card.n_fields() + 2).step_by(2) {
            if card.is_word(field, "MINDIM") {
                let width = card.real_if_any(field + 1, "the least width of members")?;
                self.deck.design.least_member = width.filter(|width| *width > 0.0);
            }
            self.deck.design.is_normalized |=
                card.is_word(field, "AUTOWGHT") && card.is_word(field + 1, "YES");
        }
        Ok(())
    }

    /// A line of case control on the optimization, such as `DESOBJ(MIN) = response`, by its first
    /// word, its whole text and its value.
    pub fn design_control(&mut self, word: &str, text: &str, value: &str, line: usize) {
        let origin = Origin { line, ..self.origin };
        let subcase = self.deck.subcases.len().checked_sub(1);
        let first = value.split([',', ' ']).next().unwrap_or_default();
        let number = field::integer(first.as_bytes());
        let design = &mut self.deck.design;
        match (word, number) {
            ("WEIGHT", _) => {
                if let Some(weight) = field::real(first.as_bytes()) {
                    design.weights.insert(subcase, weight);
                    return;
                }
            }
            ("DESGLB", Some(set)) => {
                design.selections.push(Selection { word: "DESGLB", subcase: None, set, origin });
                return;
            }
            ("DESSUB", Some(set)) => {
                design.selections.push(Selection { word: "DESSUB", subcase, set, origin });
                return;
            }
            ("DESGLB" | "DESSUB", None) => {}
            _ => {
                let is_first = design.objective.is_none();
                let objective = objective(word, text, number.filter(|_| is_first));
                design.objective = Some(Objective { subcase, origin, ..objective });
                return;
            }
        }
        self.lose(&format!("{word} without a number"), line);
    }
}

/// DESOBJ, and MINMAX and MAXMIN, which are not understood; only one of them can be there.
fn objective(word: &str, text: &str, response: Option<u64>) -> Objective {
    let text = text.to_uppercase();
    let option = text.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let option = option.map_or("MIN", |(option, _)| option.trim());
    let is_plain = word == "DESOBJ" && matches!(option, "MIN" | "MAX");
    Objective {
        words: excerpt(&text),
        response: response.filter(|_| is_plain),
        is_maximum: option == "MAX",
        subcase: None,
        origin: Origin::default(),
    }
}
