//! Measures of a built part by the demands of its making.

use rayon::prelude::*;

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
        let unequal = unequal(equal, part.in_part.apart(), part.in_part.edge);
        let share = part.share_of_solid(&unequal);
        all.push(Made::new("unequal where it is to be equal".into(), share));
    }
    for kind in &KINDS {
        let asked = asked(config, kind, &centers, part.mesh.element_width());
        all.extend(asked.map_or(Vec::new(), |asked| (kind.measure)(&asked, part)));
    }
    all
}

/// A cube by the cell of the place that stands for it, whether it is void, and its center.
type Keyed = ([i64; 3], bool, [f64; 3]);

/// Returns the fewer of the `cubes` of body and of void whose places come to the same one by
/// `folds`, within an `edge`.
fn unequal(folds: &Folds, cubes: [Vec<[f64; 3]>; 2], edge: f64) -> Vec<[f64; 3]> {
    let cell = |place: [f64; 3]| folded(folds.iter(), place).map(|x| (x / edge).floor() as i64);
    let mut all: Vec<Keyed> = Vec::new();
    for (is_void, places) in [false, true].into_iter().zip(cubes) {
        all.par_extend(places.into_par_iter().map(|place| (cell(place), is_void, place)));
    }
    all.par_sort_by_key(|(cell, is_void, _)| (*cell, *is_void));
    all.chunk_by(|a, b| a.0 == b.0).flat_map(fewer).map(|(.., place)| *place).collect()
}

/// The fewer of the cubes of body and of void, the former first.
fn fewer(cubes: &[Keyed]) -> &[Keyed] {
    let (body, void) = cubes.split_at(cubes.partition_point(|(_, is_void, _)| !is_void));
    if body.len() <= void.len() { body } else { void }
}
