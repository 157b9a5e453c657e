//! The files that a run leaves.

mod numbering;
mod read_back;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;
use topopt_tests::text;

/// Size of the small meshes, in elements.
const ELEMENTS: usize = 1500;

/// Three iterations of a case in `benchmarks/`, on a small mesh, with a snapshot of the second.
fn run(benchmark: &str, folder: &Path, compression: &str) {
    let case = text(format!("benchmarks/{benchmark}.toml"));
    let case = case.replacen("size = 1", &format!("elements = {ELEMENTS}"), 1);
    let path = folder.join("case.toml");
    std::fs::write(&path, case).unwrap();
    let compression = format!("output.compression={compression:?}");
    let settings = [
        "optimizer.max_iterations=3",
        "solver.tolerance=1e-11",
        "solver.device=cpu",
        "output.snapshot_every=2",
        &compression,
    ];
    let mut arguments = vec!["topopt", "run", path.to_str().unwrap(), "--output"];
    arguments.push(folder.to_str().unwrap());
    settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
    let cli = Cli::try_parse_from(arguments).unwrap();
    execute(&cli.command, &mut Vec::new(), &AtomicBool::new(false)).unwrap();
}
