//! Stages of the continuation in the loop.

use topopt_linalg::Pointwise;

use super::Optimization;
use crate::halt::Halt;
use crate::{Settings, Stage};

impl<B: Pointwise + Sync> Optimization<'_, B> {
    /// Sets what `settings` have from the next design but one on.
    pub(super) fn change(&mut self, settings: &Settings) {
        let stage = Stage::of(settings, self.iteration + 2);
        let place = self.stages.partition_point(|other| other.from <= stage.from);
        self.stages.insert(place, stage);
    }

    /// Applies the settings of the stage of `iteration`.
    pub(super) fn enter(&mut self, iteration: usize) -> Result<(), Halt> {
        if !self.stages.is_empty() {
            self.settings = Settings::at(&self.stages, iteration);
            let entered = self.evaluator.enter(&self.settings);
            entered.map_err(|error| Halt::by(error.into(), iteration))?;
        }
        // Without stages as well: of thinner designs an iteration brings them nearer.
        self.functions.set_limits(self.evaluator.limits(&self.settings));
        Ok(())
    }
}
