//! `topopt run --resume`: a run that was ended by anything goes on to the same bits.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use topopt_io::checkpoint::Checkpoints;
use topopt_testing::Noise;

use crate::continuation::{NARROWING, PROJECTED};
use crate::meshes::{FROM_FILE, GENERATED, distorted, write};
use crate::{CASE, Finished, Folder, program};

const EVERY: &str = "output.checkpoint_every=1";
const PLAIN: &str = "output.compression=none";
/// An objective with an adjoint state, which the next one starts from.
pub const ADJOINT: &str = "objective={minimize=\"displacement\",set=\"load\",direction=[0, -1, 1]}";

/// All that must be the same to the last bit, and the names of the files.
#[derive(Debug, PartialEq)]
pub struct Bits {
    history: Vec<Vec<u64>>,
    density: Vec<u64>,
    displacement: Vec<u64>,
    series: String,
    pcg_iterations: serde_json::Value,
}

impl Bits {
    pub fn of(folder: &Folder) -> Self {
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect();
        let columns = [
            "iteration",
            "compliance",
            "volume_fraction",
            "change",
            "pcg_iterations",
            "pcg_residual",
        ];
        let summary = folder.summary();
        assert_eq!(summary["status"], "done");
        Self {
            history: columns.map(|column| bits(folder.history(column))).into(),
            density: bits(folder.array("out/design.vtu", "density")),
            displacement: bits(folder.array("out/design.vtu", "displacement")),
            series: folder.read("out/design.pvd"),
            pcg_iterations: summary["pcg_iterations"].clone(),
        }
    }
}

fn checkpoints(folder: &Folder) -> Vec<String> {
    folder.files().into_iter().filter(|name| name.ends_with(".ckpt")).collect()
}

/// Whether `run` ends in `time`; else it is killed.
fn ends_within(time: Duration, mut run: Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < time && run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    run.kill().unwrap();
    let finished = run.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(finished.stderr).unwrap(), "", "killed, not failed");
    finished.status.success()
}

/// Kills runs at random moments and goes on with them, each part on another number of threads.
/// `TOPOPT_KILLS=50 cargo test -p topopt-cli --test program kill -- --nocapture` kills more often.
#[test]
fn kill_at_any_moment() {
    let kills = std::env::var("TOPOPT_KILLS").map_or(5, |text| text.parse().unwrap());
    let set = [
        EVERY,
        PLAIN,
        "mesh.elements=2000",
        "optimizer.max_iterations=16",
        "output.snapshot_every=2",
    ];

    let whole = Folder::new();
    let start = Instant::now();
    whole.run_well(&set);
    let (expected, mut time) = (Bits::of(&whole), start.elapsed());

    let mut folder = Folder::new();
    let (mut done, mut resumed, mut before, mut ended) = (0, 0, 0, 0);
    let mut random = Noise(1);
    while done < kills {
        let go_on = !checkpoints(&folder).is_empty();
        if go_on {
            resumed += 1
        } else {
            before += 1
        }

        let mut run = program(&folder.path(""));
        run.args(["run", "case.toml", "--output", "out"]).args(go_on.then_some("--resume"));
        run.args(set.iter().flat_map(|set| ["--set", set]));
        run.args(["--set", &format!("solver.threads={}", 1 + done % 3)]);
        let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        if ends_within(time.mul_f64(0.5 * (1.0 + random.number())), run) {
            ended += 1;
            time = if go_on { time } else { start.elapsed() };
            assert_eq!(Bits::of(&folder), expected);
            assert_eq!(folder.files(), whole.files(), "nothing is left behind");
            folder = Folder::new();
        } else {
            done += 1;
        }
    }

    let go_on: &[&str] = if checkpoints(&folder).is_empty() { &[] } else { &["--resume"] };
    let last = folder.run(&set, go_on);
    assert_eq!((last.status, last.err.as_str()), (0, ""));
    assert_eq!(Bits::of(&folder), expected);
    assert_eq!(folder.files(), whole.files(), "nothing is left behind");
    println!(
        "{kills} kills; {before} runs from the start, {resumed} resumed; {ended} ended before the kill"
    );
}

