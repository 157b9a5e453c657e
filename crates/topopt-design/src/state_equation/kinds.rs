//! Kinds of equations besides a steady one from zero: with loose solves, from another state, in
//! time, under forces of a caller.

use std::sync::Arc;

use topopt_analysis::{Bare, History, HostMap};
use topopt_fem::{ProblemView, Timeline};
use topopt_linalg::{BackendError, Pointwise};

use super::StateEquation;
use crate::Candidates;

impl<'a, B: Pointwise + Sync> StateEquation<'a, B> {
    /// Loosens solves up to `loose` while the design is not final, see
    /// [`Accuracy`](crate::Accuracy), and accepts those that come to `enough` when their iterations
    /// run out, as with thin hinges.
    #[must_use]
    pub fn loosened(mut self, loose: f64, enough: f64) -> Self {
        self.accuracy.loose = loose;
        self.linear.accept_short(enough);
        self
    }

    /// Counts steady states of `problem` from `zero`, see
    /// [`Linear::count_from`](topopt_analysis::Linear::count_from).
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn counted_from(
        mut self,
        problem: &dyn ProblemView,
        zero: f64,
    ) -> Result<Self, BackendError> {
        self.linear.count_from(problem, zero)?;
        self.states = self.linear.start()?;
        Ok(self)
    }

    /// Lets elements be of `candidates`, lighter than the solid. Thermal strains are those of the
    /// solid.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn with_candidates(
        mut self,
        problem: &dyn ProblemView,
        candidates: &Candidates,
    ) -> Result<Self, BackendError> {
        self.moduli_of.with_candidates(self.linear.backend(), problem, candidates)?;
        Ok(self)
    }

    /// Turns a steady equation into one in time: the states are those of the steps of `timeline`,
    /// with a capacity in proportion to the density as second term. `bare` are the operators
    /// without held nodes and springs, and `problem` says what is held.
    ///
    /// Solves are always tight: each starts from the state before it, and a loose one would move
    /// all that follow.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn in_time(
        mut self,
        timeline: &'a Timeline,
        bare: Bare<'a, B>,
        problem: &dyn ProblemView,
    ) -> Result<Self, BackendError> {
        self.history = Some(Box::new(History::new(self.backend(), timeline, bare, problem)?));
        Ok(self)
    }

    /// Adds forces of the caller's to load case `case`: `map` makes them of the physical density,
    /// `[n_nodes][n]`, 0 at held components. Not for free parts, nor in time.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn add_own_forces(
        &mut self,
        case: usize,
        map: Arc<dyn HostMap>,
    ) -> Result<(), BackendError> {
        let backend = self.backend();
        self.linear.loads_mut().add_own(backend, case, map)
    }
}
