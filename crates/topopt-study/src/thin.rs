//! Thin members whose elements bend too little.

use std::collections::HashSet;

use rayon::prelude::*;
use topopt_case::model::Model;
use topopt_fem::bending::{bending_share, tangents};
use topopt_fem::{ElementKernel, Formulation};
use topopt_mesh::cells::Shape;
use topopt_mesh::numbers::place;
use topopt_mesh::passage::{Passage, Walker};
use topopt_mesh::vector::{difference, dot, length};

/// Most elements through a member that is looked at: more resolve bending, unless they are far
/// longer than the member is thick.
const MOST: usize = 8;

/// Thicknesses by which a member extends to both sides: what is shorter does not bend.
const REACH: f64 = 1.5;

/// Share of the exact displacements in bending below which elements are reported: cubes of full
/// integration reach it with 4 through (0.967; 3: 0.943), those of incompatible modes with 1.
const LEAST: f64 = 0.95;

/// Share of the passages through thin members that must be below, so that a few bad elements of a
/// good mesh, which bend with their neighbors, are no matter.
const FEW: f64 = 0.05;

/// A way through a thin member.
struct Thin {
    passage: Passage,
    /// Displacements in bending over the exact ones.
    share: f64,
}

/// Warns of thin members of `model` in which elements are too few or too tapered for bending; of
/// the elements that `is_solid`, `[n_elements]` in the order of the problem, or of all. Tetrahedra
/// of ten nodes bend rightly.
pub fn warning(model: &Model, is_solid: Option<&[bool]>) -> Option<String> {
    if model.problem.mesh().shape() == Shape::Tetrahedron {
        return None;
    }
    let mut stiff = stiff_passages(model, is_solid);
    stiff.sort_by(|a, b| a.share.total_cmp(&b.share));
    let Thin { passage, share } = stiff.get(stiff.len() / 2)?;
    let relaxed = share_of(model, passage, Formulation::Incompatible);
    let is_cured = 1.0 - relaxed < 0.5 * (1.0 - share);

    let all: HashSet<u32> = stiff.iter().flat_map(|thin| &thin.passage.elements).copied().collect();
    let about = if step(model) > 1 { "about " } else { "" };
    let (n_elements, n_through) = (step(model) * all.len(), passage.elements.len());
    let (at, set) = (place(passage.center), in_set(model, passage.elements[0]));
    let elements = if n_elements == 1 { "element lies" } else { "elements lie" };
    let plural = if n_through == 1 { "element" } else { "elements" };
    let percent = (100.0 * (1.0 - share)).round();
    let (amount, remedy) = if is_cured { ("about", FULL) } else { ("up to", TAPERED) };
    Some(format!(
        "thin members: {about}{n_elements} {elements} where the part is thin, for instance at {at}{set}, \
         with {n_through} {plural} through: what bends there moves {amount} {percent} % too little; \
         {remedy}"
    ))
}

/// Remedy where another formulation is right.
const FULL: &str = "set `elements.kind = \"incompatible_modes\"`, or use 4 elements through or \
                    more, no longer than a quarter of the thickness";

/// Remedy where no formulation helps.
const TAPERED: &str = "no brick of eight nodes bends rightly there: elements are wedges, cut \
                       tetrahedra, or tapered; edges through the thickness should be parallel, \
                       as those of an extruded mesh, or elements as short as thick";

/// Most elements from whose faces passages begin, for what they take time: of more, evenly spread
/// ones.
const MOST_BEGUN: usize = 20_000;

fn step(model: &Model) -> usize {
    model.problem.mesh().n_elements().div_ceil(MOST_BEGUN)
}

