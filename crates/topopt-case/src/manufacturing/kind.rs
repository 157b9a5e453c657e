//! `ManufacturingKind`: a demand on how the part is made as a row of a table.

use topopt_mesh::vector::unit;

use super::built_part::BuiltPart;
use super::fold::Folds;
use super::made::Made;
use crate::config::{Config, Manufacturing, Shape};
use crate::finding::Finding;

/// Names of kinds by which densities follow from each other along a direction: printed, cast and
/// milled parts.
pub(super) const OVERHANG: &str = "overhang";
pub(super) const CASTING: &str = "casting";
pub(super) const MILLING: &str = "milling";

/// Names of kinds that a sheet does without.
pub(super) const MEMBER_SIZE: &str = "member_size";
pub(super) const OPEN_VOIDS: &str = "open_voids";

/// Names of the kinds of designs that repeat themselves, along a vector and in boxes.
pub(super) const PATTERN: &str = "pattern";
pub(super) const COPY: &str = "copy";

/// Yields the entries by which densities follow from each other.
pub(super) fn sweeps_of(config: &Config) -> impl Iterator<Item = &Manufacturing> {
    let is_sweep = |name: &str| [OVERHANG, CASTING, MILLING].contains(&name);
    config.manufacturing.iter().filter(move |entry| is_sweep(entry.kind.get_ref()))
}

/// A demand on how the part is made: its keys, and how it binds the densities of elements.
pub struct ManufacturingKind {
    /// Name in the case file.
    pub name: &'static str,
    /// Description in the schema of the case file.
    pub text: &'static str,
    /// Keys in the case file.
    pub keys: &'static [Key],
    /// Whether images of solid and void elements stay so, too.
    pub has_passive_images: bool,
    /// Whether places of equal density end within the part, as cells do: means over neighbors are
    /// not the same on both sides of the ends.
    pub has_ends: bool,
    /// Message and remedy where no two elements of the part come to share a density; none where
    /// that is fine.
    pub must_join: Option<[&'static str; 2]>,
    /// Whether densities follow from those of other elements, behind the density filter; a surface
    /// of a given width would not do, whose means over corners undo what is demanded.
    pub follows: bool,
    /// Message, label and remedy where an entry does not suit the rest of the case file.
    pub suits: fn(&Config, &Manufacturing) -> Option<[&'static str; 3]>,
    /// Reads all entries of the kind; none of a sweep from layer to layer are folds.
    pub pose: fn(&Asked) -> Result<Folds, Finding>,
    /// Measures of a built part, besides those that folds and widths have.
    pub measure: fn(&Asked, &BuiltPart) -> Vec<Made>,
}

/// Measures nothing.
pub(super) fn no_measure(_: &Asked, _: &BuiltPart) -> Vec<Made> {
    Vec::new()
}

/// A key of a demand.
pub struct Key {
    /// Name in the case file.
    pub name: &'static str,
    /// Description in the schema of the case file.
    pub text: &'static str,
    /// Type of the value.
    pub shape: Shape,
    /// Whether the kind needs it.
    pub is_required: bool,
}

impl Key {
    /// A key that the kind needs.
    pub(super) const fn needed(name: &'static str, shape: Shape, text: &'static str) -> Self {
        Self { name, text, shape, is_required: true }
    }

    /// A key that may be left out.
    pub(super) const fn optional(name: &'static str, shape: Shape, text: &'static str) -> Self {
        Self { name, text, shape, is_required: false }
    }
}

/// Entries of one kind, and the part.
pub struct Asked<'a> {
    /// The case file.
    pub config: &'a Config,
    /// Entries of the kind, one at least.
    pub entries: Vec<&'a Manufacturing>,
    /// Centers of the elements.
    pub centers: &'a [[f64; 3]],
    /// Mean width of an element.
    pub width: f64,
}

impl Asked<'_> {
    /// Builds a finding at `key` of an entry, or at its kind.
    pub fn finding(
        &self,
        entry: &Manufacturing,
        key: &str,
        [message, label, remedy]: [&str; 3],
    ) -> Finding {
        let span = entry.span_of(key).unwrap_or_else(|| entry.kind.span());
        Finding::new(message).at(self.config.source(), span, label).remedy(remedy)
    }

    /// Returns the vector of `key` with length 1; `about` is message and remedy for one without
    /// direction.
    ///
    /// # Errors
    /// A vector of length zero.
    pub fn direction(
        &self,
        entry: &Manufacturing,
        key: &str,
        [message, remedy]: [&str; 2],
    ) -> Result<[f64; 3], Finding> {
        let direction = entry.vector(key).and_then(unit);
        direction.ok_or_else(|| self.finding(entry, key, [message, "of length zero", remedy]))
    }
}
