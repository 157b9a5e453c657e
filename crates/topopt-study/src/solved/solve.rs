//! The solve of a structure for all its load cases.

use std::ops::ControlFlow;
use std::time::Instant;

use topopt_analysis::{Linear, SolveError};
use topopt_case::config::{Config, Strategy};
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_linalg::{Backend, Space};

use super::filling::Filling;
use crate::computer::Solvable;
use crate::computer::{Computer, Solver, Visitor};
use crate::failure::{Failure, Remedies};
use crate::place::Place;
use crate::summary::Preconditioner;

/// How a structure is solved.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// The case, for the settings of its solver.
    pub config: &'a Config,
    /// Compute target that the model was built for.
    pub place: &'a Place,
    /// Ends the solve.
    pub interrupt: &'a Interrupt,
    /// Relative residual that is enough where rounding stops a solve; 0 where it never is.
    pub rounded: f64,
    /// Remedies where the solve does not converge.
    pub remedies: Remedies,
}

/// The solve, for any computer.
struct Solve<'a, K, const N: usize> {
    model: &'a Model<K, N>,
    filling: &'a Filling,
    conditions: Conditions<'a>,
}

impl<K: Solvable<N>, const N: usize> Visitor for Solve<'_, K, N> {
    type Output = States;

    fn visit<C: Computer>(self, computer: &C) -> Result<States, Failure> {
        let Self { model, filling, conditions } = self;
        let (config, backend) = (conditions.config, computer.backend());
        let solver = conditions.solver(model, filling, computer)?;
        let means = Means::of(&solver);
        let elements = Space::elements(filling.density.len());
        let density = backend.upload(&filling.density, elements)?;
        let moduli = backend.upload(&filling.moduli(model), elements)?;
        let solver = solver.of_equation(&config.solver.for_analysis());
        let mut linear = Linear::new(backend, &model.problem, solver)?;
        linear.accept_rounded(conditions.rounded);

        let start = Instant::now();
        let mut states = linear.start()?;
        linear.assemble(&density, &moduli)?;
        linear.update_preconditioner(&moduli)?;
        let mut monitor = |_| conditions.monitor();
        linear.solve(&mut states, &mut monitor).map_err(|error| conditions.failure(error))?;
        let seconds = start.elapsed().as_secs_f64();

        let mut scratch = backend.zeros(elements)?;
        let compliances = linear.compliances(&moduli, &states, &mut scratch)?;
        let (effort, loads) = (linear.take_effort(), linear.loads());
        let total = |(case, u)| loads.displacement(backend, case, u);
        Ok(States {
            compliance: loads.weights().zip(&compliances).map(|(weight, c)| weight * c).sum(),
            states: states.iter().enumerate().map(total).collect::<Result<_, _>>()?,
            compliances,
            means,
            pcg_iterations: effort.iterations,
            pcg_residual: effort.residual,
            seconds,
        })
    }
}

impl Conditions<'_> {
    /// Operator and preconditioner of `model` with the elements that `filling` gives.
    pub fn solver<'c, C: Computer, K: Solvable<N>, const N: usize>(
        self,
        model: &'c Model<K, N>,
        filling: &Filling,
        computer: &'c C,
    ) -> Result<Solver<'c, C::Backend>, Failure> {
        let wanted = strategy(self.config, model, computer);
        computer.solver(self.config, model.subject(), wanted, filling.contrast)
    }

    /// Ends a solve where the user asks for that.
    pub fn monitor(self) -> ControlFlow<()> {
        match self.interrupt.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn failure(self, error: SolveError) -> Failure {
        match error {
            SolveError::Backend(error) => error.into(),
            SolveError::NotConverged { load_case, outcome, tolerance } => {
                let remedy = self.remedies.of(outcome.reason);
                Failure::Unsolved { load_case, outcome, tolerance, remedy }
            }
            SolveError::Interrupted | SolveError::Filter(_) => {
                Failure::Interrupted { iterations: 0, directory: None }
            }
        }
    }
}

/// The strategy of an analysis, which measures none; a case for the GPU may name one that the
/// processor does not have.
fn strategy<C: Computer, K: Solvable<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
    computer: &C,
) -> Strategy {
    let asked = config.solver.strategy;
    let is_named =
        asked != Strategy::Auto && computer.strategies(model.subject()).contains(&asked.name());
    if is_named { asked } else { C::UNMEASURED }
}

/// Results of the solve, in the order of the problem.
pub struct States {
    /// Weighted compliance.
    pub compliance: f64,
    /// Compliance of every load case, without its weight.
    pub compliances: Vec<f64>,
    /// State of every load case, `[n_nodes][n]`.
    pub states: Vec<Vec<f64>>,
    /// Operator and preconditioner of the solve.
    pub means: Means,
    pub pcg_iterations: usize,
    pub pcg_residual: f64,
    /// Wall time of the preconditioner and of conjugate gradients.
    pub seconds: f64,
}

impl States {
    /// Solves for a filling, with the solver's settings of the case.
    ///
    /// # Errors
    /// A solve that does not converge or is interrupted, a device that fails or is too small.
    pub fn new<K: Solvable<N>, const N: usize>(
        model: &Model<K, N>,
        filling: &Filling,
        conditions: Conditions,
    ) -> Result<Self, Failure> {
        conditions.place.visit(Solve { model, filling, conditions })
    }
}

/// Operator and preconditioner of a solve.
#[derive(Clone)]
pub struct Means {
    /// How the stiffness is applied.
    pub strategy: &'static str,
    /// The preconditioner and its levels.
    pub preconditioner: Preconditioner,
}

impl Means {
    /// Describes `solver`.
    pub fn of<B: Backend>(solver: &Solver<B>) -> Self {
        Self {
            strategy: solver.operator.strategy(),
            preconditioner: Preconditioner::of(solver.preconditioner.as_ref()),
        }
    }
}
