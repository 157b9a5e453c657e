//! The linear analysis: K u = f for every load case.

use topopt_fem::{ElementOperator, ElementPreconditioner, ProblemView, StepSolver, WithSprings};
use topopt_linalg::{
    BackendError, Gather, LinearOperator, Monitor, Pcg, PcgOptions, Pointwise, Preconditioner,
    Space, StopReason, System,
};

use crate::{Effort, Loads, SolveError, Whole};

/// Operator and preconditioner of an equation, or of the half that is solved in its place, and when
/// solves end.
pub struct Solver<'a, B: Gather> {
    /// The stiffness, without the springs to the ground.
    pub operator: Box<dyn ElementOperator<B> + 'a>,
    /// The preconditioner.
    pub preconditioner: Box<dyn ElementPreconditioner<B> + 'a>,
    /// The whole equation, where a half of it is solved.
    pub whole: Option<Whole<'a, B>>,
    /// Relative residual that solves reach.
    pub tolerance: f64,
    /// Most iterations of a solve, before the preconditioner is made stronger if it can be.
    pub max_iterations: usize,
}

/// The equation K u = f of a problem, for all its load cases.
///
/// States are vectors of the caller, `[n_nodes][n]`, one per load case, 0 at held components.
pub struct Linear<'a, B: Pointwise> {
    pub(crate) backend: &'a B,
    pub(crate) loads: Loads<B>,
    /// Solver whose operator has the coefficients and the springs.
    pub(crate) solver: Solver<'a, B>,
    pcg: Pcg<B>,
    /// Relative residual that is enough where rounding stops a solve; 0 where it never is.
    rounded: f64,
    /// Relative residual that is enough where the iterations of a solve run out; 0 where none is.
    enough: f64,
    /// Coefficients of the terms after the first, `[n_elements]` each: zeros in a steady state.
    pub(crate) others: Vec<B::Vector>,
    /// Uniform state from which states are counted, where that is not 0.
    pub(crate) origin: Option<Origin<B>>,
    pub(crate) effort: Effort,
}

/// A uniform state that others are counted from, such as that of the coldest temperature that is held.
pub(crate) struct Origin<B: Pointwise> {
    /// Value at free components, 0 at held ones, `[n_nodes][n]`.
    pub state: B::Vector,
    /// Room for a residual, `[n_nodes][n]`.
    pub residual: B::Vector,
}

impl<'a, B: Pointwise + Sync> Linear<'a, B> {
    /// The equation of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &'a B,
        problem: &dyn ProblemView,
        solver: Solver<'a, B>,
    ) -> Result<Self, BackendError> {
        let springs = match &solver.whole {
            Some(whole) => whole.springs_of_half,
            None => problem.springs(),
        };
        let pcg = Pcg::new(backend, solver.operator.space())?;
        let operator = Box::new(WithSprings::of(backend, springs, solver.operator)?);
        let others = (1..problem.n_terms()).map(|_| backend.zeros(problem.elements()));
        Ok(Self {
            backend,
            loads: Loads::new(backend, problem)?,
            solver: Solver { operator, ..solver },
            pcg,
            rounded: 0.0,
            enough: 0.0,
            others: others.collect::<Result<_, _>>()?,
            origin: None,
            effort: Effort::default(),
        })
    }
}

