//! One step of MMA for a million variables on the GPU: milliseconds by the number of constraints.
//!
//!     cargo run --release -p topopt-study --example mma_step
//!
//! The median of eleven steps from a design on, after one that is not counted. Gradients are those
//! of functions that differ in every variable.

use std::error::Error;
use std::time::Instant;

use topopt_cuda::{Cuda, Device};
use topopt_design::{Function, Mma, Optimizer, OtherDesigns, SolveError, Subproblem};
use topopt_linalg::{Backend, MovingAsymptotes, Space};

const VARIABLES: usize = 1_000_000;
const REPEATS: usize = 11;

/// MMA evaluates a design once.
struct NoOthers;

impl<B: Backend> OtherDesigns<B> for NoOthers {
    fn is_linear(&self, _: usize) -> bool {
        false
    }

    fn constraint(&mut self, _: usize, _: &B::Vector) -> Result<f64, SolveError> {
        Ok(f64::NAN)
    }

    fn values(&mut self, _: &B::Vector) -> Result<Vec<f64>, SolveError> {
        Ok(Vec::new())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let backend = Cuda::<f64>::new(&Device::open(0)?)?;
    for constraints in [1, 2, 10, 50, 200] {
        let milliseconds = step(&backend, constraints)?;
        println!("{constraints:4} constraints: {milliseconds:.2} ms");
    }
    Ok(())
}

/// Milliseconds of a step.
fn step<B: MovingAsymptotes>(backend: &B, constraints: usize) -> Result<f64, Box<dyn Error>> {
    let vector = |value: &dyn Fn(f64) -> f64| {
        let values: Vec<f64> = (0..VARIABLES).map(|j| value(j as f64)).collect();
        backend.upload(&values, Space::elements(VARIABLES))
    };
    let (floor, ceiling) = (vector(&|_| 0.01)?, vector(&|_| 1.0)?);
    let mut design = vector(&|_| 0.4)?;
    let mut next = vector(&|_| 0.0)?;

    let gradient = vector(&|j| -1.0 - (0.001 * j).sin().powi(2) - (0.37 * j).cos().powi(4))?;
    let objective = Function { value: 1.0, gradient, limit: f64::INFINITY, share: 0.0 };
    let mut functions = Vec::new();
    for i in 0..constraints {
        let phase = i as f64;
        let gradient = vector(&|j| 1.0 + 0.5 * (1e-5 * (1.0 + phase) * j + phase).sin())?;
        // A tenth above what is allowed.
        let value = 0.4 * VARIABLES as f64;
        functions.push(Function { value, gradient, limit: value / 1.1, share: 0.0 });
    }

    let mut mma = Mma::new(backend, Space::variables(VARIABLES), 0.2)?;
    let mut seconds = Vec::new();
    for _ in 0..=REPEATS {
        let mut problem = Subproblem {
            backend,
            design: &design,
            bounds: [&floor, &ceiling],
            objective: &objective,
            constraints: &functions,
            others: &mut NoOthers,
        };
        let start = Instant::now();
        mma.next(&mut problem, &mut next)?;
        backend.value(&backend.max_difference(&design, &next))?;
        seconds.push(start.elapsed().as_secs_f64());
        backend.copy(&next, &mut design);
    }
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    Ok(1e3 * seconds[REPEATS / 2])
}
