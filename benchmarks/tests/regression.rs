//! The first five iterations of every case; `cargo run --release -p topopt-benchmarks` runs all.

use topopt_benchmarks::{Case, Comparison};
use topopt_cli::config::{Device, Strategy};

fn first_iterations_meet_the_reference(case: Case) {
    let comparisons = case.compare(5, Device::Cpu, Strategy::Auto).unwrap();
    assert_eq!(comparisons.len(), 5);
    let beyond: Vec<&Comparison> = comparisons.iter().filter(|row| !row.is_met()).collect();
    assert!(beyond.is_empty(), "{}: {beyond:?}", case.name());
}

#[test]
fn cantilever() {
    first_iterations_meet_the_reference(Case::Cantilever);
}

#[test]
fn l_beam() {
    first_iterations_meet_the_reference(Case::LBeam);
}

#[test]
fn michell() {
    first_iterations_meet_the_reference(Case::Michell);
}

#[test]
fn connecting_rod() {
    first_iterations_meet_the_reference(Case::ConnectingRod);
}
