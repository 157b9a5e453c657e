//! `topopt run`: what a run shows of itself while it goes on.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::{Folder, program};

#[test]
fn lines_on_a_pipe() {
    let folder = Folder::new();
    let out = folder.run_well(&["solver.threads=1"]).out;
    let kept = "note: 5 elements are kept solid at loads and supports: 2 % of the \
                part, besides the design volume";
    let mut lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.remove(1), kept);
    assert_eq!(
        lines[..2],
        [
            "Small: 250 elements, 396 nodes, 1080 unknowns; mf with multigrid on cpu (1 threads)",
            "iteration    compliance  volume  change    PCG  residual       left",
        ]
    );
    let compliance = folder.history("compliance");
    for (i, line) in lines[2..5].iter().enumerate() {
        let start = format!("{:>9}  {:>12.6e}  0.3000  ", i + 1, compliance[i]);
        assert!(line.starts_with(&start) && line.ends_with(" s"), "{line}");
    }
    assert!(lines[5].starts_with("3 iterations, iteration limit reached: compliance "), "{out}");
    assert!(lines[6].contains(" s: preprocess ") && lines[6].contains(", output "), "{out}");
    assert_eq!(lines[7], "results in out");
    let grey = 100.0 * folder.history("grey_level")[2];
    let last = format!(
        "grey level {grey:.1} %: the built part will perform differently: run `topopt verify` to see \
         by how much, or use `design.style = \"crisp\"`"
    );
    assert_eq!(lines[8], last);
    assert!(lines[9..].iter().all(|line| line.starts_with("warning: ")), "{out}");
}

#[test]
fn lines_of_json() {
    let folder = Folder::new();
    let finished = folder.run(&[], &["--log", "json"]);
    let events: Vec<Value> =
        finished.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["start", "iteration", "iteration", "iteration", "end"]);
    assert_eq!((&events[0]["elements"], &events[0]["unknowns"]), (&json!(250), &json!(1080)));
    let columns =
        ["iteration", "compliance", "volume_fraction", "change", "pcg_iterations", "pcg_residual"];
    for column in columns {
        let told: Vec<_> = events[1..4].iter().map(|e| e[column].as_f64().unwrap()).collect();
        assert_eq!(told, folder.history(column), "{column}");
    }
    assert_eq!(events[3]["seconds_left"], 0.0);
    assert_eq!((&events[4]["status"], &events[4]["directory"]), (&json!("done"), &json!("out")));
    assert_eq!(events[4]["grey_level"].as_f64(), Some(folder.history("grey_level")[2]));
}

#[test]
fn quiet_says_nothing() {
    let folder = Folder::new();
    let finished = folder.run(&[], &["--log", "quiet"]);
    assert_eq!((finished.status, finished.out + &finished.err), (0, String::new()));
    assert_eq!(folder.summary()["status"], "done");
}

/// `topopt run case.toml | head -1` loses no results.
#[test]
fn a_reader_that_goes_away_does_not_end_the_run() {
    let folder = Folder::new();
    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "-o", "out"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut err = String::new();
    child.stderr.unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
    assert_eq!(folder.summary()["status"], "done");
}
