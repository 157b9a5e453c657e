//! `Sweep`: directions along which densities follow from each other, and demands beside them.

use topopt_mesh::Plane;
use topopt_mesh::vector::{difference, dot, length};

use super::fold::{Folds, moved};
use super::kind::{Asked, CASTING, ManufacturingKind, OVERHANG};
use super::kinds::{asked, entries};
use super::{cast, milling, overhang};
use crate::config::Config;
use crate::finding::Finding;

/// Directions along which densities follow from each other.
pub(super) struct Sweep {
    /// Name of the kind that has them.
    kind: &'static str,
    /// Directions of length 1: upwards, or out of the part.
    directions: Vec<[f64; 3]>,
    /// Height along the first direction of the plane in which a mold parts.
    parting: Option<f64>,
}

/// Distance within which directions of length 1 are the same.
const SAME: f64 = 1e-6;

impl Sweep {
    /// Reads the directions of a part that is printed, cast or milled.
    ///
    /// # Errors
    /// A direction without length.
    pub(super) fn of(
        config: &Config,
        centers: &[[f64; 3]],
        width: f64,
    ) -> Result<Option<Self>, Finding> {
        let kinds = [&overhang::OVERHANG, &cast::CASTING, &milling::MILLING];
        let asked = |kind| Some((kind, asked(config, kind, centers, width)?));
        kinds.into_iter().find_map(asked).map(Self::of_kind).transpose()
    }

    fn of_kind((kind, asked): (&ManufacturingKind, Asked)) -> Result<Self, Finding> {
        let (directions, parting) = match kind.name {
            OVERHANG => (vec![overhang::up(&asked)?], None),
            CASTING => {
                let mold = cast::mold(&asked)?;
                (mold.ways().collect(), mold.parting)
            }
            _ => (milling::directions(&asked)?, None),
        };
        Ok(Self { kind: kind.name, directions, parting })
    }

    fn has(&self, direction: [f64; 3]) -> bool {
        self.directions.iter().any(|&own| length(difference(own, direction)) < SAME)
    }

    /// Whether `plane` mirrors each direction to itself or another one.
    pub(super) fn is_mirrored_by(&self, plane: &Plane, tolerance: f64) -> bool {
        let mut directions = self.directions.iter();
        directions.all(|&direction| {
            let turned = plane.image_of_vector(direction);
            let is_same = length(difference(turned, direction)) < SAME;
            self.has(turned) && (is_same || self.parts_at(plane.point, plane.point, tolerance))
        })
    }

    /// Whether the plane in which a mold parts lies in the middle between two places, if it is
    /// given.
    fn parts_at(&self, a: [f64; 3], b: [f64; 3], tolerance: f64) -> bool {
        let height = |place| dot(place, self.directions[0]);
        let off = |parting: f64| (height(a) + height(b) - 2.0 * parting).abs();
        self.parting.is_none_or(|parting| off(parting) <= 2.0 * tolerance)
    }

    /// Whether `folds` leave alone the densities that follow from each other at `center`.
    pub(super) fn is_kept_at(&self, center: [f64; 3], folds: &Folds, tolerance: f64) -> bool {
        let images = |end: [f64; 3]| folds.iter().flat_map(move |fold| fold.images(end));
        self.directions.iter().all(|&direction| {
            // A short way, so that both ends lie in the same cell or box.
            let pairs = images(center).zip(images(moved(center, tolerance, direction)));
            pairs.into_iter().all(|(image, farther)| {
                let turned = difference(farther, image).map(|x| x / tolerance);
                if length(difference(turned, direction)) < SAME {
                    // It follows from others as the place itself: at the same height.
                    dot(difference(image, center), direction).abs() <= tolerance
                } else {
                    self.has(turned) && self.parts_at(image, center, tolerance)
                }
            })
        })
    }

    /// Builds the finding about demands of a `kind` that binds elements at different heights.
    pub(super) fn not_kept(&self, config: &Config, kind: &ManufacturingKind) -> Finding {
        let [name, sweep] = [kind.name, self.kind];
        let message = format!("`{name}` and `{sweep}` do not go together in these directions");
        let place = entries(config, kind).next().map_or(0..0, |entry| entry.kind.span());
        let label = "binds elements at different heights";
        Finding::new(message).at(config.source(), place, label).remedy(
            "let planes contain the direction of build, draw or tool, axes lie along it, and \
             pitches and directions of extrusion across it",
        )
    }
}
