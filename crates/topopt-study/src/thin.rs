//! Thin members whose elements bend too little.

use std::collections::HashSet;

use rayon::prelude::*;
use topopt_case::model::Model;
use topopt_fem::Formulation;
use topopt_fem::bending::{bending_share, tangents};
use topopt_mesh::numbers::{place, shown};
use topopt_mesh::passage::{Passage, Walker};

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
/// the elements that `is_solid`, `[n_elements]` in the order of the problem, or of all.
pub fn warning(model: &Model, is_solid: Option<&[bool]>) -> Option<String> {
    let mesh = model.problem.mesh();
    let walker = Walker::new(mesh, is_solid);
    let elements = 0..mesh.n_elements() as u32;
    let faces = elements.into_par_iter().flat_map_iter(|element| walker.free_faces(element));
    let is_thin = |passage: &Passage| {
        let mut tangents = tangents(passage.direction).into_iter();
        tangents.any(|tangent| walker.extends(passage, tangent, REACH * passage.length))
    };

    let passages = faces.filter_map(|face| walker.through(face, MOST)).filter(is_thin);
    let found: Vec<Option<Thin>> = passages.map(|passage| stiff(model, passage)).collect();
    let n_passages = found.len();
    let mut stiff: Vec<Thin> = found.into_iter().flatten().collect();
    if stiff.len() as f64 <= FEW * n_passages as f64 {
        return None;
    }
    let half = stiff.len() / 2;
    let (_, usual, _) = stiff.select_nth_unstable_by(half, |a, b| a.share.total_cmp(&b.share));
    let (at, share, n_through) = (usual.passage.center, usual.share, usual.passage.elements.len());
    let relaxed = share_of(model, &usual.passage, Formulation::Incompatible);
    let element = usual.passage.elements[0];
    let all: HashSet<u32> = stiff.iter().flat_map(|thin| &thin.passage.elements).copied().collect();

    let plural = if n_through == 1 { "element" } else { "elements" };
    Some(format!(
        "thin members: {} elements lie where the part is thin, for instance at {}{}, with {n_through} \
         {plural} through: what bends there moves about {} % too little; {}",
        all.len(),
        place(at),
        in_set(model, element),
        shown((100.0 * (1.0 - share)).round()),
        if relaxed < LEAST { TAPERED } else { FULL }
    ))
}

/// Remedy where another formulation is right.
const FULL: &str = "leave out `elements.kind = \"full\"`, or use 4 elements through or more, no \
                    longer than a quarter of the thickness";

/// Remedy where no formulation helps.
const TAPERED: &str = "no brick of eight nodes bends rightly there: elements are wedges, cut \
                       tetrahedra, or tapered; edges through the thickness should be parallel, \
                       as those of an extruded mesh, or elements as short as thick";

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
