//! Loads, held values and steps of a transient problem.

use serde::{Deserialize, Serialize};

/// Factors by time, `[time, factor]` by increasing time: linear between, constant beyond the ends.
pub type OverTime = Vec<[f64; 2]>;

/// Steps in time, with the loads, held values and capacities on nodes and elements of a problem.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Timeline {
    /// Theta of the scheme.
    pub theta: f64,
    /// The ends of all steps, increasing; the first begins at 0.
    pub times: Vec<f64>,
    /// The state at the beginning, held values included, `[n_nodes]`.
    pub initial: Vec<f64>,
    /// Capacities of solid elements by volume, `[n_elements]`.
    pub capacities: Vec<f64>,
    /// Flows into nodes, which add up.
    pub loads: Vec<Varying>,
    /// Held values, 0 at free nodes, which add up: none is at a node of another.
    pub held: Vec<Varying>,
}

/// Values at nodes with a common factor over time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Varying {
    /// `[n_nodes]`
    pub values: Vec<f64>,
    /// Always 1 without a table.
    pub factors: Option<OverTime>,
}

impl Timeline {
    /// Returns a copy without the values of nodes and elements, which only the first rank has.
    #[must_use]
    pub fn without_values(&self) -> Self {
        let varying =
            |varying: &Varying| Varying { values: Vec::new(), factors: varying.factors.clone() };
        Self {
            theta: self.theta,
            times: self.times.clone(),
            initial: Vec::new(),
            capacities: Vec::new(),
            loads: self.loads.iter().map(varying).collect(),
            held: self.held.iter().filter(|held| held.acts()).map(varying).collect(),
        }
    }

    /// Number of steps.
    pub fn n_steps(&self) -> usize {
        self.times.len()
    }

    /// The end of `step`, from 1; 0 is the beginning.
    pub fn time(&self, step: usize) -> f64 {
        step.checked_sub(1).map_or(0.0, |k| self.times[k])
    }

    /// Length of `step`, from 1.
    pub fn length(&self, step: usize) -> f64 {
        self.time(step) - self.time(step - 1)
    }

    /// The share of the state after `step` in its mean over time, by trapezoids.
    pub fn share(&self, step: usize) -> f64 {
        let [before, after] = [step.max(1) - 1, (step + 1).min(self.n_steps())];
        0.5 * (self.time(after) - self.time(before)) / self.time(self.n_steps())
    }
}

impl Varying {
    /// Whether any value is not zero, which another rank knows where it has the values.
    pub(crate) fn acts(&self) -> bool {
        self.values.is_empty() || self.values.iter().any(|value| *value != 0.0)
    }

    /// The factor at `time`.
    pub fn factor(&self, time: f64) -> f64 {
        factor_at(self.factors.as_ref(), time)
    }

    /// The factor in the middle of a step between `times`: (1 - theta) of that at its start and
    /// theta of that at its end.
    pub fn middle_factor(&self, times: [f64; 2], theta: f64) -> f64 {
        (1.0 - theta) * self.factor(times[0]) + theta * self.factor(times[1])
    }
}

/// The factor at `time`; 1 without a table.
pub fn factor_at(table: Option<&OverTime>, time: f64) -> f64 {
    let Some(table) = table else { return 1.0 };
    let after = table.partition_point(|[t, _]| *t <= time);
    match (after.checked_sub(1).map(|i| table[i]), table.get(after)) {
        (Some([t0, f0]), Some([t1, f1])) => f0 + (f1 - f0) * (time - t0) / (t1 - t0),
        (Some([_, factor]), None) => factor,
        (None, Some([_, factor])) => *factor,
        (None, None) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_mean_add_up_to_one() {
        let times = vec![0.1, 0.2, 0.5, 1.5];
        let (initial, capacities) = (Vec::new(), Vec::new());
        let (loads, held) = (Vec::new(), Vec::new());
        let timeline = Timeline { theta: 0.5, times, initial, capacities, loads, held };
        let shares: Vec<f64> = (0..=4).map(|step| timeline.share(step)).collect();
        for (share, expected) in shares.iter().zip([0.05, 0.1, 0.2, 0.65, 0.5]) {
            assert!((share - expected / 1.5).abs() < 1e-15, "{shares:?}");
        }
    }

    #[test]
    fn factors_are_linear_between_and_constant_beyond() {
        let table = vec![[1.0, 2.0], [3.0, 6.0]];
        let found = [0.0, 1.0, 1.5, 3.0, 9.0].map(|t| factor_at(Some(&table), t));
        assert_eq!(found, [2.0, 2.0, 3.0, 6.0, 6.0]);
        assert_eq!(factor_at(None, 5.0), 1.0);
    }
}
