//! Table of the demands, and the entries of a case file by it.

use super::kind::{Asked, ManufacturingKind};
use super::{
    cast, copy, cyclic, extrusion, member_size, milling, open_voids, overhang, pattern, symmetry,
    uniform,
};
use crate::config::{Config, Manufacturing};

/// Kinds of demands, in the order in which places are brought to those that stand for them.
pub(super) static KINDS: [ManufacturingKind; 11] = [
    copy::COPY,
    pattern::PATTERN,
    cyclic::CYCLIC,
    symmetry::SYMMETRY,
    extrusion::EXTRUSION,
    uniform::UNIFORM,
    overhang::OVERHANG,
    cast::CASTING,
    milling::MILLING,
    open_voids::OPEN_VOIDS,
    member_size::MEMBER_SIZE,
];

/// Returns the entries of a kind on the part, if there are any.
pub(super) fn asked<'a>(
    config: &'a Config,
    kind: &ManufacturingKind,
    centers: &'a [[f64; 3]],
    width: f64,
) -> Option<Asked<'a>> {
    let entries: Vec<_> = entries(config, kind).collect();
    (!entries.is_empty()).then_some(Asked { config, entries, centers, width })
}

impl Config {
    /// Whether densities follow from those of elements below, above, or on the way to the outside.
    pub(crate) fn is_swept(&self) -> bool {
        KINDS.iter().any(|kind| kind.follows && entries(self, kind).next().is_some())
    }

    /// Whether one set of variables makes several designs, by thresholds of one projection.
    pub(crate) fn has_sizes(&self) -> bool {
        entries(self, &member_size::MEMBER_SIZE).next().is_some()
    }

    /// Largest width of members, where they have one (length).
    pub(crate) fn largest_width(&self) -> Option<f64> {
        entries(self, &member_size::MEMBER_SIZE).find_map(|entry| entry.number("maximum"))
    }

    /// Whether the part is a sheet that is drawn over a die.
    pub(crate) fn is_stamped(&self) -> bool {
        entries(self, &cast::CASTING).any(|entry| entry.gives(cast::THICKNESS))
    }

    /// Whether densities follow from those below.
    pub(crate) fn is_printed(&self) -> bool {
        entries(self, &overhang::OVERHANG).next().is_some()
    }
}

pub(super) fn entries<'a>(
    config: &'a Config,
    kind: &ManufacturingKind,
) -> impl Iterator<Item = &'a Manufacturing> {
    config.manufacturing.iter().filter(|entry| entry.kind.get_ref() == kind.name)
}
