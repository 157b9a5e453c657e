//! The program `topopt`. Exit status: 0 done, 1 the user's input, 2 the solver or the device
//! failed, 130 interrupted.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use topopt_cli::args::{Cli, Command};
use topopt_cli::commands::{check_start, execute};
use topopt_cli::render::{Drawing, render};
use topopt_study::failure::Failure;
use topopt_study::interrupt::Interrupt;

static INTERRUPT: Interrupt = Interrupt::new();

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| say(&format!("topopt: this is a bug: {panic}\n"))));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let status = u8::from(error.use_stderr());
            let _ = error.print(); // nobody is left to tell
            return status.into();
        }
    };
    let Err(failure) = check_start().and_then(|()| done(&cli.command)) else {
        return ExitCode::SUCCESS;
    };
    let drawing = if std::io::stderr().is_terminal() { Drawing::Terminal } else { Drawing::Plain };
    say(&render(&failure.findings(), drawing));
    failure.exit_status().into()
}

/// Does what is asked, with an ear for signals.
fn done(command: &Command) -> Result<(), Failure> {
    if let Err(error) = ctrlc::set_handler(interrupted) {
        say(&format!("topopt: cannot handle interruptions: {error}\n"));
    }
    survive_file_size_limit();
    let mut out = std::io::stdout();
    execute(command, &mut out, &INTERRUPT)?;
    Ok(out.flush()?)
}

/// Ends the program at a signal, at once if nothing has to be finished first.
fn interrupted() {
    if INTERRUPT.signal() {
        topopt_io::atomic::abandon();
        say("topopt: interrupted\n");
        std::process::exit(130);
    }
    say("topopt: interrupted; finishing the current step first. Interrupt again to end at once\n");
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
