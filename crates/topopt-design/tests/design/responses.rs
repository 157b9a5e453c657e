//! Responses against finite differences through the whole loop, and optimizers that remember.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_design::{
    CaseCompliance, Chain, Constraint, Dependence, DesignSpace, DesignState, DesignTransform,
    Ended, Evaluated, Formulation, HostFunction, HostResponse, HostValue, Memory, Objective,
    OfState, OptimalityCriteria, Optimization, Optimizer, Response, SolveError, StateEquation,
    StateMean, StateNorm, StopRules, Subproblem, start,
};
use topopt_fem::{ElementKernel, LoadCase, Problem};
use topopt_linalg::{BackendError, Cpu, Monitor, Space};

use super::differences::hold_against_differences;
use super::transforms::{layers_tied, physical, tied_before_physical};
use super::{COUNT, Recorder, SIMP, TIGHT, cantilever, plain, solver, space};

pub const ONCE: StopRules = StopRules { max_iterations: 1, ..COUNT };

/// The cantilever with weight in one load case, and moved supports in the other.
pub fn loaded() -> Problem {
    let problem = cantilever();
    let mesh = problem.mesh().clone();
    let mut cases = problem.load_cases().to_vec();
    cases[0].body_force = [0.0, -0.05, 0.02].into();
    let held = |k: usize| problem.supports().is_fixed(k / 3, k % 3);
    let moved = |k: usize| if held(k) { 0.3 * (k as f64).sin() } else { 0.0 };
    cases[1].prescribed = Some((0..problem.n_dofs()).map(moved).collect());
    let cases: Vec<LoadCase> = cases;
    Problem::new(mesh, *problem.material(), problem.supports().clone(), cases).unwrap()
}

/// A sum of displacements, of held components too.
pub fn displacement<K: ElementKernel<N>, const N: usize>(
    problem: &Problem<K, N>,
    case: usize,
) -> Box<OfState<StateMean<Cpu>, Cpu>> {
    let weights = (0..problem.n_dofs()).map(|k| (k as f64 * 0.3).cos()).collect();
    let mean = StateMean::new(&Cpu, problem, weights).unwrap();
    Box::new(OfState::new(&Cpu, problem.space(), ("displacement".into(), case), mean).unwrap())
}

/// The p-norm of displacements, of held nodes too.
pub fn largest<K: ElementKernel<N>, const N: usize>(
    problem: &Problem<K, N>,
    case: usize,
) -> Box<OfState<StateNorm, Cpu>> {
    let nodes = (0..problem.mesh().n_nodes() as u32).step_by(7).collect();
    let (name, norm) = ("largest displacement".into(), StateNorm::new(problem, nodes, 8.0));
    Box::new(OfState::new(&Cpu, problem.space(), (name, case), norm).unwrap())
}

/// (1 + rho . rho) (u0 . c) + u1 . u1, computed by a caller.
struct OfCaller {
    is_held: Vec<bool>,
}

impl HostFunction for OfCaller {
    fn evaluate(&self, density: &[f64], states: &[Vec<f64>]) -> Result<HostValue, BackendError> {
        let along = |k: usize| (k as f64 * 0.7).sin();
        let sum: f64 = states[0].iter().enumerate().map(|(k, u)| along(k) * u).sum();
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let factor = 1.0 + square(density);
        let free = |slope: Vec<f64>| {
            let slopes = slope.into_iter().zip(&self.is_held);
            slopes.map(|(slope, is_held)| if *is_held { 0.0 } else { slope }).collect()
        };
        Ok(HostValue {
            value: factor * sum + square(&states[1]),
            by_density: density.iter().map(|rho| 2.0 * rho * sum).collect(),
            by_states: vec![
                free((0..states[0].len()).map(|k| factor * along(k)).collect()),
                free(states[1].iter().map(|u| 2.0 * u).collect()),
            ],
        })
    }
}

pub fn of_caller<K: ElementKernel<N>, const N: usize>(
    problem: &Problem<K, N>,
) -> Box<HostResponse<Cpu>> {
    let is_held = |k: usize| problem.held().is_fixed(k / N, k % N);
    let function = Arc::new(OfCaller { is_held: (0..problem.n_dofs()).map(is_held).collect() });
    let (name, n_cases) = ("of the caller".into(), problem.load_cases().len());
    Box::new(HostResponse::new(&Cpu, problem.space(), (name, n_cases), function).unwrap())
}

pub fn of_case(case: usize) -> Box<CaseCompliance> {
    Box::new(CaseCompliance { name: "compliance in a load case".into(), case })
}

/// The mean density of some elements; with a slope that can be broken.
pub struct MeanDensity {
    pub elements: Vec<usize>,
    pub broken: Option<f64>,
}

