//! The program `topopt`. Exit status: 0 done, 1 the user's input, 2 the solver or the device
//! failed, 3 the built shape misses a limit, 130 interrupted.

use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use topopt_case::finding::InputError;
use topopt_case::free_memory;
use topopt_case::interrupt::Interrupt;
use topopt_cli::args::{Cli, Command};
use topopt_cli::commands::{check_start, execute};
use topopt_cli::render::{Drawing, render};
use topopt_study::failure::Failure;
use topopt_study::ranks;
use topopt_study::ranks::launched::{Launched, Launcher};

/// Exit status of a program that has panicked.
const PANICKED: u8 = 101;

/// How long a rank other than the first is silent before it says why it fails.
const OTHER_RANK: Duration = Duration::from_secs(1);
/// How much longer than the rank before it.
const TURN: Duration = Duration::from_millis(100);
/// How much longer if another rank may be the reason: longer than one has that is asked to end.
const FOLLOWING: Duration = Duration::from_secs(4);

/// Environment variable from which the C library takes settings.
#[cfg(target_os = "linux")]
const TUNABLES: &str = "GLIBC_TUNABLES";

static INTERRUPT: Interrupt = Interrupt::new();

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| say(&format!("topopt: this is a bug: {panic}\n"))));
    let launched = Launched::find(|name| std::env::var_os(name));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let status = u8::from(error.use_stderr());
            if !matches!(&launched, Ok(Some(launched)) if launched.rank > 0) {
                let _ = error.print(); // nobody is left to tell
            }
            return status.into();
        }
    };

    begin_with_memory_settings();
    let launched = match launched {
        Ok(launched) => launched,
        Err(finding) => return tell(&InputError::from(finding).into()).into(),
    };
    let work = || check_start().and_then(|()| done(&cli.command, launched.as_ref()));
    let status = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 0,
        Ok(Err(failure)) => {
            await_turn(&failure, launched.as_ref());
            tell(&failure)
        }
        Err(_) => PANICKED,
    };
    if status != 0 {
        ranks::abort(status);
    }
    status.into()
}

/// Setting of the C library: ask for huge pages. With 16 million elements and 16 cores the steps before
/// the first iteration took 11 s in place of 16.
#[cfg(target_os = "linux")]
const HUGE_PAGES: &str = "glibc.malloc.hugetlb=1";

/// Setting for a limited address space: ask for huge pages, but keep no arena for each thread, which would
/// take what was counted for something else: a report of 2000 elements needs 154 MB in place of 400.
#[cfg(target_os = "linux")]
const LIMITED: &str = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1";

/// Begins once more with the C library told how to take memory, which it only reads from the environment.
/// Goes on as it is where that cannot be, or somebody has told it something.
fn begin_with_memory_settings() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(TUNABLES).is_none() {
        use std::os::unix::process::CommandExt;

        let mut args = std::env::args_os();
        let (name, program) = (args.next(), std::env::current_exe());
        if let (Some(name), Ok(program)) = (name, program) {
            let mut again = std::process::Command::new(program);
            let settings = if free_memory::is_limited() { LIMITED } else { HUGE_PAGES };
            let _ = again.arg0(name).args(args).env(TUNABLES, settings).exec();
        }
    }
}

/// Says why the program ends, and returns its exit status.
fn tell(failure: &Failure) -> u8 {
    if let Failure::Rank(ended) = failure {
        say(&ended.said);
    }
    let drawing = if std::io::stderr().is_terminal() { Drawing::Terminal } else { Drawing::Plain };
    say(&render(&failure.findings(), drawing));
    failure.exit_status()
}

/// Does what is asked, with an ear for signals.
fn done(command: &Command, launched: Option<&Launched>) -> Result<(), Failure> {
    let is_child = launched.is_some_and(|l| matches!(l.launcher, Launcher::Topopt(_)));
    if is_child {
        std::thread::spawn(end_with_parent);
    }
    // Of several processes one answers: that which has started the others, or the first.
    let answers = !is_child && launched.is_none_or(|launched| launched.rank == 0);
    if let Err(error) = ctrlc::set_handler(move || interrupted(answers)) {
        say(&format!("topopt: cannot handle interruptions: {error}\n"));
    }
    survive_file_size_limit();
    let mut out = std::io::stdout();
    execute(command, launched, &mut out, &INTERRUPT)?;
    Ok(out.flush()?)
}

/// Waits until it is this rank's turn to say why it fails. Ranks that fail speak in their order, those first
/// that know why by themselves; the first that has spoken ends the others, which then say nothing.
fn await_turn(failure: &Failure, launched: Option<&Launched>) {
    let Some(launched) = launched.filter(|_| failure.exit_status() != 0) else { return };
    let by_rank = if launched.rank == 0 { Duration::ZERO } else { OTHER_RANK };
    let by_failure = if failure.may_follow() { FOLLOWING } else { Duration::ZERO };
    std::thread::sleep(by_rank + by_failure + (TURN * launched.rank as u32).min(OTHER_RANK));
}

/// Ends a process that another one has started and looks after, when that one is gone.
fn end_with_parent() {
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    end();
}

/// Ends the program at a signal, at once if nothing has to be finished first.
fn interrupted(answers: bool) {
    let ends = INTERRUPT.signal();
    if answers {
        say(match ends {
            true => "topopt: interrupted\n",
            false => {
                "topopt: interrupted; finishing the current step first. Interrupt again to end at once\n"
            }
        });
    }
    if ends {
        end();
    }
}

/// Ends the program without leaving files under way.
fn end() {
    topopt_io::atomic::abandon();
    std::process::exit(130);
}

/// A file that outgrows the limit of the shell is an error of the write, not the end of the
/// program.
fn survive_file_size_limit() {
    #[cfg(unix)]
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()) {
        say(&format!("topopt: cannot handle the file size limit: {error}\n"));
    }
}

/// Writes to standard error, where somebody may read it.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
