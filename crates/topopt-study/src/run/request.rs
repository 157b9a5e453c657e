//! Options of a run.

use std::path::PathBuf;
use std::time::Instant;

use topopt_case::config::{Config, FilterKind, Method};
use topopt_case::finding::Finding;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_case::own::Own;
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
    /// Functions of the caller's, beside those of the case.
    pub own: Own,
    /// Results, or a file with densities, to start from.
    pub start_from: Option<PathBuf>,
    /// Makes meshes of geometries.
    pub gmsh: Gmsh,
    /// Ranks that share the work.
    pub team: Team,
}

impl Request {
    /// Refuses a case that does not suit functions of the caller's.
    pub(super) fn check_own(&self, config: &Config) -> Result<(), Finding> {
        let own = &self.own;
        if own.is_empty() {
            return Ok(());
        }
        let refused = |message: &str, remedy: &str| Err(Finding::new(message).remedy(remedy));
        let filter = config.filter.get_ref().kind;
        let has_objective = own.responses.iter().any(OwnResponse::is_objective);
        let has_forces = !own.forces.is_empty();
        let is_criteria = |method: &Method| {
            matches!(method, Method::Oc | Method::OcAdaptive | Method::OcAnderson)
        };

        if self.team.size() > 1 {
            return refused("functions of the caller's are computed on one rank", "use one rank");
        }
        if config.transient.is_some() {
            return refused(
                "functions of the caller's are for steady states",
                "remove [transient], or the functions",
            );
        }
        if config.design.keep_symmetry == Some(true) {
            return refused(
                "functions of the caller's need not be symmetric, and `design.keep_symmetry` is true",
                "set `design.keep_symmetry = false`",
            );
        }
        if own.responses.iter().filter(|response| response.is_objective()).count() > 1 {
            return refused(
                "two responses of the caller's are objectives",
                "give one of them a limit, or add them to one",
            );
        }
        if own.transform.is_some() && !config.manufacturing.is_empty() {
            return refused(
                "a transform of the caller's comes after what [[manufacturing]] asks of the density",
                "remove [[manufacturing]], or the transform",
            );
        }
        if has_objective && filter == FilterKind::Sensitivity {
            return refused(
                "a filter of sensitivities is for the compliance alone",
                "set `filter.kind = \"density\"`",
            );
        }
        if own.transform.is_some() && filter != FilterKind::Density {
            return refused(
                "a transform of the caller's comes after a filter of densities",
                "set `filter.kind = \"density\"`",
            );
        }
        if has_forces && config.inertia_relief {
            return refused(
                "forces of the caller's act on a part that is held",
                "hold the part, and remove `inertia_relief`",
            );
        }
        // Optimality criteria take for granted that all material helps.
        if own.is_needed() && config.methods().iter().any(is_criteria) {
            return refused(
                "optimality criteria are for the compliance, under constant loads and a limit of the volume",
                "set `optimizer.method = \"mma\"`",
            );
        }
        Ok(())
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
