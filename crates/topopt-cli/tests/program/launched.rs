//! Ranks that are processes: started by `mpirun`, or by the program itself with a GPU each.
//!
//! Tests that need MPI run `mpirun` and the program that the variable `TOPOPT_MPI` names, which was
//! built with `--features mpi`; without these they are skipped, unless `TOPOPT_REQUIRE_MPI` is set.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Finished, Folder, program};

/// Generous: what is shown is that nobody waits for the minutes of the work.
const SECONDS: Duration = Duration::from_secs(60);

/// A run of minutes, which writes a checkpoint in every iteration.
const LONG: [&str; 4] = [
    "mesh.elements=60000",
    "optimizer.max_iterations=50",
    "solver.tolerance=1e-9",
    "output.checkpoint_every=1",
];

/// The program with MPI, if there are both.
fn with_mpi() -> Option<PathBuf> {
    let mpirun = Command::new("mpirun").arg("--version").output();
    let program = std::env::var_os("TOPOPT_MPI").map(PathBuf::from);
    let program = program.filter(|_| mpirun.is_ok_and(|output| output.status.success()));
    if program.is_none() {
        let required = std::env::var_os("TOPOPT_REQUIRE_MPI").is_some();
        assert!(!required, "no mpirun, or TOPOPT_MPI names no program");
        println!("skipped: no mpirun, or TOPOPT_MPI names no program");
    }
    program
}

/// `topopt` with `args` on so many processes.
fn mpirun(folder: &Folder, processes: usize, args: &[&str]) -> Option<Command> {
    let program = with_mpi()?;
    let mut command = Command::new("mpirun");
    command.current_dir(folder.path(""));
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &processes.to_string()]);
    command.arg(program).args(args);
    Some(command)
}

