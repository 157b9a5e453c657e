//! Memory that `topopt check` forecasts for a run, against what the run takes.

use std::path::Path;

use clap::Parser;
use peak_alloc::PeakAlloc;
use topopt_case::interrupt::Interrupt;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;

#[global_allocator]
static COUNTING: PeakAlloc = PeakAlloc;

/// Runs a command; its output.
fn topopt(args: &[&str]) -> Vec<u8> {
    let cli = Cli::try_parse_from([&["topopt"], args].concat()).unwrap();
    let mut out = Vec::new();
    execute(&cli.command, None, &mut out, &Interrupt::new())
        .unwrap_or_else(|e| panic!("{args:?}: {e}"));
    out
}

/// A case by its keys.
const CASES: [(&str, &[&str]); 16] = [
    ("sensitivity", &["mesh.elements=20000"]),
    ("wide", &["mesh.elements=20000", "filter.kind=density", "filter.radius_in_elements=5"]),
    (
        "projected",
        &[
            "mesh.generator=l_beam",
            "mesh.elements=20000",
            "filter.kind=density",
            "projection.sharpness=4",
        ],
    ),
    ("jacobi", &["mesh.generator=michell", "mesh.elements=30000", "solver.preconditioner=jacobi"]),
    ("shuffled", &["mesh.generator=connecting_rod", "mesh.elements=20000", "mesh.shuffled=true"]),
    ("helmholtz", &["mesh.elements=10000", "filter.kind=density", "filter.weights=helmholtz"]),
    (
        "two cases",
        &[
            "mesh.elements=20000",
            "solver.strategy=ebe",
            "loads=[{set=\"load\",force=[0,-1,0]},{set=\"load\",case=\"b\",force=[1,0,0]}]",
        ],
    ),
    (
        "block-jacobi",
        &["mesh.elements=20000", "solver.preconditioner=block-jacobi", "filter.kind=none"],
    ),
    ("large", &["mesh.elements=100000"]),
    (
        "heavy",
        &[
            "mesh.elements=20000",
            "material.mass_density=1",
            "loads=[{set=\"load\",force=[0,-1,0]},{gravity=[0,-1,0]}]",
        ],
    ),
    // Mixing holds the designs of five iterations.
    (
        "mixed",
        &["mesh.elements=20000", "optimizer.method=oc_anderson", "optimizer.max_iterations=6"],
    ),
    ("asymptotes", &["mesh.elements=20000", "filter.kind=density", "optimizer.method=mma"]),
    (
        "adjoint",
        &[
            "mesh.elements=20000",
            "filter.kind=density",
            "optimizer.method=mma",
            "objective={minimize=\"displacement\",set=\"load\",direction=[1,0,0]}",
            "constraints=[{response=\"displacement\",set=\"load\",direction=[0,-1,0],at_most=1e9}]",
        ],
    ),
    (
        "conservative",
        &[
            "mesh.elements=20000",
            "filter.kind=density",
            "optimizer.method=gcmma",
            "constraints=[{response=\"displacement\",set=\"load\",direction=[0,-1,0],at_most=1e9}]",
        ],
    ),
    (
        "transient",
        &[
            "mesh.elements=20000",
            "physics.kind=heat",
            "material={conductivity=1,mass_density=1,heat_capacity=1}",
            "supports=[{set=\"fixed\",temperature=0}]",
            "loads=[{set=\"load\",total_heat=1}]",
            "transient={end=4,step=0.5}",
            "objective={minimize=\"mean_temperature\",set=\"load\",time=\"end\"}",
            "optimizer.method=mma",
            "filter.kind=density",
        ],
    ),
    (
        "symmetric",
        &[
            "mesh.elements=20000",
            "filter.kind=density",
            "manufacturing=[{kind=\"symmetry\",point=[22,11,11],normal=[0,1,0]}]",
        ],
    ),
];

fn case(folder: &Path) -> String {
    let text = r#"
[mesh]
generator = "cantilever"
elements = 1000
[[supports]]
set = "fixed"
[[loads]]
set = "load"
force = [0, -1, 0]
[design]
style = "smooth"
volume_fraction = 0.3
[filter]
radius_in_elements = 2.5
[optimizer]
max_iterations = 3
[solver]
device = "cpu"
tolerance = 1e-2
early_tolerance = 1e-2
max_iterations = 20000
threads = 2
"#;

    let path = folder.join("case.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Megabytes that the forecast counts for the program itself, which this process has besides.
const PROGRAM_MB: f64 = 18.0;

#[test]
fn a_forecast_is_within_a_tenth() {
    let folder = tempfile::tempdir().unwrap();
    let case = case(folder.path());
    let mut missed = Vec::new();
    for (name, keys) in CASES {
        let sets: Vec<&str> = keys.iter().flat_map(|key| ["--set", key]).collect();
        let check = topopt(&[&["check", &case, "--json"], &sets[..]].concat());
        let check: serde_json::Value = serde_json::from_slice(&check).unwrap();

        let strategy = check["strategy"].as_str().unwrap();
        let foretold = check["memory_mb"][strategy].as_f64().unwrap() - PROGRAM_MB;
        let out = folder.path().join(name);

        let before = COUNTING.current_usage();
        COUNTING.reset_peak_usage();
        let run = ["run", &case, "--output", out.to_str().unwrap(), "--log", "quiet"];
        topopt(&[&run, &sets[..]].concat());
        let taken = (COUNTING.peak_usage() - before) as f64 / 1048576.0;

        println!("{name}: foretold {foretold:.1} MB, taken {taken:.1} MB: {:.3}", foretold / taken);
        if (foretold / taken - 1.0).abs() > 0.1 {
            missed.push(name);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
