//! One way from a surface to a mesh: at one size, with the grid along the axes.

use crate::cells::body;
use crate::certify::certify;
use crate::draft::Draft;
use crate::fault::Fault;
use crate::features::Features;
use crate::fit::Fit;
use crate::fraction::fractions;
use crate::grid::Grid;
use crate::groups::groups_to_pad;
use crate::optimize::optimize;
use crate::pad::pad;
use crate::patches::flood;
use crate::report::Report;
use crate::routing::route;
use crate::sheet::{clusters, insert};
use crate::sizes::Field;
use crate::surface::Surface;
use crate::volume::{LONGEST, fill};

/// Largest distance, in cells, of a node from what it is bound to.
const MOST_OFF: f64 = 1e-3;
/// Relative error of the volume that is left as it is, with nodes on their faces.
const NEAR_VOLUME: f64 = 2e-3;
/// Scaled Jacobian that the poorest element may lose for the volume.
const MOST_LOST: f64 = 0.02;

/// Meshes `surface` by elements of the sizes of `field`.
///
/// # Errors
/// [`Fault`]: there is no valid mesh.
pub(crate) fn attempt(
    surface: &Surface,
    features: &Features,
    field: &Field,
) -> Result<(Draft, Report), Fault> {
    let (grid, mut draft) = of_cells(surface, features, field)?;
    let n_grid = draft.points.len();
    map(features, &grid, &mut draft)?;

    let fit = Fit::of(surface, features, &draft)?;
    optimize(&mut draft, &fit, n_grid);
    let report = certify(&draft, &fit, surface, MOST_OFF)?;
    Ok(filled((draft, report), &fit, surface, features))
}

/// The mesh with its curved faces moved so that it has the volume of the part, where it is far from
/// that, unless elements suffer.
fn filled(
    (draft, report): (Draft, Report),
    fit: &Fit,
    surface: &Surface,
    features: &Features,
) -> (Draft, Report) {
    if report.volume_error().abs() <= NEAR_VOLUME {
        return (draft, report);
    }
    let mut moved = draft.clone();
    fill(&mut moved, surface, features);
    match certify(&moved, fit, surface, LONGEST) {
        Ok(filled)
            if filled.least > report.least - MOST_LOST
                && filled.volume_error().abs() < report.volume_error().abs() =>
        {
            (moved, filled)
        }
        _ => (draft, report),
    }
}

/// Counts the elements of an attempt, some of them where it fails.
///
/// # Errors
/// [`Fault`]: there is no cell.
pub(crate) fn count(surface: &Surface, features: &Features, field: &Field) -> Result<usize, Fault> {
    let (grid, mut draft) = of_cells(surface, features, field)?;
    // A part of the layers, or none, where they fail: that is near enough for a count.
    let _ = map(features, &grid, &mut draft);
    Ok(draft.hexes.len())
}

/// Collects the cells of the body in their grid.
fn of_cells(surface: &Surface, features: &Features, field: &Field) -> Result<(Grid, Draft), Fault> {
    let grid = Grid::fitted(surface, features, &field.spacings());
    let fractions = fractions(surface, &grid);
    let cells = body(&grid, &fractions, outer_pieces(surface))
        .ok_or("cells touch each other at edges, however they are chosen")?;
    let draft = Draft::of_cells(&grid, &cells, [field.smallest(), field.usual]);
    if draft.hexes.is_empty() {
        return Err("no cell is more than half full".into());
    }
    Ok((grid, draft))
}

/// Maps the features to the skin, and adds layers under faces that need them.
fn map(features: &Features, grid: &Grid, draft: &mut Draft) -> Result<(), Fault> {
    let paths = route(features, grid, draft)?;
    flood(features, draft, &paths)?;
    add_layers(features, draft);
    if draft.is_conforming() {
        Ok(())
    } else {
        Err("layers under several faces do not fit each other".into())
    }
}

/// Adds a layer on each group of patches that needs one, then second ones where faces still turn by
/// a half circle at a curve: under the faces of one side, then under single faces.
fn add_layers(features: &Features, draft: &mut Draft) {
    let groups = groups_to_pad(features, draft);
    groups.iter().for_each(|group| pad(draft, group));

    let count = |draft: &Draft, set: &[u32]| {
        draft.zigzags().iter().filter(|(patch, _)| set.contains(patch)).count()
    };
    let singles = (0..features.patches.len() as u32).map(|patch| vec![patch]).collect();
    for mut sets in [clusters(features, &groups), singles] {
        sets.sort_by_key(|set| std::cmp::Reverse(count(draft, set)));
        for set in &sets {
            if count(draft, set) > 0 {
                insert(draft, set);
            }
        }
    }
}

/// Number of bodies: pieces of the surface around material.
fn outer_pieces(surface: &Surface) -> usize {
    let (piece, n_pieces) = surface.pieces();
    let mut volumes = vec![0.0; n_pieces];
    for (t, &p) in piece.iter().enumerate() {
        let [a, b, c] = surface.corners(t);
        volumes[p as usize] += a.dot(&b.cross(&c));
    }
    volumes.iter().filter(|volume| **volume > 0.0).count()
}