impl Response<Cpu> for MeanDensity {
    fn name(&self) -> &str {
        "mean density"
    }

    fn dependence(&self) -> Dependence {
        Dependence::Linear
    }

    fn value(&mut self, at: &mut Evaluated<Cpu>) -> Result<f64, BackendError> {
        let sum: f64 = self.elements.iter().map(|&e| at.density[e]).sum();
        Ok(sum / self.elements.len() as f64)
    }

    fn gradient(
        &mut self,
        _: &mut Evaluated<Cpu>,
        _: &mut Monitor,
        gradient: &mut Vec<f64>,
    ) -> Result<(), SolveError> {
        gradient.fill(0.0);
        self.elements.iter().for_each(|&e| gradient[e] = 1.0 / self.elements.len() as f64);
        gradient[self.elements[0]] = self.broken.unwrap_or(gradient[self.elements[0]]);
        Ok(())
    }
}

#[test]
fn all_responses_agree_with_finite_differences() {
    for problem in [cantilever(), loaded()] {
        hold_against_differences(&problem, || Chain::identity(128));
    }
    hold_against_differences(&loaded(), || physical(Some(4.0)));
    hold_against_differences(&loaded(), || tied_before_physical(Some(2.0)));
}

#[test]
fn a_design_of_fewer_variables_is_optimized() {
    let problem = cantilever();
    let space = DesignSpace::new(0.01, 0.4, problem.mesh().volumes(), Vec::new(), Vec::new());
    let links: Vec<Box<dyn DesignTransform<Cpu>>> = vec![Box::new(layers_tied(&Cpu))];
    let mut transform = Chain::new(&Cpu, 128, links).unwrap();

    let start = start::uniform(&Cpu, &space, &mut transform).unwrap();
    assert_eq!(start.len(), 64);
    let formulation = Formulation { transform, ..plain(&space) };
    let equation = StateEquation::new(&Cpu, &problem, SIMP, solver(&problem, TIGHT)).unwrap();

    let optimizer =
        Box::new(OptimalityCriteria::new(&Cpu, Space::variables(64), 0.2, 0.5).unwrap());
    let mut recorder = Recorder::default();
    Optimization::new(equation, formulation, optimizer, COUNT, &start)
        .unwrap()
        .run(&mut recorder)
        .unwrap();

    let objective: Vec<f64> = recorder.reports.iter().map(|r| r.objective).collect();
    assert!(objective[11] < 0.6 * objective[0], "{objective:?}");
    for (report, density) in recorder.reports.iter().zip(&recorder.densities) {
        assert!((report.volume_fraction - 0.4).abs() < 1e-9);
        let layers: Vec<_> = density.chunks(32).collect();
        assert_eq!((layers[0], layers[1]), (layers[3], layers[2]));
    }
}

#[test]
fn what_is_not_a_number_never_becomes_a_design() {
    let problem = cantilever();
    let space = space(problem.mesh());
    let broken = |value| MeanDensity { elements: vec![40, 41], broken: Some(value) };

    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for is_objective in [true, false] {
            let mut formulation = plain(&space);
            if is_objective {
                formulation.objective = Objective::new(Box::new(broken(value)));
            } else {
                formulation.constraints = vec![Constraint::new(Box::new(broken(value)), 0.4)];
            }

            let solver = solver(&problem, TIGHT);
            let mut optimization = super::optimization(&problem, solver, formulation, COUNT);
            let mut recorder = Recorder::default();
            let outcome = optimization.run(&mut recorder).unwrap();
            assert_eq!(outcome.ended, Ended::Sensitivities { iteration: 1 });
            assert_eq!((recorder.reports.len(), recorder.reports[0].change), (1, 0.0));

            let state = optimization.design().state().unwrap();
            assert_eq!((state.design, state.next), (space.uniform(), None));
        }
    }
}

/// The mean of what optimality criteria give and the design before.
struct Damped {
    criteria: OptimalityCriteria<Cpu>,
    before: Vec<f64>,
}

impl Optimizer<Cpu> for Damped {
    fn next(
        &mut self,
        problem: &mut Subproblem<Cpu>,
        next: &mut Vec<f64>,
    ) -> Result<Vec<f64>, SolveError> {
        let multipliers = self.criteria.next(problem, next)?;
        next.iter_mut().zip(&self.before).for_each(|(x, before)| *x = 0.8 * *x + 0.2 * before);
        self.before.clone_from(problem.design);
        Ok(multipliers)
    }

    fn memory(&self) -> Vec<(&'static str, &Vec<f64>)> {
        vec![("before", &self.before)]
    }

    fn numbers(&self) -> Vec<(&'static str, Vec<f64>)> {
        vec![("counts", vec![2.0, 3.0])]
    }

