//! Bodies of a mesh that overlap, or touch and are not joined.

use topopt_mesh::numbers::{place_in, shown, without_rounding};
use topopt_mesh::vector::length;
use topopt_mesh::{Components, Contact, HexMesh, contacts, overlap};

/// Remedy for bodies that are to be joined.
pub(crate) const SHARING: &str = "let the bodies share the faces in which they touch: in a .geo file of \
    `SetFactory(\"OpenCASCADE\");` the line `Coherence;` does so, for a file `part.step` behind `Merge \
    \"part.step\";`";

/// Distance of bodies that may be meant to touch, in mean widths of elements: so far nodes move off
/// curved faces for the volume.
const NEAR: f64 = 0.1;

/// Places in a note, at most.
const MOST_LISTED: usize = 3;

/// Says where bodies of `mesh` overlap, if they do.
pub(crate) fn overlapping(mesh: &HexMesh, parts: &Components) -> Option<String> {
    let elements = overlap(mesh, parts)?;
    let at = place_in(mesh.center(elements[0] as usize), size(mesh));
    Some(format!("bodies overlap at {at}{}", names(mesh, elements)))
}

/// Notes where bodies of `mesh` come near to each other and share no node.
pub(crate) fn note_on_gaps(mesh: &HexMesh, parts: &Components) -> Option<String> {
    let volume = mesh.volumes().iter().sum::<f64>() / mesh.n_elements() as f64;
    let found = contacts(mesh, parts, NEAR * volume.cbrt());
    if found.is_empty() {
        return None;
    }
    let listed: Vec<String> =
        found.iter().take(MOST_LISTED).map(|contact| text(mesh, contact)).collect();
    let more = match found.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        n => format!("; and {n} further pairs"),
    };
    Some(format!(
        "bodies that touch, or nearly do, are not joined: {}{more}; if they belong together, {SHARING}",
        listed.join("; ")
    ))
}

fn text(mesh: &HexMesh, contact: &Contact) -> String {
    let Contact { elements, at, distance } = *contact;
    let size = size(mesh);
    let [gap] = without_rounding([distance], size).map(shown);
    format!("a gap of {gap} at {}{}", place_in(at, size), names(mesh, elements))
}

fn size(mesh: &HexMesh) -> f64 {
    length(mesh.bounding_box().extent())
}

/// Names of the element sets that two elements are in, if both have one.
fn names(mesh: &HexMesh, elements: [u32; 2]) -> String {
    let name = |element: u32| {
        let holds = |(_, own): &(&String, &Vec<u32>)| own.binary_search(&element).is_ok();
        mesh.sets().elements.iter().find(holds).map(|(name, _)| name.as_str())
    };
    match elements.map(name) {
        [Some(one), Some(other)] if one != other => format!(" (`{one}` and `{other}`)"),
        _ => String::new(),
    }
}
