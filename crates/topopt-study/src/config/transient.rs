//! The keys of `[transient]`: heat in time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;
pub use topopt_fem::OverTime;

/// Heat in time: exactly one of `step` and `steps`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transient {
    /// The time at which it ends; it begins at 0.
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub end: Spanned<f64>,
    /// Length of all time steps; the last one may be shorter.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub step: Option<f64>,
    /// Lengths of time steps by pieces: `[until, step]` for each, by increasing time; the last length
    /// holds to the end.
    #[schemars(with = "Option<Vec<[f64; 2]>>")]
    pub steps: Option<Spanned<Vec<[f64; 2]>>>,
    /// Theta of the scheme: 0.5 is that of Crank and Nicolson, of second order; 1 is implicit Euler,
    /// which does not oscillate.
    #[serde(default = "half")]
    #[schemars(extend("minimum" = 0.5, "maximum" = 1))]
    pub theta: f64,
    /// How heat is stored: at the nodes, or as temperatures run between them.
    #[serde(default)]
    pub capacity: Capacity,
    /// Temperature at the beginning, except where it is held.
    #[serde(default)]
    pub initial: f64,
    /// Write the temperatures after so many steps; 0 writes those at the end alone.
    #[serde(default)]
    pub snapshot_every: usize,
    /// Points whose temperatures are in every row of transient.csv.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
}

/// How heat is stored in an element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Capacity {
    /// At its nodes, the integral of c N_a at each: a part cools without undershoots.
    #[default]
    Lumped,
    /// Between its nodes, the integral of c N_a N_b, as other codes have it; short steps after a jump
    /// undershoot.
    Consistent,
}

/// A point at which the temperature is recorded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Name of its column.
    pub name: String,
    /// The point [x, y, z].
    #[schemars(with = "[f64; 3]")]
    pub point: Spanned<[f64; 3]>,
}

impl Transient {
    /// The ends of all time steps, increasing.
    pub fn times(&self) -> Vec<f64> {
        let end = *self.end.get_ref();
        let mut pieces = match (&self.steps, self.step) {
            (Some(steps), _) => steps.get_ref().clone(),
            (None, step) => vec![[end, step.unwrap_or(end)]],
        };
        if let Some(last) = pieces.last_mut() {
            last[0] = end;
        }

        let (mut times, mut from) = (Vec::new(), 0.0);
        for [until, step] in pieces {
            let until = until.min(end);
            // A remainder of rounding is no step of its own.
            let n = ((until - from) / step - 1e-9).ceil().max(1.0) as usize;
            times.extend((1..n).map(|i| from + i as f64 * step));
            times.push(until);
            from = until;
        }
        times
    }
}

fn half() -> f64 {
    0.5
}
