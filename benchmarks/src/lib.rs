//! The regression benchmark: the four cases against independent results.
//!
//! `reference/*.json` holds the compliance of 50 iterations of size 1 of each case, found by an
//! independent program with a sparse direct solver in double precision. Each case runs as a user
//! would run it, with a tighter solver.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use topopt_case::config::{Device, Strategy};
use topopt_case::interrupt::Interrupt;
use topopt_cli::args::{Command, GmshArgs, Log, RunArgs};
use topopt_cli::commands::execute;

/// Largest relative difference of the first compliance, which depends on the solve alone.
pub const FIRST_TOLERANCE: f64 = 1e-8;

/// Largest relative difference of every later compliance.
pub const LATER_TOLERANCE: f64 = 1e-4;

/// A benchmark case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Case {
    /// 3D cantilever, own generator.
    Cantilever,
    /// L-beam, own generator.
    LBeam,
    /// Michell cantilever, on the reference mesh.
    Michell,
    /// Connecting rod, on the reference mesh.
    ConnectingRod,
}

/// An independent result.
#[derive(Debug, Deserialize)]
struct Reference {
    filter_radius: f64,
    compliance: Vec<f64>,
}

/// Compliance of one iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Iteration, from 1.
    pub iteration: usize,
    /// Compliance of the reference.
    pub expected: f64,
    /// Compliance found.
    pub found: f64,
}

impl Comparison {
    /// |found - expected| / expected.
    pub fn difference(&self) -> f64 {
        (self.found / self.expected - 1.0).abs()
    }

    /// Whether the difference is within the tolerance of its iteration.
    pub fn is_met(&self) -> bool {
        let tolerance = if self.iteration == 1 { FIRST_TOLERANCE } else { LATER_TOLERANCE };
        self.difference() <= tolerance
    }
}

impl Case {
    /// All cases.
    pub const ALL: [Case; 4] = [Case::Cantilever, Case::LBeam, Case::Michell, Case::ConnectingRod];

    /// Name of the case and of its files.
    pub fn name(self) -> &'static str {
        match self {
            Case::Cantilever => "cantilever",
            Case::LBeam => "l_beam",
            Case::Michell => "michell",
            Case::ConnectingRod => "connecting_rod",
        }
    }

    /// Runs `iterations` of the case, at most 50, and compares every compliance.
    ///
    /// # Errors
    /// Whatever the run fails with, or a file that cannot be read.
    pub fn compare(
        self,
        iterations: usize,
        device: Device,
        strategy: Strategy,
    ) -> Result<Vec<Comparison>, Box<dyn Error>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));

        let name = self.name();
        let reference = folder.join("reference").join(format!("{name}.json"));
        let reference: Reference = serde_json::from_str(&std::fs::read_to_string(reference)?)?;
        let output = tempfile::tempdir()?;

        let arguments = RunArgs {
            gmsh: GmshArgs::default(),
            case: folder.join(format!("{name}.toml")),
            output: Some(output.path().into()),
            set: self.overrides(iterations, reference.filter_radius),
            device: Some(device),
            strategy: Some(strategy),
            preconditioner: None,
            ranks: None,
            overwrite: false,
            resume: false,
            start_from: None,
            log: Log::Quiet,
        };

        execute(&Command::Run(arguments), None, &mut std::io::sink(), &Interrupt::new())?;
        let found = compliances(&output.path().join("history.csv"))?;
        if found.len() != iterations {
            return Err(format!("{} iterations instead of {iterations}", found.len()).into());
        }

        let compare = |(k, (expected, found))| Comparison { iteration: k + 1, expected, found };
        Ok(reference.compliance.into_iter().zip(found).enumerate().map(compare).collect())
    }

    fn overrides(self, iterations: usize, filter_radius: f64) -> Vec<String> {
        let mut overrides = vec![
            format!("optimizer.max_iterations={iterations}"),
            "solver.tolerance=1e-8".into(),
            "solver.early_tolerance=1e-8".into(),
            "output.vti_spacing=0".into(),
            format!("filter.radius={filter_radius:?}"),
        ];
        if matches!(self, Case::Michell | Case::ConnectingRod) {
            let mesh = PathBuf::from("../meshes").join(format!("{}_reference.msh", self.name()));
            overrides.push(format!("mesh.file={:?}", mesh.display().to_string()));
        }
        overrides
    }
}

/// The column `compliance` of a history.
fn compliances(history: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    let text = std::fs::read_to_string(history)?;
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let column = header.split(',').position(|name| name == "compliance");
    let column = column.ok_or("history.csv has no column `compliance`")?;
    let value = |line: &str| line.split(',').nth(column).unwrap_or_default().parse();
    Ok(lines.map(value).collect::<Result<_, _>>()?)
}
