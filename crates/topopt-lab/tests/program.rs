//! The program as it is called: every operator is measured, and is right.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use tempfile::TempDir;
use topopt_case::interrupt::Interrupt;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;
use topopt_cuda::assembly::{AssemblyStrategy, Routine};
use topopt_cuda::{Probe, probe};

/// A small cantilever.
const CASE: &str = r#"
mesh = { generator = "cantilever", elements = 250 }
supports = [{ set = "fixed" }]
loads = [{ set = "load", force = [0, -1, 0] }]
design = { volume_fraction = 0.3 }
filter = { radius_in_elements = 1.5 }
optimizer = { max_iterations = 3, change_tolerance = 0, compliance_tolerance = 0 }
solver = { device = "cpu" }
output = { checkpoint_every = 0 }
"#;

/// A working directory with [`CASE`] in case.toml.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("case.toml", CASE);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with `args`, to be called in the folder.
    fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_topopt-lab"));
        command.args(args).current_dir(self.0.path());
        command
    }

    /// Measures: exit status, standard output, standard error.
    fn measure(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.program(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// Measures, which must succeed, and returns what is printed.
    fn measure_well(&self, args: &[&str]) -> String {
        let (status, out, err) = self.measure(args);
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        out
    }
}

/// The columns of a CSV file by name, for each row.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = rows.next().unwrap().iter().position(|n| *n == name).unwrap();
    rows.map(|row| row[at].to_owned()).collect()
}

#[test]
fn operators_on_a_cube() {
    let folder = Folder::new();
    let ways = ["import", "natural", "shuffled", "restored"].map(|way| (way, "elasticity"));
    for (numbering, physics) in ways.into_iter().chain([("import", "heat")]) {
        let arguments = ["operators", "cube:5", "--device", "cpu", "--repeats", "2"];
        let more = ["--numbering", numbering, "--physics", physics, "--csv", "operators.csv"];
        let out = folder.measure_well(&[&arguments[..], &more].concat());
        assert!(out.starts_with("cube:5: 125 elements, 216 nodes"), "{out}");
        let peak = out.lines().find_map(|line| line.strip_prefix("peak ")).unwrap();
        let peak: f64 = peak.split(' ').next().unwrap().parse().unwrap();
        assert!(peak > 0.1, "{out}");
        let table = folder.read("operators.csv");
        assert_eq!(column(&table, "strategy"), ["mf", "ebe", "nbn", "bsr"]);
        for error in column(&table, "relative_error") {
            assert!(error.parse::<f64>().unwrap() < 1e-13, "{error}");
        }
        assert!(column(&table, "seconds").iter().all(|s| s.parse::<f64>().unwrap() > 0.0));
    }
}

/// Without a GPU there is the reference alone; with one, also the emulated one, every strategy is right.
#[test]
fn assembly_on_a_gpu() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let arguments = ["assembly", "cube:5", "--repeats", "1", "--csv", "assembly.csv"];
        folder.measure_well(&[&arguments[..], more].concat())
    };
    let out = run(&["--device", "cpu"]);
    assert!(out.starts_with("cube:5, elasticity: 125 elements, 216 nodes"), "{out}");
    assert!(out.contains("us per row of blocks\nstrategies assemble on a GPU\n"), "{out}");

    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    run(&["--device", "gpu"]);
    let table = folder.read("assembly.csv");
    let (names, errors) = (column(&table, "strategy"), column(&table, "relative_error"));
    for strategy in AssemblyStrategy::ALL {
        let routines = Routine::ALL.iter().filter(|&&routine| strategy.takes(routine)).count();
        let rows = names.iter().filter(|name| *name == strategy.name()).count();
        assert_eq!(rows, 2 * routines, "{}", strategy.name()); // in two precisions
    }
    for (error, precision) in errors.iter().zip(column(&table, "precision")) {
        let limit = if precision == "f64" { 1e-13 } else { 1e-5 };
        assert!(error.is_empty() || error.parse::<f64>().unwrap() < limit, "{error}");
    }
    // Without arithmetic there is none.
    let empty = errors.iter().filter(|error| error.is_empty()).count();
    assert_eq!(empty, 2 * AssemblyStrategy::ALL.len());

    let out = run(&["--device", "gpu", "--physics", "heat", "--strategy", "patch"]);
    assert_eq!(out.lines().filter(|line| line.starts_with("| patch | ")).count(), 6, "{out}");
}

