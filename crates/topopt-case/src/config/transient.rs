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
    /// Lengths of time steps by pieces: `[until, step]` for each, by increasing time; the last
    /// length holds to the end.
    #[schemars(with = "Option<Vec<[f64; 2]>>")]
    pub steps: Option<Spanned<Vec<[f64; 2]>>>,
    /// Theta of the scheme: 0.5 is that of Crank and Nicolson, of second order; 1 is implicit
    /// Euler, which does not oscillate.
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
    /// At its nodes, the integral of c N_a at each: a part of hexahedra cools without undershoots.
    /// Tetrahedra have 1/36 of their heat at each vertex and 4/27 in the middle of each edge.
    #[default]
    Lumped,
    /// Between its nodes, the integral of c N_a N_b, as other codes have it; short steps after a
    /// jump undershoot.
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

/// The most steps in time: each has a row of a table, which then takes a gigabyte, and a solve.
pub const MOST_STEPS: usize = 10_000_000;

/// The columns of transient.csv besides those of the probes.
pub const STEP_COLUMNS: [&str; 6] =
    ["step", "time", "coldest", "hottest", "heat_stored", "pcg_iterations"];

/// Share of a time that rounding may take or add.
const ROUNDING: f64 = 1e-12;

/// Steps of one length.
struct Piece {
    from: f64,
    until: f64,
    step: f64,
}

impl Piece {
    /// Number of steps, as a float: it may be more than an integer holds.
    fn n_steps(&self) -> f64 {
        // A remainder of rounding is no step of its own.
        ((self.until - self.from) / self.step - 1e-9).ceil().max(1.0)
    }
}

impl Transient {
    /// The ends of all time steps, increasing; there are [`Transient::n_steps`].
    pub fn times(&self) -> Vec<f64> {
        let mut times = Vec::new();
        for piece in self.pieces() {
            let n = piece.n_steps() as usize;
            times.extend((1..n).map(|i| piece.from + i as f64 * piece.step));
            times.push(piece.until);
        }
        times
    }

    /// Number of time steps, as a float: it is checked before any step is listed.
    pub fn n_steps(&self) -> f64 {
        self.pieces().iter().map(Piece::n_steps).sum()
    }

    /// A length of steps that are as good as none beside the time at which they end.
    pub fn lost_step(&self) -> Option<f64> {
        let pieces = self.pieces();
        let lengths =
            pieces.iter().map(|piece| (piece.step.min(piece.until - piece.from), piece.until));
        let mut lost = lengths.filter(|(length, until)| *length < ROUNDING * until);
        lost.next().map(|(length, _)| length)
    }

    /// Steps by their length up to the end: entries that begin there or later count for nothing.
    fn pieces(&self) -> Vec<Piece> {
        let end = *self.end.get_ref();
        let given = match (&self.steps, self.step) {
            (Some(steps), _) => steps.get_ref().clone(),
            (None, step) => vec![[end, step.unwrap_or(end)]],
        };
        let n = given.len();
        let (mut pieces, mut from) = (Vec::new(), 0.0);
        for (i, [until, step]) in given.into_iter().enumerate() {
            let is_last = i + 1 == n || until >= end * (1.0 - ROUNDING);
            let until = if is_last { end } else { until };
            pieces.push(Piece { from, until, step });
            if is_last {
                break;
            }
            from = until;
        }
        pieces
    }
}

fn half() -> f64 {
    0.5
}
