//! The solve of a design of solid and void elements, by one step of the design loop.

use std::ops::ControlFlow;

use topopt_design::{
    Accuracy, Design, Ended, Interpolation, IterationReport, Law, Observer, ObserverError,
    OptimalityCriteria, Optimization, StateEquation, StopRules,
};
use topopt_fem::stress;
use topopt_linalg::{PcgProgress, Pointwise};

use super::carried::Carried;
use super::shape::{Shape, VOID_STIFFNESS};
use crate::computer::{Computer, Visitor};
use crate::config::{Config, Strategy};
use crate::failure::Failure;
use crate::formulation;
use crate::interrupt::Interrupt;
use crate::model::Model;
use crate::place::Place;

/// The solve, for any computer.
struct Solve<'a> {
    config: &'a Config,
    model: &'a Model,
    carried: &'a Carried,
    shape: &'a Shape,
    interrupt: &'a Interrupt,
}

impl Visitor for Solve<'_> {
    type Output = Solution;

    fn visit<C: Computer>(self, computer: &C) -> Result<Solution, Failure> {
        let Self { model, carried, shape, interrupt, .. } = self;
        let density: Vec<f64> = shape.stiffness(carried).collect();
        let equation = self.equation(computer)?;
        let criteria = OptimalityCriteria::new(computer.backend(), density.len(), 1.0, 0.5)?;
        let criteria = Box::new(criteria);
        let stop = StopRules { max_iterations: 1, ..StopRules::default() };
        let formulation = formulation::unfiltered(model);
        let mut optimization = Optimization::new(equation, formulation, criteria, stop, &density)?;

        let mut watcher = Watcher { interrupt, report: None };
        let ended = optimization.run(&mut watcher)?.ended;
        let report = match (ended, watcher.report) {
            (Ended::Solver { load_case, outcome, tolerance, .. }, _) => {
                return Err(Failure::Verification { load_case, outcome, tolerance });
            }
            (Ended::Rule(_) | Ended::Sensitivities { .. }, Some(report)) => report,
            _ => return Err(Failure::Interrupted { iterations: 0, directory: None }),
        };

        let design = optimization.design();
        let cases = 0..model.problem.load_cases().len();
        let mut solution = Solution {
            compliance: report.objective,
            compliances: optimization.compliances().to_vec(),
            displacements: cases.map(|case| design.displacement(case)).collect::<Result<_, _>>()?,
            von_mises: Vec::new(),
            largest_von_mises: vec![0.0; density.len()],
            worst_case: vec![0; density.len()],
            pcg_iterations: report.pcg_iterations,
            pcg_residual: report.pcg_residual,
        };
        solution.find_stresses(model, carried, shape);
        Ok(solution)
    }
}

impl<'a> Solve<'a> {
    /// The equation in which densities are shares of the stiffness, and of the weight.
    fn equation<C: Computer>(
        &self,
        computer: &'a C,
    ) -> Result<StateEquation<'a, C::Backend>, Failure> {
        let (model, settings) = (self.model, &self.config.solver);
        // One solve is not worth measuring strategies, and a case for the GPU may name one that the
        // processor does not have.
        let is_named = settings.strategy != Strategy::Auto
            && computer.strategies(model).contains(&settings.strategy.name());
        let wanted = if is_named { settings.strategy } else { Strategy::Mf };
        let solver = computer.solver(self.config, model, wanted, VOID_STIFFNESS)?;
        let solver = solver.of_equation(settings, Accuracy::fixed(settings.tolerance));

        let youngs_modulus = model.problem.material().youngs_modulus();
        let linear =
            Interpolation { law: Law::Simp, penalty: 1.0, youngs_modulus, void_stiffness: 0.0 };
        Ok(StateEquation::new(computer.backend(), &model.problem, linear, solver)?)
    }
}

/// What the solve gave, in the order of the problem.
pub(super) struct Solution {
    /// Weighted compliance.
    pub compliance: f64,
    /// Of every load case, without its weight.
    pub compliances: Vec<f64>,
    /// Of every load case, \[n_nodes\]\[3\].
    pub displacements: Vec<Vec<f64>>,
    /// Of every load case, at the center of every element, 0 where nothing carries.
    pub von_mises: Vec<Vec<f64>>,
    /// The largest of all load cases, \[n_elements\].
    pub largest_von_mises: Vec<f64>,
    /// Load case in which it is the largest.
    pub worst_case: Vec<usize>,
    pub pcg_iterations: usize,
    pub pcg_residual: f64,
}

impl Solution {
    /// Solves for a shape, at `place`, for which `structure` was built, with the solver's settings of the case.
    ///
    /// # Errors
    /// A solve that does not converge or is interrupted, a device that fails or is too small.
    pub fn new(
        config: &Config,
        model: &Model,
        carried: &Carried,
        shape: &Shape,
        place: &Place,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        place.visit(Solve { config, model, carried, shape, interrupt })
    }

    fn find_stresses(&mut self, model: &Model, carried: &Carried, shape: &Shape) {
        let (mesh, material) = (model.problem.mesh(), model.problem.material());
        let mut moduli = model.solid_moduli();
        let carrying = carried.is_carrying.iter().zip(&shape.is_solid);
        let kept = carrying.map(|(carries, solid)| *carries && *solid);
        moduli.iter_mut().zip(kept).filter(|(_, kept)| !kept).for_each(|(e, _)| *e = 0.0);
        for (case, u) in self.displacements.iter().enumerate() {
            let stresses = stress::stresses(mesh, material, &moduli, u, stress::CENTER);
            let von_mises: Vec<f64> = stresses.iter().map(stress::von_mises).collect();
            for (e, &value) in von_mises.iter().enumerate() {
                if value > self.largest_von_mises[e] {
                    (self.largest_von_mises[e], self.worst_case[e]) = (value, case);
                }
            }
            self.von_mises.push(von_mises);
        }
    }
}

/// Keeps the numbers of the solve, and looks for an interruption.
struct Watcher<'a> {
    interrupt: &'a Interrupt,
    report: Option<IterationReport>,
}

impl<B: Pointwise> Observer<B> for Watcher<'_> {
    fn solving(&mut self, _: usize, _: PcgProgress) -> ControlFlow<()> {
        match self.interrupt.is_requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn evaluated(&mut self, report: &IterationReport, _: &Design<B>) -> Result<(), ObserverError> {
        self.report = Some(report.clone());
        Ok(())
    }
}
