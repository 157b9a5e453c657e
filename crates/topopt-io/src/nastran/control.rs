//! Case control: what the subcases select.

use super::deck::Subcase;
use super::lines::Line;
use super::read::Reader;
use super::tables;
use crate::quote::excerpt;

impl Reader {
    /// Reads a line before the bulk data: SUBCASE, SPC, LOAD and names; what else bears on the
    /// result is lost.
    pub fn control(&mut self, line: &Line) {
        let text = String::from_utf8_lossy(&line.text).trim().to_owned();
        // A line that ends with a comma continues on the next, as in SET.
        let is_rest = std::mem::replace(&mut self.goes_on, text.ends_with(','));
        if is_rest {
            return;
        }

        let separates = |c: char| c.is_whitespace() || c == '=' || c == '(' || c == ',';
        let (word, value) = text.split_once(separates).unwrap_or((&text, ""));
        let value = match text[word.len()..].split_once('=') {
            Some((_, value)) => value.trim(),
            None => value.trim_start_matches(separates).trim(),
        };
        let word = word.to_uppercase();
        if word == "SUBCASE" {
            let number = value.split(separates).next().and_then(|number| number.parse().ok());
            let number = number.unwrap_or(self.deck.subcases.len() as u64 + 1);
            self.deck.subcases.push(Subcase { number, ..Subcase::default() });
            return;
        }

        let subcase = self.deck.subcases.last_mut().unwrap_or(&mut self.deck.common);
        match word.as_str() {
            "SPC" => subcase.supports = value.parse().ok(),
            "LOAD" => subcase.loads = value.parse().ok(),
            "TEMPERATURE" | "TEMP" if is_load(&text) => subcase.temperatures = value.parse().ok(),
            "LABEL" => subcase.name = Some(excerpt(value)),
            "SUBTITLE" if subcase.name.is_none() => subcase.name = Some(excerpt(value)),
            "SOL" => self.solution(value, line.number),
            "ANALYSIS" => self.analysis(value, line.number),
            "PARAM" => {
                let (name, value) = value.split_once(separates).unwrap_or((value, ""));
                self.set_parameter(&name.trim().to_uppercase(), value, line.number);
            }
            "DESOBJ" | "MINMAX" | "MAXMIN" | "DESSUB" | "DESGLB" | "WEIGHT" => {
                self.design_control(&word, &text, value, line.number);
            }
            "" => {}
            word if tables::is_harmless_control(word) => {}
            word => {
                let what = excerpt(&format!("{word} of the control sections"));
                self.lose(&what, line.number);
            }
        }
    }

    /// SOL 101 is the linear static solution, SOL 153 that of steady heat.
    fn solution(&mut self, value: &str, line: usize) {
        match value.to_uppercase().as_str() {
            "101" | "1" | "24" | "SESTATIC" | "SESTATICS" | "STATICS" => {}
            "153" => self.deck.is_heat = true,
            other => self.lose(&excerpt(&format!("SOL {other}, computed as static:")), line),
        }
    }

    fn analysis(&mut self, value: &str, line: usize) {
        match value.to_uppercase().as_str() {
            "STATICS" | "STATIC" | "STAT" => {}
            "HEAT" | "HSTAT" => self.deck.is_heat = true,
            other => self.lose(&excerpt(&format!("ANALYSIS {other}, computed as static:")), line),
        }
    }
}

/// Whether a selection of temperatures is that of what elements expand by.
fn is_load(text: &str) -> bool {
    let option = text.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    option.is_none_or(|(option, _)| option.trim().eq_ignore_ascii_case("LOAD"))
}
