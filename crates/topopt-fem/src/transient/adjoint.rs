//! The discrete adjoint of the theta scheme.

use topopt_linalg::{Backend, BackendError, PcgOutcome, Space, StopReason};

use super::{StepSolver, ThetaScheme, store};

/// The adjoint of [`ThetaScheme`](super::ThetaScheme), from the last step to the first.
///
/// For J(u_1, ..., u_N) let mu_n be the derivative of J by u_n when later states follow from it,
/// and g_n that by u_n alone. The step from u_0 to u_1 = w / theta + (1 - 1 / theta) u_0 with A = C
/// / (theta dt) + K and A w = C u_0 / (theta dt) + f gives
///
/// ```text
/// A eta = mu_1 / theta
/// mu_0 = g_0 + (1 - 1 / theta) mu_1 + C eta / (theta dt)
/// dJ = ... + eta . (df - dK w - dC (u_1 - u_0) / dt)
/// ```
///
/// as (u_0 - w) / (theta dt) = -(u_1 - u_0) / dt. It is the derivative of what was computed, and no
/// discretization of another equation.
pub struct AdjointSteps<B: Backend> {
    theta: f64,
    /// mu at the time that the steps have come to, 0 at held nodes.
    derivative: B::Vector,
    /// eta of the last step; the next solve starts from it.
    eta: B::Vector,
    right: B::Vector,
}

impl<B: Backend> AdjointSteps<B> {
    /// The adjoint of steps with `theta`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, nodes: Space, theta: f64) -> Result<Self, BackendError> {
        let zeros = || backend.zeros(nodes);
        Ok(Self { theta, derivative: zeros()?, eta: zeros()?, right: zeros()? })
    }

    /// Begins at the end.
    pub fn start(&mut self, backend: &B) {
        backend.fill(0.0, &mut self.derivative);
        backend.fill(0.0, &mut self.eta);
    }

    /// Adds g_n = `slope`, `[n_nodes]` and 0 at held nodes, at the time that the steps have come to.
    pub fn add(&mut self, backend: &B, slope: &B::Vector) {
        backend.axpby(1.0, slope, 1.0, &mut self.derivative);
    }

    /// A step back of `scheme`, of length `dt`. The operator of `solver` has the coefficients for it.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails. Where the solve does not converge, nothing follows.
    pub fn step(
        &mut self,
        solver: &mut StepSolver<B>,
        scheme: &ThetaScheme<B>,
        dt: f64,
    ) -> Result<PcgOutcome, BackendError> {
        let (backend, theta) = (solver.backend, self.theta);
        backend.axpby(1.0 / theta, &self.derivative, 0.0, &mut self.right);
        let outcome = solver.solve(&self.right, &mut self.eta)?;
        if outcome.reason == StopReason::Converged {
            store(solver, &scheme.capacity, &self.eta, &mut self.right);
            let (own, of_eta) = (1.0 - 1.0 / theta, 1.0 / (theta * dt));
            backend.axpby(of_eta, &self.right, own, &mut self.derivative);
            if solver.storage.is_some() {
                backend.copy(&self.derivative, &mut self.right);
                backend.multiply(&scheme.is_free, &self.right, &mut self.derivative);
            }
        }
        Ok(outcome)
    }

    /// eta of the last step, `[n_nodes]`, 0 at held nodes.
    pub fn eta(&self) -> &B::Vector {
        &self.eta
    }
}
