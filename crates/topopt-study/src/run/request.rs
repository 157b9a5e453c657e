//! Options of a run, and `Progress`, which shows how it advances.

use std::path::{Path, PathBuf};
use std::time::Instant;

use topopt_case::config::Config;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_design::IterationReport;
use topopt_linalg::PcgProgress;

use crate::output_folder::Earlier;
use crate::ranks::Team;
use crate::summary::RunSummary;

/// Options of a run besides its case.
pub struct Request {
    /// Treatment of results that already exist.
    pub earlier: Earlier,
    /// Results, or a file with densities, to start from.
    pub start_from: Option<PathBuf>,
    /// Makes meshes of geometries.
    pub gmsh: Gmsh,
    /// Ranks that share the work.
    pub team: Team,
}

/// Reports the progress of a run. Failures to report never end the run.
pub trait Progress: Send {
    /// The run begins.
    fn start(&mut self, summary: &RunSummary);

    /// A solve is under way.
    fn solving(&mut self, iteration: usize, progress: PcgProgress);

    /// An iteration is done.
    fn iteration(&mut self, report: &IterationReport);

    /// The run is over; its results are in `directory`.
    fn end(&mut self, summary: &RunSummary, directory: &Path);
}

/// Inputs that every part of a run shares.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub config: &'a Config,
    pub request: &'a Request,
    pub interrupt: &'a Interrupt,
    pub start: Instant,
}
