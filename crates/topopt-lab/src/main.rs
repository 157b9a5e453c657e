//! The program `topopt-lab`, with the exit status of `topopt`.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use topopt_case::interrupt::Interrupt;
use topopt_cli::commands::check_start;
use topopt_cli::program;
use topopt_lab::args::Lab;

static INTERRUPT: Interrupt = Interrupt::new();

fn main() -> ExitCode {
    program::end_at_panics();
    let lab = match Lab::try_parse() {
        Ok(lab) => lab,
        Err(error) => {
            let _ = error.print(); // a closed stream: nobody reads the message
            return u8::from(error.use_stderr()).into();
        }
    };
    program::begin_with_memory_settings();
    let status = program::status(|| {
        check_start()?;
        program::handle_signals(&INTERRUPT, true);
        let mut out = std::io::stdout();
        topopt_lab::measure(&lab.measurement, &mut out)?;
        Ok(out.flush()?)
    });
    status.into()
}
