//! Warnings about a case that can be run: shown by every command that starts work.

use topopt_case::config::{Config, Continuation, Method};
use topopt_case::model::Model;
use topopt_mesh::{Components, FaceJoined};

use topopt_mesh::numbers::shown;

use crate::computer::Solvable;

/// Everything that is doubtful, a sentence each.
pub fn of<K: Solvable<N>, const N: usize>(config: &Config, model: &Model<K, N>) -> Vec<String> {
    let mut all = of_part(config, model);
    all.extend(wide_filter(model));
    all.extend(narrow_filter(config, model));
    all.extend(late_stages(config));
    all.extend(swinging(config));
    all.extend(weight_by_criteria(config));
    all.extend(held_limits(model));
    all.extend(model.in_the_air.iter().cloned());
    all
}

/// Returns the warnings about the part alone, whatever is to be designed in it.
pub fn of_part<K: Solvable<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
) -> Vec<String> {
    let mut all = model.diagnosis.warnings.clone();
    all.extend(K::doubts(config, model));
    all.extend(thin_members(model));
    all.extend(needles(model));
    all.extend(hinges(model));
    all.extend(tolerance(config.solver.tolerance));
    all.extend(model.kept.warnings.iter().cloned());
    all
}

/// Thin members besides void elements.
fn thin_members<K: Solvable<N>, const N: usize>(model: &Model<K, N>) -> Option<String> {
    let mut is_solid = vec![true; model.problem.mesh().n_elements()];
    model.space.void.iter().for_each(|&element| is_solid[element as usize] = false);
    K::thin_members(model, Some(&is_solid))
}

/// Solids that meet in edges or nodes only.
fn hinges<K: Solvable<N>, const N: usize>(model: &Model<K, N>) -> Option<String> {
    // On the renumbered mesh first, whose neighbors are close in memory: few meshes have a hinge.
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
    let largest = model.diagnosis.quality.aspect_ratio.max;
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

/// Radius of a cone, in widths of an element, that blurs as much as the means over corners of a
/// projection with a half width do, and the least one that is about as large.
const OF_CORNERS: f64 = 1.73;
const ABOUT: f64 = 1.5;

fn narrow_filter<K: Solvable<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
) -> Option<String> {
    let (radius, width) = (model.filter.radius()?, model.element_width);
    let [of_filter, of_element] = [shown(radius), shown(width)];
    if config.has_half_width() {
        let acting = shown((1e3 * OF_CORNERS * width).round() / 1e3);
        return (radius < ABOUT * (1.0 - 1e-9) * width).then(|| {
            format!(
                "the filter radius {of_filter} acts as {acting}: the projection averages over corners \
                 of elements of {of_element}; smaller elements make finer members"
            )
        });
    }
    (radius <= width).then(|| {
        format!(
            "the filter radius {of_filter} is not larger than an element ({of_element}): it has almost \
             no effect, and checkerboards are likely; 1.5 to 3 element widths are usual"
        )
    })
}

/// Stages that begin after the last iteration.
fn late_stages(config: &Config) -> Option<String> {
    let iterations = config.optimizer.max_iterations;
    let late = config.continuation.iter().find(|stage| stage.from > iterations)?;
    let last = config.continuation.last()?;
    Some(format!(
        "the stages from iteration {} on are never reached: `optimizer.max_iterations` is \
         {iterations}{}; raise it to more than {}, or let the stages begin earlier",
        late.from,
        kept_sharpness(config, iterations).unwrap_or_default(),
        last.from
    ))
}

/// The sharpness that a projection keeps where the run ends after so many iterations, in words;
/// none where that is the last one.
pub(crate) fn kept_sharpness(config: &Config, iterations: usize) -> Option<String> {
    let first = config.projection.as_ref()?.sharpness;
    let sharpness = |stage: &Continuation| stage.sharpness;
    let last = config.continuation.iter().filter_map(sharpness).next_back()?;
    let begun = config.continuation.iter().take_while(|stage| stage.from <= iterations);
    let kept = begun.filter_map(sharpness).last().unwrap_or(first);
    (kept != last).then(|| {
        let (kept, last) = (shown(kept), shown(last));
        format!(", and the projection stays at sharpness {kept} where {last} is planned")
    })
}

/// Warns that optimality criteria oscillate where a step takes densities across the projection.
fn swinging(config: &Config) -> Option<String> {
    let move_limit = config.optimizer.move_limit;
    let is_fixed = config.projection.is_some() && !config.has_half_width();
    // Stages that sharpen the projection have limits of their own.
    let is_own = config.continuation.iter().any(|stage| stage.move_limit.is_some());
    (is_fixed && !is_own && move_limit > 0.1).then(|| {
        format!(
            "`optimizer.move_limit` {move_limit} is large for a projection, and designs may \
             oscillate; use 0.05"
        )
    })
}

/// Criteria for a compliance that more material may raise.
fn weight_by_criteria(config: &Config) -> Option<String> {
    let method = config.optimizer.method;
    let is_of_criteria = matches!(method, Method::Oc | Method::OcAnderson);
    (config.has_following_loads() && is_of_criteria).then(|| {
        "material has weight here, or expands, and optimality criteria take it that more of it never \
         does harm: designs may swing to and fro; leave `optimizer.method` out, or set it to \"mma\""
            .into()
    })
}

/// Limits of sets that supports hold.
fn held_limits<K: Solvable<N>, const N: usize>(model: &Model<K, N>) -> Vec<String> {
    let constraints = model.problem.held();
    let is_held = |node: u32, i: usize| constraints.is_fixed(node as usize, i);
    let limited = model.posed.constraints.iter().map(|constraint| &constraint.response);
    let held = limited.filter(|response| response.form.is_held(N, is_held));
    held.map(|response| {
        format!("the {} is that of [[supports]]: its limit has no effect", response.label)
    })
    .collect()
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
