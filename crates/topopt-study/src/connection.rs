//! Whether the shape of a design hangs together: said at the end of a run, before anybody builds it.

use std::collections::BTreeMap;

use rayon::prelude::*;
use topopt_mesh::numbers::shown;
use topopt_mesh::{Components, HexMesh};

use topopt_case::config::Config;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::physics::heat::FILLER;
use topopt_case::pieces::Pieces;

/// Share of a load from which on it is said that it meets nothing.
const SHARE: f64 = 0.05;

/// Volume up to which a piece is a speck, in mean elements: smoothing removes it.
const SPECK: f64 = 8.0;

/// Share of a shape's volume from which on a piece is a large one.
const LARGE: f64 = 0.01;

/// Steps by which the threshold is found that keeps the volume.
const HALVINGS: usize = 40;

/// Returns warnings, one sentence each, where a design is not connected once it is solid and void,
/// or leaves in the air what stays solid; `density`: `[n_elements]` in the order of the problem.
pub(crate) fn doubts<K: Physics<N>, const N: usize>(
    config: &Config,
    model: &Model<K, N>,
    density: &[f64],
) -> Vec<String> {
    let threshold = threshold(density, &model.space.volumes);
    let mut said = match is_connected_by_void(model) || model.timeline.is_some() {
        true => Vec::new(),
        false => cuts(model, &solid(density, threshold)),
    };
    said.extend(model.doubts_of_print(config, (density, threshold)));
    said
}

/// Says where a design of elements that are solid or void is not connected.
fn cuts<K: Physics<N>, const N: usize>(model: &Model<K, N>, is_solid: &[bool]) -> Vec<String> {
    let volumes = &model.space.volumes;
    let pieces = Pieces::of(model.problem.mesh(), is_solid);
    let is_held = pieces.held(&model.problem);

    let mut said = unconnected(model, &pieces, &is_held);
    said.extend(unmoved(model, &pieces).map(|label| {
        format!(
            "no load reaches the nodes of the {label}: the shape is cut; a larger filter radius, a larger \
             `design.volume_fraction` or a finer mesh joins it"
        )
    }));
    let filled = volumes.par_iter().zip(is_solid).map(|(v, solid)| if *solid { *v } else { 0.0 });
    let filled: Vec<f64> = filled.collect();
    said.extend(idle(model, &pieces, &is_held, &filled));
    said.extend(hinged(model.problem.mesh(), &filled));
    said
}

/// Returns warnings where a thinner design, which is solved for the least width of members, is cut
/// once it is solid and void, whatever the built one is: its `density`, `[n_elements]` in the order
/// of the problem. Loads that it does not hold show in its compliance.
pub(crate) fn doubts_of_thinner<K: Physics<N>, const N: usize>(
    model: &Model<K, N>,
    density: &[f64],
) -> Vec<String> {
    if is_connected_by_void(model) || model.timeline.is_some() {
        return Vec::new();
    }
    let is_solid = solid(density, threshold(density, &model.space.volumes));
    let pieces = Pieces::of(model.problem.mesh(), &is_solid);
    let said = unmoved(model, &pieces).map(|label| {
        format!(
            "the design with thinner members, which is solved for their least width, is cut: no load \
             reaches the nodes of the {label}, and members of the built design are thinner than asked \
             for; give a smaller `minimum`, or a larger `design.volume_fraction`"
        )
    });
    said.collect()
}

/// Whether elements are solid from a threshold on, `[n_elements]`.
fn solid(density: &[f64], threshold: f64) -> Vec<bool> {
    density.par_iter().map(|density| *density >= threshold).collect()
}

/// Yields the labels of responses whose nodes all lie on pieces that no load reaches, or on none.
fn unmoved<K: Physics<N>, const N: usize>(
    model: &Model<K, N>,
    pieces: &Pieces,
) -> impl Iterator<Item = String> {
    let is_loaded = pieces.loaded(&model.problem);
    let limited = model.posed.constraints.iter().map(|limit| &limit.response);
    let responses = model.posed.objective.iter().chain(limited);
    responses.filter_map(move |response| {
        let moves = |node: &u32| {
            is_loaded.get(pieces.of_node[*node as usize] as usize).copied().unwrap_or(false)
        };
        let nodes = response.form.nodes();
        let is_cut = !nodes.is_empty() && !nodes.iter().any(moves);
        is_cut.then(|| response.label.clone())
    })
}

