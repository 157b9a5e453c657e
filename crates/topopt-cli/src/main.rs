//! The program `topopt`. Exit status: 0 done, 1 the user's input, 2 the solver or the device
//! failed, 130 interrupted.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use topopt_cli::args::Cli;
use topopt_cli::commands::execute;
use topopt_cli::report::{Drawing, render};

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
    let mut out = std::io::stdout().lock();
    let result = execute(&cli.command, &mut out).and_then(|()| Ok(out.flush()?));
    let Err(failure) = result else { return ExitCode::SUCCESS };
    let drawing = if std::io::stderr().is_terminal() { Drawing::Terminal } else { Drawing::Plain };
    eprint!("{}", render(&failure.findings(), drawing));
    failure.exit_status().into()
}
