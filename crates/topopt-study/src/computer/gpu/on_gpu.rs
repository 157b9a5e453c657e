//! `OnGpu`: builds operators, preconditioners and filters on one GPU.

use std::sync::Arc;

use topopt_case::config::{self, Config, Precision};
use topopt_case::filter_plan::Weights;
use topopt_case::finding::{Finding, InputError};
use topopt_case::free_memory::MEGABYTE;
use topopt_case::subject::Subject;
use topopt_cuda::distance::{Eikonal, EikonalError};
use topopt_cuda::{
    Cone, Cuda, Device, DeviceCorners, MatrixFreeEquation, Multigrid, Prepared, ProblemOnDevice,
    Strategy,
};
use topopt_distance::{Arrival, Speed, Tetrahedra};
use topopt_fem::{
    CornerMaps, Discretization, ElementOperator, ElementPreconditioner, Helmholtz, Jacobi, Problem,
    filter_coefficients,
};
use topopt_linalg::BackendError;

use super::fastest;
use super::memory::{besides_operator, is_patch, is_single};
use super::opened::{OpenGpu, bare_mesh, problem_on_device};
use crate::computer::{
    BuiltWeights, Computer, EachOperator, Needs, Neighbors, Solvable, Solver, cycle, refused,
    smoother,
};
use crate::failure::Failure;

/// One GPU, in double precision.
pub struct OnGpu(OpenGpu);

impl OnGpu {
    /// On `device`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub(super) fn new(device: &Arc<Device>) -> Result<Self, BackendError> {
        Ok(Self(OpenGpu::new(device)?))
    }

    /// The GPU.
    pub(super) fn opened(&self) -> &OpenGpu {
        &self.0
    }
}

impl Computer for OnGpu {
    type Backend = Cuda<f64>;
    const UNMEASURED: config::Strategy = config::Strategy::Mf;

    fn backend(&self) -> &Cuda<f64> {
        &self.0.backend
    }

