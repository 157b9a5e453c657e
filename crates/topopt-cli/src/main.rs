//! The program `topopt`. Exit status: 0 done, 1 the user's input, 2 the solver or the device
//! failed, 130 interrupted.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;
use topopt_cli::report::{Drawing, render};

static INTERRUPT: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| eprintln!("topopt: this is a bug: {panic}")));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let status = u8::from(error.use_stderr());
            let _ = error.print(); // nobody is left to tell
            return status.into();
        }
    };
    // A second interruption ends the program at once.
    let interrupt = || {
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(interrupt) {
        eprintln!("topopt: interruptions are not handled: {error}");
    }
    let mut out = std::io::stdout();
    let result = execute(&cli.command, &mut out, &INTERRUPT).and_then(|()| Ok(out.flush()?));
    let Err(failure) = result else { return ExitCode::SUCCESS };
    let drawing = if std::io::stderr().is_terminal() { Drawing::Terminal } else { Drawing::Plain };
    eprint!("{}", render(&failure.findings(), drawing));
    failure.exit_status().into()
}
