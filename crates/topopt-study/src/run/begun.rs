//! Designs of a coarser mesh of a part, from which a run begins on its own mesh.

use std::fmt::Display;
use std::sync::atomic::AtomicBool;

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_design::IterationReport;

use super::request::Asked;
use crate::done::CoarseStart;
use crate::failure::Failure;
use crate::place::Place;

/// Makes designs of the coarser case at a place, until they are given up; a note where that fails.
pub(super) type Begin =
    fn(Asked, &Coarser, (&Place, &AtomicBool)) -> Result<Result<Begun, String>, Failure>;

/// The case on a coarser mesh of its part.
pub(super) struct Coarser {
    pub config: Config,
    /// Centers of the elements of the mesh of the case, `[n_elements][3]`, in the user's numbering.
    pub centers: Vec<[f64; 3]>,
}

/// Designs of a coarser mesh, from which a run begins.
pub(super) struct Begun {
    /// Number of them, their elements, and the time that they took.
    pub start: CoarseStart,
    /// Numbers of the designs, without the last.
    pub reports: Vec<IterationReport>,
    /// Design variables of the last design at the elements of the mesh of the case, `[n_elements]`,
    /// in the user's numbering.
    pub variables: Vec<f64>,
}

/// The case of a run on a coarser mesh of the part, where the run is to begin on one.
///
/// # Errors
/// In words why it does not.
pub(super) fn wanted<const N: usize>(
    asked: Asked,
    case: &Case<N>,
) -> Option<Result<Coarser, String>> {
    let Asked { config, request, .. } = asked;
    let n_elements = case.mesh.n_elements();
    if !config.begins_coarse() {
        return None;
    }
    let is_of_caller = request.mesh.is_some() || !request.own.is_empty();
    let coarser = match is_of_caller {
        true => Err("its mesh, or a function, is the caller's"),
        false => config.coarser(n_elements, case.nodes_of_sets(config)),
    };
    let coarser = coarser.map(|config| Coarser { config, centers: case.mesh.centers() });
    Some(coarser.map_err(not_begun))
}

/// Note on a run that was to begin coarse.
pub(super) fn not_begun(why: impl Display) -> String {
    format!("the run did not begin on coarser elements: {why}")
}