    fn strategies<K: Solvable<N>, const N: usize>(
        &self,
        subject: Subject<K, N>,
    ) -> Vec<&'static str> {
        possible(subject).into_iter().map(Strategy::name).collect()
    }

    fn needs<K: Solvable<N>, const N: usize>(
        &self,
        config: &Config,
        subject: Subject<K, N>,
    ) -> Result<Needs, Failure> {
        let is_mixed = is_mixed(&self.0.device, &config.solver)?;
        let besides = besides_operator(config, subject, subject.task.contrast, is_mixed);
        let n = subject.n_equations();
        let bytes = |s: Strategy| besides + n * s.bytes(subject.solved());
        let memory = |&s: &Strategy| (s.name(), bytes(s) as f64 / MEGABYTE);
        let strategy = in_order(config.solver.strategy, subject, |_| true).name();
        Ok(Needs { strategy, memory_mb: K::STRATEGIES.iter().map(memory).collect() })
    }

    fn solver<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        config: &Config,
        subject: Subject<'a, K, N>,
        wanted: config::Strategy,
        contrast: f64,
    ) -> Result<Solver<'a, Cuda<f64>>, Failure> {
        solver(&self.0, config, subject, (wanted, contrast))
    }

    fn matrix_free<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        problem: &'a Discretization<K, N>,
        colors: Option<&[usize]>,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>> + 'a>, BackendError> {
        let mesh = problem_on_device(&self.0.device, problem, colors)?;
        Strategy::Mf.build(&mesh, problem)
    }

    fn weights<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        plan: &Weights,
        subject: Subject<'a, K, N>,
        radius: f64,
    ) -> Result<BuiltWeights<'a, Cuda<f64>>, BackendError> {
        let mesh = subject.equation.mesh();
        match plan {
            Weights::Helmholtz => {
                let coefficients = &filter_coefficients(mesh, radius);
                let mesh = &mesh.linear().unwrap_or_else(|| mesh.clone());
                let on_device = bare_mesh(&self.0.device, mesh, subject.task.colors.as_deref())?;
                let backends = (&self.0.backend, self.0.single()?);
                let equation = MatrixFreeEquation::new(backends, &on_device, mesh, coefficients)?;
                Ok((Box::new(Helmholtz::solving(&self.0.backend, equation)?), None))
            }
            Weights::Cone { .. } => {
                let cone = Cone::new(&self.0.device, &mesh.centers(), radius)?;
                let neighbors = Neighbors { mean: cone.mean_neighbors(), stored: false };
                Ok((Box::new(cone), Some(neighbors)))
            }
        }
    }

    fn corners<'a, K: Solvable<N>, const N: usize>(
        &'a self,
        subject: Subject<'a, K, N>,
    ) -> Result<Box<dyn CornerMaps<Cuda<f64>> + 'a>, BackendError> {
        let (mesh, colors) = (subject.equation.mesh(), subject.task.colors.as_deref());
        Ok(Box::new(DeviceCorners::new(&bare_mesh(&self.0.device, mesh, colors)?)?))
    }

    fn each_operator<K: Solvable<N>, const N: usize>(
        &self,
        problem: &Problem<K, N>,
        colors: Option<&[usize]>,
        wanted: &dyn Fn(&str) -> bool,
        visitor: &mut EachOperator<Cuda<f64>>,
    ) -> Result<(), BackendError> {
        let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
        let free = self.0.device.memory()?.0;
        // The mesh, and a solve with Jacobi: eight vectors of all unknowns, and the moduli.
        let besides =
            ProblemOnDevice::<K, N>::bytes(problem.mesh()) + 8 * (8 * N * nodes + elements);
        let mesh = problem_on_device(&self.0.device, problem, colors)?;
        for &strategy in K::STRATEGIES.iter().filter(|strategy| wanted(strategy.name())) {
            let bytes = strategy.bytes(problem);
            if besides + bytes <= free && strategy.takes(problem) {
                visitor(strategy.build(&mesh, problem)?.as_mut(), bytes)?;
            }
        }
        Ok(())
    }

    fn arrival(
        &self,
        tetrahedra: Tetrahedra,
        speed: &Speed,
        sources: &[(u32, f64)],
        end: f64,
    ) -> Result<Arrival, Failure> {
        let found = Eikonal::<f64>::new(&self.0.device, tetrahedra, speed)
            .and_then(|mut eikonal| eikonal.arrival_until(sources, end));
        found.map_err(|error| match error {
            EikonalError::Input(error) => refused(error),
            EikonalError::Device(error) => error.into(),
        })
    }

    fn seconds(&self, work: &mut dyn FnMut()) -> Result<f64, BackendError> {
        self.0.device.seconds(work)
    }
}

/// Operator and preconditioner of `subject`. The host prepares the preconditioner while the device
/// measures strategies.
fn solver<'a, K: Solvable<N>, const N: usize>(
    gpu: &'a OpenGpu,
    config: &Config,
    subject: Subject<'a, K, N>,
    (wanted, contrast): (config::Strategy, f64),
) -> Result<Solver<'a, Cuda<f64>>, Failure> {
    let (problem, solver) = (subject.solved(), &config.solver);
    smoothed_here(config, subject)?;
    let choice = choice(&gpu.device, config, subject, wanted, contrast)?;
    let mesh = problem_on_device(&gpu.device, problem, subject.colors())?;
    let operator = || -> Result<_, BackendError> {
        let (strategy, note) = match choice {
            Choice::Named(strategy, note) => (strategy, note),
            Choice::Measured(fitting) => {
                let (best, note) = fastest::fastest(&gpu.backend, &mesh, problem, fitting)?;
                (best, Some(note))
            }
        };
        Ok((strategy.build(&mesh, problem)?, note))
    };
    let prepare = || Prepared::new(problem).smoothed_by(smoother(solver));
    let is_prepared = solver.is_multigrid() && !problem.elements().are_tetrahedra();
    let (operator, prepared) = rayon::join(operator, || is_prepared.then(prepare));
    let (operator, note) = operator?;

    let mut preconditioner = preconditioner(gpu, solver, &mesh, problem, contrast, prepared)?;
    if is_mixed(&gpu.device, solver)? {
        preconditioner.take_steps()?;
    }
    Ok(Solver { operator, preconditioner, note })
}

