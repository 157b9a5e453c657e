//! Measures of a built part by the demands of its making.

use rayon::prelude::*;
use topopt_surface::Apart;

use super::built_part::BuiltPart;
use super::counts::{Counts, Last};
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
        let unequal = unequal.unwrap_or_default();
        all.push(part.missing_solid("unequal where it is to be equal".into(), &unequal));
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
    let counts = Counts::of(|| cubes.places().map(|(is_void, place)| (is_void, cell(place))));
    let if_fewer = |last: &mut Last, (is_void, place): (bool, [f64; 3])| {
        let [body, void] = counts.body_and_void(cell(place), last);
        let are_fewer = if is_void { void < body } else { body <= void };
        are_fewer.then_some(place)
    };
    cubes.places().map_init(Last::default, if_fewer).flatten_iter().collect()
}
