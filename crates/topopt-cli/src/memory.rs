//! The memory that a run takes on the host, counted before it is taken, and what is free.

use std::fs;
use std::path::Path;

use rayon::prelude::*;
use topopt_design::Cone;
use topopt_fem::{BlockJacobi, ElementVectors, Helmholtz, Multigrid, Strategy};
use topopt_mesh::HexMesh;

use crate::config::{self, Config, FilterKind, FilterWeights};
use crate::report::Finding;
use crate::structure::Structure;

/// Bytes of a megabyte.
pub(crate) const MEGABYTE: f64 = 1048576.0;

/// Bytes that a run of `structure` on the processor takes at most at any time: two meshes, vectors of nodes and
/// elements, operator, preconditioner with what its setup needs for a while, filter.
pub(crate) fn plan(config: &Config, structure: &Structure, strategy: Strategy) -> usize {
    let problem = &structure.problem;
    let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
    let cases = problem.load_cases().len();
    let nodal = 24 * nodes * (6 + 4 * cases);
    let vectors = match config.filter.get_ref().kind {
        FilterKind::Density => 31,
        _ => 22,
    };
    let element = 8 * elements * vectors;
    // Results are written when the setup needs nothing: fields in the user's order, and what is compressed.
    let output = (16 * elements + 24 * cases * nodes) + OUTPUT.min(16 * elements);
    let preconditioner = match config.solver.preconditioner {
        config::Preconditioner::Jacobi => output,
        config::Preconditioner::BlockJacobi => BlockJacobi::bytes(nodes) + output,
        _ => Multigrid::bytes(nodes, elements),
    };
    let heavy = problem.load_cases().iter().filter(|case| case.body_force != [0.0; 3]).count();
    let weights = heavy * ElementVectors::bytes(elements) + filter_weights(config, structure);
    let operator = strategy.bytes(nodes, elements);
    meshes(nodes, elements) + nodal + element + weights + operator + preconditioner
}

/// Bytes of the mesh in the user's order and in that of the problem.
fn meshes(nodes: usize, elements: usize) -> usize {
    2 * (24 * nodes + 32 * elements) + 4 * (nodes + elements)
}

/// Bytes of blocks under way when a file is written.
const OUTPUT: usize = 4 << 20;

/// What the filter's weights take.
fn filter_weights(config: &Config, structure: &Structure) -> usize {
    let filter = config.filter.get_ref();
    let (nodes, elements) = (structure.mesh.n_nodes(), structure.mesh.n_elements());
    let Some(radius) = structure.filter_radius else { return 0 };
    if filter.weights == FilterWeights::Helmholtz {
        return Helmholtz::bytes(nodes, elements);
    }
    let budget = filter.neighbor_memory_mb.saturating_mul(1 << 20);
    Cone::bytes(elements, mean_neighbors(&structure.mesh, radius), budget)
}

/// How many elements are looked at for the mean.
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

/// Refuses a run on the processor for which there is not enough memory; the structure is there already.
///
/// # Errors
/// A finding with the numbers.
pub(crate) fn check(
    config: &Config,
    structure: &Structure,
    strategy: Strategy,
) -> Result<(), Finding> {
    let there = meshes(structure.mesh.n_nodes(), structure.mesh.n_elements());
    let needed = plan(config, structure, strategy);
    let more = needed.saturating_sub(there);
    let Some(free) = available().filter(|&free| free < more) else { return Ok(()) };
    let fits = |s: &Strategy| plan(config, structure, *s).saturating_sub(there) <= free;
    let fitting: Vec<_> = Strategy::ALL.into_iter().filter(fits).map(Strategy::name).collect();
    let remedy = match fitting.as_slice() {
        [] => "use a coarser mesh, a larger machine, or raise the limit of the shell or container"
            .into(),
        names => format!("these strategies would fit: {}", names.join(", ")),
    };
    let [needed, free] = [needed, free + there].map(megabytes);
    let message = format!(
        "a run with strategy `{}` needs {needed} of memory, and {free} are there",
        strategy.name()
    );
    Err(Finding::new(message).remedy(remedy))
}

/// Refuses a mesh of so many elements that even the leanest run of it would not fit, before it is made. More
/// than there are numbers for are left to the generator to refuse.
///
/// # Errors
/// A finding with the numbers.
pub(crate) fn check_elements(elements: usize) -> Result<(), Finding> {
    // There are about as many nodes. Vectors of a run, Jacobi, no filter.
    let least = elements.saturating_mul(meshes(1, 1) + 24 * 10 + 8 * 20);
    match available() {
        Some(free) if free < least && elements <= i32::MAX as usize => {
            let [least, free] = [least, free].map(megabytes);
            let message = format!(
                "{elements} elements need {least} of memory at least, and {free} are there"
            );
            Err(Finding::new(message).remedy("use a coarser mesh or a larger machine"))
        }
        _ => Ok(()),
    }
}

/// Refuses to begin where `ulimit -v` leaves too little for threads and small things: what needs more is
/// counted, but these are not, and running out of memory cannot be caught.
///
/// # Errors
/// A finding with the numbers.
pub(crate) fn check_start() -> Result<(), Finding> {
    let Some(free) = of_address_space().filter(|&free| free < SMALL_THINGS) else { return Ok(()) };
    let [free, least] = [free, SMALL_THINGS].map(megabytes);
    let message = format!("the limit on memory leaves {free}, and {least} are needed to begin");
    Err(Finding::new(message).remedy("raise the limit of the shell: `ulimit -v`"))
}

/// What is kept of a limited address space for what is not counted.
const SMALL_THINGS: usize = 64 << 20;

fn megabytes(bytes: usize) -> String {
    format!("{:.0} MB", bytes as f64 / MEGABYTE)
}

/// Bytes that this process may still take: of the machine, of the groups of processes that it is in, and of
/// its address space. None where the system does not say.
fn available() -> Option<usize> {
    let address_space = of_address_space().map(|left| left.saturating_sub(SMALL_THINGS));
    [of_machine(), of_groups(), address_space].into_iter().flatten().min()
}

fn of_machine() -> Option<usize> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// What limits leave, of this process' group and of those around it.
fn of_groups() -> Option<usize> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let path = Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/'));
    let number = |path: &Path, name: &str| -> Option<usize> {
        fs::read_to_string(path.join(name)).ok()?.trim().parse().ok()
    };
    let left = |path: &Path| -> Option<usize> {
        let limit = number(path, "memory.max")?;
        // The cache of files gives way.
        let stat = fs::read_to_string(path.join("memory.stat")).unwrap_or_default();
        let cache = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
        let cache = cache.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        Some((limit + cache).saturating_sub(number(path, "memory.current")?).min(limit))
    };
    path.ancestors().filter_map(left).min()
}

/// What `ulimit -v` leaves.
fn of_address_space() -> Option<usize> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:")?))
}

/// The number after `name` in the file `path`, in bytes.
fn kilobytes(path: &str, name: &str) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<usize>().ok()? << 10)
}
