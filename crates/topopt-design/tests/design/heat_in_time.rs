//! Heat in time in the design loop: its gradients against finite differences, its limit in a steady
//! state, and runs that go on to the same bits.

use std::cell::RefCell;
use std::rc::Rc;

use topopt_design::{
    Chain, Constraint, DesignState, DesignTransform, Formulation, LoadPower, Mma, Objective,
    OfHistory, OfState, Optimization, Optimizer, Response, SolveError, StateEquation,
    StateFunction, StateMean, StateNorm, Subproblem, Volume, When,
};
use topopt_fem::{
    Constraints, Diffusion, Discretization, ElementFactors, LoadCase, Problem, Strategy, Timeline,
    Varying,
};
use topopt_linalg::{Cpu, Space};

use super::differences::Differences;
use super::heat::heat;
use super::responses::ONCE;
use super::transforms::{physical, scattered};
use super::{COUNT, Recorder, SIMP, TIGHT, plain, solver, space};

type Heat = Problem<Diffusion, 1>;

/// Returns the heat problem without load cases of its own: the timeline has the loads.
fn evolving(is_consistent: bool) -> Heat {
    let steady = heat(true);
    let n = steady.mesh().n_nodes();
    let discretization = steady.with_constraints(steady.constraints().clone());
    let discretization = discretization.with_capacity(is_consistent);
    let cases = vec![LoadCase::new("default", vec![0.0; n])];
    let factors = ElementFactors { stiffness: steady.factors().stiffness.clone(), mass: None };
    Problem::evolving(discretization, cases).unwrap().with_factors(factors).unwrap()
}

/// Seven steps of three lengths, of which three are a segment; sources that fade, others that stay,
/// and held values that rise.
fn timeline(problem: &Heat, theta: f64) -> Timeline {
    let n = problem.mesh().n_nodes();
    let nodal = |value: fn(f64) -> f64| (0..n).map(|n| value(n as f64)).collect::<Vec<_>>();
    let mut held = nodal(|n| 2.0 + (0.7 * n).cos());
    problem.constraints().clear_free(&mut held);
    let mut initial = nodal(|n| 0.5 * (0.4 * n).sin());
    problem.constraints().clear(&mut initial);
    initial.iter_mut().zip(&held).for_each(|(u, held)| *u += 0.5 * held);
    Timeline {
        theta,
        times: vec![0.2, 0.4, 0.6, 1.1, 1.6, 2.1, 2.4],
        initial,
        capacities: (0..problem.mesh().n_elements()).map(|e| 1.0 + (e % 4) as f64).collect(),
        loads: vec![
            Varying {
                values: nodal(|n| 1.0 + (0.3 * n).sin()),
                factors: Some(vec![[0.0, 1.0], [2.0, 0.2]]),
            },
            Varying { values: nodal(|n| 0.2 * (0.9 * n).cos()), factors: None },
        ],
        held: vec![Varying { values: held, factors: Some(vec![[0.0, 0.5], [1.0, 1.0]]) }],
    }
}

/// Conduction and storage of all nodes, for [`StateEquation::in_time`].
fn bare(problem: &Heat) -> [Discretization<Diffusion, 1>; 2] {
    let free = Constraints::none(problem.mesh().n_nodes());
    let storage = problem.with_constraints(free.clone());
    let films = problem.constraints().films().to_vec();
    [problem.with_constraints(free.with_films(films)).with_capacity(false), storage]
}

fn equation<'a>(
    problem: &'a Heat,
    bare: &'a [Discretization<Diffusion, 1>; 2],
    timeline: &'a Timeline,
) -> StateEquation<'a, Cpu> {
    let equation = StateEquation::new(&Cpu, problem, SIMP, solver(problem, TIGHT)).unwrap();
    let [conduction, storage] = bare;
    let storage = problem.is_capacity_consistent().then(|| Strategy::Mf.build(storage));
    equation.in_time(timeline, (Strategy::Mf.build(conduction), storage), problem).unwrap()
}

/// A mean temperature, held nodes included, a norm of temperatures and the power of the loads.
fn functions(problem: &Heat) -> [Box<dyn StateFunction<Cpu>>; 3] {
    let weights = (0..problem.n_dofs()).map(|k| (k as f64 * 0.3).cos()).collect();
    let nodes = (0..problem.mesh().n_nodes() as u32).step_by(7).collect();
    [
        Box::new(StateMean::new(&Cpu, problem, weights).unwrap()),
        Box::new(StateNorm::new(problem, nodes, 8.0)),
        Box::new(LoadPower),
    ]
}

fn in_time(problem: &Heat, when: When) -> impl Iterator<Item = Box<dyn Response<Cpu>>> + use<> {
    let response = move |function| -> Box<dyn Response<Cpu>> {
        Box::new(OfHistory::new("in time".into(), when, function))
    };
    functions(problem).into_iter().map(response)
}

#[test]
fn gradients_in_time_agree_with_finite_differences() {
    for is_consistent in [false, true] {
        gradients_agree(&evolving(is_consistent));
    }
}

