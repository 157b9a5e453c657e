//! The entry of the program, for its executable and for packages that bring it along. Exit status:
//! 0 done, 1 the user's input, 2 the solver or the device failed, 3 the built shape misses a limit,
//! 130 interrupted.

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use crate::args::{Cli, Command};
use crate::commands::{check_start, execute};
use crate::{connection, program};
use clap::Parser;
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_study::failure::Failure;
use topopt_study::ranks::launched::{Launched, Launcher};

/// Delay before a rank other than the first reports its failure, so that rank 0 comes first.
const OTHER_RANK: Duration = Duration::from_secs(1);
/// Further delay per rank, so that reports do not mix.
const TURN: Duration = Duration::from_millis(100);
/// Further delay if another rank may be the cause: more than a rank gets that is asked to end.
const FOLLOWING: Duration = Duration::from_secs(4);

static INTERRUPT: Interrupt = Interrupt::new();

/// Runs the program with `arguments`, its name first, and returns its exit status.
pub fn enter(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    program::end_at_panics();
    let launched = Launched::find(|name| std::env::var_os(name));
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let status = u8::from(error.use_stderr());
            if !matches!(&launched, Ok(Some(launched)) if launched.rank > 0) {
                let _ = error.print(); // a closed stream: nobody reads the message
            }
            return status;
        }
    };

    program::begin_with_memory_settings();
    let launched = match launched {
        Ok(launched) => launched,
        Err(finding) => return program::tell(&InputError::from(finding).into()),
    };
    let launched = launched.as_ref();
    let work = || check_start().and_then(|()| done(&cli.command, launched));
    let status = program::status(|| work().inspect_err(|failure| await_turn(failure, launched)));
    if status != 0 {
        connection::abort(status);
    }
    status
}

/// Executes a command, and has signals interrupt it.
fn done(command: &Command, launched: Option<&Launched>) -> Result<(), Failure> {
    let is_child = launched.is_some_and(|l| matches!(l.launcher, Launcher::Topopt(_)));
    if is_child {
        std::thread::spawn(end_with_parent);
    }
    // One of several processes answers signals: the one that has started the others, or rank 0.
    let answers = !is_child && launched.is_none_or(|launched| launched.rank == 0);
    program::handle_signals(&INTERRUPT, answers);
    let mut out = std::io::stdout();
    execute(command, launched, &mut out, &INTERRUPT)?;
    Ok(out.flush()?)
}

/// Waits until it is this rank's turn to report its failure. Ranks whose failure has a cause of its
/// own come first, each group in the order of ranks; the first report ends all other ranks.
fn await_turn(failure: &Failure, launched: Option<&Launched>) {
    let Some(launched) = launched.filter(|_| failure.exit_status() != 0) else { return };
    let by_rank = if launched.rank == 0 { Duration::ZERO } else { OTHER_RANK };
    let by_failure = if failure.may_follow() { FOLLOWING } else { Duration::ZERO };
    std::thread::sleep(by_rank + by_failure + (TURN * launched.rank as u32).min(OTHER_RANK));
}

/// Ends a process that another one has started and looks after, when that one is gone.
fn end_with_parent() {
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    program::end(program::INTERRUPTED);
}