/// Whether solves take their steps in single precision, where the preconditioner has it.
fn is_mixed(device: &Device, solver: &config::Solver) -> Result<bool, BackendError> {
    Ok(match solver.precision {
        Precision::Double => false,
        Precision::Mixed => true,
        Precision::Auto => device.single_to_double()? > SLOW_DOUBLE,
    })
}

/// Ratio of paces in single and in double precision above which solves take their steps in single.
const SLOW_DOUBLE: usize = 4;

/// The preconditioner on a GPU, for moduli down to `contrast` times the largest. Multigrid is in
/// single precision, but in double where void is softer than its rounding: a piece that only such
/// void holds has motions that single precision cannot resolve, and solves failed. It
/// is prepared on the host, that of tetrahedra where it is built.
///
/// # Errors
/// [`BackendError`] if the device has no room for it.
fn preconditioner<'a, K: Solvable<N>, const N: usize>(
    gpu: &'a OpenGpu,
    solver: &config::Solver,
    mesh: &Arc<ProblemOnDevice<K, N>>,
    problem: &'a Discretization<K, N>,
    contrast: f64,
    prepared: Option<Prepared>,
) -> Result<Box<dyn ElementPreconditioner<Cuda<f64>> + 'a>, BackendError> {
    let kind = cycle(solver, problem.elements().are_tetrahedra());
    if solver.is_multigrid() {
        let of_tetrahedra = match is_single(contrast) {
            true => K::multigrid_of_tetrahedra(gpu.single()?, mesh, problem, kind, None),
            false => K::multigrid_of_tetrahedra(&gpu.backend, mesh, problem, kind, None),
        };
        if let Some(multigrid) = of_tetrahedra {
            return multigrid;
        }
    }

    Ok(match prepared {
        Some(host) if is_single(contrast) => {
            Box::new(Multigrid::new(gpu.single()?, mesh, problem, kind, &host)?.following(problem))
        }
        Some(host) => {
            Box::new(Multigrid::new(&gpu.backend, mesh, problem, kind, &host)?.following(problem))
        }
        None => match K::block_jacobi(solver, mesh).transpose()? {
            Some(blocks) => blocks,
            None => Box::new(Jacobi::new(&gpu.backend, problem.space())?),
        },
    })
}

/// Refuses patches where the matrix is not assembled on a GPU.
fn smoothed_here<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
) -> Result<(), InputError> {
    if !is_patch(config) || subject.equation.elements().stretches().is_none() {
        return Ok(());
    }
    let message = "smoother `patch` does not take conductivities that differ by axis on a GPU";
    let remedy = "leave out `solver.smoother`, or set `solver.device` to \"cpu\"";
    Err(Finding::new(message).remedy(remedy).into())
}

/// The strategy on a GPU: `Auto` is `dbd` where the elements come by color, or `mf`, which stores
/// nothing, where that does not fit or does not compute them; what is measured differs from run to
/// run.
fn in_order<K: Solvable<N>, const N: usize>(
    asked: config::Strategy,
    subject: Subject<K, N>,
    fits: impl Fn(&Strategy) -> bool,
) -> config::Strategy {
    let is_dbd = |it: Strategy| it.takes(subject.equation) && fits(&it);
    match (asked, &subject.task.colors) {
        (config::Strategy::Auto, Some(_)) if is_dbd(Strategy::Dbd) => config::Strategy::Dbd,
        (config::Strategy::Auto, None) if K::IS_MEASURED => config::Strategy::Auto,
        (config::Strategy::Auto, _) => config::Strategy::Mf,
        (asked, _) => asked,
    }
}

/// How an operator is chosen among those that fit.
enum Choice {
    /// Strategy chosen without measuring, with a note if the user left the choice to the program.
    Named(Strategy, Option<String>),
    /// The fastest of these.
    Measured(Vec<Strategy>),
}