fn gradients_agree(problem: &Heat) {
    let (bare, space) = (bare(problem), space(problem.mesh()));
    for (theta, sharpness) in [(0.5, None), (0.8, Some(4.0)), (1.0, None)] {
        let timeline = timeline(problem, theta);
        let transform = sharpness.map_or_else(|| Chain::identity(128), |s| physical(Some(s)));
        let x = scattered(transform.inputs().points);
        let all = in_time(problem, When::End).chain(in_time(problem, When::Mean));
        let formulation = Formulation {
            space: &space,
            transform,
            objective: Objective::new(Box::new(Volume)),
            constraints: all.map(|response| Constraint::new(response, 1.0)).collect(),
        };
        let equation = equation(problem, &bare, &timeline);
        let mut recorder = Recorder::default();
        let outcome = Optimization::new(equation, formulation, Box::new(Differences), ONCE, &x)
            .unwrap()
            .run(&mut recorder)
            .unwrap();
        assert_eq!((outcome.iterations, recorder.reports[0].change), (1, 0.0), "{outcome:?}");
    }
}

/// A value and its gradient.
type Evaluation = (f64, Vec<f64>);

/// Remembers the constraints, and stays where it is.
#[derive(Default)]
struct Seen(Rc<RefCell<Vec<Evaluation>>>);

impl Optimizer<Cpu> for Seen {
    fn next(
        &mut self,
        problem: &mut Subproblem<Cpu>,
        next: &mut Vec<f64>,
    ) -> Result<Vec<f64>, SolveError> {
        let seen = problem.constraints.iter().map(|f| (f.value, f.gradient.clone()));
        self.0.borrow_mut().extend(seen);
        next.clone_from(problem.design);
        Ok(vec![0.0; problem.constraints.len()])
    }
}

/// After long implicit steps under constant loads a history ends in the steady state, and so do its
/// gradients.
#[test]
fn the_end_of_a_long_history_is_the_steady_state() {
    let steady = heat(true);
    let case = steady.load_cases()[1].clone();
    let discretization = steady.with_constraints(steady.constraints().clone());
    let steady = Problem::of(discretization, vec![case.clone()]).unwrap();
    let (bare, space) = (bare(&steady), space(steady.mesh()));
    let mut held = case.prescribed.unwrap();
    steady.constraints().clear_free(&mut held);
    let timeline = Timeline {
        theta: 1.0,
        times: vec![1e9, 2e9, 3e9],
        initial: held.clone(),
        loads: vec![Varying { values: case.forces, factors: None }],
        held: vec![Varying { values: held, factors: None }],
        ..timeline(&evolving(false), 1.0)
    };

    let seen = |equation, responses: Vec<Box<dyn Response<Cpu>>>| {
        let seen = Seen::default();
        let found = seen.0.clone();
        let constraints = responses.into_iter().map(|r| Constraint::new(r, 1.0)).collect();
        let formulation = Formulation { constraints, ..plain(&space) };
        let x = scattered(128);
        Optimization::new(equation, formulation, Box::new(seen), ONCE, &x)
            .unwrap()
            .run(&mut Recorder::default())
            .unwrap();
        found.take()
    };
    let of_state = |function| -> Box<dyn Response<Cpu>> {
        Box::new(OfState::new(&Cpu, steady.space(), ("steady".into(), 0), function).unwrap())
    };
    let plain = StateEquation::new(&Cpu, &steady, SIMP, solver(&steady, TIGHT)).unwrap();
    // The power of the loads is followed by no adjoint state here.
    let expected = seen(plain, functions(&steady).into_iter().take(2).map(of_state).collect());
    let all = in_time(&steady, When::End).take(2).collect();
    let found = seen(equation(&steady, &bare, &timeline), all);
    assert_eq!(found.len(), 2);
    for ((value, gradient), (other, expected)) in found.iter().zip(&expected) {
        assert!((value / other - 1.0).abs() < 1e-7, "{value} {other}");
        let largest = expected.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
        for (g, e) in gradient.iter().zip(expected) {
            assert!((g - e).abs() < 1e-6 * largest, "{g} {e}");
        }
    }
}

/// A run under a mean over time goes on from each of its designs to the same bits.
#[test]
fn a_run_in_time_goes_on_to_the_same_bits() {
    let problem = evolving(false);
    let (bare, space) = (bare(&problem), space(problem.mesh()));
    let timeline = timeline(&problem, 0.5);
    let run = |state: Option<&DesignState>| {
        let response = OfHistory::new("power".into(), When::Mean, LoadPower);
        let objective = Objective::new(Box::new(response));
        let formulation = Formulation { objective, ..plain(&space) };
        let optimizer = Box::new(Mma::new(&Cpu, Space::variables(128), 0.2).unwrap());
        let start = space.uniform();
        let equation = equation(&problem, &bare, &timeline);
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
    let objective: Vec<f64> = whole.reports.iter().map(|report| report.objective).collect();
    assert!(objective[11] < 0.9 * objective[0], "{objective:?}");
    // The compliance that is reported is the same mean.
    assert!(whole.reports.iter().all(|report| report.compliance == report.objective));
    for done in [1, 5, 11] {
        let resumed = run(Some(&whole.states[done - 1]));
        assert_eq!(resumed.states, whole.states[done..], "from {done}");
        let iterations = |reports: &[topopt_design::IterationReport]| -> Vec<usize> {
            reports.iter().map(|report| report.pcg_iterations).collect()
        };
        assert_eq!(iterations(&resumed.reports), iterations(&whole.reports[done..]));
    }
}