#[test]
fn solves_of_a_case() {
    let folder = Folder::new();
    folder.measure_well(&["solve", "case.toml", "--strategies", "mf,nbn", "--csv", "solves.csv"]);
    let table = folder.read("solves.csv");
    assert_eq!(column(&table, "strategy"), ["mf", "nbn"]);
    // Their products differ in the last bits.
    let iterations: Vec<i64> =
        column(&table, "iterations").iter().map(|number| number.parse().unwrap()).collect();
    assert!(iterations[0] > 10 && (iterations[0] - iterations[1]).abs() <= 1, "{iterations:?}");
}

/// The first iterations of Jacobi's column are many, those of multigrid few.
#[test]
fn preconditioners_of_a_design() {
    let folder = Folder::new();
    let [case, results] = ["case.toml", "out"].map(|name| folder.path(name).display().to_string());
    let cli = Cli::parse_from(["topopt", "run", &case, "--output", &results]);
    execute(&cli.command, None, &mut Vec::new(), &Interrupt::new()).unwrap();

    let arguments = ["preconditioners", "case.toml", "--design", "out/design.vtu"];
    let out = folder.measure_well(&[&arguments[..], &["--matrix", "k.mtx"]].concat());
    let iterations = |name: &str| -> Vec<usize> {
        let line = out.lines().find(|line| line.starts_with(name)).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        [words[2], words[4]].map(|n| n.parse().unwrap()).into()
    };
    assert!(iterations("multigrid") < iterations("jacobi"), "{out}");
    assert!(iterations("block-jacobi")[1] > iterations("multigrid")[1], "{out}");

    check_matrix(&folder);

    let other = [&arguments[..], &["--set", "mesh.elements=16"]].concat();
    let (status, _, err) = folder.measure(&other);
    assert_eq!(status, 1);
    assert!(err.contains("out/design.vtu has 250 elements, the case has 16"), "{err}");
}

/// The matrix is that of the solve: symmetric halves, held rows of the identity, forces in
/// equilibrium with the rest.
fn check_matrix(folder: &Folder) {
    let matrix = folder.read("k.mtx");
    let mut lines = matrix.lines().skip(1);
    let numbers =
        |line: &str| -> Vec<f64> { line.split_whitespace().map(|n| n.parse().unwrap()).collect() };
    let size = numbers(lines.next().unwrap());
    let entries: Vec<_> = lines.map(numbers).collect();
    assert_eq!((size[0], size[1], size[2]), (1188.0, 1188.0, entries.len() as f64));

    // A translation of all nodes makes forces at the held ones alone.
    let mut forces = vec![0.0; 1188];
    for entry in &entries {
        let (i, j, value) = (entry[0] as usize - 1, entry[1] as usize - 1, entry[2]);
        assert!(j <= i);
        forces[i] += if j % 3 == 0 { value } else { 0.0 };
        forces[j] += if i != j && i % 3 == 0 { value } else { 0.0 };
    }

    let nodes = folder.read("k_x.mtx");
    let x: Vec<f64> = nodes.lines().skip(2).take(396).map(|x| x.parse().unwrap()).collect();
    for (node, x) in x.iter().enumerate() {
        let far = *x > 1.5; // no element of the node is held
        let force = (0..3).map(|i| forces[3 * node + i].abs()).fold(0.0, f64::max);
        assert!(!far || force < 1e-12, "node {node} at {x}: {force:e}");
    }
    assert_eq!(folder.read("k_f.mtx").lines().count(), 2 + 1188);
}

