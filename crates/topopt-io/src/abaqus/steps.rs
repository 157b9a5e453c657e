//! Steps, their procedures, and amplitudes.

use super::lines::capitals;
use crate::quote::printable;

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

/// The factor of `amplitude` at the end of step `s`, or of step `own` if its times are those of one step;
/// why not, if it is not understood.
pub(super) fn factor(
    (steps, amplitudes): (&[Step], &[Amplitude]),
    amplitude: Option<&str>,
    [own, s]: [usize; 2],
) -> Result<f64, String> {
    let Some(name) = amplitude else { return Ok(1.0) };
    let Some(amplitude) = amplitudes.iter().find(|a| a.name == capitals(name)) else {
        return Err(format!("amplitude `{}`, which is not defined", printable(name)));
    };
    if let Some(why) = &amplitude.not_understood {
        return Err(why.clone());
    }
    let during = if amplitude.is_total { 0..=s } else { own..=own };
    let time = match steps.get(during) {
        Some(steps) => steps.iter().map(|step| step.period).sum(),
        None => 1.0,
    };
    Ok(amplitude.at(time))
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
        let at = |name, s| factor((&steps, &amplitudes), name, [s, s]).unwrap();
        assert_eq!([at(None, 0), at(Some("false"), 0), at(Some("false"), 1)], [1.0, 0.5, 0.75]);
        assert_eq!([at(Some("true"), 0), at(Some("true"), 1)], [0.5, 0.75]);
        // A load of the first step keeps its factor in the second.
        let kept = |name| factor((&steps, &amplitudes), Some(name), [0, 1]).unwrap();
        assert_eq!([kept("false"), kept("true")], [0.5, 0.75]);
        assert!(factor((&steps, &amplitudes), Some("x"), [0, 0]).is_err());
        let between = Amplitude { points: vec![[0.0, 1.0], [4.0, 3.0]], ..Amplitude::default() };
        assert_eq!(between.at(1.0), 1.5);
    }
}
