//! Responses that are a function of states, by adjoint states.

use serde::{Deserialize, Serialize};
use topopt_linalg::{Backend, BackendError, Monitor, Pointwise, Space};

use crate::{Dependence, Evaluated, Moment, Response, SolveError, StateFunction};

/// A function of the steady state of a load case.
pub struct OfState<F, B: Backend> {
    name: String,
    case: usize,
    function: F,
    /// u, or the adjoint state, and dg/du, `[n_nodes][n]`.
    state: B::Vector,
    slope: B::Vector,
}

impl<F: StateFunction<B>, B: Pointwise> OfState<F, B> {
    /// `function` in load case `case`, with states on `nodes`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        nodes: Space,
        (name, case): (String, usize),
        function: F,
    ) -> Result<Self, BackendError> {
        let (state, slope) = (backend.zeros(nodes)?, backend.zeros(nodes)?);
        Ok(Self { name, case, function, state, slope })
    }
}

impl<F: StateFunction<B>, B: Pointwise + Sync> Response<B> for OfState<F, B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dependence(&self) -> Dependence {
        Dependence::States
    }

    fn zero(&self) -> f64 {
        self.function.zero()
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        at.equation.total_state(self.case, &mut self.state)?;
        self.function.value(&at.equation.steady(self.case, &self.state))
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        let Self { name, case, function, state, slope } = self;
        at.equation.total_state(*case, state)?;
        function.slope(&at.equation.steady(*case, state), slope)?;
        at.equation.solve_adjoint([at.response, *case], name, slope, state, monitor)?;
        at.backend.fill(0.0, gradient);
        Ok(at.equation.add_adjoint_gradient(*case, state, at.density, gradient)?)
    }
}

/// When a function of the states of a history counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// At the end.
    End,
    /// Mean over time.
    Mean,
}

/// A function of the states of a history.
pub struct OfHistory<F> {
    name: String,
    when: When,
    function: F,
    /// Value for the history that was stepped through last.
    value: f64,
}

impl<F> OfHistory<F> {
    /// `function` at the end or as a mean over time.
    pub fn new(name: String, when: When, function: F) -> Self {
        Self { name, when, function, value: 0.0 }
    }
}

impl When {
    /// Weight of a state in the value.
    fn share<B: Pointwise>(self, at: &Moment<B>) -> f64 {
        match self {
            Self::End => f64::from(at.is_last),
            Self::Mean => at.share,
        }
    }
}

impl<F: StateFunction<B>, B: Pointwise + Sync> Response<B> for OfHistory<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dependence(&self) -> Dependence {
        Dependence::States
    }

    fn zero(&self) -> f64 {
        self.function.zero()
    }

    fn observe(&mut self, at: &Moment<B>) -> Result<(), BackendError> {
        if at.is_first {
            self.value = 0.0;
        }
        let share = self.when.share(at);
        if share > 0.0 {
            self.value += share * self.function.value(at)?;
        }
        Ok(())
    }

    fn value(&mut self, _: &mut Evaluated<B>) -> Result<f64, BackendError> {
        Ok(self.value)
    }

    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        let Self { name, when, function, .. } = self;
        let mut slope = |moment: &Moment<B>, out: &mut B::Vector| {
            weighted_slope(function, when.share(moment), moment, out)
        };
        at.equation.gradient_in_time(name, &mut slope, at.density, monitor, gradient)
    }
}

/// Writes `share` times the slope of `function` to `out`.
fn weighted_slope<F: StateFunction<B>, B: Pointwise>(
    function: &mut F,
    share: f64,
    at: &Moment<B>,
    out: &mut B::Vector,
) -> Result<(), BackendError> {
    if share == 0.0 {
        at.backend.fill(0.0, out);
        return Ok(());
    }
    function.slope(at, out)?;
    if share != 1.0 {
        at.backend.axpby(0.0, at.state, share, out);
    }
    Ok(())
}
