//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use topopt_case::config::{Device, Generator, Hexes, MeshMethod, Preconditioner, Strategy};
use topopt_case::meshing::Gmsh;
use topopt_io::gmsh::is_geometry;
use topopt_surface::Quality;

use crate::numbers::{count, density, layers, length, ranks, share, size, speed, threshold, width};
pub use crate::progress::Log;

/// Topology optimization of three-dimensional parts on unstructured hexahedral meshes.
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
        /// Name of the case: writes NAME.toml. Or a mesh, such as a solver deck: writes a case with
        /// its materials, supports and loads. Or a geometry, such as a STEP file: writes a case
        /// with its faces as comments, to choose supports and loads from
        name: PathBuf,
    },
    /// Optimize a case and write the results
    Run(RunArgs),
    /// Solve the part of a case once, without optimization: displacements, stresses, reactions
    Solve(SolveArgs),
    /// Check a case without solving: everything that can be known before running
    Check(CheckArgs),
    /// Write the surface of a design: closed triangles for printing and CAD
    Export(ExportArgs),
    /// Solve the design of a run again as solid and void, measure it and check its limits: exit
    /// status 3 if it misses one
    Verify(VerifyArgs),
    /// Write the report of a run: one HTML page with pictures, curves and an interactive view
    Report(ReportArgs),
    /// Write the mesh of a benchmark, or of a geometry meshed by Gmsh, to a file
    Mesh(MeshArgs),
    /// Describe a mesh file: counts, sets, size, quality; or the faces of a geometry
    Info(InfoArgs),
    /// Write the distance of every node from sets of a mesh, along the shortest path within the part
    Distance(DistanceArgs),
    /// Print the JSON schema of the case file, for editors
    Schema,
    /// Print shell completions
    ///
    /// For bash: topopt completions bash > ~/.local/share/bash-completion/completions/topopt
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// What may be run to mesh a geometry. A case file cannot say so: it may come from somebody else.
#[derive(Debug, Clone, Default, Args)]
pub struct GmshArgs {
    /// Gmsh program for meshing geometries; default: the environment variable GMSH, or gmsh
    #[arg(long, value_name = "PROGRAM")]
    pub gmsh: Option<PathBuf>,
    /// Mesh a geometry even if it may run programs and write files, as a .geo file can
    #[arg(long)]
    pub trust_geometry: bool,
}

impl From<&GmshArgs> for Gmsh {
    fn from(args: &GmshArgs) -> Self {
        Self { program: args.gmsh.clone(), trust_geometry: args.trust_geometry }
    }
}

/// Arguments of `topopt info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Mesh file; a geometry is meshed first
    pub file: PathBuf,
    /// List the faces of a geometry with number, form, area, center, name and color, as selections
    /// for a case file
    #[arg(long)]
    pub faces: bool,
    /// Write a page on which the faces are drawn with their numbers
    #[arg(long, value_name = "FILE.html", requires = "faces")]
    pub page: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Arguments of `topopt run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Case file
    pub case: PathBuf,
    /// Folder for the results, instead of `output.directory`
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Override a key of the case file; may be repeated
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub set: Vec<String>,
    /// Where to compute, instead of `solver.device`: auto, cpu, gpu, gpu:1
    #[arg(long, value_parser = |text: &str| Device::try_from(text.to_owned()))]
    pub device: Option<Device>,
    /// How to apply the stiffness, instead of `solver.strategy`
    #[arg(long, value_enum)]
    pub strategy: Option<Strategy>,
    /// Preconditioner, instead of `solver.preconditioner`
    #[arg(long, value_enum)]
    pub preconditioner: Option<Preconditioner>,
    /// Number of ranks that share the work, each with a part of the mesh: threads on the CPU, or
    /// with `--device gpu` processes with a GPU each. Not needed under mpirun or srun
    #[arg(long, value_name = "N", value_parser = ranks, allow_hyphen_values = true)]
    pub ranks: Option<NonZeroUsize>,
    /// Replace the results of an earlier run
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Resume from the newest checkpoint in the results folder
    #[arg(long)]
    pub resume: bool,
    /// Start from the design of another run on any mesh of the same part: its results folder, or
    /// a .vtu file with the cell array `density`
    #[arg(long, value_name = "RESULT", conflicts_with = "resume")]
    pub start_from: Option<PathBuf>,
    /// Progress output format
    #[arg(long, value_enum, default_value_t = Log::Auto)]
    pub log: Log,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Arguments of `topopt solve`.
#[derive(Debug, Args)]
pub struct SolveArgs {
    /// Case file
    pub case: PathBuf,
    /// Folder for the results; default: the run's folder name plus `-analysis`
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Override a key of the case file; may be repeated
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub set: Vec<String>,
    /// Where to compute, instead of `solver.device`: auto, cpu, gpu, gpu:1
    #[arg(long, value_parser = |text: &str| Device::try_from(text.to_owned()))]
    pub device: Option<Device>,
    /// Solve a design, with its densities, in place of the full part: the results folder of a run,
    /// or a .vtu file with the cell array `density`, on any mesh of the same part
    #[arg(long, value_name = "RESULT")]
    pub design: Option<PathBuf>,
    /// Write the stresses at the Gauss points of every element to a .csv file
    #[arg(long, value_name = "FILE")]
    pub gauss: Option<PathBuf>,
    /// Replace the results of an earlier analysis
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Resume steps in time from the newest checkpoint in the results folder
    #[arg(long)]
    pub resume: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Arguments of `topopt check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Case file
    pub case: PathBuf,
    /// Override a key of the case file; may be repeated
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub set: Vec<String>,
    /// Write sets, supports and loads to a .vtu file, to view in ParaView
    #[arg(long, value_name = "FILE")]
    pub preview: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Arguments of `topopt export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Results folder, or a .vtu file with the cell array `density`
    pub result: PathBuf,
    /// File to write; its extension chooses the format: .stl, .3mf, .obj, .ply, .glb or
    /// .vtp
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Density of the iso-surface; default: the density that keeps the volume
    #[arg(long, value_name = "DENSITY", value_parser = density, allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Edges of the surface: of an element, of half of one, or of a quarter
    #[arg(long, value_enum, default_value_t)]
    pub quality: SurfaceQuality,
    /// Share of the triangles to keep off the part's own surface; volume and topology are kept
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub decimate: Option<f64>,
    /// Drop all pieces except the largest
    #[arg(long)]
    pub largest_piece: bool,
}

/// Length of the edges of a surface, see [`Quality`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SurfaceQuality {
    /// An element, to look at
    Draft,
    /// Half an element
    #[default]
    Print,
    /// A quarter of an element, for pictures
    Show,
}

impl From<SurfaceQuality> for Quality {
    fn from(quality: SurfaceQuality) -> Self {
        match quality {
            SurfaceQuality::Draft => Self::Draft,
            SurfaceQuality::Print => Self::Print,
            SurfaceQuality::Show => Self::Show,
        }
    }
}

/// Arguments of `topopt verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Results folder of a run
    #[arg(value_name = "RESULT")]
    pub results: PathBuf,
    /// Density of the iso-surface; default: the density that keeps the volume
    #[arg(long, value_name = "T", value_parser = threshold, allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Also mesh the exported surface anew, and solve it with its loads and supports
    #[arg(long)]
    pub remesh: bool,
    /// Where to compute, instead of `solver.device` of the run: auto, cpu, gpu, gpu:1
    #[arg(long, value_parser = |text: &str| Device::try_from(text.to_owned()))]
    pub device: Option<Device>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Arguments of `topopt distance`.
