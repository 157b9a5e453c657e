//! `topopt bench`: operators, assembly, solves, smoothers, and the tables of the thesis, measured.

mod assembly;
mod matrix;
mod measured;
mod operators;
mod preconditioners;
mod processor;
mod smoothed;
mod smoothers;
mod solve;
mod subject;
mod thesis;

use std::io::Write;

use topopt_case::finding::InputError;
use topopt_study::failure::Failure;
use topopt_study::output_folder;

use crate::args::BenchCommand;

/// Measures and prints a table, and a CSV file where one is asked for.
pub(super) fn bench(command: &BenchCommand, out: &mut impl Write) -> Result<(), Failure> {
    let (file, extension) = match command {
        BenchCommand::Operators(args) => (&args.choice.csv, "csv"),
        BenchCommand::Assembly(args) => (&args.csv, "csv"),
        BenchCommand::Solve(args) => (&args.choice.csv, "csv"),
        BenchCommand::Smoothers(args) => (&args.csv, "csv"),
        BenchCommand::Thesis(args) => (&args.choice.csv, "csv"),
        BenchCommand::Preconditioners(args) => (&args.matrix, "mtx"),
    };
    if let Some(file) = file {
        output_folder::check_file(file, &[extension], &[]).map_err(InputError::from)?;
    }
    match command {
        BenchCommand::Operators(args) => operators::operators(args, out),
        BenchCommand::Assembly(args) => assembly::assembly(args, out),
        BenchCommand::Solve(args) => solve::solve(args, out),
        BenchCommand::Preconditioners(args) => preconditioners::preconditioners(args, out),
        BenchCommand::Smoothers(args) => smoothers::smoothers(args, out),
        BenchCommand::Thesis(args) => thesis::thesis(args, out),
    }
}
