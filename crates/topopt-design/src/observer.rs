//! `Observer` of the design loop, and the reports that it receives.

use std::ops::ControlFlow;
use std::time::Duration;

use topopt_linalg::{BackendError, PcgProgress, Pointwise};

use crate::equations::Equations;
use crate::optimizer::memory_of;
use crate::{DesignState, Optimizer, Settings};

/// An error of an observer, such as a file that cannot be written.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

/// Receives every iteration; may look at the design and may ask to stop.
pub trait Observer<B: Pointwise> {
    /// Called at every stop test of a solve, adjoint ones included. A break ends the run; the last
    /// evaluated design stays.
    fn solving(&mut self, _iteration: usize, _progress: PcgProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called when a design has been evaluated.
    ///
    /// # Errors
    /// Any error ends the run.
    fn evaluated(
        &mut self,
        _report: &IterationReport,
        _design: &Design<'_, '_, B>,
    ) -> Result<(), ObserverError> {
        Ok(())
    }

    /// Settings that the run is to have from the next design but one on, asked for after each
    /// evaluated design: the next one is there by then. Several ranks answer alike.
    fn change(&mut self) -> Option<Settings> {
        None
    }
}

/// Numbers of one iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct IterationReport {
    /// Iteration, from 1.
    pub iteration: usize,
    /// Number of stages of the continuation that have begun.
    pub stage: usize,
    /// The objective, such as the compliance (force times length); the worst of several responses.
    pub objective: f64,
    /// The response of every constraint.
    pub constraints: Vec<f64>,
    /// The compliances of the load cases, summed with their weights (force times length).
    pub compliance: f64,
    /// Share of the design elements' volume that material takes.
    pub volume_fraction: f64,
    /// Measure of non-discreteness of the design elements, from 0 to 1.
    pub grey_level: f64,
    /// Largest change of a design variable from this design to the next.
    pub change: f64,
    /// How far the design is from meeting the conditions of Karush, Kuhn and Tucker with the
    /// multipliers that the next design was found with: what the Lagrangian could still fall by
    /// between the bounds of the variables, and the multipliers times the distances from the
    /// limits, both to first order and as a share of what the objective changes by between the
    /// bounds. 0 at an optimum; 1 at most, as where no next design was found.
    pub kkt_residual: f64,
    /// Iterations of conjugate gradients, summed over load cases.
    pub pcg_iterations: usize,
    /// Products with the operator in the precision of the backend, summed over load cases.
    pub pcg_products: usize,
    /// Number of slow solves during which the preconditioner was made stronger.
    pub strengthened: usize,
    /// Number of solves that ended short of their tolerance, and were accepted.
    pub short_solves: usize,
    /// Largest relative residual over load cases.
    pub pcg_residual: f64,
    /// Wall time of the steps.
    pub times: StepTimes,
}

/// Wall time of the steps of an iteration [Ratnakar2022, Fig. 3.16].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepTimes {
    /// Moduli, and the preconditioner's following them.
    pub setup: Duration,
    /// Conjugate gradients.
    pub pcg: Duration,
    /// Responses and their gradients by the physical density.
    pub sensitivity: Duration,
    /// Filter of sensitivities, and their way back through the density's transform.
    pub filter: Duration,
    /// The optimizer.
    pub update: Duration,
}

/// An evaluated design: densities, and what the solve gave for them. Fields stay on the backend
/// until asked for; of several ranks all ask, and the first one gets them.
pub struct Design<'s, 'a, B: Pointwise> {
    pub(crate) iteration: usize,
    pub(crate) previous_objective: Option<f64>,
    pub(crate) kkt_residual: f64,
    pub(crate) equation: &'s Equations<'a, B>,
    pub(crate) design: &'s B::Vector,
    pub(crate) next: Option<&'s B::Vector>,
    pub(crate) density: &'s B::Vector,
    pub(crate) optimizer: &'s (dyn Optimizer<B> + 'a),
}

/// Fields of an evaluated design on the host.
pub struct DesignFields {
    /// See [`Design::density`].
    pub density: Vec<f64>,
    /// See [`Design::moduli`].
    pub moduli: Vec<f64>,
    /// See [`Design::strain_energy`].
    pub energy: Vec<f64>,
    /// See [`Design::displacement`], by load case.
    pub displacements: Vec<Vec<f64>>,
}

impl<B: Pointwise> Design<'_, '_, B> {
    /// All its fields; none on ranks after the first, which have to ask as well.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn fields(&self) -> Result<Option<DesignFields>, BackendError> {
        let cases = 0..self.equation.n_cases();
        let fields = DesignFields {
            density: self.density()?,
            moduli: self.moduli()?,
            energy: self.strain_energy()?,
            displacements: cases.map(|case| self.displacement(case)).collect::<Result<_, _>>()?,
        };
        Ok(self.equation.backend().has_values().then_some(fields))
    }

    /// Downloads the state from which a run can be resumed here.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn state(&self) -> Result<DesignState, BackendError> {
        let download = |x: &B::Vector| self.equation.backend().download(x);
        Ok(DesignState {
            iteration: self.iteration,
            previous_objective: self.previous_objective,
            kkt_residual: self.kkt_residual,
            tolerance: Some(self.equation.tolerance()),
            design: download(self.design)?,
            next: self.next.map(download).transpose()?,
            memory: memory_of(self.equation.backend(), self.optimizer)?,
            displacements: self.equation.download_states()?,
            trial: self.equation.download_trial()?,
            adjoints: self.equation.download_adjoints()?,
            structure: self.equation.structure().clone(),
            thicker: self.equation.structure_of_thicker().cloned(),
        })
    }

    /// Densities, `[n_elements]`.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn density(&self) -> Result<Vec<f64>, BackendError> {
        self.equation.backend().download(self.density)
    }

    /// Displacements of load case `case`, prescribed ones included, `[n_nodes][3]`.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn displacement(&self, case: usize) -> Result<Vec<f64>, BackendError> {
        self.equation.displacement(case)
    }

    /// Young's moduli (force per area), or conductivities, `[n_elements]`.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn moduli(&self) -> Result<Vec<f64>, BackendError> {
        self.equation.moduli()
    }

    /// Strain energy of every element, E_e u_e^T K_e u_e / 2 summed over load cases with their
    /// weights, `[n_elements]` (force times length).
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn strain_energy(&self) -> Result<Vec<f64>, BackendError> {
        self.equation.strain_energy()
    }
}
