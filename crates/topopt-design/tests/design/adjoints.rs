//! Adjoint solves start from the adjoint states of the design before, which are part of a state.

use std::ops::ControlFlow;

use topopt_design::{
    Constraint, Design, DesignState, Ended, Formulation, IterationReport, Mma, Objective, Observer,
    ObserverError, Optimization, StateEquation,
};
use topopt_linalg::{Cpu, PcgOptions, PcgProgress, Space};

use super::responses::{displacement, largest, loaded, of_caller};
use super::{COUNT, Recorder, SIMP, TIGHT, plain, solver, space};

/// Solves of an iteration: two load cases; objective and constraints with an adjoint state each, and
/// one with two.
const SOLVES: usize = 2 + 5;

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

/// Runs from a state if there is one, up to the solve `at`.
fn run(is_conservative: bool, state: Option<&DesignState>, at: usize) -> (Recorder, Ended) {
    let problem = loaded();
    let space = space(problem.mesh());
    let formulation = Formulation {
        objective: Objective::new(displacement(&problem, 0)),
        constraints: vec![
            Constraint::volume(&space, 0.4),
            // Two of one name.
            Constraint::new(displacement(&problem, 1), 1e3),
            Constraint::new(largest(&problem, 1), 1e3),
            Constraint::new(of_caller(&problem), 1e6),
        ],
        ..plain(&space)
    };
    let options = PcgOptions { tolerance: 1e-6, ..TIGHT };
    let equation = StateEquation::new(&Cpu, &problem, SIMP, solver(&problem, options)).unwrap();
    let mma = Mma::new(&Cpu, Space::variables(128), 0.2).unwrap();
    let mma = if is_conservative { mma.globally_convergent() } else { mma };
    let start = space.uniform();
    let mut optimization =
        Optimization::new(equation, formulation, Box::new(mma), COUNT, &start).unwrap();
    if let Some(state) = state {
        optimization = optimization.resumed(state).unwrap();
    }
    let mut cut = Cut { at, begun: 0, recorder: Recorder::default() };
    let ended = optimization.run(&mut cut).unwrap().ended;
    (cut.recorder, ended)
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
        assert!(10 * warm < 9 * cold, "{warm} with their adjoint states, {cold} without");
    }
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
        for (done, state) in (1..).zip(&whole.states) {
            let without_next = DesignState { next: None, ..state.clone() };
            for state in [state, &without_next] {
                let (rest, _) = run(is_conservative, Some(state), usize::MAX);
                assert_eq!(rest.states, whole.states[done..], "from {done}");
            }
        }

        let state = &whole.states[4];
        for at in 1..=2 * SOLVES + 1 {
            let (cut, ended) = run(is_conservative, Some(state), at);
            assert_eq!(ended, Ended::Interrupted);
            let Some(left) = cut.states.last() else { continue };
            let (rest, _) = run(is_conservative, Some(left), usize::MAX);
            assert_eq!(rest.states, whole.states[left.iteration..], "cut at {at}");
        }
    }
}
