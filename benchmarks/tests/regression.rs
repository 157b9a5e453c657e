//! The first iterations of every case against the reference. `cargo run --release -p
//! topopt-benchmarks` compares all 50, which `.ci/slow` does too.

use topopt_benchmarks::{Case, Comparison};
use topopt_case::config::{Device, Strategy};

/// All 50 take two minutes of two cores, and a wrong derivative or filter shows in the second.
const ITERATIONS: usize = 5;

fn the_reference_is_met(case: Case) {
    let comparisons = case.compare(ITERATIONS, Device::Cpu, Strategy::Auto).unwrap();
    assert_eq!(comparisons.len(), ITERATIONS);
    let beyond: Vec<&Comparison> = comparisons.iter().filter(|row| !row.is_met()).collect();
    assert!(beyond.is_empty(), "{}: {beyond:?}", case.name());
}

#[test]
fn cantilever() {
    the_reference_is_met(Case::Cantilever);
}

#[test]
fn l_beam() {
    the_reference_is_met(Case::LBeam);
}

#[test]
fn michell() {
    the_reference_is_met(Case::Michell);
}

#[test]
fn connecting_rod() {
    the_reference_is_met(Case::ConnectingRod);
}
