//! The memory that a run takes on the host, counted before it is taken.

use topopt_case::config::{self, Config};
use topopt_case::design_loop::{self, Parts};
use topopt_case::filter_plan::Weights;
use topopt_case::finding::Finding;
use topopt_case::free_memory::{available, megabytes, meshes};
use topopt_case::subject::Subject;
use topopt_design::{Cone, DesignError, Observer, Solver, StopRules};
use topopt_fem::{
    BlockJacobi, CpuCorners, DIM, ElementVectors, Helmholtz, Idle, Jacobi, ProblemView,
    RemoteProblem, Strategy,
};
use topopt_linalg::{Counting, Csr, Space};

use crate::computer::{Solvable, smoother};

/// Bytes of a run on the processor at any time at most, except for its operator: two meshes, vectors
/// of nodes and elements, preconditioner with what its setup needs for a while, filter.
pub fn besides_operator<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
) -> usize {
    let (problem, [nodes, elements]) = (subject.equation, subject.sizes());
    let acting = subject.problem.cases();
    let cases = acting.len();

    // Forces of the problem; volumes, designs and factors on the host, and the last whole design.
    let kept = usize::from(config.design.style == config::Style::Crisp);
    let factors = [subject.problem.stiffness(), subject.problem.mass()].into_iter().flatten();
    // Conductivities along the axes, and by what these stretch the elements.
    let stretches = if problem.elements().stretches().is_some() { 2 * DIM } else { 0 };
    let values = 8 * (N * nodes * cases + elements * (3 + kept + factors.count() + stretches));
    // Results are written when the setup needs nothing: fields in the user's order, with states and
    // forces, and the blocks of one of these under way.
    let blocks = (8 * N * nodes).div_ceil(BLOCK).min(rayon::current_num_threads());
    let output = 16 * elements + 16 * N * cases * nodes + OUTPUT * blocks;

    let preconditioner = match config.solver.preconditioner {
        config::Preconditioner::Jacobi => output,
        config::Preconditioner::BlockJacobi => BlockJacobi::bytes(subject.solved()) + output,
        _ => K::multigrid_bytes(subject.solved(), smoother(&config.solver)),
    } * subject.n_equations();

    let heavy = acting.iter().filter(|case| case.has_body_force).count();
    let warm = acting.iter().filter(|case| case.has_thermal_strain).count();
    let per_element = problem.mesh().nodes_per_element();
    let corners =
        usize::from(config.has_half_width()) * CpuCorners::bytes(nodes, elements, per_element);
    // Moments of the elements, and their sums at nodes with places.
    let inertia = match subject.problem.has_relief() {
        true => ElementVectors::bytes(elements, 1 + DIM) + 96 * nodes,
        false => 0,
    };
    let weights = (heavy + warm) * ElementVectors::bytes(elements, N)
        + inertia
        + filter_weights(subject)
        + corners;
    // Number of a material and change of temperature, and the energy of held elements.
    let strains = elements * (36 * warm + 8 * usize::from(warm > 0));
    let vectors = of_vectors(config, subject) + subject.task.space.list_bytes();

    let half = besides_half(subject);
    meshes(nodes, elements) + values + strains + vectors + weights + preconditioner + half
}

/// Bytes of the operator of the whole, where a half is solved, and of mesh and maps of the half.
fn besides_half<K: Solvable<N>, const N: usize>(subject: Subject<K, N>) -> usize {
    let Some(half) = subject.half else { return 0 };
    let (mesh, [nodes, _]) = (half.model.equation.mesh(), subject.sizes());
    // A row of one entry for each unknown, and for those of the half in the other direction.
    let rows = Csr::ROW * N * (nodes + mesh.n_nodes());
    let vectors = 32 * N * mesh.n_nodes();
    Strategy::Mf.bytes(subject.equation)
        + meshes(mesh.n_nodes(), mesh.n_elements()) / 2
        + rows
        + vectors
}

/// Bytes of all vectors of a design loop on any backend, at most at any time, or of the share that a
/// part has: those of a loop that computes nothing. Jacobi's preconditioner counts with them.
pub fn of_vectors<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
) -> usize {
    let counting = Counting::default();
    // An error comes again in the run, with its message.
    let _ = count(config, subject, &counting);
    let [_, elements] = subject.sizes();
    (counting.most() as f64 * (elements as f64 / subject.problem.elements().points as f64)) as usize
}

/// Iterations of the last stage after which all optimizers hold all of their vectors: mixing takes
/// the most designs.
const ITERATIONS: usize = 4;

