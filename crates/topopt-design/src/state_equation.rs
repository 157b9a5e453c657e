//! The states of a design, K(E(x̄)) u = f(x̄) for every load case.

mod adjoint;
mod counted;
mod effort;
mod history;
mod in_time;
mod origin;

use topopt_fem::{ElementOperator, ElementPreconditioner, Statement, WithSprings};
use topopt_linalg::{BackendError, Monitor, Pcg, PcgOptions, Pointwise, Space, System};

use crate::{Accuracy, DesignState, Interpolation, Loads, SolveError, Stage, StructureState};
pub(crate) use effort::Effort;
use history::History;
pub(crate) use history::Observe;
use origin::Origin;

/// How states are found.
pub struct Solver<'a, B: Pointwise> {
    /// The stiffness, without the springs to the ground.
    pub operator: Box<dyn ElementOperator<B> + 'a>,
    /// The preconditioner.
    pub preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    /// How exact a solve is.
    pub accuracy: Accuracy,
    /// Most iterations of a solve, before the preconditioner is made stronger if it can be.
    pub max_iterations: usize,
}

/// The state equation of a problem, such as a structure, with the states of the last evaluated design and
/// of a trial.
///
/// A trial is assembled, solved and, where all its solves have converged, accepted: it then is the
/// design evaluated last.
pub struct StateEquation<'a, B: Pointwise> {
    pub(crate) backend: &'a B,
    elements: Space,
    interpolation: Interpolation,
    /// Factors of the moduli, where elements are of several materials, `[n_elements]`.
    stiffness: Option<B::Vector>,
    loads: Loads<B>,
    /// Solver whose operator has the moduli of the trial, and the springs.
    solver: Solver<'a, B>,
    pcg: Pcg<B>,
    /// Relative residual that solves reach at present.
    tolerance: f64,
    moduli: B::Vector,
    trial_moduli: B::Vector,
    /// The coefficients of the other terms: zeros in a steady state.
    unused: Vec<B::Vector>,
    /// Further parts of an equation that is solved by steps in time.
    history: Option<Box<History<'a, B>>>,
    /// Uniform state from which states are counted, where that is not 0.
    origin: Option<Origin<B>>,
    /// Displacements except for prescribed ones, one vector per load case; in time the state at the
    /// end.
    states: Vec<B::Vector>,
    trial_states: Vec<B::Vector>,
    /// Whether the trial states are those of a design near the next one.
    has_trial: bool,
    /// Sum over load cases of weight u_e^T K_e u_e at unit modulus, `[n_elements]`.
    energies: B::Vector,
    /// Compliances of the load cases of the design evaluated last; empty until asked for.
    compliances: Vec<f64>,
    structure: StructureState,
    effort: Effort,
    /// Made by the first adjoint solve.
    adjoint: Option<AdjointVectors<B>>,
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
    /// Vectors of one entry per element that it holds for `problem`, besides what operator and
    /// preconditioner do.
    pub(crate) fn element_vectors(problem: &dyn Statement) -> usize {
        2 + problem.n_terms() + usize::from(problem.stiffness().is_some())
    }

    /// The equation of `problem`, with moduli by `interpolation`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &'a B,
        problem: &dyn Statement,
        interpolation: Interpolation,
        solver: Solver<'a, B>,
    ) -> Result<Self, BackendError> {
        let operator = Box::new(WithSprings::of(backend, problem.springs(), solver.operator)?);
        let (nodes, elements) = (problem.unknowns(), problem.elements());
        let nodal = |_| backend.zeros(nodes);
        let element = || backend.zeros(elements);
        let cases = 0..problem.cases().len();
        let stiffness = problem.stiffness();

        Ok(Self {
            backend,
            elements,
            interpolation,
            stiffness: stiffness.map(|factors| backend.upload(factors, elements)).transpose()?,
            loads: Loads::new(backend, problem)?,
            tolerance: solver.accuracy.tight,
            solver: Solver { operator, ..solver },
            pcg: Pcg::new(backend, nodes)?,
            moduli: element()?,
            trial_moduli: element()?,
            unused: (1..problem.n_terms()).map(|_| element()).collect::<Result<_, _>>()?,
            history: None,
            origin: None,
            states: cases.clone().map(nodal).collect::<Result<_, _>>()?,
            trial_states: cases.map(nodal).collect::<Result<_, _>>()?,
            has_trial: false,
            energies: element()?,
            compliances: Vec::new(),
            structure: StructureState::default(),
            effort: Effort::default(),
            adjoint: None,
        })
    }

    /// Backend of the vectors.
    pub fn backend(&self) -> &'a B {
        self.backend
    }

    /// The space of states.
    pub fn nodes(&self) -> Space {
        self.loads.nodes()
    }

    /// The state of load case `case`, `[n_nodes][n]`: displacements, zero at held components.
    pub fn state(&self, case: usize) -> &B::Vector {
        &self.states[case]
    }

    /// Takes what `stage` changes.
    pub(crate) fn enter(&mut self, stage: &Stage) {
        self.interpolation.penalty = stage.penalty.unwrap_or(self.interpolation.penalty);
        let accuracy = self.solver.accuracy;
        self.solver.accuracy = stage.tolerance.map_or(accuracy, Accuracy::fixed);
    }

    /// Takes the states and the structure of the preconditioner from `state`.
    pub(crate) fn restore(&mut self, state: &DesignState) -> Result<(), BackendError> {
        for (u, values) in self.states.iter_mut().zip(&state.displacements) {
            *u = self.backend.upload(values, self.loads.nodes())?;
        }
        for (u, values) in self.trial_states.iter_mut().zip(&state.trial) {
            *u = self.backend.upload(values, self.loads.nodes())?;
        }
        self.has_trial = !state.trial.is_empty() && state.next.is_some();
        self.structure = state.structure.clone();
        if !self.structure.void.is_empty() {
            self.solver.preconditioner.restructure(self.backend, &self.structure.void)?;
        }
        Ok(())
    }

    /// Begins a trial of `density`: moduli, stiffness and loads. `scratch` is overwritten.
    pub(crate) fn assemble(
        &mut self,
        density: &B::Vector,
        scratch: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Self { backend, interpolation, stiffness, loads, solver, trial_moduli, unused, .. } =
            self;
        interpolation.moduli(*backend, density, scratch, trial_moduli);
        scale(*backend, stiffness.as_ref(), scratch, trial_moduli);
        solver.operator.set_coefficients(&terms(trial_moduli, unused));
        loads.assemble(backend, density, trial_moduli)?;
        self.assemble_capacity(density);
        Ok(())
    }

    /// Lets the preconditioner follow the trial; its structure as well where a stage begins, which
    /// may change the whole design at once.
    pub(crate) fn update_preconditioner(&mut self, begins_stage: bool) -> Result<(), BackendError> {
        if begins_stage && self.solver.preconditioner.structure_cost().is_some() {
            self.restructure(self.backend.download(&self.trial_moduli)?)?;
        }
        let Solver { operator, preconditioner, .. } = &mut self.solver;
        let terms = terms(&self.trial_moduli, &self.unused);
        preconditioner.update(self.backend, operator.as_ref(), &terms)
    }

    /// Solves all load cases of the trial, from the states of the trial before it, if there is one
    /// since a design was accepted, else from those of the design evaluated last. In time it steps
    /// through the history of the trial, of which `observe` hears.
    pub(crate) fn solve(
        &mut self,
        tolerance: f64,
        monitor: &mut Monitor,
        observe: &mut Observe<B>,
    ) -> Result<(), SolveError> {
        self.tolerance = tolerance;
        if self.is_in_time() {
            return self.march(monitor, observe);
        }
        let has_trial = std::mem::take(&mut self.has_trial);
        for case in 0..self.states.len() {
            let share = self.share_of_loads(case)?;
            let (a, m) = (self.solver.operator.as_ref(), self.solver.preconditioner.as_ref());
            let system = System { backend: self.backend, a, m, f: self.loads.forces(case) };
            let u = &mut self.trial_states[case];
            if !has_trial {
                self.backend.copy(&self.states[case], u);
            }
            let max_iterations = self.solver.max_iterations;
            let options = PcgOptions { tolerance: share * tolerance, max_iterations };
            let mut outcome = self.pcg.solve(&system, u, options, monitor)?;
            outcome.relative_residual /= share;
            let name = || self.loads.names().nth(case).unwrap_or_default().into();
            self.effort.add(outcome, tolerance, name)?;
        }
        Ok(())
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
            std::mem::swap(&mut history.kept, &mut history.trial_kept);
        }
        self.compliances.clear();
    }

    /// Lets the next solve start from the states of the trial, which has been solved.
    pub(crate) fn keep_trial(&mut self) {
        self.has_trial = true;
    }

    /// Finds the energies of the design evaluated last. `scratch` is overwritten.
    pub(crate) fn update_energies(&mut self, scratch: &mut B::Vector) {
        let Self { backend, loads, solver, states, energies, .. } = self;
        loads.energies(*backend, solver.operator.as_ref(), states, scratch, energies);
    }

    /// Lets the structure of the preconditioner follow the design evaluated last where solves have
    /// been slow for as long as that takes. It is used after the next update. Returns the effort of
    /// the solves since this was called last.
    pub(crate) fn follow_slow_solves(&mut self) -> Result<Effort, BackendError> {
        let effort = std::mem::take(&mut self.effort);
        if let Some(cost) = self.solver.preconditioner.structure_cost()
            && self.structure.is_due(effort.iterations, effort.solves, cost)
        {
            self.structure.excess = 0;
            self.restructure(self.backend.download(&self.moduli)?)?;
        }
        Ok(effort)
    }

    /// Forgets the effort of the solves since [`StateEquation::follow_slow_solves`].
    pub(crate) fn forget_effort(&mut self) {
        self.effort = Effort::default();
    }

    /// Makes the structure for a design of `moduli`, if they differ enough from those it was made
    /// for.
    fn restructure(&mut self, moduli: Vec<f64>) -> Result<(), BackendError> {
        // Ranks without the moduli hear whether there are other void elements, and of these.
        let void = if self.backend.has_values() { self.structure.changed(&moduli) } else { None };
        let is_changed = self.backend.decide(vec![f64::from(u8::from(void.is_some()))])?;
        if is_changed[0] > 0.0 {
            let void = void.into_iter().flatten().map(f64::from).collect();
            let void = self.backend.decide(void)?;
            let void: Vec<u32> = void.into_iter().map(|e| e as u32).collect();
            self.solver.preconditioner.restructure(self.backend, &void)?;
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
            return self.solver.accuracy.tight;
        }
        self.solver.accuracy.tolerance(greyness, before, last)
    }

    /// The relative residual of the last solve.
    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// The compliance of each load case of the design evaluated last without its weight, see
    /// [`Loads::compliances`]. `scratch` is overwritten.
    pub(crate) fn compliances(&mut self, scratch: &mut B::Vector) -> Result<&[f64], BackendError> {
        if let Some(mean) = self.mean_compliance() {
            self.compliances = vec![mean];
        } else if self.compliances.is_empty() {
            let Self { backend, loads, solver, moduli, states, .. } = self;
            let operator = solver.operator.as_ref();
            self.compliances = loads.compliances(*backend, operator, moduli, states, scratch)?;
        }
        Ok(&self.compliances)
    }

    /// Weights of the load cases.
    pub(crate) fn weights(&self) -> impl Iterator<Item = f64> {
        self.loads.weights()
    }

    /// The sum of the compliances with the weights of the load cases.
    pub(crate) fn compliance(&mut self, scratch: &mut B::Vector) -> Result<f64, BackendError> {
        self.compliances(scratch)?;
        Ok(self.loads.weights().zip(&self.compliances).map(|(weight, c)| weight * c).sum())
    }

    /// Writes its gradient by the density to `gradient`.
    pub(crate) fn compliance_gradient(
        &mut self,
        density: &B::Vector,
        scratch: &mut B::Vector,
        gradient: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Self { backend, interpolation, stiffness, loads, states, energies, .. } = self;
        interpolation.sensitivities(*backend, density, energies, scratch, gradient);
        scale(*backend, stiffness.as_ref(), scratch, gradient);
        loads.add_sensitivities(backend, states, gradient)
    }
}

