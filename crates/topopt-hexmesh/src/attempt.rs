//! One way from a surface to a mesh: at one size, with the grid along the axes.

use std::collections::BTreeSet;

use crate::cells::{Bodies, Region};
use crate::certify::{certify, check_interfaces};
use crate::draft::{Draft, OFFSETS, interpolated};
use crate::fault::Fault;
use crate::features::Features;
use crate::fit::Fit;
use crate::fraction::samples_inside;
use crate::grid::Grid;
use crate::groups::groups_to_pad;
use crate::optimize::{optimize, settle};
use crate::pad::pad;
use crate::patches::flood;
use crate::refine::{count_refined, refined};
use crate::report::Report;
use crate::routing::route;
use crate::sheet::{clusters, insert};
use crate::sizes::Field;
use crate::surface::{Surface, Vec3};
use crate::turn::grown;
use crate::volume::{LONGEST, fill};

/// Largest distance, in cells, of a node from what it is bound to.
const MOST_OFF: f64 = 1e-3;
/// Relative error of the volume that is left as it is, with nodes on their faces.
const NEAR_VOLUME: f64 = 2e-3;
/// Relative error of the volume of a body above which a mesh is none of it.
const MOST_VOLUME: f64 = 1e-2;
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

    let mut fit = Fit::of(surface, features, &draft)?;
    optimize(&mut draft, &fit, n_grid);
    let mut report = certify(&draft, &fit, surface, features, MOST_OFF)?;
    for pass in 0..field.levels() {
        let n_before = draft.points.len();
        let (fine, of_transition) = refined(&draft, to_divide(&draft, field, pass));
        draft = fine;
        fit = Fit::of(surface, features, &draft)?;
        settle(&mut draft, &fit, &of_transition, n_before);
        report = certify(&draft, &fit, surface, features, MOST_OFF)?;
    }
    let (draft, report) = filled((draft, report), &fit, surface, features);
    let error = report.worst_volume_error();
    if error > MOST_VOLUME {
        let error = 100.0 * error;
        return Err(format!("cells are too large: the volume of a body is {error:.1} % off").into());
    }
    Ok((draft, report))
}

/// The mesh with its curved faces moved so that it has the volume of the part, where it is far from
/// that, unless elements suffer.
fn filled(
    (draft, report): (Draft, Report),
    fit: &Fit,
    surface: &Surface,
    features: &Features,
) -> (Draft, Report) {
    if report.worst_volume_error() <= NEAR_VOLUME {
        return (draft, report);
    }
    let mut moved = draft.clone();
    fill(&mut moved, surface, features);
    match certify(&moved, fit, surface, features, LONGEST) {
        Ok(filled)
            if filled.least > report.least - MOST_LOST
                && filled.worst_volume_error() < report.worst_volume_error() =>
        {
            (moved, filled)
        }
        _ => (draft, report),
    }
}

/// Nodes at which hexahedra are divided that have been so `pass` times. At a node small elements
/// reach as far as a third of each edge; so it is marked if a zone of these reaches the two thirds
/// of the hexahedron next to it, beyond which the other nodes cover the rest.
fn to_divide(draft: &Draft, field: &Field, pass: i32) -> Vec<bool> {
    let mut marked = vec![false; draft.points.len()];
    for (hex, sizes) in draft.hexes.iter().zip(&draft.sizes) {
        let longest = sizes.iter().copied().fold(0.0, f64::max);
        let x = hex.map(|v| draft.points[v as usize]);
        let whole = bounds(&x);
        if !field.divides(whole, longest, pass) {
            continue;
        }
        for (a, &v) in hex.iter().enumerate() {
            marked[v as usize] |= field.divides(bounds(&next_to(&x, a)), longest, pass);
        }
    }
    marked
}

/// Corners of the part of a hexahedron that reaches two thirds of each edge from corner `a`.
fn next_to(x: &[Vec3; 8], a: usize) -> [Vec3; 8] {
    let share = |b: usize, k: usize| if OFFSETS[b][k] == OFFSETS[a][k] { 1.0 } else { 2.0 / 3.0 };
    let end = |b: usize, k: usize| {
        let (near, far) = (OFFSETS[a][k] as f64, OFFSETS[b][k] as f64);
        near + (far - near) * share(b, k)
    };
    std::array::from_fn(|b| interpolated(x, [0, 1, 2].map(|k| end(b, k))))
}