#[test]
fn a_run_that_is_done_goes_on_with_more_iterations() {
    for keys in [
        &["solver.preconditioner=multigrid"],
        &["solver.preconditioner=jacobi"],
        PROJECTED,
        &["filter.kind=density", "filter.weights=helmholtz"],
        &["design.style=crisp"],
        &["filter.kind=density", NARROWING[0], NARROWING[1]],
        &["optimizer.method=mma"],
        &[ADJOINT],
        &["optimizer.method=gcmma", "filter.kind=density"],
        &["optimizer.method=simpl", "filter.kind=density"],
        &["optimizer.method=oc_anderson"],
    ] {
        let run = |folder: &Folder, iterations: &str, args: &[&str]| {
            let set = [keys, &[PLAIN, EVERY, iterations]].concat();
            let finished = folder.run(&set, args);
            assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
            finished.out
        };

        let (whole, parts) = (Folder::new(), Folder::new());
        run(&whole, "optimizer.max_iterations=7", &[]);
        run(&parts, "optimizer.max_iterations=3", &[]);
        let first = parts.seconds();
        let more = "optimizer.max_iterations=7";

        let out = run(&parts, more, &["--resume", "--set", "solver.threads=1"]);
        assert!(out.contains("note: resumed after iteration 3"), "{out}");
        assert_eq!(Bits::of(&parts), Bits::of(&whole));
        assert!(parts.seconds()["pcg"] > first["pcg"], "the seconds of both parts");

        run(&parts, more, &["--resume"]);
        assert_eq!(Bits::of(&parts), Bits::of(&whole), "nothing to do");
    }
}

/// Checkpoints of earlier versions do not hold the next design, which is then made again.
#[test]
fn a_checkpoint_without_the_next_design_goes_on_to_the_same_bits() {
    for keys in [&["filter.kind=sensitivity"], PROJECTED] {
        let run = |folder: &Folder, iterations: &str, args: &[&str]| {
            let finished = folder.run(&[keys, &[PLAIN, EVERY, iterations]].concat(), args);
            assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        };
        let (whole, parts) = (Folder::new(), Folder::new());
        run(&whole, "optimizer.max_iterations=6", &[]);
        run(&parts, "optimizer.max_iterations=3", &[]);

        let files = Checkpoints::new(parts.path("out/checkpoints"));
        let found = files.newest().0.unwrap();
        let arrays = found.arrays.iter().map(|(name, values)| (name.as_str(), values.as_slice()));
        let (next, others): (Vec<_>, Vec<_>) = arrays.partition(|(name, _)| *name == "next");
        assert_eq!(next.len(), 1);
        files.write(3, &found.content, &others).unwrap();

        run(&parts, "optimizer.max_iterations=6", &["--resume"]);
        assert_eq!(Bits::of(&parts), Bits::of(&whole));
    }
}

