//! Designs that repeat along a vector.

use topopt_mesh::vector::{dot, length};

use super::fold::{Fold, Folds, moved, within_period};
use super::kind::{self, Asked, Key, ManufacturingKind};
use crate::config::{Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `pattern`.
pub(super) const PATTERN: ManufacturingKind = ManufacturingKind {
    name: kind::PATTERN,
    text: "The design repeats itself along a vector.",
    keys: &[
        Key::needed("pitch", Shape::Vector, "Vector from each cell of the pattern to the next."),
        Key::optional(
            "start",
            Shape::Vector,
            "A point in the plane where a cell begins; by default the first one of the part.",
        ),
    ],
    has_passive_images: false,
    has_ends: true,
    must_join: Some(["this pattern repeats nothing", "give a `pitch` shorter than the part"]),
    follows: false,
    suits: |_, _| None,
    pose,
    measure: kind::no_measure,
};

struct Pattern {
    pitch: [f64; 3],
    start: [f64; 3],
}

fn pose(asked: &Asked) -> Result<Folds, Finding> {
    asked.entries.iter().map(|entry| Ok(Box::new(pattern(asked, entry)?) as Box<_>)).collect()
}

fn pattern(asked: &Asked, entry: &Manufacturing) -> Result<Pattern, Finding> {
    let about = [
        "the pitch of a pattern has no length",
        "give the vector from a cell to the next, such as [10, 0, 0]",
    ];
    let direction = asked.direction(entry, "pitch", about)?;
    let pitch = entry.vector("pitch").unwrap_or_default();
    if length(pitch) < asked.width {
        let finding = [
            "the cells of this pattern are smaller than the elements",
            "shorter than an element",
            "give a longer `pitch`, or a finer mesh",
        ];
        return Err(asked.finding(entry, "pitch", finding));
    }

    // Half an element below the lowest center.
    let heights = asked.centers.iter().map(|&center| dot(center, direction));
    let lowest = heights.fold(f64::INFINITY, f64::min) - asked.width / 2.0;
    let start = entry.vector("start").unwrap_or(direction.map(|x| x * lowest));
    Ok(Pattern { pitch, start })
}

impl Fold for Pattern {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        let from_start = moved(place, -1.0, self.start);
        let cells = dot(from_start, self.pitch) / dot(self.pitch, self.pitch);
        moved(place, within_period(cells) - cells, self.pitch)
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        vec![moved(place, 1.0, self.pitch)]
    }
}
