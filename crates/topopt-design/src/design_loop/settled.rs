//! A density in place of that of the design evaluated last.

use topopt_linalg::{BackendError, Monitor, Pointwise};

use super::{Optimization, Step};
use crate::{DesignError, IterationReport, SolveError, StepTimes};

impl<B: Pointwise + Sync> Optimization<'_, B> {
    /// Whether states are those of a thinner design than the one that is built, which
    /// [`Optimization::settle`] solves.
    pub fn solves_thinner(&self) -> bool {
        !std::ptr::eq(self.evaluator.densities.solved(), &self.evaluator.densities.built)
    }

    /// Density of the thinner design evaluated last, `[n_elements]`, where states are those of one;
    /// of several ranks all ask, and the first one gets it.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn thinner(&self) -> Result<Option<Vec<f64>>, BackendError> {
        let backend = self.evaluator.equation.backend();
        let thinner = self.solves_thinner().then(|| self.evaluator.densities.solved());
        thinner.map(|density| backend.download(density)).transpose()
    }

    /// Evaluates the physical `density`, `[n_elements]`, in the iteration and with the settings of
    /// the design evaluated last; [`Optimization::design`] then has its fields, with the variables
    /// of that design. None, and nothing changes, if its solve does not converge or `monitor` ends
    /// it.
    ///
    /// # Errors
    /// [`DesignError`] if the device fails.
    pub fn settle(
        &mut self,
        density: &[f64],
        monitor: &mut Monitor,
    ) -> Result<Option<IterationReport>, DesignError> {
        let solved = self.evaluator.assemble_density(density).and_then(|()| {
            let tolerance = self.evaluator.equation.tolerance();
            self.evaluator.solve(tolerance, monitor)
        });
        let effort = self.evaluator.equation.follow_slow_solves()?;
        match solved {
            Ok(()) => {}
            Err(SolveError::Backend(error)) => return Err(error.into()),
            Err(_) => return Ok(None),
        }

        self.evaluator.accept();
        self.evaluator.evaluate(&mut self.functions)?;
        let material = self.evaluator.material()?;
        let step = Step { change: 0.0, kkt_residual: self.history.kkt_residual, ended: None };
        Ok(Some(self.report(&step, material, effort, StepTimes::default())))
    }
}
