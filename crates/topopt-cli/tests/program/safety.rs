//! Overwriting, ending and safety of a run.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Folder, program, topopt};

/// Files of the user with names of results, in a folder that was never ours.
#[test]
fn files_of_others_stay() {
    for name in [
        "history.csv",
        "summary.json",
        "design.vtu",
        "design.pvtu",
        "design.vti",
        "design.pvd",
        "verify.json",
        "verify.vtu",
        "report.html",
        "analysis.json",
        "analysis.vtu",
        "analysis.html",
        "snapshots/design_0001.vtu",
        "pieces/piece_0001.vtu",
        "checkpoints/iteration_0001.ckpt",
    ] {
        let folder = Folder::new();
        let path = folder.path("out").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();

        let finished = folder.run(&[], &[]);
        let expected = format!("out/{name} already exists and does not belong to a run");
        assert!(finished.err.contains(&expected), "{name}: {}", finished.err);
        assert_eq!((finished.status, fs::read_to_string(&path).unwrap().as_str()), (1, "mine"));
        assert!(!folder.path("out/case.toml").exists());
    }
}

#[test]
fn results_are_replaced_only_when_asked() {
    let folder = Folder::new();
    folder.run_well(&["output.checkpoint_every=1"]);
    let density = folder.array("out/design.vtu", "density");
    let again = ["run", "case.toml", "--output", "out", "--set", "solver.max_iterations=1"];
    let (status, _, err) = topopt(&folder.path(""), &again);
    assert_eq!(status, 1);
    assert!(err.contains("out holds the results of a run"), "{err}");
    assert!(err.contains("--resume") && err.contains("--overwrite"), "{err}");
    assert_eq!(folder.array("out/design.vtu", "density"), density);
    let both = [&again[..], &["--overwrite", "--resume"]].concat();
    assert_eq!(topopt(&folder.path(""), &both).0, 1, "one or the other");
    assert_eq!(folder.run(&[], &[]).status, 0, "the harness asks for it");
}

