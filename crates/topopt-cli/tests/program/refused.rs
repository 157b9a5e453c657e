//! Input that is refused, and runs that fail: message, exit status, nothing half-written.

use topopt_mesh::generate::{Benchmark, Resolution};

use crate::meshes::{FROM_FILE, GENERATED, write};
use crate::{CASE, Folder, program};

/// `topopt run` and `topopt check` refuse the case with all the `parts` of a message, and leave
/// every file as it was.
pub fn refused(folder: &Folder, set: &[&str], parts: &[&str]) {
    let before = folder.files();
    for command in ["run", "check"] {
        let mut program = program(&folder.path(""));
        program.args([command, "case.toml", "--set", "output.directory=out"]);
        program.args(set.iter().flat_map(|set| ["--set", set]));
        let finished = crate::Finished::from(program.output().unwrap());
        // The lines of a message are wrapped and indented.
        let words =
            |text: &str| text.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let message = words(&finished.err);
        for part in parts {
            assert!(message.contains(&words(part)), "{command} {set:?}\n{part}\n{}", finished.err);
        }
        assert_eq!((finished.status, finished.out.as_str()), (1, ""), "{set:?}");
        assert_eq!(folder.files(), before, "{set:?}");
    }
}

#[test]
fn case_files() {
    for (text, set, message) in [
        ("[mesh", [].as_slice(), "the case file is not valid TOML"),
        (CASE, &["filter.radius=0"], "`filter.radius` is out of range"),
        (CASE, &["supports.0.set=fixd"], "set `fixd` is not in the mesh"),
        (CASE, &["supports.0.fix=[\"x\"]"], "the supports leave 3 rigid motions free: "),
        (CASE, &["output.vti_spacing=1e-9"], "output.vti_spacing: a grid spacing of"),
    ] {
        let folder = Folder::new();
        folder.write("case.toml", text);
        refused(&folder, set, &[message]);
    }
}

/// A binary file, as the program writes it, that breaks off anywhere.
#[test]
fn truncated_binary_mesh() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
    let mesh = ["mesh", "cantilever", "--elements", "250", "-o", "part.msh"];
    assert!(program(&folder.path("")).args(mesh).output().unwrap().status.success());
    let bytes = std::fs::read(folder.path("part.msh")).unwrap();
    for share in [0.02, 0.3, 0.6, 0.9] {
        let end = (share * bytes.len() as f64) as usize;
        std::fs::write(folder.path("part.msh"), &bytes[..end]).unwrap();
        refused(&folder, &[], &["part.msh: ", "truncated"]);
    }
}

/// Two blocks that touch but share no nodes.
#[test]
fn parts_that_are_not_joined() {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(16)).unwrap();
    let n = mesh.n_nodes() as u32;
    let shifted = mesh.coordinates().iter().map(|&[x, y, z]| [x + 4.0, y, z]);
    let coordinates = mesh.coordinates().iter().copied().chain(shifted).collect();
    let others = mesh.hexes().iter().map(|hex| hex.map(|node| node + n));
    let hexes = mesh.hexes().iter().copied().chain(others).collect();
    let joined = topopt_mesh::HexMesh::new(coordinates, hexes, mesh.sets().clone()).unwrap();
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
    write(&folder.path("part.msh"), &joined);
    refused(
        &folder,
        &[],
        &["(part 2 of 2 of the mesh)", "must share nodes: merge them in the mesher"],
    );
}

#[test]
fn case_file_that_is_not_there() {
    let folder = Folder::new();
    let output = program(&folder.path("")).args(["run", "none.toml"]).output().unwrap();
    let finished = crate::Finished::from(output);
    assert_eq!(finished.status, 1);
    insta::assert_snapshot!(finished.err, @r"
    x cannot read the case file none.toml: No such file or directory (os error 2)
    help: `topopt init NAME` writes a case file to start from
    ");
    assert_eq!(folder.files(), ["case.toml"]);
}

#[test]
fn output_directory_that_cannot_be_written() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("taken/design.vtu")).unwrap();
    let cases = [
        (
            "case.toml/below",
            "cannot write to the output directory case.toml/below: Not a directory",
        ),
        ("case.toml", "cannot write to the output directory case.toml: Not a directory"),
        ("taken", "cannot write taken/design.vtu: it is a folder"),
        (".", "./case.toml already exists and does not belong to a run"),
        #[cfg(target_os = "linux")]
        ("/proc/topopt", "cannot write to the output directory /proc/topopt: "),
        #[cfg(target_os = "linux")] // it exists, and not even root may write to it
        ("/proc/self", "cannot write to the output directory /proc/self: "),
    ];

    for (directory, message) in cases {
        for command in ["run", "check"] {
            let set = format!("output.directory={directory}");
            let args = [command, "case.toml", "--set", &set];
            let finished =
                crate::Finished::from(program(&folder.path("")).args(args).output().unwrap());

            assert_eq!((finished.status, finished.out.as_str()), (1, ""));
            assert!(finished.err.contains(message), "{}", finished.err);
            assert!(finished.err.contains("choose another folder with `output.directory`"));
            assert_eq!(folder.files(), ["case.toml"]);
        }
    }
}

