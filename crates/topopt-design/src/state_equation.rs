//! The states of a design, K(E(x̄)) u = f(x̄) for every load case.

mod adjoint;
mod kinds;
mod moduli;

use std::collections::BTreeMap;

use topopt_analysis::{Effort, History, Linear, Observe, Solver};
use topopt_fem::ProblemView;
use topopt_linalg::{BackendError, Monitor, Pointwise, Space};

use self::moduli::Moduli;
use crate::void_elements::{CHANGED, CHANGED_BY_STAGE, StructureState};
use crate::{Accuracy, AdjointState, DesignState, Interpolation, Settings, SolveError};

/// The state equation of a problem, such as a structure, with the states of the last evaluated
/// design and of a trial.
///
/// A trial is assembled, solved and, where all its solves have converged, accepted: it then is the
/// design evaluated last.
pub struct StateEquation<'a, B: Pointwise> {
    elements: Space,
    moduli_of: Moduli<B>,
    /// Equation whose operator has the moduli of the trial.
    linear: Linear<'a, B>,
    accuracy: Accuracy,
    moduli: B::Vector,
    trial_moduli: B::Vector,
    /// Further parts of an equation that is solved by steps in time.
    history: Option<Box<History<'a, B>>>,
    /// Displacements except for prescribed ones, one vector per load case; in time the state at the
    /// end.
    states: Vec<B::Vector>,
    trial_states: Vec<B::Vector>,
    /// Whether the trial states are those of a design near the next one.
    has_trial: bool,
    /// Energies at unit modulus, `[n_elements]`, see [`topopt_analysis::Loads::energies`].
    energies: B::Vector,
    /// Compliances of the load cases of the design evaluated last; empty until asked for.
    compliances: Vec<f64>,
    structure: StructureState,
    /// Made by the first adjoint solve.
    adjoint: Option<AdjointVectors<B>>,
    /// Adjoint states that the next adjoint solves start from, `[n_nodes][n]`, by response and load
    /// case; each is made by the first solve for it.
    adjoint_starts: BTreeMap<[usize; 2], B::Vector>,
}

/// Part of a checkpoint that belongs to one equation.
pub(crate) struct Restored<'s> {
    /// All of it.
    pub state: &'s DesignState,
    /// State of the structure of the preconditioner.
    pub structure: &'s StructureState,
    /// States of its load cases, or more, `[n_nodes][n]` each.
    pub displacements: &'s [Vec<f64>],
    /// States of the trial, alike.
    pub trial: &'s [Vec<f64>],
    /// Adjoint states of its responses.
    pub adjoints: Vec<&'s AdjointState>,
}

/// Vectors that adjoint gradients are made with.
struct AdjointVectors<B: Pointwise> {
    /// u of a load case, prescribed values included, `[n_nodes][n]`.
    state: B::Vector,
    /// lambda_e^T K_e u_e at unit modulus, `[n_elements]`.
    work: B::Vector,
    slope: B::Vector,
    product: B::Vector,
}

