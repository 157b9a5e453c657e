//! `topopt run CASE`

use std::io::Write;

use topopt_study::config::Config;
use topopt_study::failure::Failure;
use topopt_study::finding::InputError;
use topopt_study::interrupt::Interrupt;
use topopt_study::output_folder::Earlier;
use topopt_study::run::{self, Request};

use crate::args::RunArgs;
use crate::progress::Progress;

pub(super) fn run(
    args: &RunArgs,
    out: &mut (dyn Write + Send),
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let config = configuration(args)?;
    let request = Request {
        earlier: match (args.resume, args.overwrite) {
            (true, _) => Earlier::Continue,
            (_, true) => Earlier::Replace,
            _ => Earlier::Keep,
        },
        start_from: args.start_from.clone(),
        gmsh: (&args.gmsh).into(),
        ranks: args.ranks,
    };
    let mut progress = Progress::new(args.log, config.optimizer.max_iterations, out);
    run::run(&config, &request, &mut progress, interrupt)
}

/// The case file with what the command line says instead.
fn configuration(args: &RunArgs) -> Result<Config, InputError> {
    let mut config = Config::load(&args.case, &args.set)?;
    if let Some(directory) = &args.output {
        config.output.directory = Some(directory.clone());
    }
    config.solver.device = args.device.unwrap_or(config.solver.device);
    config.solver.strategy = args.strategy.unwrap_or(config.solver.strategy);
    config.solver.preconditioner = args.preconditioner.unwrap_or(config.solver.preconditioner);
    Ok(config)
}
