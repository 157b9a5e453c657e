//! The steps before the first design iteration of a large run, on the host: time, processor time
//! and memory of each, for a cantilever of about so many elements in random numbering.
//!
//! `cargo run --release -p topopt-fem --example setup -- ELEMENTS`, on Linux.

use std::fs;
use std::time::Instant;

use topopt_fem::{Aggregation, LoadCase, Material, Problem, Supports};
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::{CellList, Renumbering};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked = std::env::args().nth(1).map_or(Ok(1_000_000), |n| n.parse())?;
    println!(
        "step                wall s  processor s  ns/element  bytes/element: kept  peak in all"
    );
    let steps = Steps { n: asked as f64 };
    let mesh =
        steps.time("generate", || Benchmark::Cantilever.generate(Resolution::Elements(asked)))?;
    let shuffled = steps.time("shuffle", || Renumbering::shuffled(&mesh, 1).apply(&mesh));
    drop(mesh);
    let mesh = shuffled;
    let fixed = mesh.sets().nodes_of("fixed", mesh.hexes())?;
    let renumbering = steps.time("number", || Renumbering::on_import(&mesh));
    let new = steps.time("renumber", || renumbering.apply(&mesh));
    let material = Material::new(1.0, 0.3).ok_or("no material")?;
    let problem = steps.time("problem", || {
        let new_node = renumbering.new_nodes();
        let mut supports = Supports::none(new.n_nodes());
        let held = fixed.iter().map(|&node| new_node[node as usize] as usize);
        held.for_each(|node| (0..3).for_each(|i| supports.fix(node, i)));
        let load = LoadCase::new("default", vec![1.0; 3 * new.n_nodes()]);
        Problem::new(new, material, supports, vec![load])
    })?;
    let aggregation = steps.time("aggregates", || Aggregation::new(&problem, 600));
    drop(aggregation);
    let centers = steps.time("centers", || problem.mesh().centers());
    drop(steps.time("cells of filter", || CellList::new(&centers, 3.0)));
    let values = vec![1.0; problem.mesh().n_elements()];
    steps.time("values back", || renumbering.elements_to_original(&values));
    Ok(())
}

/// Prints what each step takes, over the number of elements.
struct Steps {
    n: f64,
}

impl Steps {
    fn time<T>(&self, name: &str, step: impl FnOnce() -> T) -> T {
        // Writing 5 begins a new peak.
        let reset = fs::write("/proc/self/clear_refs", "5");
        let (start, before, kept) = (Instant::now(), processor_seconds(), kilobytes("VmRSS"));
        let result = step();
        let (wall, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - before);
        let per_element = |kilobytes: f64| 1024.0 * kilobytes / self.n;
        let peak = if reset.is_ok() { per_element(kilobytes("VmHWM")) } else { f64::NAN };
        println!(
            "{name:<16}  {wall:>8.2}  {processor:>11.2}  {:>10.0}  {:>19.0}  {peak:>11.0}",
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

/// Of all threads, user and system, in steps of 10 ms.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
