//! Parts that are cast or forged, and drawn out of their mold.

use topopt_design::{OverhangCone, Supports};
use topopt_mesh::HexMesh;

use super::kind::{self, Asked, Key, MILLING, ManufacturingKind, sweeps_of};
use crate::config::{Config, FilterKind, Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `casting`.
pub(super) const CASTING: ManufacturingKind = ManufacturingKind {
    name: kind::CASTING,
    text: "The part comes out of a mold: along a direction of draw it has no undercut. It needs the \
           density filter.",
    keys: &[
        Key::needed("draw_direction", Shape::Vector, "Direction of draw, of any length."),
        Key::optional(
            "sides",
            Shape::Count(1),
            "Number of sides that the mold opens to: 1, along the direction of draw, or 2, along it \
             and against it, with the parting surface where the design has it; by default 1.",
        ),
    ],
    has_passive_images: false,
    must_join: None,
    suits,
    pose: |asked| draw(asked).map(|_| Vec::new()),
};

fn suits(config: &Config, entry: &Manufacturing) -> Option<[&'static str; 3]> {
    if sweeps_of(config).filter(|other| other.kind.get_ref() != MILLING).count() > 1 {
        return Some([
            "a part is made in one direction, printed or cast",
            "one of several",
            "keep one entry of the kinds `overhang` and `casting`; two sides of a mold are `sides = 2`",
        ]);
    }
    if entry.number("sides").is_some_and(|sides| sides > 2.0) {
        return Some([
            "a mold opens to one or two sides",
            "with more `sides`",
            "give `sides = 1` or `sides = 2`",
        ]);
    }

    if config.filter.get_ref().kind != FilterKind::Density {
        return Some([
            "`kind = \"casting\"` needs the density filter",
            "with another filter",
            "add `kind = \"density\"` to [filter]",
        ]);
    }
    config.has_half_width().then_some([
        "`kind = \"casting\"` does not go with a surface of a given width",
        "with `half_width` in [[continuation]]",
        "give `sharpness` there",
    ])
}

/// Direction of draw, of length 1.
pub(super) fn draw(asked: &Asked) -> Result<[f64; 3], Finding> {
    let about =
        ["the direction of draw has no length", "give the way out of the mold, such as [0, 0, 1]"];
    asked.direction(asked.entries[0], "draw_direction", about)
}

/// Number of sides that the mold opens to.
pub(super) fn n_sides(entry: &Manufacturing) -> usize {
    entry.number("sides").map_or(1, |sides| sides as usize)
}

/// Returns the elements above each one in the mold, by side.
///
/// # Errors
/// A direction without length.
pub(super) fn sides(asked: &Asked, mesh: &HexMesh) -> Result<Vec<Supports>, Finding> {
    let draw = draw(asked)?;
    let signs = [1.0, -1.0].into_iter().take(n_sides(asked.entries[0]));
    Ok(signs.map(|sign| filled_from(draw.map(|x| sign * x), mesh)).collect())
}

/// Returns the elements that fill each one of `mesh`, those farther along `out`, of length 1.
pub(super) fn filled_from(out: [f64; 3], mesh: &HexMesh) -> Supports {
    // An element is filled from where it is drawn to: that is below the sample's element.
    let cone = OverhangCone::axis(out.map(|x| -x));
    Supports::new(mesh, &cone, &vec![false; mesh.n_elements()]).filling()
}
