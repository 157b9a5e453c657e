//! A filter that fails in the course of a run.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use topopt_design::{
    Compliance, Cone, DensityFilter, DesignSpace, Ended, Formulation, Objective, SensitivityFilter,
    StopRules, Weights, physical_density,
};
use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{Cpu, PcgOutcome, Space, StopReason};

use crate::{COUNT, Recorder, TIGHT, cantilever, optimization, plain, solver, space};

/// A cone whose application number `fails_at` is not solved.
struct Failing {
    cone: Cone,
    fails_at: usize,
    applications: AtomicUsize,
}

const STAGNATED: PcgOutcome = PcgOutcome {
    iterations: 7,
    products: 7,
    relative_residual: 1e-3,
    reason: StopReason::Stagnated,
    strengthened: 0,
};

impl Averaging<Cpu> for Failing {
    fn space(&self) -> Space {
        Averaging::space(&self.cone)
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) -> Result<(), AveragingError> {
        if self.applications.fetch_add(1, Relaxed) == self.fails_at {
            y.fill(f64::NAN);
            return Err(AveragingError::NotSolved(STAGNATED));
        }
        Averaging::apply(&self.cone, x, y)
    }
}

fn filtered<'a>(
    space: &'a DesignSpace,
    weights: Weights<'a, Cpu>,
    is_of_density: bool,
) -> Formulation<'a, Cpu> {
    let mut formulation = plain(space);
    if is_of_density {
        let filter = DensityFilter::new(&Cpu, weights, &space.volumes).unwrap();
        formulation.transform = physical_density(&Cpu, filter, None, None, space).unwrap();
    } else {
        let filter = SensitivityFilter::new(&Cpu, weights, &space.volumes, 0.01).unwrap();
        formulation.objective = Objective::filtered(Box::new(Compliance), filter);
    }
    formulation
}

/// Whenever it fails, the run ends with its reason and with the design that was evaluated last.
#[test]
fn it_ends_the_run_with_its_reason_and_the_last_design() {
    let problem = cantilever();
    let space = space(problem.mesh());
    let stop = StopRules { max_iterations: 3, ..COUNT };
    let run = |is_of_density: bool, fails_at: usize| {
        let cone = Cone::new(problem.mesh().centers(), 1.8, usize::MAX);
        let weights = Box::new(Failing { cone, fails_at, applications: 0.into() });
        let formulation = filtered(&space, Weights::fixed(weights), is_of_density);
        let solver = solver(&problem, TIGHT);
        let mut optimization = optimization(&problem, solver, formulation, stop);
        let mut recorder = Recorder::default();
        let outcome = optimization.run(&mut recorder).unwrap();
        let last = (outcome.iterations > 0).then(|| optimization.design().density().unwrap());
        let state = (outcome.iterations > 0).then(|| optimization.design().state().unwrap());
        (outcome, recorder, last, state)
    };

    for is_of_density in [true, false] {
        let (_, undisturbed, ..) = run(is_of_density, usize::MAX);
        let mut ends = 0;
        for fails_at in 1..30 {
            let (outcome, recorder, last, state) = run(is_of_density, fails_at);
            let n = outcome.iterations;
            assert_eq!(recorder.densities[..], undisturbed.densities[..n]);
            assert_eq!(last.as_ref(), undisturbed.densities[..n].last());
            assert_eq!(state.map(|s| s.design), recorder.states.last().map(|s| s.design.clone()));

            if let Ended::Filter { iteration, outcome } = outcome.ended {
                assert!(iteration == n || iteration == n + 1, "{iteration} after {n}");
                assert_eq!(outcome, STAGNATED);
                ends += 1;
            }
        }
        assert!(ends >= 3, "{ends} ends");
    }
}
