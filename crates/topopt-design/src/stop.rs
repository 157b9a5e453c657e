//! When a design is done.

/// The rules by which the loop stops; whichever is met first. A tolerance of 0 is never met, and
/// none is before the last stage of a continuation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRules {
    /// Most design iterations.
    pub max_iterations: usize,
    /// Largest change of a design variable in an iteration.
    pub change: f64,
    /// Relative change of the objective, |f_i - f_(i-1)| / |f_i|.
    pub relative_objective: f64,
    /// Absolute change of the objective, |f_i - f_(i-1)|, the rule of the thesis.
    pub absolute_objective: f64,
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
}

impl StopRules {
    /// The largest number of iterations alone.
    pub(crate) fn without_tolerances(self) -> Self {
        Self { change: 0.0, relative_objective: 0.0, absolute_objective: 0.0, ..self }
    }

    /// The rule that is met after `iteration` (from 1) with `objective` after `previous`, and
    /// `change` of the design.
    pub fn met(
        &self,
        iteration: usize,
        objective: f64,
        previous: Option<f64>,
        change: f64,
    ) -> Option<StopRule> {
        let difference = previous.map_or(f64::INFINITY, |p| (objective - p).abs());
        if change < self.change {
            Some(StopRule::Change)
        } else if difference < self.relative_objective * objective.abs() {
            Some(StopRule::RelativeObjective)
        } else if difference < self.absolute_objective {
            Some(StopRule::AbsoluteObjective)
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
        let off = StopRules {
            max_iterations: 10,
            change: 0.0,
            relative_objective: 0.0,
            absolute_objective: 0.0,
        };

        assert_eq!(off.met(9, 5.0, Some(5.0), 0.0), None);
        assert_eq!(off.met(10, 5.0, Some(9.0), 1.0), Some(StopRule::MaxIterations));

        let change = StopRules { change: 0.01, ..off };
        assert_eq!(change.met(1, 5.0, None, 0.009), Some(StopRule::Change));
        assert_eq!(change.met(1, 5.0, None, 0.011), None);

        let relative = StopRules { relative_objective: 1e-3, ..off };
        assert_eq!(relative.met(2, 1000.0, Some(1000.9), 1.0), Some(StopRule::RelativeObjective));
        assert_eq!(relative.met(1, 1000.0, None, 1.0), None);
        // Prescribed displacements make the objective negative.
        assert_eq!(relative.met(2, -1000.0, Some(-1000.9), 1.0), Some(StopRule::RelativeObjective));
        assert_eq!(relative.met(2, -1000.0, Some(-1001.1), 1.0), None);

        let thesis = StopRules { absolute_objective: 1e-2, ..off };
        assert_eq!(thesis.met(2, 1000.0, Some(1000.009), 1.0), Some(StopRule::AbsoluteObjective));
        assert_eq!(thesis.met(2, 1000.0, Some(1000.011), 1.0), None);
    }
}
