//! Measures of a built part by the demands of its making.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use topopt_surface::Apart;

use super::built_part::BuiltPart;
use super::fold::{Folds, folded};
use super::kinds::{KINDS, asked};
use super::made::Made;
use crate::config::Config;

/// Measures a `part` by each kind of demand, and where places are to have `equal` densities.
pub fn measured(config: &Config, part: &BuiltPart, equal: &Folds) -> Vec<Made> {
    let centers = part.mesh.centers();
    let mut all = Vec::new();
    if !equal.is_empty() {
        let apart = part.in_part.apart();
        let unequal = apart.map(|cubes| unequal(equal, &cubes, part.in_part.edge));
        let share = part.share_of_solid(&unequal.unwrap_or_default());
        all.push(Made::new("unequal where it is to be equal".into(), share));
    }
    for kind in &KINDS {
        let asked = asked(config, kind, &centers, part.mesh.element_width());
        all.extend(asked.map_or(Vec::new(), |asked| (kind.measure)(&asked, part)));
    }
    all
}

/// Returns the fewer of the cubes of body and of void whose places come to the same one by `folds`,
/// within an `edge`.
fn unequal(folds: &Folds, cubes: &Apart, edge: f64) -> Vec<[f64; 3]> {
    let cell = |place: [f64; 3]| folded(folds.iter(), place).map(|x| (x / edge).floor() as i64);
    let cells = cubes.places().map(|(_, place)| [cell(place); 2]);
    let around = |a: [[i64; 3]; 2], b: [[i64; 3]; 2]| {
        let [low, high] = [0, 1].map(|k| std::array::from_fn(|i| [a[k][i], b[k][i]]));
        [low.map(|[a, b]| a.min(b)), high.map(|[a, b]| a.max(b))]
    };
    let Some([low, high]) = cells.reduce_with(around) else { return Vec::new() };

    let [nx, ny, nz]: [usize; 3] = std::array::from_fn(|i| (high[i] - low[i] + 1) as usize);
    let number = |place: [f64; 3]| {
        let cell = cell(place);
        let [x, y, z]: [usize; 3] = std::array::from_fn(|i| (cell[i] - low[i]) as usize);
        x + nx * (y + ny * z)
    };
    // Cubes of the body count in the upper half of a number, those of the void in the lower one.
    let counts: Vec<AtomicU64> =
        (0..nx * ny * nz).into_par_iter().map(|_| AtomicU64::new(0)).collect();
    cubes.places().for_each(|(is_void, place)| {
        let one = if is_void { 1 } else { 1 << 32 };
        counts[number(place)].fetch_add(one, Ordering::Relaxed);
    });
    let are_fewer = |(is_void, place): &(bool, [f64; 3])| {
        let counted = counts[number(*place)].load(Ordering::Relaxed);
        let [body, void] = [counted >> 32, counted & u64::from(u32::MAX)];
        if *is_void { void < body } else { body <= void }
    };
    cubes.places().filter(are_fewer).map(|(_, place)| place).collect()
}