#[derive(Debug, Args)]
pub struct DistanceArgs {
    /// Mesh file, or a case file, whose selections are sets, too; a geometry is meshed first
    pub mesh: PathBuf,
    /// Set of nodes, faces or elements from which to measure; may be repeated
    #[arg(long, value_name = "SET", required_unless_present = "from_surface")]
    pub from: Vec<String>,
    /// Measure from the whole surface of the part
    #[arg(long)]
    pub from_surface: bool,
    /// Speed in an element set, 1 elsewhere: instead of the distance, the time of travel is
    /// written. May be repeated; of an element in several sets the last one counts
    #[arg(long, value_name = "SET=SPEED", value_parser = speed)]
    pub speed: Vec<(String, f64)>,
    /// Stop at this distance, or time of travel; nodes beyond it get NaN
    #[arg(long, value_name = "LENGTH", value_parser = length, allow_hyphen_values = true)]
    pub within: Option<f64>,
    /// Where to compute: auto, cpu, gpu, gpu:1
    #[arg(long, default_value = "auto", value_parser = |text: &str| Device::try_from(text.to_owned()))]
    pub device: Device,
    /// File to write, with the array `distance`, or `arrival` where speeds are given: a .vtu file
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
}

/// Arguments of `topopt report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results folder
    pub result: PathBuf,
    /// File to write; default: report.html in the results folder
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `topopt mesh`.
#[derive(Debug, Args)]
pub struct MeshArgs {
    /// A benchmark (cantilever, l_beam, michell, connecting_rod), or a geometry for Gmsh: a .geo,
    /// .step, .stp, .brep, .iges, .igs or .stl file
    #[arg(value_parser = MeshSource::parse)]
    pub source: MeshSource,
    /// Size of a benchmark, from 1 (about 35,000 elements) to 5 (about 1,000,000)
    #[arg(long, value_name = "N", value_parser = size, allow_hyphen_values = true)]
    pub size: Option<u8>,
    /// Approximate number of elements
    #[arg(long, value_name = "N", conflicts_with = "size")]
    #[arg(value_parser = count, allow_hyphen_values = true)]
    pub elements: Option<usize>,
    /// Largest edge of the elements of a geometry
    #[arg(long, value_name = "LENGTH", value_parser = width, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["size", "elements"])]
    pub element_size: Option<f64>,
    /// Elements of a geometry
    #[arg(long, value_enum, conflicts_with = "size")]
    pub method: Option<MeshMethod>,
    /// Least number of hexahedra across walls along the grid, with --method hexahedra or auto
    #[arg(long, value_name = "N", requires = "method")]
    #[arg(value_parser = layers, allow_hyphen_values = true)]
    pub across: Option<u32>,
    /// How Gmsh makes the hexahedra of a geometry
    #[arg(long, value_enum, conflicts_with = "size")]
    pub hexes: Option<Hexes>,
    /// Gmsh
    #[command(flatten)]
    pub gmsh: GmshArgs,
    /// File to write; by default the name of the source with .msh
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Version of the Gmsh format
    #[arg(long, value_enum, default_value_t = MshVersion::V4_1)]
    pub format: MshVersion,
    /// Write text, which is larger and slower to read than binary
    #[arg(long)]
    pub ascii: bool,
}

/// Input of `topopt mesh`.
#[derive(Debug, Clone)]
pub enum MeshSource {
    /// A benchmark.
    Generator(Generator),
    /// A geometry file.
    Geometry(PathBuf),
}

impl MeshSource {
    fn parse(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        if is_geometry(&path) {
            return Ok(Self::Geometry(path));
        }
        Generator::from_str(text, false).map(Self::Generator).map_err(|_| {
            "neither a benchmark (cantilever, l_beam, michell, connecting_rod) nor a geometry \
             (.geo, .step, .stp, .brep, .iges, .igs, .stl)"
                .into()
        })
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