/// The disk is full for one of the files: the others are whole, and the summary tells.
#[test]
fn snapshot_that_cannot_be_written() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("out")).unwrap();
    folder.write("out/snapshots", "a file where a folder should be");
    let finished = folder.run(&["output.snapshot_every=2"], &[]);
    assert_eq!(finished.status, 1);
    assert!(finished.err.contains("cannot create out/snapshots: File exists"), "{}", finished.err);
    assert!(finished.err.contains("free some space, or choose another folder"), "{}", finished.err);
    assert_eq!(folder.history("iteration"), [1.0]);
    assert_eq!(folder.summary()["status"], "failed");
    let files =
        ["case.toml", "out/case.toml", "out/history.csv", "out/snapshots", "out/summary.json"];
    assert_eq!(folder.files(), files);
}

/// Takes many iterations, more of them in the second solve.
const JACOBI: &str = "solver.preconditioner=jacobi";

#[test]
fn solver_that_does_not_converge_at_first() {
    let folder = Folder::new();
    let finished = folder.run(&["design.keep_loaded=free", "solver.max_iterations=3", JACOBI], &[]);
    assert_eq!(finished.status, 2);
    insta::assert_snapshot!(finished.err, @"
    x iteration 1, load case `default`: the solver did not converge after 3 iterations of conjugate
    | gradients, at relative residual 8.9e-1 where 1.0e-5 is required
    help: raise `solver.max_iterations`, or loosen `solver.tolerance`, or raise
          `design.density_min`; no design is written
    ");
    let files = ["case.toml", "out/case.toml", "out/history.csv", "out/summary.json"];
    assert_eq!(folder.files(), files);
    assert_eq!(folder.summary()["status"], "solver_failed");
    assert!(folder.history("iteration").is_empty());
}

#[test]
fn a_cycle_that_is_too_weak() {
    let folder = Folder::new();
    let finished = folder.run(&["solver.max_iterations=3", "solver.cycle=V"], &[]);
    assert_eq!(finished.status, 2);
    let remedy = "help: set `solver.cycle` to \"K\", the strongest";
    assert!(finished.err.contains(remedy), "{}", finished.err);
}

/// The first design is evaluated and written, the second cannot be solved for.
#[test]
fn solver_that_does_not_converge_later() {
    let folder = Folder::new();
    folder.run_well(&["optimizer.max_iterations=2", JACOBI]);
    let [first, second] = folder.history("pcg_iterations")[..] else { panic!() };
    assert!(first < second);
    let limit = format!("solver.max_iterations={}", first + 1.0);
    let finished = folder.run(&[&limit, JACOBI], &[]);
    assert_eq!(finished.status, 2);
    assert!(finished.err.contains("iteration 2, load case `default`: the solver did not converge"));
    assert!(finished.err.contains("the design of iteration 1 is written"), "{}", finished.err);
    assert_eq!(folder.history("iteration"), [1.0]);
    let summary = folder.summary();
    assert_eq!((&summary["status"], &summary["iterations"]), (&"solver_failed".into(), &1.into()));
    assert_eq!(summary["compliance"].as_f64(), Some(folder.history("compliance")[0]));
    assert!(folder.path("out/design.vtu").exists() && folder.path("out/design.pvd").exists());
}

#[test]
fn accuracy_beyond_rounding() {
    let folder = Folder::new();
    let finished = folder.run(&["solver.tolerance=1e-18"], &[]);
    assert_eq!(finished.status, 2);
    assert!(finished.err.contains("rounding stopped the solver after "), "{}", finished.err);
    assert!(finished.err.contains("loosen `solver.tolerance`"), "{}", finished.err);
}