impl<'a, B: Pointwise + Sync> StateEquation<'a, B> {
    /// The equation of `problem`, with moduli by `interpolation`; all solves are as exact as
    /// `solver` says.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &'a B,
        problem: &dyn ProblemView,
        interpolation: Interpolation,
        solver: Solver<'a, B>,
    ) -> Result<Self, BackendError> {
        let elements = problem.elements();
        let element = || backend.zeros(elements);
        let accuracy = Accuracy::fixed(solver.tolerance);
        let linear = Linear::new(backend, problem, solver)?;

        Ok(Self {
            elements,
            moduli_of: Moduli::new(backend, problem, interpolation)?,
            accuracy,
            moduli: element()?,
            trial_moduli: element()?,
            history: None,
            states: linear.start()?,
            trial_states: linear.start()?,
            linear,
            has_trial: false,
            energies: element()?,
            compliances: Vec::new(),
            structure: StructureState::default(),
            adjoint: None,
            adjoint_starts: BTreeMap::new(),
        })
    }

    /// Whether it is in time.
    pub(crate) fn is_in_time(&self) -> bool {
        self.history.is_some()
    }

    /// The space of states.
    pub fn nodes(&self) -> Space {
        self.linear.nodes()
    }

    /// The state of load case `case`, `[n_nodes][n]`: displacements, zero at held components.
    pub fn state(&self, case: usize) -> &B::Vector {
        &self.states[case]
    }

    /// Takes penalty and tolerance in `settings`.
    pub(crate) fn enter(&mut self, settings: &Settings) {
        self.moduli_of.enter(settings);
        self.accuracy = settings.tolerance.map_or(self.accuracy, Accuracy::fixed);
    }

    /// Takes over a part of a checkpoint.
    pub(crate) fn restore(&mut self, from: &Restored) -> Result<(), BackendError> {
        let (backend, nodes) = (self.backend(), self.nodes());
        let Restored { state, structure, displacements, trial, adjoints } = from;
        self.linear.set_tolerance(state.tolerance.unwrap_or(self.accuracy.tight));
        for (u, values) in self.states.iter_mut().zip(*displacements) {
            *u = backend.upload(values, nodes)?;
        }
        for (u, values) in self.trial_states.iter_mut().zip(*trial) {
            *u = backend.upload(values, nodes)?;
        }
        for AdjointState { of, values } in adjoints {
            self.adjoint_starts.insert(*of, backend.upload(values, nodes)?);
        }
        self.has_trial = !trial.is_empty() && state.next.is_some();
        self.structure = (*structure).clone();
        if !self.structure.void.is_empty() {
            self.linear.restructure(&self.structure.void)?;
        }
        Ok(())
    }

    /// Begins a trial of `density`: moduli, stiffness and loads. `scratch` is overwritten.
    pub(crate) fn assemble(
        &mut self,
        density: &B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let backend = self.backend();
        let Self { moduli_of, linear, trial_moduli, history, .. } = self;
        moduli_of.find(backend, density, scratch, trial_moduli);
        linear.assemble(density, trial_moduli)?;
        if let Some(history) = history {
            history.assemble(linear, density, trial_moduli);
        }
        Ok(())
    }

    /// Updates the preconditioner for the trial, and its structure where a stage begins, which may
    /// change the whole design at once.
    pub(crate) fn update_preconditioner(&mut self, begins_stage: bool) -> Result<(), BackendError> {
        if begins_stage && self.linear.structure_cost().is_some() {
            self.restructure(self.backend().download(&self.trial_moduli)?, CHANGED_BY_STAGE)?;
        }
        self.linear.update_preconditioner(&self.trial_moduli)
    }

    /// Solves all load cases of the trial, from the states of the last trial since a design was
    /// accepted, else from those of that design. In time its states are shown to `observe`.
    pub(crate) fn solve(
        &mut self,
        tolerance: f64,
        monitor: &mut Monitor,
        observe: &mut Observe<B>,
    ) -> Result<(), SolveError> {
        let backend = self.backend();
        let Self { linear, trial_moduli, states, trial_states, history, has_trial, .. } = self;
        linear.set_tolerance(tolerance);
        if let Some(history) = history {
            return history.solve(linear, trial_moduli, &mut trial_states[0], monitor, observe);
        }
        if !std::mem::take(has_trial) {
            states.iter().zip(&mut *trial_states).for_each(|(u, trial)| backend.copy(u, trial));
        }
        linear.solve(trial_states, monitor)
    }

    /// Swaps the trial and the design evaluated last.
    pub(crate) fn accept(&mut self) {
        self.accept_restored();
        std::mem::swap(&mut self.states, &mut self.trial_states);
    }

    /// Swaps the same without the states, which were restored.
    pub(crate) fn accept_restored(&mut self) {
        std::mem::swap(&mut self.moduli, &mut self.trial_moduli);
        if let Some(history) = &mut self.history {
            history.accept();
        }
        self.compliances.clear();
    }

    /// Keeps the states of the solved trial as the start of the next solve.
    pub(crate) fn keep_trial(&mut self) {
        self.has_trial = true;
    }

    /// Finds the energies of the design evaluated last. `scratch` is overwritten.
    pub(crate) fn update_energies(&mut self, scratch: &mut B::Vector) -> Result<(), BackendError> {
        self.linear.energies(&self.states, scratch, &mut self.energies)
    }

    /// Makes the structure of the preconditioner for the design evaluated last, once slow solves
    /// have cost as much. Returns the effort of the solves since the last call.
    pub(crate) fn follow_slow_solves(&mut self) -> Result<Effort, BackendError> {
        let effort = self.linear.take_effort();
        if let Some(cost) = self.linear.structure_cost()
            && self.structure.is_due(effort.iterations, effort.solves, cost)
        {
            self.structure.excess = 0;
            self.restructure(self.backend().download(&self.moduli)?, CHANGED)?;
        }
        Ok(effort)
    }

    /// Forgets the effort of the solves since [`StateEquation::follow_slow_solves`].
    pub(crate) fn forget_effort(&mut self) {
        self.linear.take_effort();
    }

    /// Makes the structure for `moduli`, if more than the `share` of them have changed.
    fn restructure(&mut self, moduli: Vec<f64>, share: f64) -> Result<(), BackendError> {
        // Ranks without the moduli receive whether void elements have changed, and the new ones.
        let backend = self.backend();
        let void = if backend.has_values() { self.structure.changed(&moduli, share) } else { None };
        let is_changed = backend.decide(vec![f64::from(u8::from(void.is_some()))])?;
        if is_changed[0] > 0.0 {
            let void = void.into_iter().flatten().map(f64::from).collect();
            let void = backend.decide(void)?;
            let void: Vec<u32> = void.into_iter().map(|e| e as u32).collect();
            self.linear.restructure(&void)?;
            self.structure.void = void;
        }
        Ok(())
    }

    /// The tolerance of the next solve, see [`Accuracy::tolerance`].
    pub(crate) fn next_tolerance(
        &self,
        greyness: f64,
        before: Option<f64>,
        last: Option<f64>,
    ) -> f64 {
        if self.is_in_time() {
            return self.accuracy.tight;
        }
        self.accuracy.tolerance(greyness, before, last)
    }

    /// The compliance of each load case of the design evaluated last without its weight, see
    /// [`Linear::compliances`]; in time the mean of loads times states. `scratch` is overwritten.
    pub(crate) fn compliances(&mut self, scratch: &mut B::Vector) -> Result<&[f64], BackendError> {
        if let Some(history) = &self.history {
            self.compliances = vec![history.mean_compliance()];
        } else if self.compliances.is_empty() {
            self.compliances = self.linear.compliances(&self.moduli, &self.states, scratch)?;
        }
        Ok(&self.compliances)
    }

    /// Weights of the load cases.
    pub(crate) fn weights(&self) -> impl Iterator<Item = f64> {
        self.linear.loads().weights()
    }

    /// The sum of the compliances with the weights of the load cases.
    pub(crate) fn compliance(&mut self, scratch: &mut B::Vector) -> Result<f64, BackendError> {
        self.compliances(scratch)?;
        Ok(self.weights().zip(&self.compliances).map(|(weight, c)| weight * c).sum())
    }

    /// Writes its gradient by the density to `gradient`.
    pub(crate) fn compliance_gradient(
        &mut self,
        density: &B::Vector,
        scratch: &mut B::Vector,
        gradient: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let backend = self.backend();
        let Self { moduli_of, linear, states, energies, .. } = self;
        moduli_of.sensitivities(backend, (density, energies), scratch, gradient);
        linear.loads().add_sensitivities(backend, states, gradient)
    }
}

