//! Parts that are cast or forged, and drawn out of their mold.

use topopt_design::{OverhangCone, Sheet, Supports};
use topopt_mesh::numbers::shown;
use topopt_mesh::surface::{area_vector, boundary_faces, face_coordinates};
use topopt_mesh::vector::{dot, length};
use topopt_mesh::{Face, HexMesh};
use topopt_surface::Draw;

use super::built_part::BuiltPart;
use super::kind::{
    self, Asked, Key, MEMBER_SIZE, MILLING, ManufacturingKind, OPEN_VOIDS, sweeps_of,
};
use super::made::Made;
use super::member_size::{is_resolved, within};
use crate::config::{Config, Manufacturing, Shape};
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
             and against it; by default 1, and 2 with a `parting`.",
        ),
        Key::optional(
            PARTING,
            Shape::Vector,
            "A point of the plane across the draw in which the two sides of the mold meet; by \
             default they meet where the design has it.",
        ),
        Key::optional(
            DRAFT,
            Shape::Below(45.0),
            "Angle of draft between walls and the direction of draw, in degrees; by default none.",
        ),
        Key::optional(
            HOLES,
            Shape::Flag,
            "Whether the part may have holes through along the draw; by default it may. Without, \
             the elements at the foot of the mold, or at the plane in which it parts, stay solid.",
        ),
        Key::optional(
            THICKNESS,
            Shape::Positive,
            "Thickness of a part that is stamped (length), of three elements at least: a sheet that \
             is drawn over a die along the direction of draw; by default the part is cast.",
        ),
    ],
    has_passive_images: false,
    has_ends: false,
    must_join: None,
    follows: true,
    suits: |config, entry| suits(config, entry).or_else(|| suits_stamping(config, entry)),
    pose: |asked| fits(asked).map(|()| Vec::new()),
    measure: measured,
};

const PARTING: &str = "parting";
const DRAFT: &str = "draft_degrees";
pub(super) const HOLES: &str = "through_holes";
pub(super) const THICKNESS: &str = "thickness";

/// The mold of a part that is cast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mold {
    /// Direction of draw, of length 1.
    pub draw: [f64; 3],
    /// Whether the mold opens against the draw, too.
    pub is_two_sided: bool,
    /// Height along the draw of the plane in which its sides meet, if it is given.
    pub parting: Option<f64>,
    /// Angle of draft, in radians.
    pub draft: f64,
    /// Whether no hole may go through along the draw.
    pub is_closed: bool,
    /// Thickness of a part that is a sheet (length).
    pub thickness: Option<f64>,
}

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
    if entry.gives(PARTING) && entry.number("sides") == Some(1.0) {
        return Some([
            "a mold of one side has no plane in which it parts",
            "with `parting`",
            "give `sides = 2`, or remove `parting`",
        ]);
    }
    (is_closed(entry) && is_two_sided(entry) && !entry.gives(PARTING)).then_some([
        "`through_holes = false` needs to know where the two sides of the mold meet",
        "without `parting`",
        "give a point of that plane, such as `parting = [0.0, 0.0, 5.0]`, or `sides = 1`",
    ])
}

/// Message, label and remedy where a sheet does not suit the rest of the case file.
fn suits_stamping(config: &Config, entry: &Manufacturing) -> Option<[&'static str; 3]> {
    if !entry.gives(THICKNESS) {
        return None;
    }
    if is_two_sided(entry) {
        return Some([
            "a sheet is drawn over a die from one side",
            "with two sides of a mold",
            "remove `sides` and `parting`, or `thickness`",
        ]);
    }
    let others = [
        (
            MEMBER_SIZE,
            [
                "`member_size` and `thickness` ask for the widths of the same members",
                "beside `kind = \"member_size\"`",
                "remove the entry with `kind = \"member_size\"`, or `thickness`",
            ],
        ),
        (
            OPEN_VOIDS,
            [
                "a sheet encloses no void, so `open_voids` asks for nothing",
                "beside `kind = \"open_voids\"`",
                "remove the entry with `kind = \"open_voids\"`",
            ],
        ),
    ];
    let has = |name: &str| config.manufacturing.iter().any(|other| other.kind.get_ref() == name);
    others.into_iter().find_map(|(name, about)| has(name).then_some(about))
}

fn is_two_sided(entry: &Manufacturing) -> bool {
    entry.gives(PARTING) || entry.number("sides") == Some(2.0)
}

/// Whether no hole may go through.
fn is_closed(entry: &Manufacturing) -> bool {
    entry.flag(HOLES) == Some(false)
}