#[test]
fn what_is_no_cube_or_mesh() {
    let folder = Folder::new();
    let refused = |source: &str| {
        let (status, _, err) = folder.measure(&["operators", source]);
        assert_eq!(status, 1);
        err
    };
    insta::assert_snapshot!(refused("cube:0"), @"
    x `cube:0` is not a valid size
    help: write cube:N with N from 1 to 500 elements per edge
    ");
    assert!(refused("none.msh").contains("none.msh"));
}

/// Every smoother solves what the other does, in about as many iterations; without a preconditioner
/// it takes many more.
#[test]
fn smoothers_on_cubes() {
    let folder = Folder::new();
    let arguments = ["smoothers", "--size", "8", "--device", "cpu", "--csv", "smoothers.csv"];
    let out = folder.measure_well(&arguments);
    assert!(out.starts_with("cube of 8^3 elements; cpu, "), "{out}");

    let table = folder.read("smoothers.csv");
    let [tests, contrasts, smoothers] =
        ["test", "contrast", "smoother"].map(|name| column(&table, name));
    assert_eq!(tests.len(), (3 + 4 + 4) * (3 * 2 + 1));
    let iterations = |test: &str, contrast: &str, smoother: &str| -> Vec<usize> {
        let rows = (0..tests.len()).filter(|&row| {
            [&tests[row], &contrasts[row], &smoothers[row]] == [test, contrast, smoother]
        });
        rows.map(|row| column(&table, "iterations")[row].parse().unwrap()).collect()
    };
    for (test, contrast) in [("Fu", "1"), ("Fu", "100"), ("heat", "1"), ("elasticity", "1")] {
        let [chebyshev, patch, none] =
            ["chebyshev", "patch", "none"].map(|smoother| iterations(test, contrast, smoother));
        for (a, b) in chebyshev.iter().zip(&patch) {
            assert!(a.abs_diff(*b) <= *a.max(b) / 2, "{test} {contrast}: {chebyshev:?} {patch:?}");
            assert!(none[0] > *a.max(b), "{test} {contrast}: {none:?}");
        }
    }
    let by_multigrid = |row: &usize| smoothers[*row] != "none" && tests[*row] != "elasticity";
    assert!(
        (0..tests.len()).filter(by_multigrid).all(|row| column(&table, "converged")[row] == "true")
    );
}

/// A signal ends a measurement at once.
#[cfg(unix)]
#[test]
fn a_measurement_ends_at_the_first_signal() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let folder = Folder::new();
    let mut command = folder.program(&["operators", "cube:64", "--repeats", "60000"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));

    let start = Instant::now();
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(5), "a second on an idle machine");
}

/// The stand-in for Gmsh runs the geometry as a shell script, in which `Save` is a comment.
#[test]
fn a_geometry_that_may_do_harm_needs_trust() {
    let folder = Folder::new();
    folder.write("part.geo", &format!("# Save \ntouch {}", folder.path("ran").display()));
    let generated = "{ generator = \"cantilever\", elements = 250 }";
    folder.write("case.toml", &CASE.replace(generated, "{ file = \"part.geo\" }"));
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../topopt-io/tests/io/gmsh_program");
    let stand_in = files.join("gmsh").display().to_string();

    for command in ["solve", "preconditioners", "operators"] {
        let (status, _, err) =
            folder.measure(&[command, "case.toml", "--device", "cpu", "--gmsh", &stand_in]);
        assert!(status == 1 && err.contains("line 1: `Save` may run"), "{command}: {err}");
        let help = "if you trust it and everything it reads, give";
        assert!(err.contains(help) && !folder.path("ran").exists(), "{command}: {err}");
    }
}

/// Commands that README.md shows work as they stand there.
#[test]
fn the_readme_shows_what_works() {
    let folder = Folder::new();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let commands = text.lines().filter_map(|line| line.strip_prefix("topopt-lab "));
    let commands: Vec<&str> = commands.collect();
    assert!(!commands.is_empty());
    for command in commands {
        folder.measure_well(&command.split_whitespace().collect::<Vec<_>>());
    }
}