impl<'a, B: Pointwise> Linear<'a, B> {
    /// Backend of the vectors.
    pub fn backend(&self) -> &'a B {
        self.backend
    }

    /// Space of the states.
    pub fn nodes(&self) -> Space {
        self.loads.nodes()
    }

    /// Right-hand sides of the load cases.
    pub fn loads(&self) -> &Loads<B> {
        &self.loads
    }

    /// Right-hand sides, to add to.
    pub fn loads_mut(&mut self) -> &mut Loads<B> {
        &mut self.loads
    }

    /// Operator K + S with the springs S.
    pub fn operator(&self) -> &dyn LinearOperator<B> {
        self.of_whole()
    }

    /// Preconditioner of the operator, or of that of the half that is solved.
    pub fn preconditioner(&self) -> &dyn Preconditioner<B> {
        self.solver.preconditioner.as_ref()
    }

    /// Relative residual that solves reach at present.
    pub fn tolerance(&self) -> f64 {
        self.solver.tolerance
    }

    /// Sets the relative residual of the next solves.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.solver.tolerance = tolerance;
    }

    /// Sets the relative residual that is enough where rounding stops a solve for states.
    pub fn accept_rounded(&mut self, residual: f64) {
        self.rounded = residual;
    }

    /// Sets the relative residual that is enough where the iterations of a solve run out.
    pub fn accept_short(&mut self, residual: f64) {
        self.enough = residual;
    }

    /// States that a first solve starts from, one per load case.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn start(&self) -> Result<Vec<B::Vector>, BackendError> {
        let zeros = self.loads.names().map(|_| self.backend.zeros(self.nodes()));
        let mut states = zeros.collect::<Result<Vec<_>, _>>()?;
        if let Some(origin) = &self.origin {
            states.iter_mut().for_each(|u| self.backend.copy(&origin.state, u));
        }
        Ok(states)
    }

    /// Makes stiffness and loads for `moduli` and for `density`, which scales the weight of elements,
    /// `[n_elements]` each.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn assemble(
        &mut self,
        density: &B::Vector,
        moduli: &B::Vector,
    ) -> Result<(), BackendError> {
        let Solver { operator, whole, .. } = &mut self.solver;
        let terms = terms(moduli, &self.others);
        match whole {
            Some(whole) => {
                whole.take(self.backend, &terms);
                operator.set_coefficients(&whole.terms());
            }
            None => operator.set_coefficients(&terms),
        }
        self.loads.assemble(self.backend, density, moduli)
    }

    /// Updates the preconditioner for the `moduli` of the operator.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn update_preconditioner(&mut self, moduli: &B::Vector) -> Result<(), BackendError> {
        let Solver { operator, preconditioner, whole, .. } = &mut self.solver;
        let of_half = whole.as_ref().map(Whole::terms);
        let terms = of_half.unwrap_or_else(|| terms(moduli, &self.others));
        preconditioner.update(self.backend, operator.as_ref(), &terms)
    }

    /// Iterations that a new structure of the preconditioner costs, where it has one.
    pub fn structure_cost(&self) -> Option<usize> {
        self.solver.preconditioner.structure_cost()
    }

    /// Makes the structure of the preconditioner for elements `void`, increasing, that carry next
    /// to nothing; it is used after the next update.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn restructure(&mut self, void: &[u32]) -> Result<(), BackendError> {
        let Solver { preconditioner, whole, .. } = &mut self.solver;
        match whole {
            Some(whole) => preconditioner.restructure(self.backend, &whole.numbers(void)),
            None => preconditioner.restructure(self.backend, void),
        }
    }

    /// Solves load case by load case, from what `states` hold.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or a solve does not converge or is interrupted.
    pub fn solve(
        &mut self,
        states: &mut [B::Vector],
        monitor: &mut Monitor,
    ) -> Result<(), SolveError> {
        for (case, u) in states.iter_mut().enumerate() {
            let share = self.share_of_loads(case)?;
            let options = self.options(share);
            let Self { backend, solver, pcg, loads, .. } = self;
            let mut outcome = solver.on_system(backend, (loads.forces(case), u), |system, u| {
                pcg.solve(system, u, options, monitor)
            })?;
            outcome.relative_residual /= share;
            let name = || self.loads.names().nth(case).unwrap_or_default().into();
            let limits = [self.solver.tolerance, self.enough];
            self.effort.add(outcome.or_rounded(self.rounded), limits, name)?;
        }
        Ok(())
    }

    /// Solves for an adjoint state: (K + S) `lambda` = `load`, where `load` is dg/du, zero at held
    /// components, both `[n_nodes][n]`; of a free part the load is balanced by its inertia. The
    /// solve starts from what `lambda` holds, as of the design before, unless zero is nearer.
    /// Where a half is solved, the load has to mirror itself. Messages call g by `name`. Returns
    /// false where the solve came to its end short of its tolerance, and was good enough.
    ///
    /// # Errors
    /// [`SolveError`] if the device fails, or the solve does not converge or is interrupted.
    pub fn solve_adjoint(
        &mut self,
        name: &str,
        load: &B::Vector,
        lambda: &mut B::Vector,
        monitor: &mut Monitor,
    ) -> Result<bool, SolveError> {
        let options = self.options(1.0);
        let balanced = self.loads.balance_adjoint(self.backend, load)?;
        let Self { backend, solver, pcg, .. } = self;
        let f = balanced.as_ref().unwrap_or(load);
        let outcome = solver.on_system(backend, (f, lambda), |system, lambda| {
            // A change of the design may turn an adjoint state about, as where a stage begins.
            if !pcg.is_start(system, lambda)? {
                backend.fill(0.0, lambda);
            }
            pcg.solve(system, lambda, options, monitor)
        })?;
        self.effort.add(outcome, [self.solver.tolerance, self.enough], || name.into())?;
        Ok(outcome.reason == StopReason::Converged)
    }

    /// Computes v_e^T K_e u_e at unit modulus, `[n_elements]`.
    pub fn work(&self, v: &B::Vector, u: &B::Vector, out: &mut B::Vector) {
        self.of_whole().element_work(0, v, u, out);
    }

    /// Computes the compliance of each load case without its weight, see [`Loads::compliances`].
    /// `scratch`, `[n_elements]`, is overwritten.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn compliances(
        &mut self,
        moduli: &B::Vector,
        states: &[B::Vector],
        scratch: &mut B::Vector,
    ) -> Result<Vec<f64>, BackendError> {
        let Self { backend, loads, solver, .. } = self;
        loads.compliances(backend, solver.of_whole(), moduli, states, scratch)
    }

    /// Computes the energies at unit modulus, see [`Loads::energies`].
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn energies(
        &mut self,
        states: &[B::Vector],
        scratch: &mut B::Vector,
        energies: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Self { backend, loads, solver, .. } = self;
        loads.energies(backend, solver.of_whole(), states, scratch, energies)
    }

    /// The operator of the whole equation.
    pub(crate) fn of_whole(&self) -> &dyn ElementOperator<B> {
        self.solver.of_whole()
    }

    /// Takes the effort of the solves since it was taken last.
    pub fn take_effort(&mut self) -> Effort {
        std::mem::take(&mut self.effort)
    }

    /// Stop rule of a solve whose right-hand side is that `share` of the loads.
    fn options(&self, share: f64) -> PcgOptions {
        let Solver { tolerance, max_iterations, .. } = self.solver;
        PcgOptions { tolerance: share * tolerance, max_iterations }
    }

    /// Solver of steps in time, with C as `storage` where that is no diagonal matrix.
    pub(crate) fn of_steps<'s, 'm>(
        &'s mut self,
        storage: Option<&'s dyn LinearOperator<B>>,
        monitor: &'s mut Monitor<'m>,
    ) -> StepSolver<'s, 'm, B> {
        let options = self.options(1.0);
        StepSolver {
            backend: self.backend,
            pcg: &mut self.pcg,
            operator: self.solver.operator.as_ref(),
            storage,
            preconditioner: self.solver.preconditioner.as_ref(),
            options,
            rounded: self.rounded,
            monitor,
        }
    }
}

impl<'a, B: Gather> Solver<'a, B> {
    /// The operator of the whole equation.
    pub(crate) fn of_whole(&self) -> &(dyn ElementOperator<B> + 'a) {
        self.whole.as_ref().map_or(self.operator.as_ref(), |whole| whole.operator.as_ref())
    }

    /// Does `work` on the system that is solved for `u`, and its state.
    fn on_system<T>(
        &mut self,
        backend: &B,
        (f, u): (&B::Vector, &mut B::Vector),
        work: impl FnOnce(&System<B>, &mut B::Vector) -> T,
    ) -> T {
        let (a, m) = (self.operator.as_ref(), self.preconditioner.as_ref());
        match &mut self.whole {
            Some(whole) => {
                whole.solve(backend, (f, u), |f, u| work(&System { backend, a, m, f }, u))
            }
            None => work(&System { backend, a, m, f }, u),
        }
    }
}

/// Coefficients of all terms.
pub(crate) fn terms<'v, V>(moduli: &'v V, others: &'v [V]) -> Vec<&'v V> {
    std::iter::once(moduli).chain(others).collect()
}