/// Smallest and largest coordinates.
fn bounds(x: &[Vec3; 8]) -> [Vec3; 2] {
    x.iter().fold([x[0]; 2], |ends, x| grown(ends, *x))
}

/// Counts the elements of an attempt, some of them where it fails.
///
/// # Errors
/// [`Fault`]: there is no cell.
pub(crate) fn count(surface: &Surface, features: &Features, field: &Field) -> Result<usize, Fault> {
    let (grid, mut draft) = of_cells(surface, features, field)?;
    // A part of the layers, or none, where they fail: that is near enough for a count.
    let _ = map(features, &grid, &mut draft);
    let levels = field.levels();
    for pass in 1..levels {
        draft = refined(&draft, to_divide(&draft, field, pass - 1)).0;
    }
    Ok(match levels {
        0 => draft.hexes.len(),
        _ => count_refined(&draft, to_divide(&draft, field, levels - 1)),
    })
}

/// Collects the cells of the body in their grid.
fn of_cells(surface: &Surface, features: &Features, field: &Field) -> Result<(Grid, Draft), Fault> {
    let grid = Grid::fitted(surface, features, &field.spacings());
    let samples = samples_inside(surface, &grid);
    let (pieces, contacts) = (outer_pieces(surface), contacts(surface));
    let bodies = Bodies { grid: &grid, samples: &samples, pieces: &pieces, contacts: &contacts };
    let regions =
        bodies.regions().ok_or("cells touch each other at edges, however they are chosen")?;
    let draft = Draft::of_cells(&grid, &regions, [field.smallest(), field.usual]);
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
    for sets in [clusters(features, &groups), singles] {
        let mut sets: Vec<Vec<u32>> = sets.iter().map(|set| features.with_twins(set)).collect();
        sets.sort_by_key(|set| std::cmp::Reverse(count(draft, set)));
        for set in &sets {
            if count(draft, set) > 0 {
                insert_fitting(features, draft, set);
            }
        }
    }
}

/// Inserts a layer, unless it would end in a face between bodies.
fn insert_fitting(features: &Features, draft: &mut Draft, set: &[u32]) {
    let has_bodies = draft.bodies.iter().any(|body| *body != draft.bodies[0]);
    let old = has_bodies.then(|| draft.clone());
    insert(draft, set);
    let fits = |draft: &Draft| draft.is_conforming() && check_interfaces(draft, features).is_ok();
    if let Some(old) = old.filter(|_| !fits(draft)) {
        *draft = old;
    }
}

/// Pairs of bodies with a vertex in common, by their regions.
fn contacts(surface: &Surface) -> BTreeSet<[Region; 2]> {
    let mut at: Vec<BTreeSet<Region>> = vec![BTreeSet::new(); surface.points.len()];
    for (triangle, &body) in surface.triangles.iter().zip(&surface.bodies) {
        for &v in triangle {
            at[v as usize].insert(body as Region + 1);
        }
    }
    let pairs = |own: &BTreeSet<Region>| -> Vec<[Region; 2]> {
        own.iter().flat_map(|&a| own.range(a + 1..).map(move |&b| [a, b])).collect()
    };
    at.iter().flat_map(pairs).collect()
}

/// Number of pieces of each body: of its surface around material, `[n_bodies]`.
fn outer_pieces(surface: &Surface) -> Vec<usize> {
    let (piece, n_pieces) = surface.pieces();
    let (mut volumes, mut bodies) = (vec![0.0; n_pieces], vec![0; n_pieces]);
    for (t, &p) in piece.iter().enumerate() {
        volumes[p as usize] += surface.cone(t);
        bodies[p as usize] = surface.bodies[t];
    }
    let mut counts = vec![0; surface.n_bodies()];
    let outer = volumes.iter().zip(bodies).filter(|(volume, _)| **volume > 0.0);
    outer.for_each(|(_, body)| counts[body as usize] += 1);
    counts
}