#[test]
fn an_interrupt_says_how_to_go_on() {
    let (folder, whole) = (Folder::new(), Folder::new());
    let mut run = program(&folder.path(""));
    run.args(["run", "case.toml", "--output", "out"]);
    // More iterations than are done before the interrupt.
    for key in [PLAIN, "mesh.elements=4000", "optimizer.max_iterations=1000", "solver.threads=1"] {
        run.args(["--set", key]);
    }

    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let rows = || std::fs::read_to_string(folder.path("out/history.csv")).unwrap_or_default();
    while rows().lines().count() < 3 {
        std::thread::sleep(Duration::from_millis(2));
    }

    let terminate = Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap();
    assert!(terminate.success());
    let Finished { status, err, .. } = run.wait_with_output().unwrap().into();
    assert_eq!(status, 130, "{err}");

    let command = err.split("help: resume with: topopt ").nth(1).unwrap().trim();
    assert_eq!(command, "run out/case.toml --resume");

    let end = folder.history("iteration").len() + 3;
    let end = format!("optimizer.max_iterations={end}");
    let mut resumed = program(&folder.path(""));
    resumed.args(command.split(' ')).args(["--set", &end]);
    let finished = Finished::from(resumed.output().unwrap());
    assert_eq!((finished.status, finished.err.as_str()), (0, ""));

    whole.run_well(&["mesh.elements=4000", &end, PLAIN]);
    assert_eq!(Bits::of(&folder), Bits::of(&whole));
}

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let (whole, folder) = (Folder::new(), Folder::new());
    whole.run_well(&[EVERY, PLAIN, "optimizer.max_iterations=6"]);
    folder.run_well(&[EVERY, PLAIN, "optimizer.max_iterations=4", "output.snapshot_every=1"]);

    let newest = folder.path("out/checkpoints/iteration_0004.ckpt");
    let bytes = std::fs::read(&newest).unwrap();
    std::fs::write(&newest, &bytes[..bytes.len() / 2]).unwrap();

    let finished = folder.run(&[EVERY, PLAIN, "optimizer.max_iterations=6"], &["--resume"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    let out = finished.out;
    assert!(out.contains("iteration_0004.ckpt: damaged or cut short; skipped"), "{out}");
    assert!(out.contains("note: resumed after iteration 3"), "{out}");

    let (found, expected) = (Bits::of(&folder), Bits::of(&whole));
    assert_eq!((found.history, found.density), (expected.history, expected.density));
    assert!(!folder.path("out/snapshots/design_0004.vtu").exists());
    assert_eq!(found.series.matches("snapshots/design_").count(), 3);

    for name in checkpoints(&folder) {
        std::fs::write(folder.path(&name), "").unwrap();
    }
    let finished = folder.run(&[], &["--resume"]);
    assert_eq!(finished.status, 1);
    assert!(
        finished.err.contains("no checkpoint to resume from in out: checkpoint"),
        "{}",
        finished.err
    );
}

#[test]
fn a_changed_case_is_refused_with_the_differences() {
    let folder = Folder::new();
    let finished = folder.run(&[], &["--resume"]);
    assert_eq!(finished.status, 1);
    insta::assert_snapshot!(finished.err, @"
    x no checkpoint to resume from in out: there is no checkpoint
    help: name the folder of the results with `--output DIR`, or run without --resume to start again
    ");

    folder.run_well(&[EVERY]);
    let before = (folder.files(), folder.read("out/history.csv"));

    let changes = ["design.penalty=2.5", "loads.0.force=[0, 0, 1]", "material.youngs_modulus=2"];
    let set = [&changes[..], &["optimizer.max_iterations=9", "title=Other", EVERY]].concat();
    let finished = folder.run(&set, &["--resume"]);
    assert_eq!(finished.status, 1);
    insta::assert_snapshot!(finished.err, @r"
    x the case has changed since the run in out began:
    | design.penalty: 3.0 -> 2.5
    | loads.0.force: [0.0,-1.0,0.0] -> [0.0,0.0,1.0]
    | material.youngs_modulus: 1.0 -> 2.0
    help: change it back, or run without --resume to start again; only stop rules, [output] and
          `solver.threads` may change
    ");
    assert_eq!((folder.files(), folder.read("out/history.csv")), before);
}

/// Compares the meaning of a style, and not its name.
#[test]
fn a_style_may_be_written_out() {
    let folder = Folder::new();
    folder.run_well(&[EVERY, "design.style=crisp"]);
    let saved = folder.read("out/case.toml");
    folder.write("case.toml", &saved.replace("style = \"crisp\"", ""));
    let more = folder.run(&["optimizer.max_iterations=4"], &["--resume"]);
    assert_eq!((more.status, more.err.as_str()), (0, ""), "{}", more.out);
    assert_eq!(folder.history("iteration"), [1.0, 2.0, 3.0, 4.0]);

    folder.write("case.toml", CASE);
    let other = folder.run(&[EVERY], &["--resume"]);
    assert!(other.err.contains("| design.density_min: 0.001 -> 0.01\n"), "{}", other.err);
    assert!(other.err.contains("| projection.sharpness: 1.0 -> nothing\n"), "{}", other.err);
}

#[test]
fn a_changed_mesh_is_refused() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace(GENERATED, FROM_FILE));
    let mesh = distorted();
    write(&folder.path("part.msh"), &mesh);
    folder.run_well(&[EVERY]);
    write(&folder.path("moved.msh"), &mesh);
    let more = ["mesh.file=moved.msh", "optimizer.max_iterations=4"];
    assert_eq!(folder.run(&more, &["--resume"]).err, "");
    let mut coordinates = mesh.coordinates().to_vec();
    coordinates[100][1] += 1e-3;
    let other = topopt_mesh::HexMesh::new(coordinates, mesh.hexes().into(), mesh.sets().clone());
    write(&folder.path("moved.msh"), &other.unwrap());
    let finished = folder.run(&more, &["--resume"]);
    assert_eq!(finished.status, 1);
    assert!(
        finished
            .err
            .contains("the mesh, its sets or arrays, or temperatures of other files differ"),
        "{}",
        finished.err
    );
}

/// The disk takes no file beyond a length that the third checkpoint or so exceeds.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_the_last_checkpoint() {
    let set = [EVERY, PLAIN, "optimizer.max_iterations=9", "output.vti_spacing=0"];
    let (whole, folder) = (Folder::new(), Folder::new());
    whole.run_well(&[EVERY, "optimizer.max_iterations=1"]);
    let first = whole.path("out/checkpoints/iteration_0001.ckpt").metadata().unwrap().len();
    whole.run_well(&set);

    // Digits of seconds make a checkpoint longer or shorter by some bytes.
    let blocks = (first + 256) / 512 + 1;
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut run = Command::new("sh");
    run.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_topopt"), "run", "case.toml", "-o", "out"]);
    run.args(set.iter().flat_map(|set| ["--set", set])).current_dir(folder.path(""));
    let finished = Finished::from(run.output().unwrap());

    assert_eq!(finished.status, 1, "{}", finished.out);
    assert!(finished.err.contains("cannot write out/checkpoints/iteration_0"), "{}", finished.err);
    assert!(finished.err.contains("File too large"), "{}", finished.err);
    assert!(finished.err.contains("--resume continues from the last"), "{}", finished.err);
    assert!(!checkpoints(&folder).is_empty());

    let finished = folder.run(&set, &["--resume"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    assert_eq!(Bits::of(&folder), Bits::of(&whole));
}
