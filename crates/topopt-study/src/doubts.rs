//! What is doubtful in a case though it can be run: said by `topopt check`, and by `topopt run`.

use rayon::prelude::*;
use topopt_mesh::quality::aspect_ratio;
use topopt_mesh::{Components, FaceJoined};

use crate::computer::Solvable;
use crate::config::Config;
use crate::model::Model;
use topopt_mesh::numbers::shown;

/// Everything that is doubtful, a sentence each.
pub fn of<K: Solvable<N>, const N: usize>(config: &Config, model: &Model<K, N>) -> Vec<String> {
    let mut all = of_part(config, model);
    all.extend(wide_filter(model));
    all
}

/// The same of the part alone, whatever is to be designed in it.
pub fn of_part<K: Solvable<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
) -> Vec<String> {
    let mut all = K::doubts(config, model);
    all.extend(needles(model));
    all.extend(hinges(model));
    all.extend(tolerance(config.solver.tolerance));
    all.extend(model.kept.warnings.iter().cloned());
    all
}

/// Solids that meet in edges or nodes only.
fn hinges<K: Solvable<N>, const N: usize>(model: &Model<K, N>) -> Option<String> {
    // Of the renumbered mesh first, of which neighbors are neighbors in memory: few meshes have a hinge.
    Components::joined_by_faces(model.problem.mesh()).hinge?;
    let FaceJoined { n_parts, hinge } = Components::joined_by_faces(&model.mesh);
    let [x, y, z] = model.mesh.coordinates()[hinge? as usize].map(shown);
    Some(format!(
        "{n_parts} parts are not joined by faces, and some of them meet only in edges or nodes, \
         the first at ({x}, {y}, {z}): they can turn there, and the solver may not converge; join \
         them by faces, or support each"
    ))
}

/// Aspect ratio from which on rounding can stop a solve.
const NEEDLE: f64 = 1000.0;

fn needles<K: Solvable<N>, const N: usize>(model: &Model<K, N>) -> Option<String> {
    let mesh = model.problem.mesh();
    let of = |(e, hex): (usize, &[u32; 8])| aspect_ratio(hex, &mesh.element_coordinates(e));
    let largest = mesh.hexes().par_iter().enumerate().map(of).reduce(|| 1.0, f64::max);
    (largest > NEEDLE).then(|| {
        format!(
            "the aspect ratio of elements goes up to {}: rounding may stop the solver; up to 100 \
             is safe",
            shown(largest)
        )
    })
}

fn wide_filter<K: Solvable<N>, const N: usize>(model: &Model<K, N>) -> Option<String> {
    let radius = model.filter.radius()?;
    let extent = model.mesh.bounding_box().extent().into_iter().fold(0.0, f64::max);
    (radius > extent).then(|| {
        format!(
            "the filter radius {} is larger than the part, {}: the whole part is averaged; \
             check the unit of the radius",
            shown(radius),
            shown(extent)
        )
    })
}

/// Relative residuals between which results are exact enough and doubles reach them.
const TOLERANCES: [f64; 2] = [1e-12, 1e-2];

fn tolerance(tolerance: f64) -> Option<String> {
    let [least, most] = TOLERANCES;
    match tolerance {
        t if t < least => Some(format!(
            "`solver.tolerance` {tolerance:e} is near the rounding of doubles, which may stop the \
             solver; {least:e} is the smallest safe value"
        )),
        t if t > most => Some(format!(
            "`solver.tolerance` {tolerance} leaves an error of some percent in the compliance; \
             1e-3 or less is usual"
        )),
        _ => None,
    }
}