/// Whether pieces need no contact, as void conducts.
pub(crate) fn is_connected_by_void<K: Physics<N>, const N: usize>(model: &Model<K, N>) -> bool {
    N == 1 && model.contrast >= FILLER
}

/// Warns that large pieces of the `filled` elements, volumes `[n_elements]`, meet in edges and
/// nodes only, where a surface may come apart.
fn hinged(mesh: &HexMesh, filled: &[f64]) -> Option<String> {
    let roots = Components::roots_by_faces(mesh, |e| filled[e as usize] > 0.0);
    let mut volumes = BTreeMap::<u32, f64>::new();
    for (root, volume) in roots.into_iter().zip(filled).filter(|(_, volume)| **volume > 0.0) {
        *volumes.entry(root).or_default() += volume;
    }
    let total: f64 = filled.iter().sum();
    let large = volumes.values().filter(|volume| **volume > LARGE * total).count();
    (large > 1).then(|| {
        format!(
            "the shape is {large} large pieces that touch in edges and corners, or not at all: built, \
             they may come apart there; a larger filter radius or a finer mesh joins them"
        )
    })
}

/// The largest density from which on elements have at least the volume of the material.
pub(crate) fn threshold(density: &[f64], volumes: &[f64]) -> f64 {
    let sum = |count: &(dyn Fn(f64) -> f64 + Sync)| -> f64 {
        density.par_iter().zip(volumes).map(|(density, v)| count(*density) * v).sum()
    };
    let wanted = sum(&|density| density) * (1.0 - 1e-9);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let is_enough = sum(&|density| f64::from(u8::from(density >= middle))) >= wanted;
        if is_enough { low = middle } else { high = middle }
    }
    low
}

/// Load cases that do not reach the supports.
fn unconnected<K: Physics<N>, const N: usize>(
    model: &Model<K, N>,
    pieces: &Pieces,
    is_held: &[bool],
) -> Vec<String> {
    let acts = model.loaded_nodes();
    let loads = K::NAMES.loads;
    let mut said = Vec::new();

    for case in model.problem.load_cases() {
        let [all, loose, empty] = pieces.loose::<N>(&case.forces, &acts, is_held);
        let percent = |part: f64| shown((1e3 * part / all).round() / 10.0);
        if loose > SHARE * all {
            said.push(format!(
                "load case `{}` is not connected with the supports: {} % of its {loads} is on pieces \
                 that nothing holds{}",
                case.name,
                percent(loose),
                joined_by(model)
            ));
        }
        if empty > SHARE * all {
            said.push(format!(
                "load case `{}`: {} % of its {loads} is on elements that are empty in the shape",
                case.name,
                percent(empty)
            ));
        }
    }
    said
}

/// Remedy where a least width of members has broken the design.
fn joined_by<K: Physics<N>, const N: usize>(model: &Model<K, N>) -> &'static str {
    match model.space.sizes() {
        Some(sizes) if sizes.eroded > 0.5 => {
            "; members of their least width do not fit into this volume: give a smaller `minimum`, or \
             a larger `design.volume_fraction`"
        }
        _ => "",
    }
}

/// Pieces that carry nothing.
fn idle<K: Physics<N>, const N: usize>(
    model: &Model<K, N>,
    pieces: &Pieces,
    is_held: &[bool],
    filled: &[f64],
) -> Vec<String> {
    let is_loaded = pieces.loaded(&model.problem);
    let volumes = pieces.volumes(model.problem.mesh(), filled);
    let speck = SPECK * model.element_width.powi(3);
    let total: f64 = filled.iter().sum();

    let say = |wanted: bool, one: &str, several: &str| {
        let of = |p: &usize| !is_loaded[*p] && is_held[*p] == wanted && volumes[*p] > speck;
        let meant: Vec<usize> = (0..volumes.len()).filter(of).collect();
        let volume: f64 = meant.iter().map(|&piece| volumes[piece]).sum();
        let share = shown((1e3 * volume / total).round() / 10.0);
        match meant.len() {
            0 => None,
            1 => Some(format!("1 piece of the shape {one}, {share} % of its volume")),
            n => Some(format!("{n} pieces of the shape {several}, {share} % of its volume")),
        }
    };

    let loose = say(
        false,
        "floats loose: no support holds it and no load reaches it",
        "float loose: no support holds them and no load reaches them",
    );
    let held = say(
        true,
        "is held and no load reaches it: it carries nothing",
        "are held and no load reaches them: they carry nothing",
    );
    loose.into_iter().chain(held).collect()
}
