//! Steps in time that are resumed end with the files of a solve in one go, to the last bit.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::heat::part;
use crate::{Finished, Folder, program};

/// A bent block with everything that changes in time; a checkpoint every 7 steps.
fn folder(end: usize) -> Folder {
    let tables = format!(
        "[material]\nconductivity = 3\nmass_density = 2\nheat_capacity = 4\n\
        [[materials]]\nset = \"upper half\"\nconductivity = 5\nmass_density = 1\nheat_capacity = 3\n\
        [[supports]]\nset = \"low\"\ntemperature = 2\nover_time = [[0, 1], [9, 3]]\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.2\nambient = 1\n\
        [[loads]]\nheat_source = 5\n[[loads]]\nset = \"high\"\nheat_flux = 1\n\
        over_time = [[0, 0], [5, 1], [8, 0]]\n\
        [transient]\nend = {end}\nsteps = [[5, 0.5], [{end}, 1]]\ninitial = 1\n\
        snapshot_every = 5\nprobes = [{{ name = \"in\", point = [3, 3, 3] }}]\n\
        [output]\ncheckpoint_every = 7\n"
    );
    part([8, 6, 5], |[x, y, z]| [8.0 * x + y * z, 7.0 * y + 0.3 * x, 6.0 * z], &tables)
}

fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = program(&folder.path(""));
    command.args(["solve", "case.toml", "-o", "solved"]).args(args);
    command
}

fn solve(folder: &Folder, args: &[&str]) -> Finished {
    command(folder, args).output().unwrap().into()
}

fn solve_well(folder: &Folder, args: &[&str]) {
    let Finished { status, out, err } = solve(folder, args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
}

/// The files of the solve, except for checkpoints, which have times in them as analysis.json has,
/// and the page, which repeats the notes and the case.
fn files(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let names = folder.files().into_iter().filter(|name| name.starts_with("solved/"));
    let names = names.filter(|name| !name.ends_with(".ckpt") && !name.ends_with(".html"));
    let content = |name: String| {
        let bytes = fs::read(folder.path(&name)).unwrap();
        if !name.ends_with("analysis.json") {
            return (name, bytes);
        }
        let mut found: Value = serde_json::from_slice(&bytes).unwrap();
        for key in ["seconds", "notes"] {
            assert!(found.as_object_mut().unwrap().remove(key).is_some());
        }
        (name, found.to_string().into_bytes())
    };
    names.map(content).collect()
}

fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    assert!(found.keys().eq(expected.keys()), "{:?}\n{:?}", found.keys(), expected.keys());
    for (name, bytes) in found {
        assert!(*bytes == expected[name], "{name} differs");
    }
}

fn checkpoint(folder: &Folder, step: usize) -> std::path::PathBuf {
    folder.path(&format!("solved/checkpoints/iteration_{step:04}.ckpt"))
}