/// `topopt run` of the case in `folder` to `out` on so many processes.
fn run_on(folder: &Folder, processes: usize, set: &[&str], more: &[&str]) -> Option<Output> {
    let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    let args = ["run", "case.toml", "--output", "out", "--overwrite"];
    let mut command = mpirun(folder, processes, &[&args[..], &set, more].concat())?;
    Some(command.output().unwrap())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Columns of the history that are no times, as text.
fn history(folder: &Folder) -> Vec<Vec<String>> {
    let text = folder.read("out/history.csv");
    let names: Vec<bool> =
        text.lines().next().unwrap().split(',').map(|name| !name.ends_with("_seconds")).collect();
    let row = |line: &str| {
        let values = line.split(',').zip(&names).filter(|(_, is_kept)| **is_kept);
        values.map(|(value, _)| value.to_owned()).collect()
    };
    text.lines().map(row).collect()
}

#[test]
fn four_processes_have_the_bits_of_four_threads() {
    let set = ["filter.kind=density", "solver.tolerance=1e-10", "output.compression=none"];
    let set = [&set[..], &["solver.early_tolerance=1e-10"]].concat();
    let folder = Folder::new();
    let Some(finished) = run_on(&folder, 4, &set, &[]) else { return };
    assert_eq!((finished.status.code(), said(&finished).as_str()), (Some(0), ""));
    let out = String::from_utf8(finished.stdout).unwrap();
    assert_eq!(out.matches("results in out").count(), 1, "{out}");
    let (found, files) = (history(&folder), folder.files());
    let compliance = folder.history("compliance");
    let density = folder.array("out/design.vtu", "density");

    let threads = folder.run(&set, &["--ranks", "4"]);
    assert_eq!(threads.status, 0, "{}", threads.err);
    assert_eq!((history(&folder), folder.files()), (found, files));
    assert_eq!(folder.array("out/design.vtu", "density"), density);

    folder.run_well(&set);
    let alone = folder.history("compliance");
    assert_eq!(alone.len(), compliance.len());
    let off = |(found, alone): (&f64, &f64)| (found / alone - 1.0).abs();
    assert!(compliance.iter().zip(&alone).all(|pair| off(pair) < 1e-9), "{compliance:?}");
}

/// Starts [`LONG`] on three processes and waits for the end of an iteration.
fn start_long(folder: &Folder) -> Option<Child> {
    let set: Vec<&str> = LONG.iter().flat_map(|set| ["--set", set]).collect();
    let args = ["run", "case.toml", "--output", "out", "--log", "json"];
    let mut command = mpirun(folder, 3, &[&args[..], &set].concat())?;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    // The checkpoint of an iteration is written after it is shown.
    let mut iterations =
        out.lines().map(Result::unwrap).filter(|line| line.contains("\"event\":\"iteration\""));
    assert!(iterations.nth(1).is_some());
    Some(child)
}

/// Whether a process does something: one that has ended may wait for somebody who asks how.
fn runs(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    state.is_ok_and(|state| !state.contains(") Z"))
}

/// The processes that one has started.
fn children(of: u32) -> Vec<String> {
    let found = Command::new("ps").args(["-o", "pid=", "--ppid", &of.to_string()]).output();
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    found.split_whitespace().map(String::from).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_ends_all_within_seconds_and_leaves_a_checkpoint() {
    let folder = Folder::new();
    let Some(child) = start_long(&folder) else { return };
    let ranks = children(child.id());
    assert!(ranks.len() >= 3, "{ranks:?}");
    let start = Instant::now();
    assert!(Command::new("kill").args(["-KILL", &ranks[1]]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert!(!ended.status.success());
    assert!(start.elapsed() < SECONDS, "it took {:?}", start.elapsed());
    while ranks.iter().any(|rank| runs(rank)) {
        assert!(start.elapsed() < SECONDS, "not all of {ranks:?} have ended");
        sleep(Duration::from_millis(20));
    }
    let number = |file: &String| {
        let number = file.strip_prefix("out/checkpoints/iteration_")?.strip_suffix(".ckpt")?;
        number.parse::<usize>().ok()
    };
    let newest = folder.files().iter().filter_map(number).max().unwrap();

    let until = format!("optimizer.max_iterations={}", newest + 1);
    let resumed = folder.run(&[&LONG[..], &[&until]].concat(), &["--resume"]);
    assert_eq!(resumed.status, 0, "{}", resumed.err);
    assert_eq!(folder.history("iteration").len(), newest + 1);
}

#[test]
fn what_all_processes_find_is_told_once() {
    let folder = Folder::new();
    let jacobi = ["solver.max_iterations=2", "solver.preconditioner=jacobi"];
    for (set, more, status, message) in [
        (&jacobi[..], &[][..], 2, "the solver did not converge after 2"),
        (&["design.volume_fraction=3"], &[], 1, "`design.volume_fraction` is out of range"),
        (&["mesh.generator=none"], &[], 1, "`mesh.generator`"),
        (&["supports.0.set=nowhere"], &[], 1, "element set `nowhere` is not in the mesh"),
        (&[], &["--ranks", "2"], 1, "`--ranks 2`, but OMPI_COMM_WORLD_SIZE says 3 processes"),
        (&[], &["--no-such-argument"], 1, "unexpected argument"),
    ] {
        let Some(ended) = run_on(&folder, 3, set, more) else { return };
        let err = said(&ended);
        assert_eq!(ended.status.code(), Some(status), "{err}");
        assert_eq!(err.matches(message).count(), 1, "{err}");
    }
    folder.write("out.txt", "");
    let args = ["run", "case.toml", "--output", "out.txt"];
    let Some(mut refused) = mpirun(&folder, 3, &args) else { return };
    let refused = refused.output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(said(&refused).matches("cannot write to the output directory").count(), 1);
}

#[test]
fn only_a_run_is_for_several_processes() {
    let folder = Folder::new();
    for args in [&["check", "case.toml"][..], &["solve", "case.toml"], &["schema"]] {
        let Some(mut refused) = mpirun(&folder, 2, args) else { return };
        let refused = refused.output().unwrap();
        let err = said(&refused);
        assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(1), &[][..]), "{err}");
        assert_eq!(err.matches("only `topopt run` is for several").count(), 1, "{err}");
    }
    assert_eq!(folder.files(), ["case.toml"]);
}

/// `topopt run` with what a launcher sets for one of its processes.
fn as_one_of(folder: &Folder, variables: &[(&str, &str)], args: &[&str]) -> Finished {
    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "--output", "out"]).args(args);
    command.envs(variables.iter().copied()).output().unwrap().into()
}

