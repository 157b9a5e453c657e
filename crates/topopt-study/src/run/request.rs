//! Options of a run.

use std::path::PathBuf;
use std::time::Instant;

use topopt_case::config::{Config, FilterKind, Method};
use topopt_case::finding::Finding;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_case::responses::own::OwnResponse;
use topopt_mesh::HexMesh;

use crate::output_folder::Earlier;
use crate::ranks::Team;

/// Options of a run besides its case.
pub struct Request {
    /// Treatment of results in the output folder; none for a run that writes no files.
    pub files: Option<Earlier>,
    /// Mesh in place of that of the case.
    pub mesh: Option<HexMesh>,
    /// Responses of the caller's, beside those of the case.
    pub own: Vec<OwnResponse>,
    /// Results, or a file with densities, to start from.
    pub start_from: Option<PathBuf>,
    /// Makes meshes of geometries.
    pub gmsh: Gmsh,
    /// Ranks that share the work.
    pub team: Team,
}

impl Request {
    /// Refuses a case that does not suit responses of the caller's.
    pub(super) fn check_own(&self, config: &Config) -> Result<(), Finding> {
        let refused = |message: &str, remedy: &str| Err(Finding::new(message).remedy(remedy));
        let has_objective = self.own.iter().any(OwnResponse::is_objective);
        let is_criteria = |method: &Method| {
            matches!(method, Method::Oc | Method::OcAdaptive | Method::OcAnderson)
        };
        match self.own.is_empty() {
            true => Ok(()),
            false if self.team.size() > 1 => {
                refused("a response of the caller's is computed on one rank", "use one rank")
            }
            false if config.transient.is_some() => refused(
                "a response of the caller's is one of steady states",
                "remove [transient], or the response",
            ),
            false if has_objective && config.filter.get_ref().kind == FilterKind::Sensitivity => {
                refused(
                    "a filter of sensitivities is for the compliance alone",
                    "set `filter.kind = \"density\"`",
                )
            }
            false if config.methods().iter().any(is_criteria) => refused(
                "optimality criteria are for the compliance under a limit of the volume",
                "set `optimizer.method = \"mma\"`",
            ),
            false => Ok(()),
        }
    }
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
