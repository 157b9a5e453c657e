//! Estimated time of a run: its steps are measured, their number is guessed.

use std::time::Instant;

use serde::Serialize;
use topopt_case::config::Config;
use topopt_case::model::Model;
use topopt_fem::{ElementOperator, ElementPreconditioner};
use topopt_linalg::{Backend, BackendError, Space};

use crate::computer::{Computer, Solvable, Solver, Visitor};
use crate::failure::Failure;
use crate::place::Place;

/// Forecast of the time that the solves of a run take on the device at hand.
#[derive(Debug, Serialize)]
pub struct Duration {
    /// Seconds of all solves, if the design loop uses all its iterations.
    pub seconds: f64,
    /// Design iterations at most, times load cases and, in time, three times the steps.
    pub solves: usize,
    /// Iterations of conjugate gradients in a solve: the guess.
    pub iterations_a_solve: usize,
    /// Seconds of one of them, measured.
    pub seconds_an_iteration: f64,
    /// Seconds to set the preconditioner up for a new design, measured.
    pub seconds_a_setup: f64,
}

/// Steps that are measured, after one that does not count; the fastest counts.
const REPEATS: usize = 5;

impl Duration {
    /// Measures the steps of a solve of the case.
    ///
    /// # Errors
    /// Memory that is too small, a device that fails.
    pub(crate) fn measure<K: Solvable<N>, const N: usize>(
        config: &Config,
        model: &Model<K, N>,
        place: &Place,
    ) -> Result<Self, Failure> {
        place.visit(Measured { config, model })
    }

    fn of<B: Backend, K: Solvable<N>, const N: usize>(
        config: &Config,
        model: &Model<K, N>,
        backend: &B,
        operator: &mut dyn ElementOperator<B>,
        preconditioner: &mut dyn ElementPreconditioner<B>,
    ) -> Result<Self, BackendError> {
        let solved = model.subject_of_run().solved();
        let space = solved.space();
        let (mut x, mut y) = (backend.zeros(space)?, backend.zeros(space)?);
        backend.fill(1.0, &mut x);

        // All elements and terms of the equation alike: only the time counts.
        let n_elements = solved.mesh().n_elements();
        let moduli = vec![model.solid_modulus; n_elements];
        let moduli = backend.upload(&moduli, Space::elements(n_elements))?;
        let terms = vec![&moduli; K::TERMS];
        operator.set_coefficients(&terms);

        // A scalar that is looked at waits for all that was asked of a device.
        let start = Instant::now();
        preconditioner.update(backend, operator, &terms)?;
        backend.value(&backend.dot(&x, &x))?;
        let seconds_a_setup = start.elapsed().as_secs_f64();

        let mut seconds_an_iteration = f64::INFINITY;
        for repeat in 0..=REPEATS {
            let start = Instant::now();
            operator.apply(&x, &mut y);
            preconditioner.apply(backend, &y, &mut x);
            backend.value(&backend.dot(&x, &y))?;
            // The first repeat warms up.
            if repeat > 0 {
                seconds_an_iteration = seconds_an_iteration.min(start.elapsed().as_secs_f64());
            }
        }

        let iterations = config.optimizer.max_iterations;
        // In time, an iteration takes all steps three times: forwards, again on the way back, and
        // for the adjoint.
        let steps = config.transient.as_ref().map_or(1, |keys| 3 * keys.times().len());
        let cases = model.problem.load_cases().len();
        let solves = iterations.saturating_mul(cases * steps);
        let iterations_a_solve =
            guess(preconditioner.name(), n_elements).min(config.solver.max_iterations());
        let seconds = iterations as f64 * seconds_a_setup
            + solves as f64 * iterations_a_solve as f64 * seconds_an_iteration;

        Ok(Self { seconds, solves, iterations_a_solve, seconds_an_iteration, seconds_a_setup })
    }

    /// The forecast in words.
    pub fn text(&self) -> String {
        format!(
            "about {} for {} solves, at {} iterations per solve (assumed) of {:.2} ms (measured)",
            spoken(self.seconds),
            self.solves,
            self.iterations_a_solve,
            1e3 * self.seconds_an_iteration
        )
    }
}

/// The case whose steps are measured, on any computer.
struct Measured<'a, K, const N: usize> {
    config: &'a Config,
    model: &'a Model<K, N>,
}

impl<K: Solvable<N>, const N: usize> Visitor for Measured<'_, K, N> {
    type Output = Duration;

    fn visit<C: Computer>(self, computer: &C) -> Result<Duration, Failure> {
        let Self { config, model } = self;
        let (strategy, contrast) = (config.solver.strategy, model.contrast);
        let Solver { mut operator, mut preconditioner, .. } =
            computer.solver(config, model.subject_of_run(), strategy, contrast)?;
        let (operator, preconditioner) = (operator.as_mut(), preconditioner.as_mut());
        Ok(Duration::of(config, model, computer.backend(), operator, preconditioner)?)
    }
}

/// Iterations of a solve to a relative residual of 1e-5 from the last solution, as the benchmarks
/// have them: 17 to 24 by multigrid at any size; 690 to 1,040 by the diagonal at 33,000 elements,
/// and with the width of the mesh in elements more.
fn guess(preconditioner: &str, n_elements: usize) -> usize {
    match preconditioner {
        "multigrid" => 20,
        _ => (27.0 * (n_elements as f64).cbrt()).ceil() as usize,
    }
}

/// A time in seconds as text for people.
fn spoken(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".into(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spoken() {
        let spoken = [0.2, 59.6, 119.0, 600.0, 9000.0].map(spoken);
        assert_eq!(spoken, ["a second", "60 s", "119 s", "10 min", "2.5 h"]);
    }

    #[test]
    fn guesses_are_those_of_the_benchmarks() {
        assert_eq!(guess("multigrid", 1_000_000), 20);
        assert!((690..1040).contains(&guess("jacobi", 33_000)));
    }
}
