//! Parts without enclosed voids.

use topopt_design::Openings;
use topopt_mesh::{Face, HexMesh, Renumbering};

use super::built_part::BuiltPart;
use super::kind::{Asked, COPY, Key, ManufacturingKind, OPEN_VOIDS as NAME, PATTERN};
use super::made::Made;
use super::named::faces_of;
use crate::case::Case;
use crate::config::{Config, Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `open_voids`.
pub(super) const OPEN_VOIDS: ManufacturingKind = ManufacturingKind {
    name: NAME,
    text: "No void is enclosed: powder comes out of each one through the outside of the part. It \
           needs the density filter.",
    keys: &[Key::optional(
        CLOSED,
        Shape::Text,
        "Name of a node, face or element set through whose faces nothing comes out, such as a plane \
         of symmetry at which the model ends; by default all free faces are open.",
    )],
    has_passive_images: false,
    has_ends: false,
    must_join: None,
    follows: true,
    suits,
    pose: |_| Ok(Vec::new()),
    measure: measured,
};

pub(super) const CLOSED: &str = "closed";

fn suits(config: &Config, _: &Manufacturing) -> Option<[&'static str; 3]> {
    let count = |name| config.manufacturing.iter().filter(|e| e.kind.get_ref() == name).count();
    if count(OPEN_VOIDS.name) > 1 {
        return Some([
            "open voids are asked for twice",
            "one of several",
            "keep one entry with `kind = \"open_voids\"`",
        ]);
    }
    let with = [
        (PATTERN, "`open_voids` and `pattern` do not go together"),
        (COPY, "`open_voids` and `copy` do not go together"),
    ];
    let (_, message) = with.into_iter().find(|(name, _)| count(name) > 0)?;
    let label = "with the same design at several places, some of them inside the part";
    let remedy = "remove one of the entries; `design.method = \"printed\"` asks for open voids, and \
                  `kind = \"overhang\"` in its place for printing alone";
    Some([message, label, remedy])
}

/// Returns the ways out of the voids of the part that is `asked` for, on the `mesh` of the problem.
///
/// # Errors
/// A finding about a set that is not there, or a part without an opening.
pub(super) fn openings<const N: usize>(
    asked: &Asked,
    case: &Case<N>,
    renumbering: &Renumbering,
    mesh: &HexMesh,
) -> Result<Openings, Finding> {
    let mut is_on = vec![false; mesh.n_nodes()];
    let new_node = renumbering.new_nodes();
    let faces = closed(asked, case)?;
    let nodes = faces.iter().flat_map(|face| face.nodes(&case.mesh));
    nodes.for_each(|node| is_on[new_node[node as usize] as usize] = true);

    Openings::new(mesh, &is_on).ok_or_else(|| {
        let remedy = "name the set of a part of the surface by `closed`";
        let texts = ["no face of the part is open", "closes all", remedy];
        asked.finding(asked.entries[0], CLOSED, texts)
    })
}

/// Returns the faces through which nothing comes out, in the order of the user.
///
/// # Errors
/// A finding about a set that is not there, or has no face of the surface.
fn closed<const N: usize>(asked: &Asked, case: &Case<N>) -> Result<Vec<Face>, Finding> {
    let Some(set) = asked.entries[0].text(CLOSED) else { return Ok(Vec::new()) };
    let faces = faces_of(asked.config, &set, case)?.free;
    if faces.is_empty() {
        return Err(nothing_closed(asked, set.get_ref()));
    }
    Ok(faces)
}

/// Builds the finding about a set without a face of the surface.
fn nothing_closed(asked: &Asked, set: &str) -> Finding {
    asked.finding(
        asked.entries[0],
        CLOSED,
        [
            &format!("`{set}` closes nothing: no face of the part's surface lies in it"),
            "without effect",
            "name faces of the surface that other parts cover, or leave `closed` out",
        ],
    )
}

/// Measures voids that are enclosed.
fn measured(_: &Asked, part: &BuiltPart) -> Vec<Made> {
    let Some(openings) = part.space.openings() else { return Vec::new() };
    let is_solid: Vec<bool> = part.shares.iter().map(|&share| share >= 0.5).collect();
    let voids = openings.enclosed(&is_solid);
    let mut is_enclosed = vec![false; is_solid.len()];
    voids.iter().flatten().for_each(|&e| is_enclosed[e as usize] = true);
    let measure = match voids.len() {
        0 => "enclosed".into(),
        1 => "enclosed, in 1 cavity".into(),
        n => format!("enclosed, in {n} cavities"),
    };
    vec![Made::of_void(measure, part.void_share(|e| is_enclosed[e]))]
}
