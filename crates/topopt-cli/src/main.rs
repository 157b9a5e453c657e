//! The program `topopt`.

use std::process::ExitCode;

fn main() -> ExitCode {
    topopt_cli::entry::enter(std::env::args_os()).into()
}
