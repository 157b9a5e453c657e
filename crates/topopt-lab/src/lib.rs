//! Measurements for papers: operators, assembly, solves, smoothers, and the tables of the thesis.

pub mod args;
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

use topopt_study::failure::Failure;

use crate::args::Measurement;

/// Measures and prints a table, and writes a CSV file where one is asked for.
///
/// # Errors
/// [`Failure`], with the exit status that belongs to it.
pub fn measure(measurement: &Measurement, out: &mut dyn Write) -> Result<(), Failure> {
    match measurement {
        Measurement::Operators(args) => operators::operators(args, out),
        Measurement::Assembly(args) => assembly::assembly(args, out),
        Measurement::Solve(args) => solve::solve(args, out),
        Measurement::Preconditioners(args) => preconditioners::preconditioners(args, out),
        Measurement::Smoothers(args) => smoothers::smoothers(args, out),
        Measurement::Thesis(args) => thesis::thesis(args, out),
    }
}
