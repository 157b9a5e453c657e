//! Sweeps, ways to the outside and widths of a part, read by the table of demands.

use topopt_design::{DesignSpace, Openings, Sheet, Supports};
use topopt_fem::Problem;
use topopt_mesh::numbers::shown;
use topopt_mesh::{HexMesh, Renumbering};

use super::kind::Asked;
use super::kinds::asked;
use super::{cast, member_size, milling, open_voids, overhang};
use crate::case::Case;
use crate::config::Config;
use crate::finding::Finding;
use crate::physics::Physics;

/// Returns the supports of a part that is printed, or what shades the sides of one that is cast or
/// milled, on the `mesh` of the problem; notes go to `notes`.
///
/// # Errors
/// A finding about a part that stands on nothing.
pub(crate) fn sweeps<const N: usize>(
    config: &Config,
    case: &Case<N>,
    renumbering: &Renumbering,
    mesh: &HexMesh,
    notes: &mut Vec<String>,
) -> Result<Vec<Supports>, Finding> {
    if !config.is_swept() {
        return Ok(Vec::new());
    }
    let (centers, width) = (mesh.centers(), mesh.element_width());
    let asked = |kind| asked(config, kind, &centers, width);
    if let Some(asked) = asked(&overhang::OVERHANG) {
        return Ok(vec![overhang::supports(&asked, case, renumbering, mesh, notes)?]);
    }
    if let Some(asked) = asked(&cast::CASTING) {
        return Ok(cast::mold(&asked)?.sides(mesh));
    }
    asked(&milling::MILLING).map_or(Ok(Vec::new()), |asked| milling::shades(&asked, mesh))
}

/// A part that is printed without props.
pub(crate) struct Printed<'a> {
    /// Demands on it.
    pub asked: Asked<'a>,
    /// Largest angle from the direction of build, in degrees.
    pub degrees: f64,
    /// Whether elements are solid and held up, `[n_elements]`.
    pub is_held: Vec<bool>,
    /// Elements that stay solid though nothing holds them up.
    pub in_the_air: Vec<u32>,
    /// Number of elements at loads and supports that are left out, as nothing holds them up.
    pub n_left_out: usize,
    /// Share of their volume in that of the part.
    pub share: f64,
}

/// Prints a design of this `density`, `[n_elements]`, solid above a threshold; none where nothing is
/// printed.
pub(crate) fn printed<'a>(
    config: &'a Config,
    space: &DesignSpace,
    (density, threshold): (&[f64], f64),
) -> Option<Printed<'a>> {
    let asked = asked(config, &overhang::OVERHANG, &[], 0.0)?;
    let mut filled = density.to_vec();
    space.void.iter().for_each(|&element| filled[element as usize] = 0.0);
    let (swept, _) = space.sweeps().first()?.swept(&filled);

    let is_held: Vec<bool> = swept.iter().map(|density| *density > threshold).collect();
    let lost = space.solid.iter().copied().filter(|&e| !is_held[e as usize]);
    let rests = |e: &u32| space.resting().binary_search(e).is_ok();
    let (left_out, in_the_air): (Vec<u32>, Vec<u32>) = lost.partition(rests);
    let volume: f64 = in_the_air.iter().map(|&element| space.volumes[element as usize]).sum();
    let whole: f64 =
        space.volumes.iter().zip(&filled).map(|(volume, filled)| volume * filled).sum();
    let (share, degrees) = (volume / whole, overhang::degrees(&asked));
    Some(Printed { asked, degrees, is_held, in_the_air, n_left_out: left_out.len(), share })
}

/// Returns the solid elements that are printed as the design holds them up: those at loads and
/// supports. Others are `fixed`, and so is what no design holds up.
pub(crate) fn resting(config: &Config, space: &DesignSpace, fixed: &[u32]) -> Vec<u32> {
    let full = vec![1.0; space.n_elements()];
    let Some(printed) = printed(config, space, (&full, 0.5)) else { return Vec::new() };
    let rests = |e: &u32| fixed.binary_search(e).is_err() && printed.is_held[*e as usize];
    space.solid.iter().copied().filter(rests).collect()
}

/// Returns the sheet that is left of a part that is stamped, on the `mesh` of the problem; a note
/// says if it needs holes.
///
/// # Errors
/// A direction without length.
pub(crate) fn sheet(
    config: &Config,
    space: &DesignSpace,
    mesh: &HexMesh,
    notes: &mut Vec<String>,
) -> Result<Option<Sheet>, Finding> {
    let asked = asked(config, &cast::CASTING, &[], 0.0);
    let mold = asked.map(|asked| cast::mold(&asked)).transpose()?;
    let Some(sheet) = mold.and_then(|mold| mold.sheet(mesh)) else { return Ok(None) };
    let share = sheet.volume(&space.design_volumes()) / space.design_volume();
    if config.volume_bound().is_some_and(|volume| volume < share) {
        notes.push(format!(
            "a flat sheet of this thickness takes {} of the design volume: with less it needs \
             holes, and may stay grey; take a thinner one, or a larger `volume_fraction`",
            shown((100.0 * share).round() / 100.0)
        ));
    }
    Ok(Some(sheet))
}

/// Gives `space` the widths of members and gaps that are asked for, where there are some, by a
/// filter of that `radius` on the mesh of `problem`.
pub(crate) fn sized<K: Physics<N>, const N: usize>(
    config: &Config,
    radius: Option<f64>,
    problem: (&Problem<K, N>, bool),
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
    let asked = asked(config, &open_voids::OPEN_VOIDS, &[], 0.0);
    asked.map(|asked| open_voids::openings(&asked, case, renumbering, mesh)).transpose()
}
