//! *STEP, its procedure, and *AMPLITUDE.

use super::deck::Reader;
use super::lines::{Keyword, capitals};
use crate::quote::printable;
use crate::read_error::Parsed;

/// A step of a deck.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Name of its load case.
    pub name: String,
    pub procedure: Procedure,
    /// Length in time.
    pub period: f64,
    /// Keywords of which all that stands before it is taken away, by `OP=NEW`.
    pub released: Vec<&'static str>,
}

/// A kind of computation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Procedure {
    /// Not said, or not known.
    Other,
    Static,
    /// Heat, steady.
    Heat,
    /// Heat in time, by steps of a length.
    HeatInTime(f64),
}

/// A factor over time.
#[derive(Debug, Clone, Default)]
pub(super) struct Amplitude {
    /// In capitals.
    pub name: String,
    /// Whether its times are those of all steps, and not of one.
    pub is_total: bool,
    /// Times, increasing, and factors.
    pub points: Vec<[f64; 2]>,
    /// Reason why it is not understood.
    pub not_understood: Option<String>,
}

impl Amplitude {
    /// The factor at `time`: linear between the points, constant beyond.
    fn at(&self, time: f64) -> f64 {
        let next = self.points.partition_point(|[t, _]| *t <= time);
        match (next.checked_sub(1).map(|i| self.points[i]), self.points.get(next)) {
            (Some([t0, a0]), Some([t1, a1])) => a0 + (a1 - a0) * (time - t0) / (t1 - t0),
            (Some([_, a]), None) | (None, Some(&[_, a])) => a,
            (None, None) => 1.0,
        }
    }
}

impl Step {
    /// A step of this name.
    pub fn new(name: String) -> Self {
        Self { name, procedure: Procedure::Other, period: 1.0, released: Vec::new() }
    }
}

/// The factor of `amplitude` at the end of step `s`; why not, if it is not understood.
pub(super) fn factor(
    (steps, amplitudes): (&[Step], &[Amplitude]),
    amplitude: Option<&str>,
    s: usize,
) -> Result<f64, String> {
    let Some(name) = amplitude else { return Ok(1.0) };
    let Some(amplitude) = amplitudes.iter().find(|a| a.name == capitals(name)) else {
        return Err(format!("amplitude `{}`, which is not defined", printable(name)));
    };
    if let Some(why) = &amplitude.not_understood {
        return Err(why.clone());
    }
    let first = if amplitude.is_total { 0 } else { s };
    let time = match steps.get(first..=s) {
        Some(steps) => steps.iter().map(|step| step.period).sum(),
        None => 1.0,
    };
    Ok(amplitude.at(time))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_those_at_the_end_of_steps() {
        let period = |period| Step { period, ..Step::new(String::new()) };
        let steps = [period(1.0), period(2.0)];
        let points = vec![[0.0, 0.0], [1.0, 0.5], [2.0, 0.75]];
        let amplitudes = [false, true].map(|is_total| Amplitude {
            name: is_total.to_string().to_uppercase(),
            is_total,
            points: points.clone(),
            not_understood: None,
        });
        let at = |name, s| factor((&steps, &amplitudes), name, s).unwrap();
        assert_eq!([at(None, 0), at(Some("false"), 0), at(Some("false"), 1)], [1.0, 0.5, 0.75]);
        assert_eq!([at(Some("true"), 0), at(Some("true"), 1)], [0.5, 0.75]);
        assert!(factor((&steps, &amplitudes), Some("x"), 0).is_err());
        let between = Amplitude { points: vec![[0.0, 1.0], [4.0, 3.0]], ..Amplitude::default() };
        assert_eq!(between.at(1.0), 1.5);
    }
}
