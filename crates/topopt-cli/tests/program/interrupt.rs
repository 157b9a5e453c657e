//! Ctrl-C: the run ends within an iteration of conjugate gradients and leaves whole files.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use clap::Parser;
use topopt_case::interrupt::Interrupt;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;

use crate::{Finished, Folder, RESULTS, program};

/// Notice after a first signal where something has to be finished.
const NOTICE: &str = "topopt: interrupted; finishing the current step first. Interrupt again to \
                      end at once\n";

/// Starts a run of minutes with more arguments, interrupts it at the first event called `event`,
/// and waits for its end.
pub fn interrupt_at(folder: &Folder, event: &str, more: &[&str]) -> Finished {
    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "--output", "out", "--log", "json"]);
    // Much more accuracy than is needed, so that every solve takes long.
    for set in ["mesh.elements=60000", "optimizer.max_iterations=50", "solver.tolerance=1e-9"] {
        command.args(["--set", set]);
    }
    let mut child =
        command.args(more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let wanted = format!("\"event\":\"{event}\"");
    assert!(lines.any(|line| line.contains(&wanted)));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let last = lines.last().unwrap_or_default();
    let finished = Finished::from(child.wait_with_output().unwrap());
    assert_eq!(finished.status, 130);
    assert!(last.contains("\"event\":\"end\"") && last.contains("\"status\":\"interrupted\""));
    finished
}

#[test]
fn before_the_first_iteration() {
    let folder = Folder::new();
    let (case, out) = (folder.path("case.toml"), folder.path("out"));
    let args = ["topopt", "run", case.to_str().unwrap(), "--output", out.to_str().unwrap()];
    let cli = Cli::try_parse_from(args).unwrap();
    let interrupt = Interrupt::new();
    interrupt.signal();
    let mut lines = Vec::new();
    let failure = execute(&cli.command, None, &mut lines, &interrupt).unwrap_err();
    assert_eq!(failure.to_string(), "interrupted before the first iteration; nothing is written");
    assert_eq!((failure.exit_status(), lines), (130, Vec::new()));
    assert_eq!(folder.files(), ["case.toml"]);
}

#[test]
fn in_the_first_iteration() {
    let folder = Folder::new();
    let finished = interrupt_at(&folder, "start", &[]);
    assert_eq!(
        finished.err,
        format!("{NOTICE}  x interrupted in the first iteration; out holds no design\n")
    );
    let files = ["case.toml", "out/case.toml", "out/history.csv", "out/summary.json"];
    assert_eq!(folder.files(), files);
    assert!(folder.history("iteration").is_empty());
    assert_eq!(folder.summary()["status"], "interrupted");
}

#[test]
fn in_a_later_iteration() {
    let folder = Folder::new();
    let finished = interrupt_at(&folder, "iteration", &[]);

    let iterations = folder.history("iteration").len();
    let expected = format!(
        "{NOTICE}  x interrupted after iteration {iterations}, whose design is in out\n  help: resume with: topopt run out/case.toml --resume\n"
    );
    assert_eq!(finished.err, expected);

    let checkpoint = format!("out/checkpoints/iteration_{iterations:04}.ckpt");
    let mut files = [&["case.toml"], &RESULTS[..], &[&checkpoint]].concat();
    files.sort();
    assert_eq!(folder.files(), files);

    let summary = folder.summary();
    assert_eq!(
        (&summary["status"], &summary["iterations"]),
        (&"interrupted".into(), &iterations.into())
    );

    for name in ["design.pvd", "design.vti", "design.vtu"] {
        let bytes = std::fs::read(folder.path("out").join(name)).unwrap();
        assert!(bytes.ends_with(b"</VTKFile>\n"), "{name} is cut short");
    }
}
