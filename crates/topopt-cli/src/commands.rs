//! Subcommands. Results go to the writer given, never straight to the console.

mod check;
mod distance;
mod export;
mod info;
mod init;
mod json;
mod mesh;
mod pages;
mod physics;
mod preview;
mod report;
mod run;
mod solve;
mod verify;

use std::io::Write;

use clap::CommandFactory;
use topopt_case::config::{self, MOST_THREADS};
use topopt_case::finding::{Finding, InputError};
use topopt_case::free_memory;
use topopt_case::interrupt::Interrupt;
use topopt_study::failure::Failure;
use topopt_study::ranks::launched::Launched;

use crate::args::{Cli, Command};

/// Refuses to begin without room for threads and small things, or with too many threads. Nothing
/// may be started before: a thread's stack may be all that a limit leaves.
///
/// # Errors
/// [`Failure::Input`] with the numbers.
pub fn check_start() -> Result<(), Failure> {
    free_memory::check_start().map_err(InputError::from)?;
    Ok(bounded_threads()?)
}

/// Does what the command line asks and prints to `out`. A run ends soon after `interrupt` is set.
/// `launched` says which of several processes this is, if it is one.
///
/// # Errors
/// [`Failure`], with the exit status that belongs to it.
pub fn execute(
    command: &Command,
    launched: Option<&Launched>,
    out: &mut (dyn Write + Send),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    if let Some(launched) = launched.filter(|_| !matches!(command, Command::Run(_))) {
        return Err(alone(launched));
    }
    let result = match command {
        Command::Run(args) => run::run(args, launched, out, interrupt),
        Command::Solve(args) => solve::solve(args, out, interrupt),
        Command::Verify(args) => verify::verify(args, out, interrupt),
        Command::Check(args) => check::check(args, out, interrupt),
        Command::Export(args) => export::export(args, out),
        Command::Distance(args) => distance::distance(args, out, interrupt),
        Command::Report(args) => report::report(args, out),
        Command::Init { name } => init::init(name, out, interrupt),
        Command::Mesh(args) => mesh::mesh(args, out, interrupt),
        Command::Info(args) => info::info(args, out, interrupt),
        Command::Schema => Ok(writeln!(out, "{:#}", config::schema())?),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "topopt", &mut script);
            Ok(out.write_all(&script)?)
        }
    };

    match result {
        // A mesher that was ended before its time is not the user's fault.
        Err(Failure::Input(_)) if interrupt.is_requested() => {
            Err(Failure::Interrupted { iterations: 0, directory: None })
        }
        result => result,
    }
}

/// Why several processes cannot do other things than a run.
fn alone(launched: &Launched) -> Failure {
    let (variable, size) = (launched.size_variable(), launched.size);
    let message = format!(
        "{variable} says that this is one of {size} processes: only `topopt run` is \
                           for several"
    );
    Failure::of_start(
        launched,
        Finding::new(message).remedy("start it once, without mpirun or srun"),
    )
}

/// Refuses what `solver.threads` may not be from the variable of the environment, too.
fn bounded_threads() -> Result<(), InputError> {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse::<usize>().ok());
    match asked {
        Some(n) if n > MOST_THREADS => {
            let finding = Finding::new(format!("RAYON_NUM_THREADS asks for {n} threads"));
            Err(finding.remedy(format!("unset it, or give at most {MOST_THREADS}")).into())
        }
        _ => Ok(()),
    }
}
