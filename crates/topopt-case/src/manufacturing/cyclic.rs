//! Designs of equal sectors about an axis.

use std::f64::consts::TAU;

use topopt_mesh::vector::{across, cross, difference, dot, length, unit};

use super::fold::{Fold, Folds, moved, within_period};
use super::kind::{self, Asked, Key, ManufacturingKind};
use crate::config::{Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `cyclic`.
pub(super) const CYCLIC: ManufacturingKind = ManufacturingKind {
    name: "cyclic",
    text: "The design repeats itself in equal sectors about an axis. Images of solid and void \
           elements stay so too.",
    keys: &[
        Key::needed("point", Shape::Vector, "Coordinates of a point in the plane or on the axis."),
        Key::needed("axis", Shape::Vector, "Direction of the axis, of any length."),
        Key::needed("sectors", Shape::Count(2), "Number of sectors in a full turn."),
        Key::optional(
            "mirrored",
            Shape::Vector,
            "A direction from the axis about which each sector mirrors itself; by default none.",
        ),
    ],
    has_passive_images: true,
    has_ends: false,
    must_join: Some([
        "these sectors join no two elements of the part",
        "move the axis by `point` and `axis`, to where the part repeats itself",
    ]),
    follows: false,
    suits: |_, _| None,
    pose,
    measure: kind::no_measure,
};

struct Cyclic {
    point: [f64; 3],
    axis: [f64; 3],
    /// Directions of length 1 across the axis; sectors are counted from the first one.
    tangents: [[f64; 3]; 2],
    sectors: f64,
    is_mirrored: bool,
}

fn pose(asked: &Asked) -> Result<Folds, Finding> {
    asked.entries.iter().map(|entry| Ok(Box::new(cyclic(asked, entry)?) as Box<_>)).collect()
}

fn cyclic(asked: &Asked, entry: &Manufacturing) -> Result<Cyclic, Finding> {
    let about = ["the axis of sectors has no length", "give its direction, such as [0, 0, 1]"];
    let axis = asked.direction(entry, "axis", about)?;
    let is_mirrored = entry.gives("mirrored");
    let mut tangents = across(axis);
    if is_mirrored {
        let along = entry.vector("mirrored").unwrap_or_default();
        let along = unit(along).unwrap_or_default();
        let first = moved(along, -dot(along, axis), axis);
        let long = length(first);
        if long <= 1e-6 {
            let finding = [
                "the direction about which sectors mirror themselves is not across the axis",
                "along the axis, or of length zero",
                "give a direction from the axis outwards, such as [1, 0, 0]",
            ];
            return Err(asked.finding(entry, "mirrored", finding));
        }
        let first = first.map(|x| x / long);
        tangents = [first, cross(axis, first)];
    }
    let point = entry.vector("point").unwrap_or_default();
    let sectors = entry.number("sectors").unwrap_or(1.0);
    Ok(Cyclic { point, axis, tangents, sectors, is_mirrored })
}

impl Cyclic {
    /// Place with the height and the distance from the axis of `place`, at an angle that
    /// `changed` makes of its own, in sectors.
    fn turned(&self, place: [f64; 3], changed: impl Fn(f64) -> f64) -> [f64; 3] {
        let arm = difference(place, self.point);
        let [x, y] = self.tangents.map(|tangent| dot(arm, tangent));
        let angle = changed(y.atan2(x) * self.sectors / TAU) * TAU / self.sectors;
        let on_axis = moved(self.point, dot(arm, self.axis), self.axis);
        let (sin, cos) = angle.sin_cos();
        let out = moved(on_axis, x.hypot(y) * cos, self.tangents[0]);
        moved(out, x.hypot(y) * sin, self.tangents[1])
    }
}

impl Fold for Cyclic {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        self.turned(place, |sectors| {
            let within = within_period(sectors);
            if self.is_mirrored { within.min(1.0 - within) } else { within }
        })
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        let next = self.turned(place, |sectors| sectors + 1.0);
        let across = self.is_mirrored.then(|| self.turned(place, |sectors| -sectors));
        std::iter::once(next).chain(across).collect()
    }
}
