//! Measures of a built part by the demands of the way in which it is made.

use rayon::prelude::*;
use topopt_design::{DesignSpace, Openings};
use topopt_mesh::numbers::shown;
use topopt_mesh::{HexMesh, Places};
use topopt_surface::{InPart, TriangleSurface};

use super::fold::{Folds, folded};
use super::kinds::asked;
use super::made::Made;
use super::{cast, milling, overhang};
use crate::config::Config;

/// Edge of the cubes that a body is measured by, in widths of an element, and most of them in the
/// part.
const EDGE: f64 = 0.25;
const MOST: f64 = 2e7;

/// Measures a built `body` within its `part` by each kind of demand. The `shares` of the elements
/// that it fills, `[n_elements]`, are in the order of the `mesh` of the problem.
pub fn measured(
    config: &Config,
    (mesh, space, equal): (&HexMesh, &DesignSpace, &Folds),
    (shares, [body, part]): (&[f64], [&TriangleSurface; 2]),
) -> Vec<Made> {
    let centers = mesh.centers();
    let asked = |kind| asked(config, kind, &centers, mesh.element_width());
    let edge = (EDGE * mesh.element_width()).max((part.volume() / MOST).cbrt());
    let in_part = InPart { body, part, edge };
    let volumes = space.design_volumes();
    let sum = |amount: &dyn Fn(usize) -> f64| -> f64 {
        (0..volumes.len()).map(|e| volumes[e] * amount(e)).sum()
    };
    let solid_volume = sum(&|e| shares[e]);
    let void_volume = sum(&|e| 1.0 - shares[e]).max(f64::MIN_POSITIVE);
    // Solid and void elements are not the design's.
    let volume_of = |cubes: &[[f64; 3]]| {
        let elements = Places::of(mesh, cubes);
        let designed = elements.elements().filter(|&e| volumes[e as usize] > 0.0);
        designed.count() as f64 * edge.powi(3)
    };

    let mut all = Vec::new();
    if !equal.is_empty() {
        let unequal = volume_of(&unequal(equal, in_part.apart(), edge));
        all.push(Made::new("unequal where it is to be equal".into(), unequal / solid_volume));
    }
    if let Some(asked) = asked(&overhang::OVERHANG)
        && let Some((lost, degrees)) = overhang::lost(&asked, (mesh, space), (body, edge))
    {
        let measure = format!("lost when it is printed at {} degrees", shown(degrees));
        all.push(Made::new(measure, volume_of(&lost) / solid_volume));
    }
    if let Some(mold) = asked(&cast::CASTING).and_then(|asked| cast::mold(&asked).ok()) {
        let missing = volume_of(&in_part.undercuts(&mold.way_out()));
        all.push(Made::new(mold.undercuts_in_words(), missing / solid_volume));
        let open = if mold.is_closed { mold.open_through(mesh, shares) } else { Vec::new() };
        let amount = |e: usize| if open[e] { 1.0 - shares[e] } else { 0.0 };
        all.extend(mold.is_closed.then(|| {
            Made::of_void("in holes through along the draw".into(), sum(&amount) / void_volume)
        }));
    }
    if let Some(tools) = asked(&milling::MILLING).and_then(|asked| milling::tools(&asked).ok()) {
        let missed = volume_of(&in_part.out_of_reach(&tools));
        all.push(Made::of_void("out of reach of the tools".into(), missed / void_volume));
    }
    if let Some(openings) = space.openings() {
        let (measure, amount) = enclosed(openings, shares);
        all.push(Made::of_void(measure, sum(&|e| amount[e]) / void_volume));
    }
    all
}

/// Returns the fewer of the `cubes` of body and of void whose places come to the same one by
/// `folds`, within an `edge`.
fn unequal(folds: &Folds, cubes: [Vec<[f64; 3]>; 2], edge: f64) -> Vec<[f64; 3]> {
    let cell = |place: [f64; 3]| folded(folds.iter(), place).map(|x| (x / edge).floor() as i64);
    let keyed = |(is_void, places): (bool, Vec<[f64; 3]>)| -> Vec<([i64; 3], bool, [f64; 3])> {
        places.into_par_iter().map(|place| (cell(place), is_void, place)).collect()
    };
    let mut all: Vec<_> = [false, true].into_iter().zip(cubes).flat_map(keyed).collect();
    all.par_sort_by_key(|(cell, is_void, _)| (*cell, *is_void));
    let fewer = |cubes: &[([i64; 3], bool, [f64; 3])]| {
        let n_body = cubes.partition_point(|(_, is_void, _)| !is_void);
        let fewer = if 2 * n_body <= cubes.len() { &cubes[..n_body] } else { &cubes[n_body..] };
        fewer.iter().map(|(.., place)| *place).collect::<Vec<_>>()
    };
    all.chunk_by(|a, b| a.0 == b.0).flat_map(fewer).collect()
}

/// Returns the measure of voids that are enclosed, and the share of each element that is one of
/// them, where so many `shares` are solid.
fn enclosed(openings: &Openings, shares: &[f64]) -> (String, Vec<f64>) {
    let is_solid: Vec<bool> = shares.iter().map(|&share| share >= 0.5).collect();
    let voids = openings.enclosed(&is_solid);
    let mut amount = vec![0.0; shares.len()];
    voids.iter().flatten().for_each(|&e| amount[e as usize] = 1.0 - shares[e as usize]);
    let measure = match voids.len() {
        0 => "enclosed".into(),
        1 => "enclosed, in 1 cavity".into(),
        n => format!("enclosed, in {n} cavities"),
    };
    (measure, amount)
}
