//! The steps before the first design iteration of a large run, on the host: time, processor time
//! and memory of each, for a cantilever of about so many elements in random numbering.
//!
//! `RAYON_NUM_THREADS=16 cargo run --release -p topopt-fem --example setup -- ELEMENTS`, on Linux. The
//! longest thread is what a step takes with a core for each thread, however many there are here:
//! work of one thread is not divided.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use topopt_fem::{Aggregation, ElementKernel, Joints, LoadCase, Material, Problem, Supports};
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::quality::Worst;
use topopt_mesh::{
    CellList, Components, HexMesh, NodeToElements, Partition, Renumbering, Sets, hilbert,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let asked = std::env::args().nth(1).map_or(Ok(1_000_000), |n| n.parse())?;
    println!(
        "{:<20} {:>8} {:>12} {:>16} {:>11} {:>10} {:>8}",
        "step",
        "wall s",
        "processor s",
        "longest thread s",
        "ns/element",
        "kept B/el.",
        "peak B/el."
    );
    // Within the pool, whose threads live on from step to step.
    rayon::ThreadPoolBuilder::new().build()?.install(|| steps(asked))
}

fn steps(asked: usize) -> Result<(), Failure> {
    let steps = Steps { n: asked as f64 };
    let resolution = Resolution::Elements(asked);
    let mesh = steps.time("generate", || Benchmark::Cantilever.generate(resolution))?;
    let order = steps.time("shuffle", || Renumbering::shuffled(&mesh, 1));
    let shuffled = steps.time("apply", || order.apply(&mesh));
    drop((mesh, order));
    let mesh = shuffled;

    let fixed = steps.time("nodes of faces", || mesh.sets().nodes_of("fixed", &mesh))?;
    let (points, hexes) = (mesh.coordinates().to_vec(), mesh.hexes().to_vec());
    drop(steps.time("checks of the mesh", || HexMesh::new(points, hexes, Sets::default()))?);
    steps.time("flattest element", || Worst::of(&mesh));
    steps.time("element width", || mesh.element_width());
    drop(steps.time("curve of centers", || hilbert::order(&mesh.centers())));
    let renumbering = steps.time("number", || Renumbering::on_import(&mesh));
    let new = steps.time("renumber", || renumbering.apply(&mesh));

    let problem = steps.time("problem", || problem(new, &renumbering, &fixed))?;
    let partition = steps.time("partition", || Partition::new(problem.mesh(), 2));
    let part = steps.time("a part of two", || partition.part(problem.mesh(), 1));
    drop(steps.time("equation on it", || problem.on_part(&part)));
    drop((partition, part));
    steps.time("joined by faces", || Components::joined_by_faces(problem.mesh()));
    drop(steps.time("adjacency", || NodeToElements::new(problem.mesh())));
    drop(steps.time("aggregates", || Aggregation::new(&problem, 600)));
    let void = beside_gyroid(&problem);
    let structure = steps.time("aggregates by void", || Aggregation::around(&problem, &void, 600));
    drop(steps.time("joints", || Joints::of_nodes(&problem, &structure)));
    drop((void, structure));
    drop(steps.time("bounds", || problem.kernel().bounds(&problem.elements())));
    let centers = steps.time("centers", || problem.mesh().centers());
    drop(steps.time("cells of the filter", || CellList::new(&centers, 3.0)));
    let values = vec![1.0; problem.mesh().n_elements()];
    steps.time("values back", || renumbering.elements_to_original(&values));
    Ok(())
}

fn problem(new: HexMesh, renumbering: &Renumbering, fixed: &[u32]) -> Result<Problem, Failure> {
    let material = Material::new(1.0, 0.3).ok_or("no material")?;
    let new_node = renumbering.new_nodes();
    let mut supports = Supports::none(new.n_nodes());
    let held = fixed.iter().map(|&node| new_node[node as usize] as usize);
    held.for_each(|node| (0..3).for_each(|i| supports.fix(node, i)));
    let load = LoadCase::new("default", vec![1.0; 3 * new.n_nodes()]);
    Ok(Problem::new(new, material, supports, vec![load])?)
}

/// Returns the elements that a design of thin walls leaves empty, seven tenths of all.
fn beside_gyroid(problem: &Problem) -> Vec<u32> {
    let is_void = |x: [f64; 3]| {
        let [x, y, z] = x.map(|x| 0.3 * x);
        (x.sin() * y.cos() + y.sin() * z.cos() + z.sin() * x.cos()).abs() > 0.45
    };
    let centers = problem.mesh().centers();
    (0..).zip(centers).filter(|(_, x)| is_void(*x)).map(|(element, _)| element).collect()
}

/// Prints what each step takes, over the number of elements.
struct Steps {
    n: f64,
}

impl Steps {
    fn time<T>(&self, name: &str, step: impl FnOnce() -> T) -> T {
        // Writing 5 begins a new peak.
        let reset = fs::write("/proc/self/clear_refs", "5");
        let (start, before, kept) = (Instant::now(), thread_seconds(), kilobytes("VmRSS"));
        let result = step();
        let wall = start.elapsed().as_secs_f64();

        let after = thread_seconds();
        let of_thread = |(id, &seconds): (&u32, &f64)| seconds - before.get(id).unwrap_or(&0.0);
        let processor: f64 = after.iter().map(of_thread).sum();
        let longest = after.iter().map(of_thread).fold(0.0, f64::max);
        let per_element = |kilobytes: f64| 1024.0 * kilobytes / self.n;
        let peak = if reset.is_ok() { per_element(kilobytes("VmHWM")) } else { f64::NAN };
        println!(
            "{name:<20} {wall:>8.2} {processor:>12.2} {longest:>16.2} {:>11.0} {:>10.0} {peak:>8.0}",
            1e9 * processor / self.n,
            per_element(kilobytes("VmRSS") - kept),
        );
        result
    }
}

/// A figure of /proc/self/status; NaN where there is none.
fn kilobytes(key: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
}

/// Processor time of every thread by its number.
fn thread_seconds() -> BTreeMap<u32, f64> {
    let seconds = |task: fs::DirEntry| {
        let id = task.file_name().to_str()?.parse().ok()?;
        let statistics = fs::read_to_string(task.path().join("schedstat")).ok()?;
        let nanoseconds: f64 = statistics.split_whitespace().next()?.parse().ok()?;
        Some((id, 1e-9 * nanoseconds))
    };
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.filter_map(seconds).collect()
}
