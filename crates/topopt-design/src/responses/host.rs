//! A response that a caller computes by itself, from values on the host.

use std::sync::Arc;

use topopt_linalg::{Backend, BackendError, Monitor, Pointwise, Space};

use crate::{Dependence, Evaluated, Response, SolveError};

/// A function of the physical density and of the states of all load cases.
pub trait HostFunction: Send + Sync {
    /// Computes value and gradient at a density, `[n_elements]`, and states, `[n_cases]` of
    /// `[n_nodes][n]`.
    ///
    /// # Errors
    /// [`BackendError`] if it cannot be computed.
    fn evaluate(&self, density: &[f64], states: &[Vec<f64>]) -> Result<HostValue, BackendError>;
}

/// Value of a function with its partial derivatives.
#[derive(Debug, Clone, Default)]
pub struct HostValue {
    /// The value.
    pub value: f64,
    /// Derivatives by the density, `[n_elements]`.
    pub by_density: Vec<f64>,
    /// Derivatives by the states, `[n_cases]` of `[n_nodes][n]`, 0 at held components; an empty one
    /// is 0.
    pub by_states: Vec<Vec<f64>>,
}

/// A function on the host as a response.
pub struct HostResponse<B: Backend> {
    name: String,
    function: Arc<dyn HostFunction>,
    n_cases: usize,
    /// Value and derivatives at the design evaluated last.
    found: HostValue,
    /// u, or the adjoint state, `[n_nodes][n]`.
    state: B::Vector,
}

impl<B: Pointwise> HostResponse<B> {
    /// `function` of the states of `n_cases` load cases on `nodes`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        nodes: Space,
        (name, n_cases): (String, usize),
        function: Arc<dyn HostFunction>,
    ) -> Result<Self, BackendError> {
        let (found, state) = (HostValue::default(), backend.zeros(nodes)?);
        Ok(Self { name, function, n_cases, found, state })
    }
}

impl<B: Pointwise + Sync> Response<B> for HostResponse<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dependence(&self) -> Dependence {
        Dependence::States
    }

    fn value(&mut self, at: &mut Evaluated<B>) -> Result<f64, BackendError> {
        // A backend that counts memory has no values to give away.
        if !at.backend.has_values() {
            return Ok(0.0);
        }
        let mut states = Vec::new();
        for case in 0..self.n_cases {
            at.equation.total_state(case, &mut self.state)?;
            states.push(at.backend.download(&self.state)?);
        }
        self.found = self.function.evaluate(&at.backend.download(at.density)?, &states)?;
        Ok(self.found.value)
    }

    /// dg/dx = the partial derivative, and through each state its adjoint. A backend that counts
    /// memory has adjoints in all load cases.
    fn gradient(
        &mut self,
        at: &mut Evaluated<B>,
        monitor: &mut Monitor,
        gradient: &mut B::Vector,
    ) -> Result<(), SolveError> {
        at.backend.fill(0.0, gradient);
        if !at.backend.has_values() {
            self.found.by_states = vec![Vec::new(); self.n_cases];
        }
        let elements = Space::elements(self.found.by_density.len());
        at.backend.copy(&at.backend.upload(&self.found.by_density, elements)?, gradient);
        for (case, slope) in self.found.by_states.iter().enumerate() {
            if at.backend.has_values() && slope.iter().all(|slope| *slope == 0.0) {
                continue;
            }
            let slope = at.backend.upload(slope, at.equation.nodes())?;
            let of = [at.response, case];
            at.equation.solve_adjoint(of, &self.name, &slope, &mut self.state, monitor)?;
            at.equation.add_adjoint_gradient(case, &self.state, at.density, gradient)?;
        }
        Ok(())
    }
}
