//! `topopt run CASE`

use std::env;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;

use topopt_case::config::{Config, Device};
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::own::Own;
use topopt_study::failure::Failure;
use topopt_study::output_folder::Earlier;
use topopt_study::place::Place;
use topopt_study::ranks::Team;
use topopt_study::ranks::children::supervise;
use topopt_study::ranks::launched::Launched;
use topopt_study::run::{self, Request};

use crate::args::RunArgs;
use crate::connection;
use crate::program::this_program;
use crate::progress::Progress;

pub(super) fn run(
    args: &RunArgs,
    launched: Option<&Launched>,
    out: &mut (dyn Write + Send),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let joined = launched.map(|launched| {
        let joined = agree(args.ranks, launched).and_then(|()| connection::join(launched));
        let connection = joined.map_err(|finding| Failure::of_start(launched, finding))?;
        Ok::<_, Failure>(Team::of_processes(launched, connection))
    });
    let joined = joined.transpose()?;

    let config = configuration(args)?;
    let ranks = args.ranks.unwrap_or(NonZeroUsize::MIN);
    let team = match (joined, config.solver.device) {
        (Some(team), _) => team,
        (None, Device::Gpu(first))
            if ranks.get() > 1 && Place::has_gpus(first, ranks).map_err(InputError::from)? =>
        {
            return on_gpus(ranks, interrupt);
        }
        (None, _) => Team::of_threads(ranks).map_err(InputError::from)?,
    };

    if let (Some(launched), Err(finding)) = (launched, team.check(config.solver.device)) {
        return Err(Failure::of_start(launched, finding));
    }

    let request = Request {
        files: Some(match (args.resume, args.overwrite) {
            (true, _) => Earlier::Continue,
            (_, true) => Earlier::Replace,
            _ => Earlier::Keep,
        }),
        mesh: None,
        own: Own::default(),
        start_from: args.start_from.clone(),
        gmsh: (&args.gmsh).into(),
        team,
    };

    let mut progress = Progress::new(args.log, config.optimizer.max_iterations, out);
    let ended = run::run(&config, &request, &mut progress, interrupt);
    request.team.leave(ended)
}

/// Whether the command line asks for as many ranks as the launcher has started, if it asks.
fn agree(asked: Option<NonZeroUsize>, launched: &Launched) -> Result<(), Finding> {
    let (variable, size) = (launched.size_variable(), launched.size);
    match asked {
        Some(asked) if asked.get() != size => {
            let message = format!("`--ranks {asked}`, but {variable} says {size} processes");
            Err(Finding::new(message).remedy("leave `--ranks` out: each process is a rank"))
        }
        _ => Ok(()),
    }
}

/// Starts a process per rank, each with a GPU, and waits for them.
fn on_gpus(ranks: NonZeroUsize, interrupt: &Interrupt) -> Result<(), Failure> {
    let program = this_program();
    let command = |_| {
        let mut command = Command::new(program.as_deref().unwrap_or(Path::new("topopt")));
        command.args(env::args_os().skip(1));
        command
    };
    // They have something to finish.
    let _listening = interrupt.listen();
    let ended = supervise(ranks.get(), command, &|| interrupt.is_requested());
    let ended = ended.map_err(|cause| {
        let finding = Finding::new(format!("cannot start {ranks} processes: {cause}"));
        InputError::from(finding.remedy("look at the limits of processes and memory"))
    });
    Ok(ended??)
}

/// The case file with what the command line says instead.
fn configuration(args: &RunArgs) -> Result<Config, InputError> {
    let mut config = Config::load(&args.case, &args.set)?;
    if let Some(directory) = &args.output {
        config.output.directory = Some(directory.clone());
    }
    let continues_design = || args.resume && run::began_with_design(&config.output_directory());
    if args.start_from.is_some() || continues_design() {
        config.begin_at_limit();
    }
    config.solver.device = args.device.unwrap_or(config.solver.device);
    config.solver.strategy = args.strategy.unwrap_or(config.solver.strategy);
    config.solver.preconditioner = args.preconditioner.unwrap_or(config.solver.preconditioner);
    Ok(config)
}