/// A program that is sent `signal` as soon as a checkpoint after the first one is there.
fn signalled(folder: &Folder, signal: &str) -> Child {
    let mut command = command(folder, &[]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !checkpoint(folder, 14).exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    child
}

#[test]
fn from_each_checkpoint() {
    let folder = folder(16);
    solve_well(&folder, &[]);
    let expected = files(&folder);
    assert_eq!(folder.read("solved/transient.csv").lines().count(), 23);
    assert!(expected.contains_key("solved/snapshots/analysis_00020.vtu"));

    // From the newest one, with later files removed or not.
    solve_well(&folder, &["--resume"]);
    assert_same(&files(&folder), &expected);
    for name in ["analysis.json", "analysis.pvd", "snapshots/analysis_00020.vtu", "transient.csv"] {
        fs::remove_file(folder.path("solved").join(name)).unwrap();
    }
    solve_well(&folder, &["--resume", "--set", "solver.threads=1"]);
    let mut found = files(&folder);
    // The case says how many threads there were.
    found.insert("solved/case.toml".into(), expected["solved/case.toml"].clone());
    assert_same(&found, &expected);

    // A damaged one is passed over.
    let bytes = fs::read(checkpoint(&folder, 14)).unwrap();
    fs::write(checkpoint(&folder, 14), &bytes[..bytes.len() - 9]).unwrap();
    let Finished { status, out, err } = solve(&folder, &["--resume"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let note = "iteration_0014.ckpt: damaged or cut short; skipped";
    assert!(out.contains("note: checkpoint") && out.contains(note), "{out}");
    assert_same(&files(&folder), &expected);
}

#[test]
fn after_signals() {
    let folder = folder(600);
    solve_well(&folder, &[]);
    let expected = files(&folder);

    for signal in ["-INT", "-TERM", "-KILL"] {
        fs::remove_dir_all(folder.path("solved")).unwrap();
        let ended = signalled(&folder, signal).wait_with_output().unwrap();
        assert!(!folder.path("solved/analysis.json").exists());
        if signal != "-KILL" {
            let Finished { status, err, .. } = ended.into();
            assert_eq!(status, 130, "{err}");
            assert!(
                err.contains("x interrupted in step ") && err.contains("solved holds"),
                "{err}"
            );
            assert!(err.contains("resume with the same command and `--resume`"), "{err}");
        }
        solve_well(&folder, &["--resume"]);
        assert_same(&files(&folder), &expected);
    }
}

#[test]
fn what_cannot_be_resumed_is_refused() {
    let folder = folder(16);
    let refused = |args: &[&str], parts: &[&str]| {
        let before = folder.files();
        let Finished { status, err, .. } = solve(&folder, &[&["--resume"], args].concat());
        let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(status, 1, "{err}");
        parts.iter().for_each(|part| assert!(message.contains(part), "{part}\n{err}"));
        assert_eq!(folder.files(), before);
    };
    refused(&[], &["no checkpoint to resume from in solved: there is no checkpoint", "help:"]);
    refused(&["--overwrite"], &["cannot be used with"]);

    solve_well(&folder, &[]);
    let changed = "the case has changed since the run in solved began:";
    refused(
        &["--set", "transient.initial=2"],
        &[changed, "transient.initial: 1.0 -> 2.0", "help:"],
    );
    refused(
        &["--set", "output.checkpoint_every=5"],
        &[changed, "output.checkpoint_every: 7 -> 5", "change it back, or solve without --resume"],
    );
    let args =
        ["run", "case.toml", "-o", "solved", "--resume", "--set", "design.volume_fraction=0.5"];
    let objective = "objective={minimize=\"mean_temperature\",set=\"high\"}";
    let filter = ["--set", "filter.radius_in_elements=1.5", "--set", objective];
    let (status, _, err) = crate::topopt(&folder.path(""), &[&args[..], &filter].concat());
    let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(status, 1);
    for part in [
        "the checkpoint in solved is one of `topopt solve`, and not of `topopt run`",
        "resume with `topopt solve`, or name another folder with `--output DIR`",
    ] {
        assert!(message.contains(part), "{part}\n{err}");
    }

    let mesh = fs::read(folder.path("part.msh")).unwrap();
    fs::copy(part([8, 6, 5], |x| x.map(|x| 6.0 * x), "").path("part.msh"), folder.path("part.msh"))
        .unwrap();
    refused(
        &[],
        &["the mesh, its sets, its arrays or the design differ", "or solve without --resume"],
    );
    fs::write(folder.path("part.msh"), &mesh).unwrap();

    for step in [7, 14] {
        let bytes = fs::read(checkpoint(&folder, step)).unwrap();
        fs::write(checkpoint(&folder, step), &bytes[..bytes.len() / 2]).unwrap();
    }
    refused(&[], &["no checkpoint to resume from in solved", "damaged or cut short", "help:"]);

    let steady =
        folder.read("case.toml").split("[transient]").next().unwrap().replace("over_time", "#");
    folder.write("case.toml", &steady);
    refused(&[], &["`--resume` goes on with steps in time: there is no [transient]", "help:"]);
}
