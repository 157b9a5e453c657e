use std::cell::Cell;
use std::path::Path;

use super::*;

/// Generous: what is shown is that nobody waits for the minutes that the children sleep.
const SECONDS: Duration = Duration::from_secs(30);

/// Children that run these lines of a shell, by rank, until all have ended.
fn run(lines: &[&str], is_interrupted: &dyn Fn() -> bool) -> Result<(), EndedChild> {
    let start = Instant::now();
    let command = |rank: usize| {
        let mut command = Command::new("sh");
        command.args(["-c", lines[rank]]);
        command
    };
    let ended = supervise(lines.len(), command, is_interrupted).unwrap();
    assert!(start.elapsed() < SECONDS, "it took {:?}", start.elapsed());
    ended
}

const NEVER: &dyn Fn() -> bool = &|| false;

/// A line that writes its process's number to `file`, then sleeps for minutes.
fn sleep(file: &Path) -> String {
    format!("echo $$ > {}; exec sleep 300", file.display())
}

/// Waits until a child has written to `file`.
fn await_text(file: &Path) -> String {
    let start = Instant::now();
    loop {
        match std::fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(start.elapsed() < SECONDS, "no child has written {}", file.display()),
        }
        thread::sleep(LOOK);
    }
}

/// Whether a process still does something.
fn runs(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn all_well_is_well() {
    assert_eq!(run(&["true", "exit 0", "sleep 0.1"], NEVER), Ok(()));
}

#[test]
fn processes_hear_who_they_are_and_where_they_meet() {
    let line = "test $TOPOPT_RANKS = 2 && test $TOPOPT_RANK = $TOPOPT_LOCAL_RANK && \
                echo well > $TOPOPT_RENDEZVOUS/$TOPOPT_RANK";
    let other = "until test -s $TOPOPT_RENDEZVOUS/0; do sleep 0.02; done";
    assert_eq!(run(&[line, &format!("{line} && {other}")], NEVER), Ok(()));
}

#[test]
fn the_first_that_fails_ends_the_others_and_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    let files = [0, 2].map(|rank| folder.path().join(rank.to_string()));
    let wait = files
        .each_ref()
        .map(|file| format!("until test -s {}; do sleep 0.02; done", file.display()));
    let fail = format!("{}; {}; echo out of luck >&2; exit 7", wait[0], wait[1]);
    let ended = run(&[&sleep(&files[0]), &fail, &sleep(&files[1])], NEVER).unwrap_err();
    assert_eq!((ended.rank, ended.status, ended.said.as_str()), (1, Some(7), "out of luck\n"));
    for pid in files.each_ref().map(|file| await_text(file)) {
        assert!(!runs(&pid));
    }
}

#[test]
fn a_process_that_is_killed_ends_the_others() {
    let ended = run(&["exec sleep 300", "kill -KILL $$"], NEVER).unwrap_err();
    assert_eq!((ended.rank, ended.status), (1, None));
    assert_eq!(ended.to_string(), "rank 1 was ended by signal 9");
}

#[test]
fn who_does_not_listen_is_killed() {
    let deaf = "trap '' TERM; sleep 300 & wait; wait; sleep 300";
    assert_eq!(run(&[deaf, "sleep 0.3; exit 2"], NEVER).unwrap_err().status, Some(2));
}

/// The exit status is the sum of the signals that a process has got.
#[test]
fn an_interruption_is_passed_on_once() {
    let folder = tempfile::tempdir().unwrap();
    let files = [0, 1].map(|rank| folder.path().join(rank.to_string()));
    let line = |file: &Path, status: &str| {
        format!(
            "n=0; trap 'n=$((n+1))' TERM; echo $$ > {}; while test $n = 0; do sleep 0.02; done; \
             sleep 0.3; exit {status}",
            file.display()
        )
    };
    let lines = [line(&files[0], "$((129 + n))"), line(&files[1], "$((n - 1))")];
    let asked = Cell::new(false);
    let is_interrupted = || {
        if !asked.get() {
            files.iter().for_each(|file| drop(await_text(file)));
        }
        asked.set(true);
        true
    };
    let ended = run(&lines.each_ref().map(String::as_str), &is_interrupted).unwrap_err();
    assert_eq!((ended.rank, ended.status), (0, Some(130)));
}

#[test]
fn what_cannot_be_started_ends_what_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let command = |rank: usize| {
        let mut command = Command::new(if rank == 0 { "sh" } else { "no such program" });
        if rank == 0 {
            command.args(["-c", &sleep(&file)]);
        } else {
            await_text(&file);
        }
        command
    };
    assert_eq!(supervise(2, command, NEVER).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(!runs(&await_text(&file)));
}
