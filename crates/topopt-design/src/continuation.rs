//! Settings that change in the course of a run.

use serde::{Deserialize, Serialize};

/// Settings that change with an iteration; `None` leaves a setting unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stage {
    /// Iteration, from 1, in which the stage begins.
    pub from: usize,
    /// Penalty of SIMP.
    pub penalty: Option<f64>,
    /// Radius of the filter (length).
    pub filter_radius: Option<f64>,
    /// Sharpness of the projection.
    pub sharpness: Option<f64>,
    /// Relative residual at which a solve stops.
    pub tolerance: Option<f64>,
}

impl Stage {
    /// Returns the last change of each setting by the stages up to `iteration`; `from` is the
    /// beginning of the stage in force, 0 before the first. The result depends on the iteration
    /// alone, so that a run may begin anywhere.
    pub(crate) fn in_force(stages: &[Stage], iteration: usize) -> Self {
        let begun = stages.iter().take_while(|stage| stage.from <= iteration);
        begun.fold(Self::default(), |before, stage| Self {
            from: stage.from,
            penalty: stage.penalty.or(before.penalty),
            filter_radius: stage.filter_radius.or(before.filter_radius),
            sharpness: stage.sharpness.or(before.sharpness),
            tolerance: stage.tolerance.or(before.tolerance),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_a_later_stage_changes_it() {
        let stages = [
            Stage { from: 5, penalty: Some(2.0), ..Stage::default() },
            Stage { from: 9, penalty: Some(3.0), sharpness: Some(4.0), ..Stage::default() },
            Stage { from: 12, sharpness: Some(8.0), ..Stage::default() },
        ];
        let at = |iteration| Stage::in_force(&stages, iteration);
        assert_eq!(at(4), Stage::default());
        assert_eq!([at(5), at(8)], [stages[0]; 2]);
        assert_eq!([at(9), at(11)], [stages[1]; 2]);
        assert_eq!(at(12), Stage { penalty: Some(3.0), ..stages[2] });
        assert_eq!(at(900), at(12));
    }
}