fn choice<K: Solvable<N>, const N: usize>(
    device: &Device,
    config: &Config,
    subject: Subject<K, N>,
    wanted: config::Strategy,
    contrast: f64,
) -> Result<Choice, Failure> {
    let free = device.memory()?.0;
    let is_mixed = is_mixed(device, &config.solver)?;
    let besides = besides_operator(config, subject, contrast, is_mixed);
    let n = subject.n_equations();
    let bytes = |s: Strategy| besides + n * s.bytes(subject.solved());
    let possible = possible(subject);
    let fits = |strategy: &Strategy| bytes(*strategy) <= free;
    let fitting: Vec<_> = possible.iter().copied().filter(fits).collect();
    let asked = in_order(wanted, subject, fits);
    if asked == config::Strategy::Auto {
        if fitting.is_empty() {
            let least = K::STRATEGIES.iter().map(|&strategy| bytes(strategy)).min();
            return Err(too_large("auto", least.unwrap_or(0), free, &fitting));
        }
        return Ok(Choice::Measured(fitting));
    }

    let is_asked = |strategy: &&Strategy| strategy.name() == asked.name();
    let Some(&strategy) = possible.iter().find(is_asked) else {
        return Err(InputError::from(impossible(asked, subject, &possible)).into());
    };
    if !fits(&strategy) {
        return Err(too_large(asked.name(), bytes(strategy), free, &fitting));
    }
    let is_ours = K::IS_MEASURED && asked != wanted;
    Ok(Choice::Named(strategy, is_ours.then(|| format!("strategy {}, not measured", asked.name()))))
}

/// The strategies that compute the problem, in a fixed order where its elements come by color.
pub(super) fn possible<K: Solvable<N>, const N: usize>(subject: Subject<K, N>) -> Vec<Strategy> {
    let is_possible = |strategy: &Strategy| {
        strategy.takes(subject.equation)
            && (subject.task.colors.is_none() || strategy.is_in_order::<K, N>())
    };
    K::STRATEGIES.iter().copied().filter(is_possible).collect()
}

/// Why a strategy is not among those that are possible.
fn impossible<K: Solvable<N>, const N: usize>(
    asked: config::Strategy,
    subject: Subject<K, N>,
    possible: &[Strategy],
) -> Finding {
    let (name, degenerate) = (asked.name(), subject.equation.mesh().n_degenerate());
    let names: Vec<_> = possible.iter().map(|strategy| strategy.name()).collect();
    let why = match asked {
        _ if K::STRATEGIES.iter().all(|strategy| strategy.name() != name) => {
            "does not compute this physics on a GPU".into()
        }
        _ if possible.is_empty() => "does not compute tetrahedra for this physics on a GPU".into(),
        config::Strategy::EbeSym if degenerate > 0 => {
            format!("does not support wedges and pyramids, and the mesh has {degenerate}")
        }
        _ if subject.equation.elements().are_tetrahedra() => "does not compute tetrahedra".into(),
        _ if subject.equation.elements().laws().is_some() => {
            "does not compute materials that are not isotropic with one Poisson's ratio".into()
        }
        _ => "does not add in the fixed order that `solver.deterministic` requires".into(),
    };
    let remedy = match names.as_slice() {
        [] => "set `solver.device` to \"cpu\"".into(),
        names => format!("set `solver.strategy` to \"auto\", or to one of {}", names.join(", ")),
    };
    Finding::new(format!("strategy `{name}` {why}")).remedy(remedy)
}

fn too_large(name: &str, needed: usize, free: usize, fitting: &[Strategy]) -> Failure {
    let mega = |bytes: usize| format!("{:.0} MB", bytes as f64 / f64::from(1 << 20));
    let (needed, free) = (mega(needed), mega(free));
    let names: Vec<_> = fitting.iter().map(|strategy| strategy.name()).collect();
    let remedy = match names.as_slice() {
        [] => "use a smaller mesh, or `solver.device = \"cpu\"`".into(),
        names => format!("these strategies would fit: {}", names.join(", ")),
    };
    let message = format!("strategy `{name}` needs {needed} on the GPU, which has {free} free");
    InputError::from(Finding::new(message).remedy(remedy)).into()
}
