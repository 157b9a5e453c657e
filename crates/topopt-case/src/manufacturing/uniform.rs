//! Designs of parallel plates.

use topopt_mesh::vector::{across, dot};

use super::fold::{Fold, Folds, moved};
use super::kind::{self, Asked, Key, ManufacturingKind};
use crate::config::Shape;
use crate::finding::Finding;

/// The kind `uniform`.
pub(super) const UNIFORM: ManufacturingKind = ManufacturingKind {
    name: "uniform",
    text: "The density is constant in planes, as in parallel plates.",
    keys: &[Key::needed("normal", Shape::Vector, "Direction across the planes, of any length.")],
    has_passive_images: false,
    has_ends: false,
    must_join: None,
    follows: false,
    suits: |_, _| None,
    pose,
    measure: kind::no_measure,
};

struct Uniform {
    normal: [f64; 3],
    width: f64,
}

fn pose(asked: &Asked) -> Result<Folds, Finding> {
    let about = [
        "the normal of planes of constant density has no length",
        "give the direction in which the density may change, such as [0, 0, 1]",
    ];
    let pose = |&entry: &&_| {
        let normal = asked.direction(entry, "normal", about)?;
        Ok(Box::new(Uniform { normal, width: asked.width }) as Box<dyn Fold>)
    };
    asked.entries.iter().map(pose).collect()
}

impl Fold for Uniform {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        self.normal.map(|n| n * dot(place, self.normal))
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        across(self.normal).map(|tangent| moved(place, self.width, tangent)).into()
    }
}
