//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use topopt_case::config::{Device, ElementKind, PhysicsKind, Preconditioner, Strategy};
use topopt_cli::args::GmshArgs;
use topopt_cuda::assembly::AssemblyStrategy;

/// Operators, assembly, solvers and the tables of the thesis, measured on this machine.
#[derive(Debug, Parser)]
#[command(name = "topopt-lab", version, max_term_width = 100)]
pub struct Lab {
    /// What to measure
    #[command(subcommand)]
    pub measurement: Measurement,
}

/// A table to measure.
#[derive(Debug, Subcommand)]
pub enum Measurement {
    /// One application of every operator: time, bandwidth, error, memory
    Operators(OperatorsArgs),
    /// The assembled matrix on a GPU by every strategy: preparation, time, bandwidth, error, memory
    Assembly(AssemblyArgs),
    /// One solve of a case with every operator
    Solve(SolveArgs),
    /// Cold solves of a design with every preconditioner: setup, iterations, time
    Preconditioners(PreconditionersArgs),
    /// Multigrid with every smoother and cycle on regular cubes of rising contrast: iterations, time
    Smoothers(SmoothersArgs),
    /// The tables of the thesis: time of a solve, speedup over `ebe`, memory
    Thesis(ThesisArgs),
}

/// Arguments of `topopt-lab operators`.
#[derive(Debug, Args)]
pub struct OperatorsArgs {
    /// Problem
    #[command(flatten)]
    pub source: Source,
    /// Measured applications, after a warm-up
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub repeats: u16,
    /// Operators
    #[command(flatten)]
    pub choice: Choice,
}

/// Arguments of `topopt-lab assembly`.
#[derive(Debug, Args)]
pub struct AssemblyArgs {
    /// Problem
    #[command(flatten)]
    pub source: Source,
    /// Measured assemblies, after a warm-up
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub repeats: u16,
    /// Strategies to measure; all by default
    #[arg(long, visible_alias = "strategy", value_delimiter = ',', value_name = "NAME,...",
          value_parser = assembly_strategy)]
    pub strategies: Vec<AssemblyStrategy>,
    /// Device and table
    #[command(flatten)]
    pub output: Output,
}

fn assembly_strategy(name: &str) -> Result<AssemblyStrategy, String> {
    let found = AssemblyStrategy::ALL.into_iter().find(|strategy| strategy.name() == name);
    let names = || AssemblyStrategy::ALL.map(AssemblyStrategy::name).join(", ");
    found.ok_or_else(|| format!("there are {}", names()))
}

/// Arguments of `topopt-lab solve`.
#[derive(Debug, Args)]
pub struct SolveArgs {
    /// Case file
    pub case: PathBuf,
    /// Override a key of the case file; may be repeated
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub set: Vec<String>,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
    /// Operators
    #[command(flatten)]
    pub choice: Choice,
}

/// Arguments of `topopt-lab preconditioners`.
#[derive(Debug, Args)]
pub struct PreconditionersArgs {
    /// Case file
    pub case: PathBuf,
    /// Override a key of the case file; may be repeated
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub set: Vec<String>,
    /// The design.vtu of a run of the case; by default its start density
    #[arg(long, value_name = "FILE")]
    pub design: Option<PathBuf>,
    /// Preconditioners to measure; all by default
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub preconditioners: Vec<Preconditioner>,
    /// Where to compute: auto, cpu, gpu, gpu:1
    #[arg(long, default_value = "auto", value_parser = |text: &str| Device::try_from(text.to_owned()))]
    pub device: Device,
    /// Write the assembled matrix in MatrixMarket format, and forces and nodes to NAME_f.mtx and
    /// NAME_x.mtx
    #[arg(long, value_name = "FILE.mtx")]
    pub matrix: Option<PathBuf>,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Arguments of `topopt-lab smoothers`.
#[derive(Debug, Args)]
pub struct SmoothersArgs {
    /// Elements per edge of the cubes
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(4..=256))]
    pub size: u16,
    /// Systems to solve; all by default
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub tests: Vec<SmootherTest>,
    /// Device and table
    #[command(flatten)]
    pub output: Output,
}

/// A system of `topopt-lab smoothers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SmootherTest {
    /// Fu's: diffusion with a capacity and balls of another material, nothing held
    Fu,
    /// Bars that conduct heat, in void
    Heat,
    /// Elastic bars in void
    Elasticity,
}

/// Arguments of `topopt-lab thesis`.
#[derive(Debug, Args)]
pub struct ThesisArgs {
    /// Sizes of the benchmarks
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4, 5],
          value_parser = clap::value_parser!(u8).range(1..=5))]
    pub sizes: Vec<u8>,
    /// Operators
    #[command(flatten)]
    pub choice: Choice,
}

/// Problem to measure on.
#[derive(Debug, Args)]
pub struct Source {
    /// Case file, mesh file, cube:N for a cube of N x N x N perturbed elements, or tetrahedra:N for
    /// six tetrahedra in each of them
    pub source: String,
    /// Physics on a mesh; a case file has its own
    #[arg(long, value_enum)]
    pub physics: Option<PhysicsKind>,
    /// Elements on a mesh; a case file has its own
    #[arg(long, value_enum, default_value_t)]
    pub elements: ElementKind,
    /// Order of nodes and elements
    #[arg(long, value_enum, default_value_t = Numbering::Import)]
    pub numbering: Numbering,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Operators to measure.
#[derive(Debug, Args)]
pub struct Choice {
    /// Strategies to measure; all by default
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub strategies: Vec<Strategy>,
    /// Device and table
    #[command(flatten)]
    pub output: Output,
}

/// Device of a measurement and file of its table.
#[derive(Debug, Args)]
pub struct Output {
    /// Where to compute: auto, cpu, gpu, gpu:1
    #[arg(long, default_value = "auto", value_parser = |text: &str| Device::try_from(text.to_owned()))]
    pub device: Device,
    /// CSV file to write in addition to the table
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Order of nodes and elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Numbering {
    /// Along chains of elements, as in a run
    Import,
    /// As in the source
    Natural,
    /// At random
    Shuffled,
    /// At random, then renumbered as in a run
    Restored,
}
