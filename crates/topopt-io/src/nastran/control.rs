//! Case control: what the subcases select.

use super::deck::Subcase;
use super::lines::Line;
use super::read::Reader;
use crate::quote::excerpt;

impl Reader {
    /// Reads a line before the bulk data: SUBCASE, SPC, LOAD and names; passes over all others.
    pub fn control(&mut self, line: &Line) {
        let text = String::from_utf8_lossy(&line.text).trim().to_owned();
        // A line that ends with a comma goes on, as SET does.
        let is_rest = std::mem::replace(&mut self.goes_on, text.ends_with(','));
        if is_rest {
            return;
        }

        let separates = |c: char| c.is_whitespace() || c == '=';
        let Some((word, value)) = text.split_once(separates) else { return };
        let value = value.trim_start_matches(separates).trim();
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
            "LABEL" => subcase.name = Some(excerpt(value)),
            "SUBTITLE" if subcase.name.is_none() => subcase.name = Some(excerpt(value)),
            _ => {}
        }
    }
}
