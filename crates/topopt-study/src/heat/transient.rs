//! Heat in time, by the theta scheme.

use topopt_case::config::Transient;
use topopt_case::finding::InputError;
use topopt_fem::{Diffusion, Timeline};

use super::balance::Stored;
use super::found::HeatCase;
use super::march::TimeSteps;
use super::restart::{Account, Restart};
use super::steps::Steps;
use crate::analysis::{Analysis, Request, made_ready, write_case};
use crate::failure::Failure;
use crate::output_folder::Earlier;
use crate::result_files::ANALYSIS_FIELDS;
use crate::solved::{Conditions, Part};

impl Part<'_, Diffusion, 1> {
    /// Steps in time, and their files.
    pub(super) fn in_time(
        &self,
        keys: (&Transient, &Timeline),
        request: &Request,
        conditions: Conditions,
    ) -> Result<Analysis<HeatCase>, Failure> {
        let steps = Steps::of(self, keys, conditions)?;
        let restart = Restart::of(&steps).map_err(InputError::from)?;
        let resumed = match request.earlier() {
            Earlier::Continue => Some(restart.find(&steps).map_err(InputError::from)?),
            _ => None,
        };
        let directory = self.config.output_directory();
        let last = resumed.as_ref().map(|resumed| resumed.reached.step);
        let _lock = made_ready(self.config, request, last).map_err(InputError::from)?;
        write_case(self.config)?;
        let notes = resumed.iter().flat_map(|resumed| resumed.notes.clone()).collect();
        let went = conditions.place.visit(TimeSteps { steps: &steps, restart, resumed })?;
        steps.fields.write(&directory.join(ANALYSIS_FIELDS), &self.fields(&[&went.state]))?;

        let stored = Stored { rates: &went.rates, time: went.middle_time };
        let mut found = self.found(0, &went.middle, None, Some(stored));
        found.coldest = self.extreme(&went.state, f64::lt);
        found.hottest = self.extreme(&went.state, f64::gt);
        let Account { iterations, residual, seconds, .. } = went.account;
        let numbers = (went.means, iterations, residual, seconds);
        let analysis = Analysis::new(self, conditions.place, vec![found], numbers);
        Ok(Analysis { transient: Some(went.in_time), notes, ..analysis })
    }
}
