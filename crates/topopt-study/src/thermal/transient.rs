//! Heat in time, by the theta scheme.

use topopt_case::config::Transient;
use topopt_case::finding::InputError;
use topopt_fem::Timeline;

use super::balance::Stored;
use super::found::ThermalAnalysis;
use super::march::TimeSteps;
use super::part::Part;
use super::restart::Restart;
use super::steps::Steps;
use crate::analysis::{Request, made_ready};
use crate::failure::Failure;
use crate::output_folder::Earlier;
use crate::result_files::ANALYSIS_FIELDS;
use crate::solved::Conditions;

impl Part<'_> {
    /// Steps in time, and their files.
    pub(super) fn in_time(
        &self,
        keys: (&Transient, &Timeline),
        request: &Request,
        conditions: Conditions,
    ) -> Result<ThermalAnalysis, Failure> {
        let steps = Steps::of(self, keys, conditions)?;
        let restart = Restart::of(&steps).map_err(InputError::from)?;
        let resumed = match request.earlier {
            Earlier::Continue => Some(restart.find(&steps).map_err(InputError::from)?),
            _ => None,
        };
        let directory = self.config.output_directory();
        let last = resumed.as_ref().map(|resumed| resumed.reached.step);
        let _lock = made_ready(self.config, request, last).map_err(InputError::from)?;
        self.write_case()?;
        let notes = resumed.iter().flat_map(|resumed| resumed.notes.clone()).collect();
        let went = conditions.place.visit(TimeSteps { steps: &steps, restart, resumed })?;
        steps.fields.write(&directory.join(ANALYSIS_FIELDS), &[&went.state])?;

        let stored = Stored { rates: &went.rates, time: went.middle_time };
        let mut found = self.found(0, &went.middle, None, Some(stored));
        found.coldest = self.extreme(&went.state, f64::lt);
        found.hottest = self.extreme(&went.state, f64::gt);
        Ok(ThermalAnalysis {
            load_cases: vec![found],
            transient: Some(went.in_time),
            notes,
            strategy: went.means.strategy,
            preconditioner: went.means.preconditioner,
            pcg_iterations: went.account.iterations,
            pcg_residual: went.account.residual,
            seconds: went.account.seconds,
            ..self.unsolved(conditions.place)
        })
    }
}
