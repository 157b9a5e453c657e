//! `topopt-lab thesis`: time of a solve, speedup over `ebe` and memory, for the four benchmarks.

use std::io::Write;
use std::path::Path;

use topopt_case::config::Config;
use topopt_cli::args::GmshArgs;
use topopt_linalg::PcgOptions;
use topopt_mesh::generate::Benchmark;
use topopt_study::failure::Failure;

use crate::args::{Numbering, ThesisArgs};
use crate::measured::{MEGABYTE, each_operator};
use crate::solve::{Row, Solves};
use crate::subject::Subject;

/// The residual that the thesis' stop rule leaves, measured: delta <= 1e-5 in its Algorithm 1.
const TOLERANCE: f64 = 1e-3;

/// Columns of the CSV file.
const COLUMNS: [&str; 9] = [
    "benchmark",
    "size",
    "elements",
    "nodes",
    "strategy",
    "iterations",
    "seconds",
    "speedup",
    "stored_bytes",
];

pub(crate) fn thesis(args: &ThesisArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut csv = args.choice.output.table(&COLUMNS)?;
    let place = args.choice.output.place()?;
    writeln!(
        out,
        "{}; one solve from zero to a relative residual of {TOLERANCE:.0e}",
        place.name()
    )?;

    for benchmark in Benchmark::ALL {
        for &size in &args.sizes {
            let (case, gmsh) = (case(benchmark, size)?, GmshArgs::default());
            let subject = Subject::of_case(&case, &gmsh, Numbering::Import, &place)?;

            let options = PcgOptions { tolerance: TOLERANCE, max_iterations: 100_000 };
            let mut solves = Solves { subject: &subject, options, rows: Vec::new() };
            each_operator(&place, &subject, &args.choice.strategies, &mut solves)?;

            let mesh = subject.problem.mesh();
            let (name, elements, nodes) = (benchmark.name(), mesh.n_elements(), mesh.n_nodes());
            writeln!(out, "{name} {size}: {elements} elements, {nodes} nodes")?;

            let ebe = solves.rows.iter().find(|row| row.strategy == "ebe").map(|row| row.seconds);
            for row in &solves.rows {
                let speedup = ebe.map_or(f64::NAN, |ebe| ebe / row.seconds);
                print(row, speedup, out)?;
                if let Some(csv) = &mut csv {
                    let Row { strategy, outcome, seconds, memory } = row;
                    let iterations = &outcome.iterations;
                    csv.row(&[
                        &name, &size, &elements, &nodes, strategy, iterations, seconds, &speedup,
                        memory,
                    ])?;
                }
            }
        }
    }
    Ok(())
}

fn print(row: &Row, speedup: f64, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "  {:<12}  {:>6} iterations  {:>8.3} s  {speedup:>6.2} x ebe  {:>8.1} MB",
        row.strategy,
        row.outcome.iterations,
        row.seconds,
        row.memory as f64 / MEGABYTE
    )
}

/// The configuration of a benchmark, as in its case file.
fn case(benchmark: Benchmark, size: u8) -> Result<Config, Failure> {
    let force = if benchmark == Benchmark::ConnectingRod { 1.0 } else { -1.0 };
    let volume = match benchmark {
        Benchmark::Cantilever | Benchmark::ConnectingRod => 0.3,
        Benchmark::LBeam | Benchmark::Michell => 0.45,
    };
    let name = benchmark.name();
    let text = format!(
        "title = \"{name} {size}\"\n[mesh]\ngenerator = \"{name}\"\nsize = {size}\n\
         [[supports]]\nset = \"fixed\"\n[[loads]]\nset = \"load\"\nforce = [0.0, {force:?}, 0.0]\n\
         [design]\nstyle = \"smooth\"\nkeep_loaded = \"free\"\nvolume_fraction = {volume}\n\
         [filter]\nkind = \"none\"\n"
    );
    Ok(Config::parse(Path::new("thesis.toml"), text, &[])?)
}
