//! Adjoint solves start from the adjoint states of the design before, which are part of a state.

use std::ops::ControlFlow;

use topopt_design::{
    Constraint, Design, DesignSpace, DesignState, Ended, Formulation, IterationReport, Mma,
    Objective, Observer, ObserverError, Optimization, Optimizer, SolveError, StateEquation,
    StopRules, Subproblem,
};
use topopt_linalg::{Cpu, PcgOptions, PcgProgress, Space};

use super::differences::Differences;
use super::responses::{displacement, largest, loaded, of_caller};
use super::{COUNT, Recorder, SIMP, TIGHT, plain, solver};

/// Solves of an iteration: two load cases; an adjoint state of the objective and of each
/// constraint, two of one.
const SOLVES: usize = 2 + 5;

/// Tolerance of the first solves.
const STRICT: f64 = 1e-6;

/// Records a run, and breaks off in the solve of this number.
struct Cut {
    at: usize,
    begun: usize,
    recorder: Recorder,
}

impl Observer<Cpu> for Cut {
    fn solving(&mut self, _: usize, progress: PcgProgress) -> ControlFlow<()> {
        self.begun += usize::from(progress.iterations == 0);
        if self.begun == self.at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn evaluated(
        &mut self,
        report: &IterationReport,
        design: &Design<Cpu>,
    ) -> Result<(), ObserverError> {
        self.recorder.evaluated(report, design)
    }
}

/// Runs from a state if there is one, up to the solve `at`. The lower half is dense: a decided
/// design, whose solves are loosened.
fn run(is_conservative: bool, state: Option<&DesignState>, at: usize) -> (Recorder, Ended) {
    let mma = Mma::new(&Cpu, Space::variables(128), 0.01).unwrap();
    let mma = if is_conservative { mma.globally_convergent() } else { mma };
    run_by(Box::new(mma), (STRICT, COUNT), state, at)
}

/// Runs with an optimizer, a tolerance of solves and stop rules, see [`run`].
fn run_by(
    optimizer: Box<dyn Optimizer<Cpu>>,
    (tolerance, stop): (f64, StopRules),
    state: Option<&DesignState>,
    at: usize,
) -> (Recorder, Ended) {
    let problem = loaded();
    let space = DesignSpace::new(0.01, 0.6, problem.mesh().volumes(), Vec::new(), Vec::new());
    let formulation = Formulation {
        objective: Objective::new(displacement(&problem, 0)),
        constraints: vec![
            Constraint::volume(&space, 0.6),
            // Two of one name.
            Constraint::new(displacement(&problem, 1), 1e3),
            Constraint::new(largest(&problem, 1), 1e3),
            Constraint::new(of_caller(&problem), 1e6),
        ],
        ..plain(&space)
    };
    let solver = solver(&problem, PcgOptions { tolerance, ..TIGHT });
    let equation = StateEquation::new(&Cpu, &problem, SIMP, solver).unwrap().loosened(1e-3, 0.0);
    let start: Vec<f64> = (0..128).map(|e| if e / 8 % 4 < 2 { 0.95 } else { 0.2 }).collect();
    let mut optimization =
        Optimization::new(equation, formulation, optimizer, stop, &start).unwrap();
    if let Some(state) = state {
        optimization = optimization.resumed(state).unwrap();
    }
    let mut cut = Cut { at, begun: 0, recorder: Recorder::default() };
    let ended = optimization.run(&mut cut).unwrap().ended;
    (cut.recorder, ended)
}

/// Moves the first design, and holds the second one against differences.
struct SecondDifferences {
    has_moved: bool,
}

impl Optimizer<Cpu> for SecondDifferences {
    fn next(
        &mut self,
        problem: &mut Subproblem<Cpu>,
        next: &mut Vec<f64>,
    ) -> Result<Vec<f64>, SolveError> {
        if std::mem::replace(&mut self.has_moved, true) {
            return Differences.next(problem, next);
        }
        let moved = problem.design.iter().enumerate();
        let moved = moved.map(|(e, x)| (x * (1.0 + 0.05 * (e as f64).sin())).clamp(0.01, 1.0));
        *next = moved.collect();
        Ok(vec![0.0; problem.constraints.len()])
    }
}

/// Iterations of conjugate gradients of the first design after `state`.
fn next_iterations(state: &DesignState) -> usize {
    run(false, Some(state), usize::MAX).0.reports[0].pcg_iterations
}

#[test]
fn adjoint_solves_start_from_the_design_before() {
    let (whole, _) = run(false, None, usize::MAX);
    for state in &whole.states[5..11] {
        let keys: Vec<_> = state.adjoints.iter().map(|adjoint| adjoint.of).collect();
        assert_eq!(keys, [[0, 0], [2, 1], [3, 1], [4, 0], [4, 1]]);

        let cold = DesignState { adjoints: Vec::new(), ..state.clone() };
        let [warm, cold] = [state, &cold].map(next_iterations);
        assert!(warm < cold, "{warm} with their adjoint states, {cold} without");
    }
}

#[test]
fn gradients_by_adjoint_states_that_start_warm_agree_with_differences() {
    let stop = StopRules { max_iterations: 2, ..COUNT };
    let optimizer = Box::new(SecondDifferences { has_moved: false });
    let (recorder, _) = run_by(optimizer, (TIGHT.tolerance, stop), None, usize::MAX);
    assert_eq!(recorder.states[0].adjoints.len(), 5);
    assert_eq!(recorder.reports.len(), 2);
    assert_eq!(recorder.reports[1].change, 0.0);
}

/// From a start that is no help, such as the adjoint state of another sign.
#[test]
fn adjoint_solves_start_from_zero_where_that_is_nearer() {
    let (whole, _) = run(false, None, usize::MAX);
    let state = &whole.states[8];
    let changed = |change: fn(f64) -> f64| {
        let mut state = state.clone();
        let values = state.adjoints.iter_mut().flat_map(|adjoint| &mut adjoint.values);
        values.for_each(|value| *value = change(*value));
        next_iterations(&state)
    };
    let cold = next_iterations(&DesignState { adjoints: Vec::new(), ..state.clone() });
    for change in [(|u| -u) as fn(f64) -> f64, |u| 1e6 * u, |_| 0.0, |_| f64::NAN] {
        assert_eq!(changed(change), cold);
    }
}

/// After any iteration, and after an interruption in any solve of one, among them those of trials.
#[test]
fn runs_with_adjoint_states_go_on_to_the_same_bits() {
    for is_conservative in [false, true] {
        let (whole, _) = run(is_conservative, None, usize::MAX);
        // Some of loosened solves, which are repeated to their tolerance.
        let tolerances = || whole.states.iter().filter_map(|state| state.tolerance);
        assert!(tolerances().any(|tolerance| tolerance > STRICT));
        assert!(tolerances().any(|tolerance| tolerance == STRICT));
        for (done, state) in (1..).zip(&whole.states) {
            let (rest, _) = run(is_conservative, Some(state), usize::MAX);
            assert!(rest.states == whole.states[done..], "from {done}");
        }

        let state = &whole.states[4];
        let mut without_next = 0;
        for at in 1..=2 * SOLVES + 1 {
            let (cut, ended) = run(is_conservative, Some(state), at);
            assert_eq!(ended, Ended::Interrupted);
            let Some(left) = cut.states.last() else { continue };
            without_next += usize::from(left.next.is_none());
            let (rest, _) = run(is_conservative, Some(left), usize::MAX);
            assert!(rest.states == whole.states[left.iteration..], "cut at {at}");
        }
        assert!(without_next > 0);
    }
}
