//! Settings that change in the course of a run.

use serde::{Deserialize, Serialize};

/// Settings that change from an iteration on; `None` leaves a setting unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stage {
    /// Iteration, from 1, in which the stage begins.
    pub from: usize,
    /// Penalty of SIMP.
    pub penalty: Option<Course>,
    /// Radius of the filter (length).
    pub filter_radius: Option<Course>,
    /// Sharpness of the projection.
    pub sharpness: Option<Course>,
    /// Half width of the projection in widths of an element, in place of a sharpness.
    pub half_width: Option<Course>,
    /// Limits of material as multiples of those at the end.
    pub excess: Option<Course>,
    /// Relative residual at which a solve stops.
    pub tolerance: Option<Course>,
    /// Largest change of a design variable.
    pub move_limit: Option<Course>,
    /// Number of the optimizer among those of the run.
    pub optimizer: Option<usize>,
    /// Whether derivatives leave out that of the interface's width.
    pub is_frozen: Option<bool>,
}

/// Value in the course of a stage, > 0: from `start` to `end` by equal factors in `over`
/// iterations, then `end`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Value in the first iteration.
    pub start: f64,
    /// Value after `over` iterations and from then on.
    pub end: f64,
    /// Number of iterations.
    pub over: usize,
}

/// Settings in force in an iteration; `None` for those that no stage has set.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Settings {
    /// Iteration in which the stage in force began, 0 before the first.
    pub from: usize,
    /// Penalty of SIMP.
    pub penalty: Option<f64>,
    /// Radius of the filter (length).
    pub filter_radius: Option<f64>,
    /// Sharpness of the projection.
    pub sharpness: Option<f64>,
    /// Half width of the projection in widths of an element.
    pub half_width: Option<f64>,
    /// Limits of material as multiples of those at the end.
    pub excess: Option<f64>,
    /// Relative residual at which a solve stops.
    pub tolerance: Option<f64>,
    /// Largest change of a design variable.
    pub move_limit: Option<f64>,
    /// Number of the optimizer among those of the run.
    pub optimizer: Option<usize>,
    /// Whether derivatives leave out that of the interface's width.
    pub is_frozen: bool,
}

impl Course {
    /// A value that stays the same.
    pub fn constant(value: f64) -> Self {
        Self { start: value, end: value, over: 0 }
    }

    /// The value `step` iterations after the first.
    pub fn at(&self, step: usize) -> f64 {
        if step >= self.over {
            return self.end;
        }
        self.start * (self.end / self.start).powf(step as f64 / self.over as f64)
    }
}

impl Stage {
    /// The stage that sets what `settings` have from an iteration on.
    pub(crate) fn of(settings: &Settings, from: usize) -> Self {
        let constant = |value: Option<f64>| value.map(Course::constant);
        Self {
            from,
            penalty: constant(settings.penalty),
            filter_radius: constant(settings.filter_radius),
            sharpness: constant(settings.sharpness),
            half_width: constant(settings.half_width),
            excess: constant(settings.excess),
            tolerance: constant(settings.tolerance),
            move_limit: constant(settings.move_limit),
            optimizer: settings.optimizer,
            is_frozen: None,
        }
    }

    /// Iteration from which the stage changes nothing.
    pub fn settles(&self) -> usize {
        let Self { penalty, filter_radius, sharpness, half_width, excess, .. } = self;
        let Self { tolerance, move_limit, .. } = self;
        let courses =
            [penalty, filter_radius, sharpness, half_width, excess, tolerance, move_limit];
        let longest = courses.into_iter().flatten().map(|course| course.over).max();
        self.from + longest.unwrap_or(0)
    }
}

impl Settings {
    /// Finds the settings in an iteration of a run with these `stages`: for each the value of the
    /// latest stage that sets it. They depend on the iteration alone, so that a run may begin
    /// anywhere.
    pub(crate) fn at(stages: &[Stage], iteration: usize) -> Self {
        let begun = stages.iter().take_while(|stage| stage.from <= iteration);
        begun.fold(Self::default(), |before, stage| {
            let at =
                |course: Option<Course>| course.map(|course| course.at(iteration - stage.from));
            Self {
                from: stage.from,
                penalty: at(stage.penalty).or(before.penalty),
                filter_radius: at(stage.filter_radius).or(before.filter_radius),
                sharpness: at(stage.sharpness).or(before.sharpness),
                half_width: at(stage.half_width).or(before.half_width),
                excess: at(stage.excess).or(before.excess),
                tolerance: at(stage.tolerance).or(before.tolerance),
                move_limit: at(stage.move_limit).or(before.move_limit),
                optimizer: stage.optimizer.or(before.optimizer),
                is_frozen: stage.is_frozen.unwrap_or(before.is_frozen),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_a_later_stage_changes_it() {
        let constant = |value| Some(Course::constant(value));
        let stages = [
            Stage { from: 5, penalty: constant(2.0), ..Stage::default() },
            Stage { from: 9, penalty: constant(3.0), sharpness: constant(4.0), ..Stage::default() },
            Stage { from: 12, sharpness: constant(8.0), optimizer: Some(1), ..Stage::default() },
        ];
        let at = |iteration| Settings::at(&stages, iteration);
        assert_eq!(at(4), Settings::default());
        let first = Settings { from: 5, penalty: Some(2.0), ..Settings::default() };
        assert_eq!([at(5), at(8)], [first; 2]);
        let second = Settings { from: 9, penalty: Some(3.0), sharpness: Some(4.0), ..first };
        assert_eq!([at(9), at(11)], [second; 2]);
        assert_eq!(
            at(12),
            Settings { from: 12, sharpness: Some(8.0), optimizer: Some(1), ..second }
        );
        assert_eq!(at(900), at(12));
    }

    #[test]
    fn a_course_goes_by_equal_factors_and_stays_at_its_end() {
        let course = Course { start: 8.0, end: 1.0, over: 3 };
        let stage = Stage { from: 10, half_width: Some(course), ..Stage::default() };
        let found = |iteration| Settings::at(&[stage], iteration).half_width.unwrap();
        for (iteration, value) in [(10, 8.0), (11, 4.0), (12, 2.0), (13, 1.0), (40, 1.0)] {
            assert!((found(iteration) - value).abs() < 1e-14);
        }
    }
}