impl<B: Pointwise> StateEquation<'_, B> {
    /// States of all load cases on the host, `[n_nodes][n]` each.
    pub(crate) fn download_states(&self) -> Result<Vec<Vec<f64>>, BackendError> {
        self.states.iter().map(|u| self.backend.download(u)).collect()
    }

    /// Downloads the states of the trial from which the next solve starts; empty if there is none.
    pub(crate) fn download_trial(&self) -> Result<Vec<Vec<f64>>, BackendError> {
        let kept = if self.has_trial { &self.trial_states[..] } else { &[] };
        kept.iter().map(|u| self.backend.download(u)).collect()
    }

    /// How many load cases there are.
    pub(crate) fn n_cases(&self) -> usize {
        self.states.len()
    }

    /// Displacements of load case `case`, prescribed ones included, `[n_nodes][n]`.
    pub(crate) fn displacement(&self, case: usize) -> Result<Vec<f64>, BackendError> {
        self.loads.displacement(self.backend, case, &self.states[case])
    }

    /// Moduli of the accepted design, `[n_elements]`.
    pub(crate) fn moduli(&self) -> Result<Vec<f64>, BackendError> {
        self.backend.download(&self.moduli)
    }

    /// Strain energy of every element, `[n_elements]`.
    pub(crate) fn strain_energy(&self) -> Result<Vec<f64>, BackendError> {
        let moduli = self.moduli()?;
        let mut energies = self.backend.download(&self.energies)?;
        energies.iter_mut().zip(moduli).for_each(|(w, modulus)| *w *= 0.5 * modulus);
        Ok(energies)
    }

    /// State of the structure of the preconditioner.
    pub(crate) fn structure(&self) -> &StructureState {
        &self.structure
    }
}

/// The coefficients of all terms.
fn terms<'v, V>(moduli: &'v V, unused: &'v [V]) -> Vec<&'v V> {
    std::iter::once(moduli).chain(unused).collect()
}

/// Multiplies `values` by the factors, if there are any. `scratch` is overwritten.
fn scale<B: Pointwise>(
    backend: &B,
    factors: Option<&B::Vector>,
    scratch: &mut B::Vector,
    values: &mut B::Vector,
) {
    if let Some(factors) = factors {
        backend.multiply(factors, values, scratch);
        backend.copy(scratch, values);
    }
}

impl<B: Pointwise> AdjointVectors<B> {
    fn new(backend: &B, nodes: Space, elements: Space) -> Result<Self, BackendError> {
        let element = || backend.zeros(elements);
        Ok(Self {
            state: backend.zeros(nodes)?,
            work: element()?,
            slope: element()?,
            product: element()?,
        })
    }
}
