//! Designs of constant section.

use topopt_mesh::vector::dot;

use super::fold::{Fold, Folds, moved};
use super::kind::{Asked, Key, ManufacturingKind};
use crate::config::Shape;
use crate::finding::Finding;

/// The kind `extrusion`.
pub(super) const EXTRUSION: ManufacturingKind = ManufacturingKind {
    name: "extrusion",
    text: "The density is constant along a direction, as in a profile.",
    keys: &[Key::needed("direction", Shape::Vector, "Direction of extrusion, of any length.")],
    has_passive_images: false,
    must_join: None,
    suits: |_, _| None,
    pose,
};

struct Extrusion {
    direction: [f64; 3],
    width: f64,
}

fn pose(asked: &Asked) -> Result<Folds, Finding> {
    let about = [
        "the direction of extrusion has no length",
        "give the direction along which the section is constant, such as [1, 0, 0]",
    ];
    let pose = |&entry: &&_| {
        let direction = asked.direction(entry, "direction", about)?;
        Ok(Box::new(Extrusion { direction, width: asked.width }) as Box<dyn Fold>)
    };
    asked.entries.iter().map(pose).collect()
}

impl Fold for Extrusion {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        moved(place, -dot(place, self.direction), self.direction)
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        vec![moved(place, self.width, self.direction)]
    }
}
