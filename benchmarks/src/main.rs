//! `regression`: prints expected, found, difference of every iteration; fails beyond tolerance.

use std::process::ExitCode;

use clap::Parser;
use topopt_benchmarks::{Case, Comparison, FIRST_TOLERANCE, LATER_TOLERANCE};
use topopt_case::config::{Device, Strategy};

/// Runs the benchmark cases against independent results
#[derive(Debug, Parser)]
struct Arguments {
    /// Cases to run; all four when left out
    cases: Vec<Case>,
    /// Iterations of each, at most the 50 of the reference
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=50))]
    iterations: u16,
    /// Where to compute: auto, cpu, gpu, gpu:1
    #[arg(long, default_value = "auto",
          value_parser = |text: &str| Device::try_from(text.to_owned()))]
    device: Device,
    /// How to apply the stiffness
    #[arg(long, value_enum, default_value_t = Strategy::Auto)]
    strategy: Strategy,
}

fn main() -> ExitCode {
    let Arguments { mut cases, iterations, device, strategy } = Arguments::parse();
    if cases.is_empty() {
        cases = Case::ALL.into();
    }

    let mut failed = Vec::new();
    for case in cases {
        println!("{}", case.name());
        match case.compare(iterations.into(), device, strategy) {
            Ok(comparisons) => {
                print(&comparisons);
                if !comparisons.iter().all(|row| row.is_met()) {
                    failed.push(case.name());
                }
            }
            Err(error) => {
                println!("  {error}");
                failed.push(case.name());
            }
        }
    }

    if failed.is_empty() {
        println!(
            "all within tolerance: {FIRST_TOLERANCE:.0e} for the first iteration, \
             {LATER_TOLERANCE:.0e} for the others"
        );
        ExitCode::SUCCESS
    } else {
        println!("beyond tolerance: {}", failed.join(", "));
        ExitCode::FAILURE
    }
}

fn print(comparisons: &[Comparison]) {
    println!("  iteration          expected             found  difference");
    for row in comparisons {
        let mark = if row.is_met() { "" } else { "  BEYOND TOLERANCE" };
        println!(
            "  {:>9}  {:>16.8}  {:>16.8}  {:>10.1e}{mark}",
            row.iteration,
            row.expected,
            row.found,
            row.difference()
        );
    }
}