/// The passages through thin members that loads may bend, and whose elements are too stiff; none if
/// they are few.
fn stiff_passages(model: &Model, is_solid: Option<&[bool]>) -> Vec<Thin> {
    let mesh = model.problem.mesh();
    let walker = Walker::new(mesh, is_solid);
    let elements = (0..mesh.n_elements() as u32).into_par_iter().step_by(step(model));
    let faces = elements.flat_map_iter(|element| walker.free_faces(element));
    let is_thin = |passage: &Passage| {
        let mut tangents = tangents(passage.direction).into_iter();
        tangents.any(|tangent| walker.extends(passage, tangent, REACH * passage.length))
    };
    let passages = faces.filter_map(|face| walker.through(face, MOST)).filter(is_thin);

    let all: Vec<Option<Thin>> = passages.map(|passage| stiff(model, passage)).collect();
    let n_thin = all.len();
    let mut stiff: Vec<Thin> = all.into_iter().flatten().collect();
    while let Some(unbent) = thinnest(&stiff).filter(|it| is_unbent(model, it)) {
        stiff.retain(|Thin { passage, .. }| {
            let is_along = dot(unbent.direction, passage.direction).abs() > 0.99;
            let height = dot(unbent.direction, difference(passage.center, unbent.center));
            !is_along || height.abs() > SYMMETRIC * unbent.length
        });
    }
    if stiff.len() as f64 <= FEW * n_thin as f64 { Vec::new() } else { stiff }
}

fn thinnest(stiff: &[Thin]) -> Option<Passage> {
    let all = stiff.iter().map(|thin| &thin.passage);
    all.min_by(|a, b| a.length.total_cmp(&b.length)).cloned()
}

/// Share of a thickness by which points, forces and moments may miss a plane of symmetry.
const SYMMETRIC: f64 = 1e-3;

/// Whether no load bends members about the middle plane of `passage`: part, supports and forces are
/// symmetric about it as far as their heights and moments tell, and all forces act along it.
fn is_unbent(model: &Model, passage: &Passage) -> bool {
    let (normal, allowed) = (passage.direction, SYMMETRIC * passage.length);
    let height = |x: &[f64; 3]| dot(normal, difference(*x, passage.center));
    let coordinates = model.problem.mesh().coordinates();
    let mut heights: Vec<f64> = coordinates.iter().map(height).collect();
    heights.sort_by(f64::total_cmp);
    let mirrored = heights.iter().rev();
    if !heights.iter().zip(mirrored).all(|(a, b)| (a + b).abs() < allowed) {
        return false;
    }

    let constraints = model.problem.held();
    for i in 0..3 {
        let held = (0..coordinates.len()).filter(|&node| constraints.is_fixed(node, i));
        let (sum, count) = held
            .fold((0.0, 0.0), |(sum, count), node| (sum + height(&coordinates[node]), count + 1.0));
        if f64::abs(sum) > allowed * count {
            return false;
        }
    }

    model.problem.load_cases().iter().all(|case| {
        let (mut size, mut across, mut moments) = (0.0, 0.0, [0.0; 3]);
        for (force, x) in case.forces.as_chunks::<3>().0.iter().zip(coordinates) {
            size += length(*force);
            across += dot(normal, *force).abs();
            (0..3).for_each(|i| moments[i] += force[i] * height(x));
        }
        let is_in_plane = across < SYMMETRIC * size && length(moments) < allowed * size;
        let others = [case.prescribed.is_some(), case.thermal.is_some()];
        is_in_plane && case.body_force.is_zero() && others == [false; 2]
    })
}

/// The passage, if its elements are too stiff.
fn stiff(model: &Model, passage: Passage) -> Option<Thin> {
    let share = share_of(model, &passage, model.problem.kernel().formulation());
    (share < LEAST).then_some(Thin { passage, share })
}

fn share_of(model: &Model, passage: &Passage, formulation: Formulation) -> f64 {
    let mesh = model.problem.mesh();
    let kernel = model.problem.kernel().with(formulation);
    let corners: Vec<_> =
        passage.elements.iter().map(|&e| mesh.element_coordinates(e as usize)).collect();
    bending_share(&kernel, &corners, passage.center, passage.direction)
}

/// The smallest element set around an element of the problem, in words.
fn in_set(model: &Model, element: u32) -> String {
    let original = model.renumbering.original_elements()[element as usize];
    let sets = model.mesh.sets().elements.iter().filter(|(_, set)| set.contains(&original));
    let smallest = sets.min_by_key(|(_, set)| set.len());
    smallest.map_or(String::new(), |(name, _)| format!(" in the set `{name}`"))
}