#[test]
fn no_result_names_an_input() {
    let folder = Folder::new();
    folder.run_well(&[]);
    let mesh = ["mesh={file=\"out/design.vtu\"}"];
    let finished = folder.run(&mesh, &[]);
    assert!(finished.err.contains("is both an input and a result"), "{}", finished.err);
    let from =
        ["run", "case.toml", "--output", "out", "--overwrite", "--start-from", "out/design.vtu"];
    let (status, _, err) = topopt(&folder.path(""), &from);
    assert!(status == 1 && err.contains("is both an input and a result"), "{err}");

    folder.write("other.toml", "mine");
    let (status, _, err) = topopt(&folder.path(""), &["report", "out", "-o", "other.toml"]);
    assert!(status == 1 && err.contains("ends with .html"), "{err}");
    fs::copy(folder.path("out/design.vtu"), folder.path("part.vtu")).unwrap();
    let preview =
        ["check", "case.toml", "--set", "mesh={file=\"part.vtu\"}", "--preview", "part.vtu"];
    let (status, _, err) = topopt(&folder.path(""), &preview);
    assert!(status == 1 && err.contains("part.vtu is an input"), "{err}");
    assert_eq!(folder.read("other.toml"), "mine");
    assert_eq!(
        fs::read(folder.path("part.vtu")).unwrap(),
        fs::read(folder.path("out/design.vtu")).unwrap()
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.run_well(&[]);
    folder.write("target", "mine");
    for name in ["history.csv", "summary.json", "design.vtu"] {
        fs::remove_file(folder.path("out").join(name)).unwrap();
        symlink(folder.path("target"), folder.path("out").join(name)).unwrap();
    }
    folder.run_well(&[]);
    assert_eq!(folder.read("target"), "mine");
    fs::create_dir(folder.path("elsewhere")).unwrap();
    symlink(folder.path("elsewhere"), folder.path("out/snapshots")).unwrap();
    let finished = folder.run(&["output.snapshot_every=1"], &[]);
    assert!(finished.err.contains("out/snapshots is a link"), "{}", finished.err);
    assert_eq!(fs::read_dir(folder.path("elsewhere")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn two_runs_do_not_share_a_folder() {
    let folder = Folder::new();
    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "--output", "out", "--log", "json"]);
    command.args(["--set", "mesh.elements=20000", "--set", "optimizer.max_iterations=1000"]);
    let mut first = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut byte = [0];
    first.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
    let case = folder.read("out/case.toml");
    let finished = folder.run(&["design.volume_fraction=0.6"], &[]);
    assert!(finished.err.contains("another run is writing to out"), "{}", finished.err);
    let (_, _, err) = topopt(&folder.path(""), &["report", "out"]);
    assert!(err.contains("a run is writing to out"), "{err}");
    assert_eq!(folder.read("out/case.toml"), case);
    first.kill().unwrap(); // the lock of the dead does not bind
    first.wait().unwrap();
    folder.run_well(&[]);
}

/// A command with nothing to finish ends within a second of the first signal, even where it waits
/// for a pipe that nobody writes to.
#[cfg(unix)]
#[test]
fn commands_end_at_the_first_signal() {
    let folder = Folder::new();
    let made = Command::new("mkfifo").arg(folder.path("pipe.msh")).status().unwrap();
    assert!(made.success());

    for (args, signal) in [
        (&["info", "pipe.msh"][..], "-TERM"),
        (&["check", "case.toml", "--set", "mesh={file=\"pipe.msh\"}"], "-INT"),
        (&["run", "case.toml", "--set", "mesh={file=\"pipe.msh\"}"], "-TERM"),
        (&["mesh", "cantilever", "--elements", "5000000"], "-INT"),
    ] {
        let mut command = program(&folder.path(""));
        let mut child =
            command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));

        let start = Instant::now();
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{args:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{args:?}: a second on an idle machine");
    }

    assert_eq!(folder.files(), ["case.toml", "pipe.msh"], "nothing is left behind");
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_is_full_or_closed_is_no_abort() {
    let folder = Folder::new();
    for redirection in ["2>/dev/full", "2>&-"] {
        let line = format!("{} run nope.toml {redirection}", env!("CARGO_BIN_EXE_topopt"));
        let status = Command::new("sh").args(["-c", &line]).current_dir(folder.path("")).status();
        assert_eq!(status.unwrap().code(), Some(1), "{redirection}");
    }
}

#[cfg(unix)]
#[test]
fn names_of_folders_are_quoted_for_the_shell() {
    let folder = Folder::new();
    let name = "y';touch PWN;'";
    let args = ["run", "case.toml", "--output", name, "--set", "output.checkpoint_every=1"];
    assert_eq!(topopt(&folder.path(""), &args).0, 0);
    fs::remove_file(folder.path(name).join("summary.json")).unwrap();
    let (_, _, err) = topopt(&folder.path(""), &["report", name]);
    let command = err.split("resume with:").nth(1).unwrap().replace("\n", " ");
    let words: Vec<&str> = command.split_whitespace().skip(2).collect();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("echo {}", words.join(" "))]).current_dir(folder.path(""));
    let echoed = shell.output().unwrap();
    assert!(!folder.path("PWN").exists(), "{err}");
    assert!(String::from_utf8_lossy(&echoed.stdout).contains("touch PWN"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_file_sizes_is_an_error_that_leaves_nothing() {
    let folder = Folder::new();
    let line =
        format!("ulimit -f 8; {} mesh cantilever --elements 20000", env!("CARGO_BIN_EXE_topopt"));
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &line]).current_dir(folder.path("")).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("cannot write cantilever.msh: File too large"), "{err}");
    assert_eq!(folder.files(), ["case.toml"]);
}

/// Volume that passive elements keep from what was asked for, and numbers beyond doubles.
#[test]
fn a_volume_that_is_missed_is_said() {
    let folder = Folder::new();
    let near = "select=[{name=\"skin\",kind=\"elements\",near={set=\"load\",distance=5.0}}]";

    let set = [
        "mesh.elements=2000",
        near,
        "design.solid=[\"skin\"]",
        "design.volume_fraction=0.02",
        "filter.kind=density",
        "filter.radius_in_elements=5",
        "optimizer.max_iterations=4",
    ];

    let finished = folder.run_well(&set);
    let is_said = |line: &str| {
        line.starts_with("warning: the volume is 0.0") && line.contains("but 0.02 was requested")
    };
    assert!(finished.out.lines().any(is_said), "{}", finished.out);
    assert_eq!(folder.summary()["volume_met"], false);

    folder.run_well(&[]);
    assert_eq!(folder.summary()["volume_met"], true);
}

