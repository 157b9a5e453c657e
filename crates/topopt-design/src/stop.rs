//! When a design is done.

/// The rules that stop the loop; whichever is met first. A tolerance of 0 is never met, and
/// none is before the last stage of a continuation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StopRules {
    /// Most design iterations.
    pub max_iterations: usize,
    /// Largest change of a design variable in an iteration.
    pub change: f64,
    /// Relative change of the objective, |f_i - f_(i-1)| / |f_i|.
    pub relative_objective: f64,
    /// Absolute change of the objective, |f_i - f_(i-1)|, the rule of the thesis.
    pub absolute_objective: f64,
    /// The KKT residual, see [`IterationReport::kkt_residual`](crate::IterationReport).
    pub kkt_residual: f64,
}

/// Measures of an iteration that the stop rules compare with their limits.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Iteration, from 1.
    pub iteration: usize,
    /// The objective, and that of the design before.
    pub objective: f64,
    /// None where there is none to compare with.
    pub previous: Option<f64>,
    /// Largest change of a design variable.
    pub change: f64,
    /// The KKT residual.
    pub kkt_residual: f64,
}

/// The rule that was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRule {
    /// The iterations ran out.
    MaxIterations,
    /// No design variable changed by more than the tolerance.
    Change,
    /// The objective changed by less than the relative tolerance.
    RelativeObjective,
    /// The objective changed by less than the absolute tolerance.
    AbsoluteObjective,
    /// The KKT residual fell below its tolerance.
    KktResidual,
}

impl StopRules {
    /// The largest number of iterations alone.
    pub(crate) fn without_tolerances(self) -> Self {
        Self { max_iterations: self.max_iterations, ..Self::default() }
    }

    /// The rule that is met by `progress`.
    pub fn met(&self, progress: &Progress) -> Option<StopRule> {
        let &Progress { iteration, objective, previous, change, kkt_residual } = progress;
        let difference = previous.map_or(f64::INFINITY, |p| (objective - p).abs());
        if change < self.change {
            Some(StopRule::Change)
        } else if difference < self.relative_objective * objective.abs() {
            Some(StopRule::RelativeObjective)
        } else if difference < self.absolute_objective {
            Some(StopRule::AbsoluteObjective)
        } else if kkt_residual < self.kkt_residual {
            Some(StopRule::KktResidual)
        } else {
            (iteration >= self.max_iterations).then_some(StopRule::MaxIterations)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_stops_and_zero_never_does() {
        let off = StopRules { max_iterations: 10, ..StopRules::default() };
        let met = |rules: StopRules, iteration, objective, previous, change| {
            let kkt_residual = 0.003;
            rules.met(&Progress { iteration, objective, previous, change, kkt_residual })
        };
        assert_eq!(met(off, 9, 5.0, Some(5.0), 0.0), None);
        assert_eq!(met(off, 10, 5.0, Some(9.0), 1.0), Some(StopRule::MaxIterations));

        let change = StopRules { change: 0.01, ..off };
        assert_eq!(met(change, 1, 5.0, None, 0.009), Some(StopRule::Change));
        assert_eq!(met(change, 1, 5.0, None, 0.011), None);

        let relative = StopRules { relative_objective: 1e-3, ..off };
        let rule = Some(StopRule::RelativeObjective);
        assert_eq!(met(relative, 2, 1000.0, Some(1000.9), 1.0), rule);
        assert_eq!(met(relative, 1, 1000.0, None, 1.0), None);
        // Prescribed displacements make the objective negative.
        assert_eq!(met(relative, 2, -1000.0, Some(-1000.9), 1.0), rule);
        assert_eq!(met(relative, 2, -1000.0, Some(-1001.1), 1.0), None);

        let thesis = StopRules { absolute_objective: 1e-2, ..off };
        let rule = Some(StopRule::AbsoluteObjective);
        assert_eq!(met(thesis, 2, 1000.0, Some(1000.009), 1.0), rule);
        assert_eq!(met(thesis, 2, 1000.0, Some(1000.011), 1.0), None);

        let kkt = |kkt_residual| StopRules { kkt_residual, ..off };
        assert_eq!(met(kkt(0.004), 1, 1.0, None, 1.0), Some(StopRule::KktResidual));
        assert_eq!(met(kkt(0.002), 1, 1.0, None, 1.0), None);
    }
}
