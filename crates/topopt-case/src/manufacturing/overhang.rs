//! Parts that are printed without props.

use topopt_design::{OverhangCone, Supports, standing};
use topopt_mesh::numbers::shown;
use topopt_mesh::{HexMesh, Places, Renumbering};
use topopt_surface::Printing;

use super::built_part::BuiltPart;
use super::kind::{self, Asked, Key, ManufacturingKind};
use super::made::Made;
use super::plate::{PLATE, plate};
use crate::case::Case;
use crate::config::{Config, Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `overhang`.
pub(super) const OVERHANG: ManufacturingKind = ManufacturingKind {
    name: kind::OVERHANG,
    text: "The part is printed without props: what leans more than an angle from the direction of \
           build has material below. It needs the density filter.",
    keys: &[
        Key::needed(
            "build_direction",
            Shape::Vector,
            "Direction of build, upwards, of any length.",
        ),
        Key::optional(
            "angle_degrees",
            Shape::Below(90.0),
            "Largest angle between the part and the direction of build, in degrees; by default 45.",
        ),
        Key::optional(
            PLATE,
            Shape::Text,
            "Name of a node, face or element set with faces of the surface that look down and stand \
             on the plate; by default the lowest faces of the mesh.",
        ),
        Key::optional(
            "anywhere",
            Shape::Flag,
            "Whether props may stand below the mesh, so that also its other faces need no material \
             below; by default not.",
        ),
    ],
    has_passive_images: false,
    must_join: None,
    follows: true,
    suits,
    pose: |asked| cone(asked).map(|_| Vec::new()),
    measure: measured,
};

/// Refuses other filters, a second direction, and projections by which a prop looks thicker than it
/// is.
fn suits(config: &Config, _: &Manufacturing) -> Option<[&'static str; 3]> {
    let is_overhang = |other: &&Manufacturing| other.kind.get_ref() == OVERHANG.name;
    (config.manufacturing.iter().filter(is_overhang).count() > 1).then_some([
        "a part is printed in one direction",
        "one of several",
        "keep one entry with `kind = \"overhang\"`",
    ])
}

fn cone(asked: &Asked) -> Result<OverhangCone, Finding> {
    let about = ["the direction of build has no length", "give it upwards, such as [0, 0, 1]"];
    let entry = asked.entries[0];
    let up = asked.direction(entry, "build_direction", about)?;
    Ok(OverhangCone::new(up, degrees(asked).to_radians()))
}

/// Largest angle in degrees from the direction of build.
pub(super) fn degrees(asked: &Asked) -> f64 {
    asked.entries[0].number("angle_degrees").unwrap_or(45.0)
}

/// Direction of build, of length 1.
pub(super) fn up(asked: &Asked) -> Result<[f64; 3], Finding> {
    Ok(cone(asked)?.up)
}

/// Degrees that the built part may lean more than asked for.
const MORE: f64 = 5.0;

/// Share of an element's width that material may reach out beyond that: where a surface lies
/// within an element the density hardly says.
const BRIDGED: f64 = 0.5;

/// Measures what nothing holds up when the part is printed layer by layer, at an angle a little
/// larger than is `asked` for.
fn measured(asked: &Asked, part: &BuiltPart) -> Vec<Made> {
    let (Ok(cone), Some(supports)) = (cone(asked), part.space.sweeps().first()) else {
        return Vec::new();
    };
    let degrees = (cone.angle.to_degrees() + MORE).min(89.0);
    let (up, angle, bridged) = (cone.up, degrees.to_radians(), BRIDGED * asked.width);

    let standing = supports.standing(part.mesh.n_elements());
    let stands = |places: &[[f64; 3]]| {
        Places::of(part.mesh, places).elements().map(|e| standing[e as usize]).collect()
    };
    let lost = Printing { up, angle, bridged }.unsupported(&part.in_part, stands);
    let measure = format!("lost when it is printed at {} degrees", shown(degrees));
    vec![Made::new(measure, part.share_of_solid(&lost))]
}

/// Returns the supports of the part that is `asked` for, on the `mesh` of the problem; notes go to
/// `notes`.
///
/// # Errors
/// Findings about a set that is no plate, or a part that stands on nothing.
pub(super) fn supports<const N: usize>(
    asked: &Asked,
    case: &Case<N>,
    renumbering: &Renumbering,
    mesh: &HexMesh,
    notes: &mut Vec<String>,
) -> Result<Supports, Finding> {
    let (cone, entry) = (cone(asked)?, asked.entries[0]);
    let mut stand = standing(mesh, &cone, entry.gives("anywhere"));
    if let Some(set) = entry.text(PLATE) {
        let new_element = renumbering.new_elements();
        for face in plate(asked, &set, &cone, case, notes)? {
            stand[new_element[face.element as usize] as usize] = true;
        }
    }
    if stand.iter().any(|stands| *stands) {
        return Ok(Supports::new(mesh, &cone, &stand));
    }
    Err(asked.finding(entry, "build_direction", [
        "no face of the part lies on a plate across the direction of build",
        "nothing stands",
        "name the set that stands on the plate by `plate`, or let props stand below the part by \
         `anywhere = true`",
    ]))
}