#[test]
fn numbers_beyond_doubles_end_a_run() {
    for set in [
        &["material.youngs_modulus=1e200"][..],
        &["loads.0.force=[0,-1e-300,0]"],
        &[
            "filter.weights=helmholtz",
            "filter.radius_in_elements=2000",
            "design.volume_fraction=0.5",
        ],
    ] {
        let folder = Folder::new();
        let finished = folder.run(set, &[]);
        assert_eq!(finished.status, 2, "{set:?}: {}{}", finished.out, finished.err);
        assert!(!finished.out.contains(" reached: "), "{set:?}: {}", finished.out);
        // A filter that fails before the first design leaves nothing.
        if folder.path("out").exists() {
            assert_ne!(folder.summary()["status"], "done");
        } else {
            assert!(finished.err.contains("filter"), "{}", finished.err);
        }
    }
}

#[test]
fn what_is_doubtful_is_said_before_and_in_a_run() {
    for (set, said) in [
        ("material.poissons_ratio=0.49999", "nearly incompressible"),
        ("filter.radius_in_elements=1000", "larger than the part"),
        ("solver.tolerance=1e-14", "near the rounding of doubles"),
        ("solver.tolerance=0.5", "leaves an error of some percent"),
    ] {
        let folder = Folder::new();
        let (status, out, _) = topopt(&folder.path(""), &["check", "case.toml", "--set", set]);
        assert!(status == 0 && out.contains("warning: ") && out.contains(said), "{out}");
        let finished = folder.run(&[set, "optimizer.max_iterations=1"], &[]);
        assert!(finished.out.contains(said), "{}", finished.out);
    }
}

#[test]
fn what_is_asked_for_is_bounded() {
    let folder = Folder::new();
    let deep = format!("select.0{}=1", ".not".repeat(9000));
    let (status, _, err) = topopt(&folder.path(""), &["check", "case.toml", "--set", &deep]);
    assert!(status == 1 && err.contains("levels deep"), "{err}");
    let endless = ["check", "case.toml", "--set", "optimizer.max_iterations=9000000000000000000"];
    let (status, _, err) = topopt(&folder.path(""), &endless);
    assert_eq!((status, err.as_str()), (0, ""));
    let mut command = program(&folder.path(""));
    command.args(["check", "case.toml"]).env("RAYON_NUM_THREADS", "100000");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("asks for 100000 threads"));
}

/// Memory is compared with what is free before it is taken.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error_with_numbers() {
    let folder = Folder::new();
    let limited = |kilobytes: usize, args: &str| {
        let line = format!("ulimit -v {kilobytes}; {} {args}", env!("CARGO_BIN_EXE_topopt"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path("")).env("RAYON_NUM_THREADS", "2");
        crate::Finished::from(shell.output().unwrap())
    };
    let finished = limited(4_000_000, "check case.toml --set mesh.elements=1000000000");
    assert_eq!(finished.status, 1, "{}", finished.err);
    assert!(finished.err.contains("1000000000 elements need"), "{}", finished.err);
    let finished = limited(900_000, "run case.toml --output out --set mesh.elements=600000");
    assert_eq!(finished.status, 1, "{}", finished.err);
    assert!(finished.err.contains("a run with strategy `mf` needs"), "{}", finished.err);
    let larger = "mesh cantilever --elements 200000";
    assert_eq!(limited(4_000_000, larger).status, 0);
    let finished = limited(200_000, "distance cantilever.msh --from fixed -o far.vtu");
    assert_eq!(finished.status, 1, "{}", finished.err);
    assert!(finished.err.contains("elements need at least"), "{}", finished.err);
    assert_eq!(folder.files(), ["cantilever.msh", "case.toml"]);
}

#[test]
fn nothing_commands_the_terminal() {
    let folder = Folder::new();
    folder.write("case.toml", &crate::CASE.replace("Small", "\\u001b]0;owned\\u0007"));
    for command in ["check", "run"] {
        let (status, out, err) = topopt(&folder.path(""), &[command, "case.toml"]);
        assert!(status == 1 && err.contains("`title` has control characters"), "{err}");
        assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "{err}");
    }
}

/// A checkpoint that `forge` has changed, under a checksum that is right: its bytes, and where its
/// text and its arrays begin.
fn forged_checkpoint_is_refused(forge: fn(&mut Vec<u8>, usize, usize)) {
    let folder = Folder::new();
    folder.run_well(&["output.checkpoint_every=3"]);
    let path = folder.path("out/checkpoints/iteration_0003.ckpt");
    let mut bytes = fs::read(&path).unwrap();
    // The length before the text may have the byte of a brace.
    let text = bytes.windows(2).position(|window| window == b"{\"").unwrap();
    let length = u64::from_le_bytes(bytes[text - 8..text].try_into().unwrap()) as usize;
    forge(&mut bytes, text, text + length);
    let end = bytes.len() - 4;
    let sum = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    fs::write(&path, bytes).unwrap();

    let finished =
        folder.run(&["output.checkpoint_every=3", "optimizer.max_iterations=4"], &["--resume"]);
    assert_eq!(finished.status, 1);
    assert!(finished.err.contains("holds numbers that no run produces"), "{}", finished.err);
}

