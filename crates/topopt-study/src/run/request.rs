//! Options of a run.

use std::path::PathBuf;
use std::time::Instant;

use topopt_case::config::Config;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_mesh::HexMesh;

use crate::output_folder::Earlier;
use crate::ranks::Team;

/// Options of a run besides its case.
pub struct Request {
    /// Treatment of results in the output folder; none for a run that writes no files.
    pub files: Option<Earlier>,
    /// Mesh in place of that of the case.
    pub mesh: Option<HexMesh>,
    /// Results, or a file with densities, to start from.
    pub start_from: Option<PathBuf>,
    /// Makes meshes of geometries.
    pub gmsh: Gmsh,
    /// Ranks that share the work.
    pub team: Team,
}

/// Inputs that every part of a run shares.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub config: &'a Config,
    pub request: &'a Request,
    pub interrupt: &'a Interrupt,
    pub start: Instant,
}

impl Asked<'_> {
    /// Folder of the results; none for a run that writes no files.
    pub fn directory(&self) -> Option<PathBuf> {
        self.request.files.map(|_| self.config.output_directory())
    }
}
