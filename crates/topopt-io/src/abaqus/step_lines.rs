//! *STEP, procedures and *AMPLITUDE, as they stand in the file.

use super::deck::Reader;
use super::lines::{Keyword, capitals};
use super::steps::{Amplitude, Procedure, Step};
use crate::quote::printable;
use crate::read_error::Parsed;

impl Reader<'_> {
    pub fn step(&mut self, keyword: &Keyword) {
        let name = || format!("step_{}", self.deck.steps.len() + 1);
        let name = keyword.get("NAME").map_or_else(name, printable);
        self.case = Some(self.deck.steps.len());
        self.deck.steps.push(Step::new(name));
        // Otherwise it is the default of a linear step.
        if keyword.has("NLGEOM") && keyword.get("NLGEOM").is_none_or(|v| capitals(v) != "NO") {
            self.lose_keyword(keyword, ", NLGEOM: displacements are computed as small");
        }
    }

    /// *STATIC and *HEAT TRANSFER: `first increment, period`.
    pub fn procedure(&mut self, keyword: &Keyword) -> Parsed<()> {
        let (mut increment, mut period) = (1.0, 1.0);
        if let Some(data) = self.lines.data() {
            let mut fields = data.fields();
            for value in [&mut increment, &mut period] {
                match fields.next() {
                    None | Some("") => {}
                    Some(field) => *value = data.double(keyword, field, "a length of time")?,
                }
            }
        }
        let procedure = match keyword.name.as_str() {
            "STATIC" => Procedure::Static,
            _ if keyword.has("STEADYSTATE") => Procedure::Heat,
            _ => {
                if !keyword.has("DIRECT") {
                    let how = format!(
                        ": its increments are chosen by the solver; the case has steps of {increment:?}"
                    );
                    self.lose_keyword(keyword, &how);
                }
                Procedure::HeatInTime(increment)
            }
        };
        if let Some(step) = self.deck.steps.last_mut() {
            (step.procedure, step.period) = (procedure, period);
        }
        Ok(())
    }

    /// `time, factor`, up to four pairs in a line.
    pub fn amplitude(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = capitals(keyword.required("NAME")?);
        let is =
            |parameter, word: &str| keyword.get(parameter).is_some_and(|v| capitals(v) == word);
        let mut amplitude =
            Amplitude { name, is_total: is("TIME", "TOTALTIME"), ..Amplitude::default() };
        let is_plain = |p: &str| {
            matches!(p, "NAME" | "TIME")
                || p == "VALUE" && is("VALUE", "RELATIVE")
                || p == "DEFINITION" && is("DEFINITION", "TABULAR")
        };
        let strange = keyword.parameters().find(|name| !is_plain(name));
        amplitude.not_understood = strange.map(|name| {
            let value = keyword.get(name).map_or(String::new(), |v| format!("={}", printable(v)));
            format!("*AMPLITUDE with {name}{value} ({})", self.at(keyword.line))
        });

        let mut numbers = Vec::new();
        while let Some(data) = self.lines.data() {
            if amplitude.not_understood.is_some() {
                continue;
            }
            for field in data.fields().filter(|field| !field.is_empty()) {
                numbers.push(data.double(keyword, field, "a time or a factor")?);
            }
        }
        amplitude.points = numbers.as_chunks::<2>().0.to_vec();
        if amplitude.not_understood.is_none()
            && (amplitude.points.is_empty() || !amplitude.points.is_sorted_by(|a, b| a[0] < b[0]))
        {
            let at = self.at(keyword.line);
            amplitude.not_understood =
                Some(format!("*AMPLITUDE whose times do not increase ({at})"));
        }
        self.deck.amplitudes.push(amplitude);
        Ok(())
    }
}
