//! Parts that are printed without props.

use toml::Spanned;
use topopt_design::{OverhangCone, Supports, standing};
use topopt_mesh::numbers::shown;
use topopt_mesh::surface::{area_vector, face_coordinates};
use topopt_mesh::vector::{dot, length};
use topopt_mesh::{Face, HexMesh, Places, Renumbering};
use topopt_surface::Printing;

use super::built_part::BuiltPart;
use super::kind::{self, Asked, Key, ManufacturingKind};
use super::made::Made;
use super::named::{Named, faces_of};
use crate::case::Case;
use crate::config::{Config, Manufacturing, Shape};
use crate::finding::Finding;

/// Key of the plate's set.
pub(super) const PLATE: &str = "plate";

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
    has_ends: false,
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

    let elements = part.elements_of(&lost);
    let measure = |what| format!("{what} when it is printed at {} degrees", shown(degrees));
    let of_kept = part.kept_share(measure("kept solid in the air"), (&lost, &elements));
    let of_design = part.missing_solid_in(measure("lost"), elements);
    let steep = steep(&cone, part, &standing);
    [Some(steep), Some(of_design), of_kept].into_iter().flatten().collect()
}

/// Measures the surface that looks down more steeply than is asked for, besides that of elements
/// that stand: for information, as what is beside it may hold it up.
fn steep(cone: &OverhangCone, part: &BuiltPart, standing: &[bool]) -> Made {
    let mut areas = [0.0; 2];
    let facets: Vec<_> = part.in_part.surface().facets().collect();
    let centers: Vec<[f64; 3]> = facets.iter().map(|facet| facet.center).collect();
    for (facet, e) in facets.iter().zip(part.elements_of(&centers)) {
        let down = -dot(facet.area, cone.up);
        let is_steep = down > cone.angle.sin() * length(facet.area) && !standing[e as usize];
        areas[usize::from(is_steep)] += length(facet.area);
    }
    let degrees = shown(cone.angle.to_degrees());
    Made::without_limit(
        format!("steeper than {degrees} degrees from upright, an area of {}", shown(areas[1])),
        areas[1] / (areas[0] + areas[1]),
    )
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
    let (set, anywhere) = (entry.text(PLATE), entry.gives("anywhere"));
    // A plate with a name is in place of the lowest faces.
    let mut stand = match set.is_some() && !anywhere {
        true => vec![false; mesh.n_elements()],
        false => standing(mesh, &cone, anywhere),
    };
    if let Some(set) = set {
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

/// Angle in degrees from straight down from which on a face looks sideways: plates may be oblique,
/// and walls are never exactly upright.
const SIDEWAYS: f64 = 60.0;

/// Returns the faces of a `set` that can stand on a plate, in the order of the user; a note says
/// how many others the set has.
///
/// # Errors
/// A finding about a set that is not there, or none of whose faces can.
fn plate<const N: usize>(
    asked: &Asked,
    set: &Spanned<String>,
    cone: &OverhangCone,
    case: &Case<N>,
    notes: &mut Vec<String>,
) -> Result<Vec<Face>, Finding> {
    let Named { free, n_inner } = faces_of(asked.config, set, case)?;
    let (name, n) = (set.get_ref(), free.len() + n_inner);
    let leans: Vec<f64> = free.iter().map(|&face| lean(&case.mesh, face, cone.up)).collect();
    let is_below = |lean: &f64| *lean < SIDEWAYS;
    let n_below = leans.iter().filter(|lean| is_below(lean)).count();
    if n_below == 0 {
        return Err(no_plate(asked, name, n_inner, &leans));
    }

    if n_below < n {
        notes.push(format!(
            "the part stands on {n_below} of the {n} faces of `plate = \"{name}\"`: {n_inner} lie \
             within the part, and {} look sideways or up",
            n - n_below - n_inner
        ));
    }
    let stands = free.into_iter().zip(&leans).filter(|(_, lean)| is_below(lean));
    Ok(stands.map(|(face, _)| face).collect())
}

/// Angle in degrees between the outward normal of a `face` and straight down.
fn lean(mesh: &HexMesh, face: Face, up: [f64; 3]) -> f64 {
    let normal = area_vector(&face_coordinates(mesh, face));
    (-dot(normal, up) / length(normal)).clamp(-1.0, 1.0).acos().to_degrees()
}

/// Builds the finding about the set `name` on none of whose faces a part can stand.
fn no_plate(asked: &Asked, name: &str, n_inner: usize, leans: &[f64]) -> Finding {
    let least = leans.iter().copied().fold(f64::INFINITY, f64::min);
    let why = match (leans.len(), n_inner) {
        (0, 0) => "no face of the part's surface has all its nodes in it".to_owned(),
        (0, n) => format!("its {n} faces lie within the part"),
        (n, _) => format!(
            "the {n} faces that it has on the part's surface look sideways or up, {} degrees from \
             straight down or more",
            shown(least.round())
        ),
    };
    asked.finding(
        asked.entries[0],
        PLATE,
        [
            &format!("`{name}` cannot be the plate: {why}"),
            "stands on nothing",
            "name faces whose outward normals are against `build_direction`, or leave `plate` out: the \
             part then stands on its lowest faces",
        ],
    )
}
