//! Preconditioners that grow stronger in a slow solve, or have a structure that follows the design.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use topopt_design::{DesignState, Ended, Solver, StopRule, StopRules};
use topopt_fem::{ElementOperator, ElementPreconditioner, Jacobi};
use topopt_linalg::{BackendError, Cpu, PcgOptions, Preconditioner, StopReason};

use super::{COUNT, Recorder, TIGHT, cantilever, optimization, plain, solver, space};

/// Jacobi, but next to useless until it has been made stronger `needed` times, which it can be
/// twice.
struct Weak {
    jacobi: Jacobi<Cpu>,
    needed: usize,
    strengthened: AtomicUsize,
}

impl Preconditioner<Cpu> for Weak {
    fn name(&self) -> &'static str {
        "weak"
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn apply(&self, backend: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.jacobi.apply(backend, r, z);
        if self.strengthened.load(Relaxed) < self.needed {
            z.iter_mut().step_by(7).for_each(|z| *z = 0.0);
        }
    }

    fn strengthen(&self) -> bool {
        self.strengthened.fetch_update(Relaxed, Relaxed, |n| (n < 2).then_some(n + 1)).is_ok()
    }
}

impl ElementPreconditioner<Cpu> for Weak {
    fn update(
        &mut self,
        backend: &Cpu,
        operator: &dyn ElementOperator<Cpu>,
        moduli: &[&Vec<f64>],
    ) -> Result<(), BackendError> {
        self.strengthened = 0.into();
        self.jacobi.update(backend, operator, moduli)
    }
}

#[test]
fn the_preconditioner_grows_stronger_in_a_slow_solve() {
    let problem = cantilever();
    let space = space(problem.mesh());
    let stop = StopRules { max_iterations: 2, ..COUNT };
    let limited = PcgOptions { tolerance: 1e-9, max_iterations: 500 };

    let run = |needed: usize| {
        let jacobi = Jacobi::new(&Cpu, problem.space()).unwrap();
        let preconditioner = Box::new(Weak { jacobi, needed, strengthened: 0.into() });
        let solver = Solver { preconditioner, ..solver(&problem, limited) };
        let mut optimization = optimization(&problem, solver, plain(&space), stop);
        let mut recorder = Recorder::default();
        let outcome = optimization.run(&mut recorder).unwrap();
        (outcome.ended, recorder.reports)
    };

    let (_, plain) = run(0);
    for needed in [1, 2] {
        let (ended, reports) = run(needed);
        assert_eq!(ended, Ended::Rule(StopRule::MaxIterations));
        for (report, plain) in reports.iter().zip(&plain) {
            assert_eq!(report.strengthened, 2, "in the first of the load cases, for both");
            assert!((report.objective / plain.objective - 1.0).abs() < 1e-9);
        }
    }

    let (ended, reports) = run(3);
    let Ended::Solver { iteration: 1, outcome, tolerance: 1e-9, .. } = ended else {
        panic!("{ended:?}")
    };
    assert_eq!((outcome.reason, reports.len()), (StopReason::IterationLimit, 0));
}

/// Jacobi with a structure that makes it worse until it is made for some void.
struct Structured {
    jacobi: Jacobi<Cpu>,
    made_for: Arc<Mutex<Vec<Vec<u32>>>>,
}

impl Preconditioner<Cpu> for Structured {
    fn name(&self) -> &'static str {
        "structured"
    }

    fn apply(&self, backend: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.jacobi.apply(backend, r, z);
    }
}

impl ElementPreconditioner<Cpu> for Structured {
    fn update(
        &mut self,
        backend: &Cpu,
        operator: &dyn ElementOperator<Cpu>,
        moduli: &[&Vec<f64>],
    ) -> Result<(), BackendError> {
        self.jacobi.update(backend, operator, moduli)
    }

    fn structure_cost(&self) -> Option<usize> {
        Some(200)
    }

    fn restructure(&mut self, _: &Cpu, void: &[u32]) -> Result<(), BackendError> {
        self.made_for.lock().unwrap().push(void.to_vec());
        Ok(())
    }
}

#[test]
fn the_structure_follows_the_design_after_slow_solves_also_where_a_run_goes_on() {
    let problem = cantilever();
    let space = space(problem.mesh());

    let run = |from: Option<&DesignState>| {
        let made_for = Arc::new(Mutex::new(Vec::new()));
        let jacobi = Jacobi::new(&Cpu, problem.space()).unwrap();
        let preconditioner = Box::new(Structured { jacobi, made_for: made_for.clone() });
        let solver = Solver { preconditioner, ..solver(&problem, TIGHT) };
        let stop = StopRules { max_iterations: 12, ..COUNT };
        let mut optimization = optimization(&problem, solver, plain(&space), stop);

        if let Some(state) = from {
            optimization = optimization.resumed(state).unwrap();
        }

        let mut recorder = Recorder::default();
        optimization.run(&mut recorder).unwrap();
        let made_for = made_for.lock().unwrap().clone();
        (made_for, recorder.states)
    };

    let (made_for, states) = run(None);
    assert!(made_for.len() > 1, "{made_for:?}");
    assert_eq!(states[11].structure.void, made_for[made_for.len() - 1]);

    for (done, state) in (1..).zip(&states) {
        let (again, rest) = run(Some(state));
        assert_eq!(rest, states[done..]);
        let expected = &made_for[made_for.len() - again.len()..];
        assert_eq!(again, expected, "from {done}");
        assert_eq!(again.is_empty(), made_for.is_empty());
    }
}