#[test]
fn a_forged_checkpoint_is_refused() {
    // The density of the first element.
    forged_checkpoint_is_refused(|bytes, _, arrays| {
        bytes[arrays..arrays + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    });
}

#[test]
fn a_forged_history_is_refused() {
    forged_checkpoint_is_refused(|bytes, text, arrays| {
        let row = b"\\n2,";
        let at = bytes[text..arrays].windows(row.len()).position(|window| window == row).unwrap();
        bytes[text + at + 2] = b'x';
    });
}

/// A file of results that a stranger has changed.
#[test]
fn words_of_a_changed_result_command_no_terminal() {
    let folder = Folder::new();
    folder.run_well(&[]);
    let case = fs::read_to_string(folder.path("out/case.toml")).unwrap();
    fs::write(folder.path("out/case.toml"), case.replacen("device = \"", "device = \u{2}", 1))
        .unwrap();
    let (status, _, err) = topopt(&folder.path(""), &["report", "out"]);
    assert!(status == 1 && err.contains("device = ?"), "{err}");

    let history = fs::read_to_string(folder.path("out/history.csv")).unwrap();
    fs::write(folder.path("out/case.toml"), case).unwrap();
    fs::write(folder.path("out/history.csv"), history.replacen("\n2,", "\n1e999,", 1)).unwrap();
    let (status, _, err) = topopt(&folder.path(""), &["report", "out"]);
    assert!(status == 1 && err.contains("line 3 is not a row of 15 finite numbers"), "{err}");
}

/// Two cubes that share an edge: the check says so, and so does a run.
#[test]
fn a_hinge_is_said() {
    let folder = Folder::new();
    let cube = |x: f64, y: f64| {
        topopt_mesh::hexahedron::NODES
            .map(|n| [x + (n[0] + 1.0) / 2.0, y + (n[1] + 1.0) / 2.0, (n[2] + 1.0) / 2.0])
    };

    let mut nodes = cube(0.0, 0.0).to_vec();
    let mut hexes = vec![std::array::from_fn::<usize, 8, _>(|a| a)];
    hexes.push(cube(1.0, 1.0).map(|x| match nodes.iter().position(|other| *other == x) {
        Some(known) => known,
        None => {
            nodes.push(x);
            nodes.len() - 1
        }
    }));

    let mut text = String::from("*NODE\n");
    for (n, [x, y, z]) in (1..).zip(&nodes) {
        text += &format!("{n}, {x}, {y}, {z}\n");
    }
    text += "*ELEMENT, TYPE=C3D8\n";
    for (e, hex) in (1..).zip(&hexes) {
        let corners: Vec<String> = hex.iter().map(|n| (n + 1).to_string()).collect();
        text += &format!("{e}, {}\n", corners.join(", "));
    }
    text += "*NSET, NSET=fixed\n1, 4, 5, 8\n*NSET, NSET=load\n10, 13\n";
    folder.write("hinge.inp", &text);

    let case =
        crate::CASE.replace("generator = \"cantilever\"\nelements = 250", "file = \"hinge.inp\"");
    folder.write("case.toml", &case);

    let (status, out, err) = topopt(&folder.path(""), &["check", "case.toml"]);
    assert!(status == 0 && out.contains("warning: 2 parts are not joined by faces"), "{out}{err}");
}

/// Environment variable of the process that panics.
const PANICS: &str = "TOPOPT_TEST_PANICS";

#[test]
fn a_panic_of_any_thread_ends_the_program() {
    if std::env::var_os(PANICS).is_some() {
        topopt_cli::program::end_at_panics();
        let thread = std::thread::spawn(|| panic!("on purpose"));
        let _ = thread.join();
        return; // with the status 0
    }
    let this = std::env::current_exe().unwrap();
    let name = "safety::a_panic_of_any_thread_ends_the_program";
    let child = std::process::Command::new(this).args(["--exact", name]).env(PANICS, "1").output();
    let ended = child.unwrap();
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(101), "{err}");
    assert!(err.contains("topopt: this is a bug") && err.contains("on purpose"), "{err}");
}
