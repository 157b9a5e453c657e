//! Every iteration of every case against the reference, as `cargo run --release -p
//! topopt-benchmarks` prints it.

use topopt_benchmarks::{Case, Comparison};
use topopt_study::config::{Device, Strategy};

fn all_iterations_meet_the_reference(case: Case) {
    let comparisons = case.compare(50, Device::Cpu, Strategy::Auto).unwrap();
    assert_eq!(comparisons.len(), 50);
    let beyond: Vec<&Comparison> = comparisons.iter().filter(|row| !row.is_met()).collect();
    assert!(beyond.is_empty(), "{}: {beyond:?}", case.name());
}

#[test]
fn cantilever() {
    all_iterations_meet_the_reference(Case::Cantilever);
}

#[test]
fn l_beam() {
    all_iterations_meet_the_reference(Case::LBeam);
}

#[test]
fn michell() {
    all_iterations_meet_the_reference(Case::Michell);
}

#[test]
fn connecting_rod() {
    all_iterations_meet_the_reference(Case::ConnectingRod);
}