/// Runs a design loop on `counting`.
fn count<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
    counting: &Counting,
) -> Result<(), DesignError> {
    let (task, problem) = (subject.task.without_values(), RemoteProblem::of(subject.problem));
    let (nodes, elements) = (problem.unknowns(), problem.elements());
    let aside = Counting::default();
    let is_jacobi = config.solver.preconditioner == config::Preconditioner::Jacobi;
    let of_jacobi = if is_jacobi { counting } else { &aside };
    let solver = || idle(of_jacobi, nodes, config.solver.tolerance);
    let is_consistent = subject.equation.is_capacity_consistent();
    let storage = is_consistent.then(|| Box::new(Idle(nodes)) as Box<_>);
    let parts = Parts {
        solver: solver()?,
        thicker: task.space.solves_both().then(solver).transpose()?,
        bare: task.timeline.as_ref().map(|_| (Box::new(Idle(nodes)) as Box<_>, storage)),
        weights_of: Box::new(move |_| Ok(Box::new(Idle(elements)))),
        corners: config.has_half_width().then(|| Box::new(Idle(nodes)) as Box<_>),
    };
    let subject = Subject { task: &task, problem: &problem, ..subject };
    let last = config.continuation.last().map_or(0, |stage| stage.from);
    let stop = StopRules { max_iterations: last + ITERATIONS, ..StopRules::default() };
    design_loop::of(config, subject, counting, parts, stop, None)?.run(&mut Nobody)?;
    Ok(())
}

/// A solver that computes nothing, with the vectors of Jacobi's preconditioner on `counting`.
fn idle(
    counting: &Counting,
    nodes: Space,
    tolerance: f64,
) -> Result<Solver<'_, Counting>, DesignError> {
    let (operator, preconditioner) =
        (Box::new(Idle(nodes)), Box::new(Jacobi::new(counting, nodes)?));
    Ok(Solver { operator, preconditioner, whole: None, tolerance, max_iterations: 1 })
}

/// Observer of a loop that computes nothing.
struct Nobody;

impl Observer<Counting> for Nobody {}

/// Megabytes of the program with its threads, measured on Linux.
pub const PROGRAM_MB: f64 = 18.0;

/// Bytes of a block of a file, and while it is compressed.
const BLOCK: usize = 1 << 18;
const OUTPUT: usize = 1 << 20;

/// Returns the bytes of the filter's weights.
fn filter_weights<K: Solvable<N>, const N: usize>(subject: Subject<K, N>) -> usize {
    match subject.task.filter.weights() {
        Some((Weights::Helmholtz, _)) => Helmholtz::bytes(subject.equation.mesh()),
        Some((Weights::Cone { budget }, radius)) => {
            let centers = subject.equation.mesh().centers();
            let local = subject.task.filter.local_radius();
            let radii = [radius].into_iter().chain(local);
            radii.map(|radius| Cone::bytes(&centers, radius, budget)).sum()
        }
        None => 0,
    }
}

/// Refuses a run on the processor for which there is not enough memory; the structure is there
/// already. The run takes `besides` bytes besides its operator, and so many ranks share the memory.
///
/// # Errors
/// A finding with the numbers.
pub fn check<K: Solvable<N>, const N: usize>(
    besides: usize,
    subject: Subject<K, N>,
    strategy: Strategy,
    sharing: usize,
) -> Result<(), Finding> {
    let [nodes, elements] = subject.sizes();
    let there = meshes(nodes, elements);
    let n = subject.n_equations();
    let plan = |strategy: Strategy| besides + n * strategy.bytes(subject.solved());
    let needed = plan(strategy);
    let more = needed.saturating_sub(there);
    let free = available().map(|free| free / sharing).filter(|&free| free < more);
    let Some(free) = free else { return Ok(()) };
    let fits = |s: &Strategy| plan(*s).saturating_sub(there) <= free;
    let all = Strategy::of(&subject.equation.elements()).iter().copied();
    let fitting: Vec<_> = all.filter(fits).map(Strategy::name).collect();
    let remedy = match fitting.as_slice() {
        [] => "use a coarser mesh, a larger machine, or raise the limit of the shell or container"
            .into(),
        names => format!("these strategies would fit: {}", names.join(", ")),
    };
    let [needed, free] = [needed, free + there].map(megabytes);
    let message = format!(
        "a run with strategy `{}` needs {needed} of memory, and {free} are available",
        strategy.name()
    );
    Err(Finding::new(message).remedy(remedy))
}

/// The high-water mark of the resident set, on Linux.
pub(crate) fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
