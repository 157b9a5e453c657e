//! Estimate of the iterations left in a run, from how the values of its stop rules fall.

use topopt_case::config::{Continuation, Optimizer};
use topopt_design::IterationReport;

/// An estimate that follows a run.
#[derive(Debug)]
pub(crate) struct IterationsLeft {
    limit: usize,
    /// Tolerances of [`Values`], in the same order; 0 for a rule that is off.
    tolerances: Values,
    /// First iterations of the last stage, in which alone tolerances count, and of the one before it.
    last_stage: Option<[usize; 2]>,
    done: usize,
    /// Newest [`SEEN`] values of the iterations in which tolerances count, oldest first.
    seen: Vec<Values>,
    objective: Option<f64>,
}

/// Largest change of a design variable, relative and absolute change of the objective, KKT residual.
type Values = [f64; 4];

/// Values that a line is fitted to, and the fewest that it needs. Of windows of 10, 20, a third, a
/// half and two thirds of the iterations so far, 20 came nearest on the four benchmarks.
const SEEN: usize = 20;
const FEWEST: usize = 4;

impl IterationsLeft {
    /// The estimate for a run by these stop rules.
    pub fn new(optimizer: &Optimizer, stages: &[Continuation]) -> Self {
        let last_stage = stages.last().map(|last| {
            let before = stages.len().checked_sub(2).map_or(1, |before| stages[before].from);
            [before, last.from]
        });
        Self {
            limit: optimizer.max_iterations,
            tolerances: [
                optimizer.change_tolerance,
                optimizer.compliance_tolerance,
                optimizer.absolute_compliance_tolerance,
                optimizer.kkt_tolerance,
            ],
            last_stage,
            done: 0,
            seen: Vec::new(),
            objective: None,
        }
    }

    /// Takes note of an iteration.
    pub fn add(&mut self, report: &IterationReport) {
        let &IterationReport { iteration, objective, change, kkt_residual, .. } = report;
        self.done = iteration;
        if self.last_stage.is_some_and(|[_, first]| iteration < first) {
            return;
        }
        let difference = self.objective.map_or(f64::NAN, |last| (objective - last).abs());
        if self.seen.len() == SEEN {
            self.seen.remove(0);
        }
        self.seen.push([change, difference / objective.abs(), difference, kkt_residual]);
        self.objective = Some(objective);
    }

    /// Estimated iterations left, until a tolerance is met if all values keep falling as in the
    /// newest iterations, and at most up to the limit. A last stage with too few iterations to
    /// extrapolate counts as many as the stage before it.
    pub fn estimate(&self) -> f64 {
        let limit = self.limit.saturating_sub(self.done) as f64;
        match self.last_stage {
            Some([before, first]) if self.seen.len() < FEWEST => {
                limit.min((2 * first - before).saturating_sub(self.done) as f64)
            }
            _ => {
                (0..self.tolerances.len()).filter_map(|rule| self.until(rule)).fold(limit, f64::min)
            }
        }
    }