/// The mold that is `asked` for.
///
/// # Errors
/// A direction without length.
pub(super) fn mold(asked: &Asked) -> Result<Mold, Finding> {
    let about =
        ["the direction of draw has no length", "give the way out of the mold, such as [0, 0, 1]"];
    let entry = asked.entries[0];
    let draw = asked.direction(entry, "draw_direction", about)?;
    Ok(Mold {
        draw,
        is_two_sided: is_two_sided(entry),
        parting: entry.vector(PARTING).map(|point| dot(point, draw)),
        draft: entry.number(DRAFT).unwrap_or(0.0).to_radians(),
        is_closed: is_closed(entry),
        thickness: entry.number(THICKNESS),
    })
}

/// Measures what the mold leaves no room for, and holes through along the draw where none may go.
fn measured(asked: &Asked, part: &BuiltPart) -> Vec<Made> {
    let Ok(mold) = mold(asked) else { return Vec::new() };
    let missing = part.in_part.undercuts(&mold.way_out());
    let mut all = vec![part.missing_solid(mold.undercuts_in_words(), &missing)];
    if let Some(thickness) = mold.thickness {
        all.extend(off_thickness(thickness, mold.draw, part));
    }
    if mold.is_closed {
        let open = mold.open_through(part.mesh, part.shares);
        let share = part.void_share(|e| open[e]);
        all.push(Made::of_void("in holes through along the draw".into(), share));
    }
    all
}

/// Shares of a thickness that a sheet must have, and may have.
const KEPT: f64 = 0.9;
const ABOVE: f64 = 1.1;

/// Measures where a sheet is thicker than its `thickness`, or thinner.
fn off_thickness(thickness: f64, draw: [f64; 3], part: &BuiltPart) -> [Made; 2] {
    let limits = [KEPT, ABOVE].map(|share| share * thickness);
    let [deep, narrow] = part.in_part.off_thickness(draw, limits);
    let [least, most] = limits.map(shown);
    [
        part.missing_solid(format!("deeper than {most} in the sheet"), &deep),
        part.missing_solid(format!("where the sheet is less than {least} thick"), &narrow),
    ]
}

/// Refuses a direction without length, and a plane with the whole part on one side.
fn fits(asked: &Asked) -> Result<(), Finding> {
    let mold = mold(asked)?;
    fits_sheet(asked, &mold)?;
    let Some(height) = mold.parting else { return Ok(()) };
    let above = asked.centers.iter().filter(|center| dot(**center, mold.draw) > height).count();
    if above > 0 && above < asked.centers.len() {
        return Ok(());
    }
    let about = [
        "the plane in which the mold parts has the whole part on one side",
        "misses the part",
        "move it by `parting` into the part, or give `sides = 1`",
    ];
    Err(asked.finding(asked.entries[0], PARTING, about))
}

/// Refuses a sheet of less than three elements, or as thick as the part.
fn fits_sheet(asked: &Asked, mold: &Mold) -> Result<(), Finding> {
    let Some(thickness) = mold.thickness else { return Ok(()) };
    let entry = asked.entries[0];
    is_resolved(asked, (THICKNESS, "sheet's"), thickness)?;
    let heights = asked.centers.iter().map(|center| dot(*center, mold.draw));
    let low = heights.clone().fold(f64::INFINITY, f64::min);
    let height = heights.fold(f64::NEG_INFINITY, f64::max) - low + asked.width;
    if thickness < (1.0 - 1e-9) * height {
        return Ok(());
    }
    let remedy = format!("give less than {}, and check the unit of length", shown(height));
    let message = "the sheet is as thick as the part is high along the draw";
    Err(asked.finding(entry, THICKNESS, [message, "thicker than the part", &remedy]))
}

impl Mold {
    /// Sheet that is left of the filled elements of `mesh`, of a part that is stamped.
    pub(super) fn sheet(&self, mesh: &HexMesh) -> Option<Sheet> {
        let full = || if self.is_closed { self.foot(mesh) } else { Vec::new() };
        self.thickness.map(|thickness| Sheet::new(mesh, self.draw, thickness, full()))
    }

    /// Directions out of the mold, of length 1.
    pub(super) fn ways(&self) -> impl Iterator<Item = [f64; 3]> {
        let other = self.is_two_sided.then_some(self.draw.map(|x| -x));
        std::iter::once(self.draw).chain(other)
    }