impl<'a, B: Pointwise> StateEquation<'a, B> {
    /// Backend of the vectors.
    pub fn backend(&self) -> &'a B {
        self.linear.backend()
    }

    /// The relative residual of the last solve.
    pub(crate) fn tolerance(&self) -> f64 {
        self.linear.tolerance()
    }

    /// States of all load cases on the host, `[n_nodes][n]` each.
    pub(crate) fn download_states(&self) -> Result<Vec<Vec<f64>>, BackendError> {
        self.states.iter().map(|u| self.backend().download(u)).collect()
    }

    /// Downloads the states of the trial from which the next solve starts; empty if there is none.
    pub(crate) fn download_trial(&self) -> Result<Vec<Vec<f64>>, BackendError> {
        let kept = if self.has_trial { &self.trial_states[..] } else { &[] };
        kept.iter().map(|u| self.backend().download(u)).collect()
    }

    /// Downloads the adjoint states from which the next adjoint solves start.
    pub(crate) fn download_adjoints(&self) -> Result<Vec<AdjointState>, BackendError> {
        let download = |(&of, start): (&[usize; 2], &B::Vector)| {
            Ok(AdjointState { of, values: self.backend().download(start)? })
        };
        self.adjoint_starts.iter().map(download).collect()
    }

    /// Number of load cases.
    pub(crate) fn n_cases(&self) -> usize {
        self.states.len()
    }

    /// Displacements of load case `case`, prescribed ones included, `[n_nodes][n]`.
    pub(crate) fn displacement(&self, case: usize) -> Result<Vec<f64>, BackendError> {
        self.linear.loads().displacement(self.backend(), case, &self.states[case])
    }

    /// Moduli of the accepted design, `[n_elements]`.
    pub(crate) fn moduli(&self) -> Result<Vec<f64>, BackendError> {
        self.backend().download(&self.moduli)
    }

    /// Strain energy of every element, `[n_elements]`.
    pub(crate) fn strain_energy(&self) -> Result<Vec<f64>, BackendError> {
        let moduli = self.moduli()?;
        let mut energies = self.backend().download(&self.energies)?;
        let restrained = self.linear.loads().restrained_energies();
        energies.iter_mut().zip(restrained).for_each(|(w, more)| *w += more);
        energies.iter_mut().zip(moduli).for_each(|(w, modulus)| *w *= 0.5 * modulus);
        Ok(energies)
    }

    /// State of the structure of the preconditioner.
    pub(crate) fn structure(&self) -> &StructureState {
        &self.structure
    }
}
