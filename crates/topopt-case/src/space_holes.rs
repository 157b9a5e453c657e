//! Holes of the body that bounds a design space, which are filled.

use topopt_io::gmsh::PartFace;
use topopt_mesh::numbers::{place, shown};
use topopt_surface::{FilledHoles, HoleFault, HoleFaultKind, Holes, TriangleSurface};

use crate::config::{Config, Envelope, Fill};
use crate::finding::Finding;
use crate::geometry_faces::GeometryFaces;
use crate::selected_faces;
use crate::space_bodies::SpaceBody;

/// The surface of the `body` of `envelope` with its holes filled, and a note on them.
///
/// # Errors
/// Selections of nothing or of other bodies, and faces that are no hole.
pub(crate) fn filled(
    config: &Config,
    envelope: &Envelope,
    body: &SpaceBody,
    faces: &GeometryFaces,
) -> Result<(TriangleSurface, Option<String>), Finding> {
    let Some(fill) = &envelope.fill else { return Ok((body.surface.clone(), None)) };
    let are_walls = match fill {
        Fill::All(_) => bores(body, envelope.largest_diameter)?,
        Fill::Sets(names) => selected(config, names, body, faces)?,
    };
    let is_hollow = |face: &PartFace| face.is_inner == Some(true);
    let are_hollow: Vec<bool> = body.part.faces.iter().map(is_hollow).collect();
    let of_triangles = &body.part.of_triangles;
    let holes = Holes {
        surface: &body.surface,
        of_triangles,
        are_walls: &are_walls,
        are_hollow: &are_hollow,
    };
    let FilledHoles { surface, n_filled, faults } = holes.filled();
    if let Some(fault) = faults.first().filter(|_| n_filled == 0 || *fill != Fill::ALL) {
        return Err(refused(fault, body));
    }
    let left = match faults.len() {
        0 => String::new(),
        n => format!("; {n} stay, as they are open at a side, near {}", place(faults[0].at)),
    };
    Ok((surface, Some(format!("holes of {} filled: {n_filled}{left}", body.file))))
}

/// Whether each face of a body is that of a bore of a diameter up to the `largest`.
fn bores(body: &SpaceBody, largest: Option<f64>) -> Result<Vec<bool>, Finding> {
    let is_narrow = |face: &PartFace| {
        let radius = face.form.radius();
        largest.is_none_or(|largest| radius.is_none_or(|radius| 2.0 * radius <= largest))
    };
    let is_bore = |face: &PartFace| {
        let is_round = ["cylinder", "cone"].contains(&face.form.kind());
        is_round && face.is_around && face.is_inner == Some(true) && is_narrow(face)
    };
    let bores: Vec<bool> = body.part.faces.iter().map(is_bore).collect();
    if bores.contains(&true) {
        return Ok(bores);
    }
    let (of_diameter, remedy) = match largest {
        Some(most) => (
            format!(" of a diameter up to {}", shown(most)),
            "give a larger `largest_diameter`, or remove it",
        ),
        None => (
            String::new(),
            "remove `fill`, or select the faces of holes of another shape: `fill = [\"pocket\"]`",
        ),
    };
    let message = format!("{} has no bores{of_diameter}", body.file);
    Err(Finding::new(message).remedy(remedy))
}

/// Whether each face of a body is in one of the selections.
fn selected(
    config: &Config,
    names: &[String],
    body: &SpaceBody,
    faces: &GeometryFaces,
) -> Result<Vec<bool>, Finding> {
    let mut are_walls = vec![false; body.part.faces.len()];
    for name in names {
        let among = body.among(&selected_faces::numbers(config, faces, name)?);
        if !among.contains(&true) {
            return Err(of_others(name, body));
        }
        are_walls.iter_mut().zip(among).for_each(|(is_wall, is_among)| *is_wall |= is_among);
    }
    Ok(are_walls)
}

/// Finding of a selection that has no face of a body.
pub(crate) fn of_others(name: &str, body: &SpaceBody) -> Finding {
    let finding = Finding::new(format!("`{name}` takes no face of {}", body.file));
    finding.remedy(format!("select faces of it: add `body = \"{}\"`", body.name))
}

fn refused(fault: &HoleFault, body: &SpaceBody) -> Finding {
    let number = body.part.faces[fault.face as usize].number - body.offset;
    let (place, file) = (place(fault.at), &body.file);
    let (message, remedy) = match fault.kind {
        HoleFaultKind::GoesOn => (
            format!("a hole of {file} goes on at its face {number}, near {place}"),
            format!(
                "select all faces of the hole, that one too, if it is no floor of another hole; \
                 `topopt info {file} --faces --page faces.html` draws them"
            ),
        ),
        HoleFaultKind::AroundEdge => (
            format!(
                "a hole of {file} is open at a side: its rim runs around an edge, at face {number}, \
                 near {place}"
            ),
            "select holes that each side of the part closes; or give the body without the hole".into(),
        ),
        HoleFaultKind::Outside => (
            format!("face {number} of {file}, near {place}, is that of no hole"),
            "select faces around what is free, such as bores: `form = { kind = \"cylinder\", hollow \
             = true }`"
                .into(),
        ),
        HoleFaultKind::Crossed => (
            format!("material stands in a hole of {file}, at its face {number}, near {place}"),
            "select the faces of what stands there, too, or give the body without the hole".into(),
        ),
    };
    Finding::new(message).remedy(remedy)
}
