//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::config::Generator;
pub use crate::progress::Log;

/// Topology optimisation of three-dimensional parts on unstructured hexahedral meshes.
#[derive(Debug, Parser)]
#[command(name = "topopt", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented case file to start from
    Init {
        /// Name of the case; the file is NAME.toml
        name: PathBuf,
    },
    /// Optimise a case and write the results
    Run(RunArgs),
    /// Check a case without solving: everything that can be known before running
    Check {
        /// Case file
        case: PathBuf,
        /// Override a key of the case file; may be repeated
        #[arg(long, value_name = "KEY.PATH=VALUE")]
        set: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the mesh of a benchmark to a file
    Mesh(MeshArgs),
    /// Say what is in a mesh file: counts, sets, size, quality
    Info {
        /// Mesh file
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON schema of the case file, for editors
    Schema,
    /// Print the completions of a shell
    ///
    /// For bash: topopt completions bash > ~/.local/share/bash-completion/completions/topopt
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Arguments of `topopt run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Case file
    pub case: PathBuf,
    /// Folder for the results, in place of `output.directory`
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Override a key of the case file; may be repeated
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub set: Vec<String>,
    /// How to tell of the run
    #[arg(long, value_enum, default_value_t = Log::Auto)]
    pub log: Log,
}

/// Arguments of `topopt mesh`.
#[derive(Debug, Args)]
pub struct MeshArgs {
    /// The benchmark
    pub name: Generator,
    #[command(flatten)]
    resolution: ResolutionArgs,
    /// File to write; NAME.msh when left out
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Version of the Gmsh format
    #[arg(long, value_enum, default_value_t = MshVersion::V4_1)]
    pub format: MshVersion,
    /// Write text, which is larger and slower to read than binary
    #[arg(long)]
    pub ascii: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ResolutionArgs {
    /// Size, from 1 (about 35,000 elements) to 5 (about 1,000,000)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    size: Option<u8>,
    /// Number of elements to aim at
    #[arg(long, value_name = "N")]
    elements: Option<usize>,
}

impl MeshArgs {
    /// Size or number of elements; `clap` sees to it that exactly one is given.
    pub(crate) fn resolution(&self) -> (Option<u8>, Option<usize>) {
        (self.resolution.size, self.resolution.elements)
    }
}

/// Version of the Gmsh format.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum MshVersion {
    /// Read by most programs
    #[value(name = "2.2")]
    V2_2,
    /// Written by Gmsh today
    #[value(name = "4.1")]
    V4_1,
}