    fn restore(&mut self, _: &Cpu, memory: &Memory) -> Result<(), BackendError> {
        assert_eq!((memory.vectors.len(), memory.numbers("counts")), (1, Some(&[2.0, 3.0][..])));
        self.before = memory.vector("before").unwrap().to_vec();
        Ok(())
    }
}

/// An adjoint objective, and an optimizer with a memory: also these go on to the same bits.
#[test]
fn what_an_optimizer_remembers_is_part_of_the_state() {
    let problem = loaded();
    let space = space(problem.mesh());
    let run = |state: Option<&DesignState>| {
        let forces = problem.load_cases()[0].forces.clone();
        let work = StateMean::new(&Cpu, &problem, forces).unwrap();
        let work = OfState::new(&Cpu, problem.space(), ("work".into(), 0), work).unwrap();
        let objective = Objective::new(Box::new(work));
        let formulation = Formulation { objective, ..plain(&space) };

        let equation = StateEquation::new(&Cpu, &problem, SIMP, solver(&problem, TIGHT)).unwrap();
        let criteria = OptimalityCriteria::new(&Cpu, Space::variables(128), 0.2, 0.5).unwrap();
        let optimizer = Box::new(Damped { criteria, before: space.uniform() });
        let start = space.uniform();
        let mut optimization =
            Optimization::new(equation, formulation, optimizer, COUNT, &start).unwrap();

        if let Some(state) = state {
            optimization = optimization.resumed(state).unwrap();
        }
        let mut recorder = Recorder::default();
        optimization.run(&mut recorder).unwrap();
        recorder
    };

    let whole = run(None);
    let [first, last] = [0, 11].map(|k| whole.reports[k].objective);
    assert!(last < 0.7 * first, "{first} {last}");

    for (done, state) in (1..).zip(&whole.states) {
        assert_eq!(state.memory.vectors.len(), 1);
        assert_eq!(run(Some(state)).states, whole.states[done..], "from {done}");
    }
}

/// Why an optimization by optimality criteria of `n` design variables is refused.
fn refusal<'a>(problem: &'a Problem, formulation: Formulation<'a, Cpu>, n: usize) -> String {
    let equation = StateEquation::new(&Cpu, problem, SIMP, solver(problem, TIGHT)).unwrap();
    let criteria = Box::new(OptimalityCriteria::new(&Cpu, Space::variables(n), 0.2, 0.5).unwrap());
    let start = vec![0.4; n];
    let optimization = Optimization::new(equation, formulation, criteria, COUNT, &start);
    optimization.err().unwrap().to_string()
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let problem = cantilever();
    let space = space(problem.mesh());
    let displacement = || Constraint::new(displacement(&problem, 0), 1.0);
    let formulation = Formulation { constraints: vec![displacement()], ..plain(&space) };
    assert_eq!(
        refusal(&problem, formulation, 128),
        "optimality criteria take a constraint of the density alone, such as the volume; \
         constraints: displacement"
    );
    let constraints = vec![Constraint::volume(&space, 0.4), displacement()];
    let message = refusal(&problem, Formulation { constraints, ..plain(&space) }, 128);
    assert!(
        message.ends_with("exactly one constraint, and not 2; constraints: volume, displacement")
    );
    assert!(refusal(&problem, plain(&space), 64).contains("not as many as the transform has"));
}

#[test]
fn an_adjoint_solve_is_observed_and_can_be_interrupted() {
    let problem = cantilever();
    let space = space(problem.mesh());
    let objective = Objective::new(displacement(&problem, 0));
    let formulation = Formulation { objective, ..plain(&space) };
    let mut optimization =
        super::optimization(&problem, solver(&problem, TIGHT), formulation, COUNT);
    let mut solves = Solves::default();
    let outcome = optimization.run(&mut solves).unwrap();
    assert_eq!((outcome.iterations, outcome.ended), (1, Ended::Interrupted));
    assert_eq!(solves.begun, 3, "two load cases and the adjoint state");
    let state = optimization.design().state().unwrap();
    assert_eq!((state.iteration, state.next), (1, None));
}

/// Breaks off in the third solve.
#[derive(Default)]
struct Solves {
    begun: usize,
}

impl topopt_design::Observer<Cpu> for Solves {
    fn solving(&mut self, _: usize, progress: topopt_linalg::PcgProgress) -> ControlFlow<()> {
        self.begun += usize::from(progress.iterations == 0);
        if self.begun == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn evaluated(
        &mut self,
        report: &topopt_design::IterationReport,
        _: &topopt_design::Design<Cpu>,
    ) -> Result<(), topopt_design::ObserverError> {
        assert_eq!((report.iteration, report.change), (1, 0.0));
        Ok(())
    }
}