/// Processes that each ran the whole case would overwrite each other's results.
#[test]
fn processes_that_cannot_reach_each_other_are_refused() {
    if cfg!(feature = "mpi") {
        return;
    }
    let folder = Folder::new();
    for names in [
        ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"],
        ["PMI_SIZE", "PMI_RANK"],
        ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID"],
    ] {
        let of_rank = |rank| as_one_of(&folder, &[(names[0], "4"), (names[1], rank)], &[]);
        let refused = of_rank("0");
        assert_eq!((refused.status, refused.out.as_str()), (1, ""), "{}", refused.err);
        let message = format!(
            "  x {} says that this is one of 4 processes, which need MPI to compute together",
            names[0]
        );
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let err = words(&refused.err.replace("  | ", ""));
        assert!(err.contains(words(&message).as_str()), "{err}");
        assert!(err.contains("help: build the program with `--features mpi`"), "{err}");
        let silent = of_rank("3");
        assert_eq!((silent.status, silent.out.as_str(), silent.err.as_str()), (0, "", ""));
    }
    assert_eq!(folder.files(), ["case.toml"]);
}

#[test]
fn a_launcher_that_makes_no_sense_is_refused_by_its_variable() {
    let refused = as_one_of(&Folder::new(), &[("PMI_SIZE", "two"), ("PMI_RANK", "0")], &[]);
    assert_eq!(refused.status, 1);
    assert!(refused.err.contains("the variable PMI_SIZE is `two`"), "{}", refused.err);
    assert!(refused.err.contains("unset PMI_SIZE"), "{}", refused.err);
}

#[test]
fn a_batch_script_is_one_process() {
    let folder = Folder::new();
    let variables = [("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "7")];
    let finished = as_one_of(&folder, &variables, &["--ranks", "2"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""));
    assert!(folder.summary()["device"].as_str().unwrap().starts_with("2 ranks of cpu"));
}

/// With no GPU, or with fewer than that.
#[test]
fn more_ranks_than_gpus_are_refused() {
    let folder = Folder::new();
    let refused = folder.run(&["solver.device=gpu:1"], &["--ranks", "1000"]);
    assert_eq!(refused.status, 1, "{}", refused.err);
    let reasons = ["CUDA driver", "1000 ranks take a GPU each"];
    assert!(reasons.iter().any(|reason| refused.err.contains(reason)), "{}", refused.err);
    assert_eq!(folder.files(), ["case.toml"]);
}

/// On the emulated driver, which then has two GPUs, there is no NCCL to connect them.
#[test]
fn ranks_with_a_gpu_each_tell_once_why_they_cannot_compute() {
    let folder = Folder::new();
    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "--output", "out", "--ranks", "2", "--device", "gpu"]);
    let ended: Finished = command.env("TOPOPT_EMULATOR_DEVICES", "2").output().unwrap().into();
    if ended.status != 0 {
        assert_eq!(ended.err.matches("  x ").count(), 1, "{}", ended.err);
        assert_eq!((ended.out.as_str(), folder.files()), ("", vec!["case.toml".to_owned()]));
    }
}

/// The second of two waits for the first, which is not there: on the emulated driver, as elsewhere
/// it finds no GPU.
#[test]
fn a_rank_with_a_gpu_ends_with_the_process_that_has_started_it() {
    let folder = Folder::new();
    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "--output", "out", "--device", "gpu"]);
    for (name, value) in [("RANKS", "2"), ("RANK", "1"), ("LOCAL_RANK", "1"), ("RENDEZVOUS", ".")] {
        command.env(format!("TOPOPT_{name}"), value);
    }
    command.env("TOPOPT_EMULATOR_DEVICES", "2").stdin(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    sleep(Duration::from_millis(300));
    drop(child.stdin.take());
    let ended: Finished = child.wait_with_output().unwrap().into();
    assert!(start.elapsed() < SECONDS / 2, "it took {:?}", start.elapsed());
    assert_ne!(ended.status, 0);
    assert!(ended.err.is_empty() || ended.err.contains("GPU"), "{}", ended.err);
}