    /// Iterations until a rule is met, by the line through the logarithms of its values; nothing
    /// where they do not fall.
    fn until(&self, rule: usize) -> Option<f64> {
        let tolerance = self.tolerances[rule];
        let values = self.seen.iter().map(|values| values[rule]);
        let values: Vec<f64> = values.filter(|value| *value > 0.0).map(f64::ln).collect();
        if tolerance <= 0.0 || values.len() < FEWEST {
            return None;
        }
        let n = values.len() as f64;
        let (middle, mean) = (0.5 * (n - 1.0), values.iter().sum::<f64>() / n);
        let places = (0..values.len()).map(|i| i as f64 - middle);
        let slope = places.zip(&values).map(|(x, y)| x * (y - mean)).sum::<f64>()
            / (n * (n * n - 1.0) / 12.0);
        let last = mean + slope * middle;
        (slope < 0.0).then(|| ((tolerance.ln() - last) / slope).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use topopt_design::StepTimes;

    use super::*;

    fn optimizer() -> Optimizer {
        Optimizer {
            max_iterations: 150,
            change_tolerance: 0.01,
            compliance_tolerance: 1e-4,
            ..Optimizer::default()
        }
    }

    fn stage(from: usize) -> Continuation {
        Continuation { from, ..Continuation::default() }
    }

    /// The estimate after the iterations with these changes and compliances.
    fn after(stages: &[Continuation], history: impl IntoIterator<Item = [f64; 2]>) -> f64 {
        let mut left = IterationsLeft::new(&optimizer(), stages);
        for (iteration, [change, objective]) in (1..).zip(history) {
            left.add(&IterationReport {
                iteration,
                stage: 0,
                objective,
                constraints: Vec::new(),
                compliance: objective,
                volume_fraction: 0.3,
                grey_level: 0.0,
                change,
                kkt_residual: 1.0,
                pcg_iterations: 0,
                pcg_products: 0,
                strengthened: 0,
                short_solves: 0,
                pcg_residual: 0.0,
                times: StepTimes::default(),
            });
        }
        left.estimate()
    }

    #[test]
    fn a_change_that_falls_evenly_is_continued_to_its_tolerance() {
        // 0.2 * 0.9^(i - 1) is below 0.01 from i = 30 on.
        let history = |n: usize| (1..=n).map(|i| [0.2 * 0.9f64.powi(i as i32 - 1), 1.0]);
        for n in [4, 10, 25] {
            let left = after(&[], history(n));
            assert!((left - (29.4 - n as f64)).abs() < 0.1, "{n}: {left}");
        }
        // Too few to extrapolate.
        assert_eq!(after(&[], history(3)), 147.0);
    }

    #[test]
    fn a_compliance_that_settles_counts_where_the_change_does_not_fall() {
        // Relative differences of about 0.1 * 0.8^i, below 1e-4 from i = 31 on.
        let objective = |i: i32| 1000.0 * (1.0 + 0.4 * 0.8f64.powi(i));
        let left = after(&[], (1..=20).map(|i| [0.05, objective(i)]));
        assert!((left - 11.0).abs() < 1.0, "{left}");
        assert_eq!(after(&[], (1..=20).map(|_| [0.05, 1000.0])), 130.0);
        assert_eq!(after(&[], (1..=20).map(|i| [0.05, 1000.0 * 0.9f64.powi(i)])), 130.0);
    }

    /// Stages from 21, 33, 45, ...: the last one counts as many iterations as the one before.
    #[test]
    fn stages_to_come_count_whole() {
        let stages: Vec<_> = (0..6).map(|i| stage(21 + 12 * i)).collect();
        let history = |n: usize| (0..n).map(|_| [0.001, 1000.0]);
        for (n, expected) in [(1, 92.0), (40, 53.0), (80, 13.0), (82, 11.0)] {
            assert_eq!(after(&stages, history(n)), expected, "{n}");
        }
        assert_eq!(after(&[stage(61)], history(10)), 111.0);
        assert_eq!(after(&[stage(140)], history(10)), 140.0);
        // In the last stage its own values count.
        let settles = (1..=90).map(|i| [0.05, 1000.0 * (1.0 + 0.5f64.powi(i - 75))]);
        assert_eq!(after(&stages, settles), 1.0);
    }

    /// The cantilever of 2000 elements, radius 1.5, volume 0.3: 45 iterations, stopped by the
    /// compliance.
    #[test]
    fn a_real_run_is_met_within_a_factor_of_two_and_a_half() {
        let history = include_str!("iterations_left.csv");
        let rows: Vec<[f64; 2]> = history
            .lines()
            .map(|line| {
                let (change, compliance) = line.split_once(',').unwrap();
                [change.parse().unwrap(), compliance.parse().unwrap()]
            })
            .collect();
        for n in [11, 23, 34] {
            let (left, real) = (after(&[], rows[..n].iter().copied()), (rows.len() - n) as f64);
            assert!((0.4 * real..=2.5 * real).contains(&left), "{n}: {left} of {real}");
        }
    }
}
