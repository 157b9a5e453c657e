//! Timed solves with one smoother and cycle of multigrid, or unpreconditioned, on the CPU or a GPU.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use topopt_cuda::{Cuda, Device, Mf, Multigrid, Prepared, ProblemOnDevice};
use topopt_fem::{
    Discretization, ElementKernel, ElementOperator, ElementPreconditioner, Problem, Strategy,
};
use topopt_linalg::{
    Backend, BackendError, Cpu, CycleKind, LinearOperator, Pcg, PcgOptions, PcgOutcome,
    Preconditioner, SmootherKind, Space, System,
};
use topopt_study::computer::Solvable;

/// Relative residual of the solves [Fu2013, 5.6.2].
pub(crate) const OPTIONS: PcgOptions = PcgOptions { tolerance: 1e-8, max_iterations: 1000 };
/// Number of timed cycles; their median counts.
const CYCLES: usize = 5;
/// Contrast up to which a cycle on a GPU is in single precision, as in a run.
const SINGLE: f64 = 1e7;

/// A linear system: a problem with its coefficients.
pub(crate) struct Posed<'a, K, const N: usize> {
    pub problem: &'a Problem<K, N>,
    /// Coefficients, `[n_elements]` per term.
    pub coefficients: &'a [Vec<f64>],
    /// Largest over smallest coefficient.
    pub contrast: f64,
    /// Void elements, around which multigrid forms its aggregates; none if there are none.
    pub void: Option<Vec<u32>>,
}

/// Cycle and smoother of the preconditioner; none for plain conjugate gradients.
pub(crate) type By = Option<(CycleKind, SmootherKind)>;

/// Measurements of a solve: its outcome, and the seconds of a setup, a cycle and the solve.
pub(crate) struct Measured {
    pub outcome: PcgOutcome,
    pub seconds: [f64; 3],
}

/// Measures a solve on the CPU, K u by `bsr`.
pub(crate) fn on_cpu<K: Solvable<N>, const N: usize>(
    posed: &Posed<K, N>,
    by: By,
) -> Result<Measured, BackendError> {
    let operator = Strategy::Bsr.build(posed.problem);
    let m = by.map(|(kind, smoother)| K::multigrid(posed.problem, kind, smoother));
    measured(&Cpu, operator, m.transpose()?, posed)
}

/// Measures a solve on a GPU, K u by `mf`.
pub(crate) fn on_gpu<K: Solvable<N>, const N: usize>(
    device: &Arc<Device>,
    posed: &Posed<K, N>,
    by: By,
) -> Result<Measured, BackendError> {
    let (backend, single) = (Cuda::<f64>::new(device)?, Cuda::<f32>::new(device)?);
    let problem: &Discretization<K, N> = posed.problem;
    let mesh = ProblemOnDevice::new(device, problem)?;
    let m = by.map(|(kind, smoother)| -> Result<Box<dyn ElementPreconditioner<_>>, _> {
        let host = Prepared::new(problem).smoothed_by(smoother);
        Ok(if posed.contrast <= SINGLE {
            Box::new(Multigrid::new(&single, &mesh, problem, kind, &host)?.following(problem))
        } else {
            Box::new(Multigrid::new(&backend, &mesh, problem, kind, &host)?.following(problem))
        })
    });
    let operator = Box::new(Mf::<f64, K, N>::new(&mesh, problem)?);
    measured(&backend, operator, m.transpose()?, posed)
}

fn measured<B: Backend, K: ElementKernel<N>, const N: usize>(
    backend: &B,
    mut operator: Box<dyn ElementOperator<B> + '_>,
    m: Option<Box<dyn ElementPreconditioner<B> + '_>>,
    posed: &Posed<K, N>,
) -> Result<Measured, BackendError> {
    let elements = Space::elements(posed.problem.mesh().n_elements());
    let terms = posed.coefficients.iter().map(|values| backend.upload(values, elements));
    let terms = terms.collect::<Result<Vec<_>, _>>()?;
    let terms: Vec<&B::Vector> = terms.iter().collect();
    operator.set_coefficients(&terms);
    let space = posed.problem.space();
    let f = backend.upload(&posed.problem.load_cases()[0].forces, space)?;
    let wait = || backend.value(&backend.dot(&f, &f));

    let Some(mut m) = m else {
        let (outcome, seconds) = solve(backend, operator.as_ref(), &Nothing, &f, space)?;
        return Ok(Measured { outcome, seconds: [0.0, 0.0, seconds] });
    };
    // Aggregates around void elements, as a run makes them after slow solves.
    if let Some(void) = &posed.void {
        m.restructure(backend, void)?;
    }
    m.update(backend, operator.as_ref(), &terms)?; // loads and records what later ones find
    wait()?;
    let start = Instant::now();
    m.update(backend, operator.as_ref(), &terms)?;
    wait()?;
    let setup = start.elapsed().as_secs_f64();

    let mut z = backend.zeros(space)?;
    let mut of_cycles = Vec::new();
    for _ in 0..=CYCLES {
        let start = Instant::now();
        m.apply(backend, &f, &mut z);
        wait()?;
        of_cycles.push(start.elapsed().as_secs_f64());
    }
    let of_cycles = &mut of_cycles[1..]; // the first is recorded
    of_cycles.sort_by(f64::total_cmp);
    let (outcome, seconds) = solve(backend, operator.as_ref(), m.as_ref(), &f, space)?;
    Ok(Measured { outcome, seconds: [setup, of_cycles[CYCLES / 2], seconds] })
}

fn solve<B: Backend>(
    backend: &B,
    a: &dyn LinearOperator<B>,
    m: &dyn Preconditioner<B>,
    f: &B::Vector,
    space: Space,
) -> Result<(PcgOutcome, f64), BackendError> {
    let mut u = backend.zeros(space)?;
    let mut pcg = Pcg::new(backend, space)?;
    let system = System { backend, a, m, f };
    let start = Instant::now();
    let outcome = pcg.solve(&system, &mut u, OPTIONS, &mut |_| ControlFlow::Continue(()))?;
    Ok((outcome, start.elapsed().as_secs_f64()))
}

/// No preconditioner.
struct Nothing;

impl<B: Backend> Preconditioner<B> for Nothing {
    fn name(&self) -> &'static str {
        "none"
    }

    fn apply(&self, backend: &B, r: &B::Vector, z: &mut B::Vector) {
        backend.copy(r, z);
    }
}
