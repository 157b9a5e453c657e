//! The memory that a run takes on the host, counted before it is taken.

use rayon::prelude::*;
use topopt_case::config::{self, Config};
use topopt_case::filter_plan::{FilterPlan, Weights};
use topopt_case::finding::Finding;
use topopt_case::free_memory::{MEGABYTE, available, megabytes, meshes};
use topopt_case::optimizer::further_element_vectors;
use topopt_case::subject::Subject;
use topopt_design::{Cone, StateEquation};
use topopt_fem::{BlockJacobi, DIM, ElementVectors, Helmholtz, Strategy};
use topopt_linalg::Cpu;
use topopt_mesh::HexMesh;

use crate::computer::{Solvable, smoother};

/// Bytes that a run of `structure` on the processor takes at most at any time: two meshes, vectors
/// of nodes and elements, operator, preconditioner with what its setup needs for a while, filter.
pub fn plan<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
    strategy: Strategy,
) -> usize {
    let (problem, [nodes, elements]) = (subject.equation, subject.sizes());
    let acting = subject.problem.cases();
    let cases = acting.len();

    let [further_element, further_nodal] = subject.task.posed.further_vectors();
    let in_time = subject.task.timeline.as_ref().map(StateEquation::<Cpu>::vectors_in_time);
    let [of_steps, nodal_of_steps] = in_time.unwrap_or_default();
    let nodal = 8 * N * nodes * (6 + 4 * cases + further_nodal + nodal_of_steps);
    // Those of the loop, the optimizer and the filter; with the density filter those of the chain.
    let vectors = match subject.task.filter {
        FilterPlan::Density { .. } => 31,
        _ => 22,
    };
    let (stiffness, mass) = (subject.problem.stiffness(), subject.problem.mass());
    // Factors in the problem, and of the stiffness in the state equation.
    let factors = 2 * usize::from(stiffness.is_some()) + usize::from(mass.is_some());
    let of_method = further_element_vectors(config.optimizer.method);
    // Conductivities along the axes, and by what these stretch the elements.
    let stretches = if problem.elements().stretches().is_some() { 2 * DIM } else { 0 };
    let further = further_element + of_method + of_steps;
    let element = 8 * elements * (vectors + further + factors + stretches);
    // Results are written when the setup needs nothing: fields in the user's order, with states and
    // forces, and the blocks of one of these under way.
    let blocks = (8 * N * nodes).div_ceil(BLOCK).min(rayon::current_num_threads());
    let output = 16 * elements + 16 * N * cases * nodes + OUTPUT * blocks;

    let preconditioner = match config.solver.preconditioner {
        config::Preconditioner::Jacobi => output,
        config::Preconditioner::BlockJacobi => BlockJacobi::bytes(problem) + output,
        _ => K::multigrid_bytes(problem, smoother(&config.solver)),
    };

    let heavy = acting.iter().filter(|case| case.has_body_force).count();
    let weights = heavy * ElementVectors::bytes(elements, N) + filter_weights(subject);
    let operator = strategy.bytes(problem);

    meshes(nodes, elements) + nodal + element + weights + operator + preconditioner
}

/// Megabytes of the process of a run: what is planned, and the program with its threads.
pub fn process_mb<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
    strategy: Strategy,
) -> f64 {
    PROGRAM_MB + plan(config, subject, strategy) as f64 / MEGABYTE
}

/// The program with its threads, measured on Linux.
const PROGRAM_MB: f64 = 18.0;

/// Bytes of a block of a file, and while it is compressed.
const BLOCK: usize = 1 << 18;
const OUTPUT: usize = 1 << 20;

/// Returns the bytes of the filter's weights.
fn filter_weights<K: Solvable<N>, const N: usize>(subject: Subject<K, N>) -> usize {
    let [nodes, elements] = subject.sizes();
    match (subject.task.filter.weights(), subject.task.filter.radius()) {
        (Some(Weights::Helmholtz), _) => Helmholtz::bytes(nodes, elements),
        (Some(Weights::Cone { budget }), Some(radius)) => {
            Cone::bytes(elements, mean_neighbors(subject.equation.mesh(), radius), budget)
        }
        _ => 0,
    }
}

/// Number of elements sampled for the mean.
const SAMPLES: usize = 64;

/// Elements whose centers lie within `radius` of that of an element, on average, by a sample.
fn mean_neighbors(mesh: &HexMesh, radius: f64) -> f64 {
    let centers = mesh.centers();
    let near = |of: &[f64; 3]| {
        let square = |x: &&[f64; 3]| (0..3).map(|i| (x[i] - of[i]).powi(2)).sum::<f64>();
        centers.iter().filter(|x| square(x) < radius * radius).count()
    };
    let every = centers.len().div_ceil(SAMPLES).max(1);
    let sample: Vec<_> = centers.iter().step_by(every).collect();
    sample.par_iter().map(|of| near(of)).sum::<usize>() as f64 / sample.len() as f64
}

/// Refuses a run on the processor for which there is not enough memory; the structure is there
/// already. So many ranks share the memory.
///
/// # Errors
/// A finding with the numbers.
pub fn check<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
    strategy: Strategy,
    sharing: usize,
) -> Result<(), Finding> {
    let [nodes, elements] = subject.sizes();
    let there = meshes(nodes, elements);
    let needed = plan(config, subject, strategy);
    let more = needed.saturating_sub(there);
    let free = available().map(|free| free / sharing).filter(|&free| free < more);
    let Some(free) = free else { return Ok(()) };
    let fits = |s: &Strategy| plan(config, subject, *s).saturating_sub(there) <= free;
    let fitting: Vec<_> = Strategy::ALL.into_iter().filter(fits).map(Strategy::name).collect();
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
