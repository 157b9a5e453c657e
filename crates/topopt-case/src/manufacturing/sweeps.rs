//! Sweeps, ways to the outside and widths of a part, read by the table of demands.

use topopt_design::{DesignSpace, Openings, Sheet, Supports};
use topopt_fem::Problem;
use topopt_mesh::{HexMesh, Renumbering};

use super::kinds::asked;
use super::{cast, member_size, milling, open_voids, overhang};
use crate::case::Case;
use crate::config::Config;
use crate::finding::Finding;
use crate::physics::Physics;

/// Returns the supports of a part that is printed, or what shades the sides of one that is cast or
/// milled, on the `mesh` of the problem.
///
/// # Errors
/// A finding about a part that stands on nothing.
pub(crate) fn sweeps<const N: usize>(
    config: &Config,
    case: &Case<N>,
    renumbering: &Renumbering,
    mesh: &HexMesh,
) -> Result<Vec<Supports>, Finding> {
    if !config.is_swept() {
        return Ok(Vec::new());
    }
    let centers = mesh.centers();
    let asked = |kind| asked(config, kind, &centers, mesh.element_width());
    if let Some(asked) = asked(&overhang::OVERHANG) {
        return Ok(vec![overhang::supports(&asked, case, renumbering, mesh)?]);
    }
    if let Some(asked) = asked(&cast::CASTING) {
        return Ok(cast::mold(&asked)?.sides(mesh));
    }
    asked(&milling::MILLING).map_or(Ok(Vec::new()), |asked| milling::shades(&asked, mesh))
}

/// Returns the sheet that is left of a part that is stamped, on the `mesh` of the problem.
///
/// # Errors
/// A direction without length.
pub(crate) fn sheet(config: &Config, mesh: &HexMesh) -> Result<Option<Sheet>, Finding> {
    let asked = asked(config, &cast::CASTING, &[], mesh.element_width());
    Ok(asked.map(|asked| cast::mold(&asked)).transpose()?.and_then(|mold| mold.sheet(mesh)))
}

/// Gives `space` the widths of members and gaps that are asked for, where there are some, by a
/// filter of that `radius` on the mesh of `problem`.
pub(crate) fn sized<K: Physics<N>, const N: usize>(
    config: &Config,
    radius: Option<f64>,
    problem: &Problem<K, N>,
    space: DesignSpace,
) -> DesignSpace {
    let printed = asked(config, &overhang::OVERHANG, &[], 0.0);
    let up = printed.and_then(|asked| overhang::up(&asked).ok());
    member_size::sized(config, (radius, up), problem, space)
}

/// Returns the ways to the outside of a part without enclosed voids, on the `mesh` of the problem.
///
/// # Errors
/// A finding about a set that is not there, or a part without an opening.
pub(crate) fn openings<const N: usize>(
    config: &Config,
    case: &Case<N>,
    renumbering: &Renumbering,
    mesh: &HexMesh,
) -> Result<Option<Openings>, Finding> {
    let asked = asked(config, &open_voids::OPEN_VOIDS, &[], mesh.element_width());
    asked.map(|asked| open_voids::openings(&asked, case, renumbering, mesh)).transpose()
}