    /// Returns the elements above each one of `mesh`, by side; of a mold that parts in a given
    /// plane in one list, as each element belongs to one side.
    pub(super) fn sides(&self, mesh: &HexMesh) -> Vec<Supports> {
        let filled = |(out, stand): ([f64; 3], &[bool])| filled_from(out, self.draft, mesh, stand);
        let Some(height) = self.parting else {
            let free = vec![false; mesh.n_elements()];
            return self.ways().map(|out| filled((out, &free))).collect();
        };
        let is_below = |center: &[f64; 3]| dot(*center, self.draw) < height;
        let below: Vec<bool> = mesh.centers().iter().map(is_below).collect();
        let above: Vec<bool> = below.iter().map(|below| !below).collect();
        let of_sides = self.ways().zip([below.as_slice(), above.as_slice()]).map(filled);
        of_sides.reduce(Supports::joined).into_iter().collect()
    }

    /// Returns the elements that close the part along the draw, sorted: those at the plane in which
    /// the mold parts, else those on which the part lies in it; none where holes may go through.
    pub(super) fn closing(&self, mesh: &HexMesh) -> Vec<u32> {
        if !self.is_closed || self.thickness.is_some() {
            return Vec::new();
        }
        let width = mesh.element_width();
        let centers = mesh.centers();
        let is_closing: Vec<bool> = match self.parting {
            Some(height) => {
                let off = |center: &[f64; 3]| (dot(*center, self.draw) - height).abs();
                centers.iter().map(|center| off(center) <= CLOSING * width).collect()
            }
            None => {
                let foot = self.foot(mesh).into_iter().map(|e| centers[e as usize]);
                within(&foot.collect::<Vec<_>>(), CLOSING * width, &centers)
            }
        };
        (0..).zip(is_closing).filter_map(|(e, closes)| closes.then_some(e)).collect()
    }

    /// Ways of the mold out of the part.
    pub fn way_out(&self) -> Draw {
        let mut ways: Vec<_> = self.ways().collect();
        if self.thickness.is_some() {
            // A sheet is open to both sides along each line.
            ways.push(self.draw.map(|x| -x));
        }
        Draw { ways, parting: self.parting, draft: self.draft }
    }

    /// Name of the measure of undercuts.
    pub(super) fn undercuts_in_words(&self) -> String {
        let missing = match self.thickness {
            Some(_) => "missing between layers of the sheet",
            None => "missing above undercuts",
        };
        let degrees = shown((1e6 * self.draft.to_degrees()).round() / 1e6);
        match self.draft > 0.0 {
            true => format!("{missing} at {degrees} degrees of draft"),
            false => missing.into(),
        }
    }

    /// Whether each element of `mesh` lies in a line along the draw without material, where so many
    /// `shares` of the elements are solid.
    pub(super) fn open_through(&self, mesh: &HexMesh, shares: &[f64]) -> Vec<bool> {
        let free = vec![false; mesh.n_elements()];
        let beyond =
            |sign: f64| filled_from(self.draw.map(|x| sign * x), 0.0, mesh, &free).swept(shares).0;
        let both = beyond(1.0).into_iter().zip(beyond(-1.0));
        both.map(|(above, below)| above.max(below) < 0.5).collect()
    }

    /// Elements with free faces that look against the draw.
    fn foot(&self, mesh: &HexMesh) -> Vec<u32> {
        let looks_down = |face: &Face| {
            let normal = area_vector(&face_coordinates(mesh, *face));
            dot(normal, self.draw) < -LYING * length(normal)
        };
        let faces = boundary_faces(mesh).into_iter().filter(looks_down);
        let mut elements: Vec<u32> = faces.map(|face| face.element).collect();
        elements.sort_unstable();
        elements.dedup();
        elements
    }
}

/// Distance in element widths from a plane, or from elements with free faces, within which elements
/// close a part: a sheet of one element may be lost on its exported surface.
const CLOSING: f64 = 1.05;

/// Least cosine of the angle between the draw and the normal of a face on which a part lies.
const LYING: f64 = 0.3;

/// Returns the elements that fill each one of `mesh` that does not `stand`, `[n_elements]`: those
/// farther along `out`, of length 1, within the cone of a `draft`, in radians.
pub(super) fn filled_from(out: [f64; 3], draft: f64, mesh: &HexMesh, stand: &[bool]) -> Supports {
    // An element is filled from where it is drawn to: that is below the sample's element.
    let cone = OverhangCone::axis(out.map(|x| -x), draft);
    Supports::new(mesh, &cone, stand).filling()
}
