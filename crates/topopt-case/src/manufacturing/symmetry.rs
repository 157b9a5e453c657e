//! Designs that mirror themselves across planes.

use topopt_mesh::Plane;
use topopt_mesh::vector::{difference, dot};

use super::fold::{Fold, Folds};
use super::kind::{self, Asked, Key, ManufacturingKind};
use crate::config::{Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `symmetry`.
pub(super) const SYMMETRY: ManufacturingKind = ManufacturingKind {
    name: "symmetry",
    text: "The design mirrors itself across a plane; loads and supports need not. Images of solid \
           and void elements stay so too. Several planes hold together.",
    keys: &[
        Key::needed("point", Shape::Vector, "Coordinates of a point in the plane or on the axis."),
        Key::needed("normal", Shape::Vector, "Direction across the planes, of any length."),
    ],
    has_passive_images: true,
    has_ends: false,
    must_join: Some([
        "this plane joins no two elements of the part",
        "move the plane by `point` and `normal` to the middle of the part",
    ]),
    follows: false,
    suits: |_, _| None,
    pose,
    measure: kind::no_measure,
};

/// Planes that hold together: all mirror images of each plane in the others are planes, too.
pub(super) struct Mirrors {
    planes: Vec<Plane>,
}

/// Most planes that mirror each other; of an icosahedron there are 15, and of a prism as many as
/// it has sides.
const MOST: usize = 64;

/// Defect of a cosine, and share of an element, within which planes are the same.
const SAME: f64 = 1e-9;
const TOLERANCE: f64 = 1e-3;

/// A direction in no plane that anyone gives: planes look to it.
const GENERIC: [f64; 3] = [0.841_274, 0.446_213, 0.304_789];

fn pose(asked: &Asked) -> Result<Folds, Finding> {
    let planes = asked.entries.iter().map(|entry| plane(asked, entry));
    match Mirrors::of(planes.collect::<Result<Vec<_>, Finding>>()?, asked.width) {
        Some(mirrors) => Ok(vec![Box::new(mirrors)]),
        None => {
            let finding = [
                "these planes of symmetry mirror each other again and again",
                "one of several",
                "give planes that meet in a point, at 90, 60, 45 or 30 degrees to each other; for \
                 cells in a row there is `kind = \"pattern\"`",
            ];
            Err(asked.finding(asked.entries[asked.entries.len() - 1], "normal", finding))
        }
    }
}

fn plane(asked: &Asked, entry: &Manufacturing) -> Result<Plane, Finding> {
    let about = [
        "the normal of a plane of symmetry has no direction",
        "give the direction across the plane, such as [0, 1, 0]",
    ];
    let normal = asked.direction(entry, "normal", about)?;
    let plane = Plane { point: entry.vector("point").unwrap_or_default(), normal };
    let is_above = |center: &&[f64; 3]| height(&plane, **center) > 0.0;
    let above = asked.centers.iter().filter(is_above).count();
    if above > 0 && above < asked.centers.len() {
        return Ok(plane);
    }
    let finding = [
        "a plane of symmetry has the whole part on one side",
        "misses the part",
        "move the plane by `point` and `normal` to the middle of the part",
    ];
    Err(asked.finding(entry, "point", finding))
}

impl Mirrors {
    /// Completes `planes`; none if their images do not come to an end. Planes much nearer to each
    /// other than `width`, that of an element, are the same.
    pub(super) fn of(planes: Vec<Plane>, width: f64) -> Option<Self> {
        let mut all: Vec<Plane> = Vec::new();
        let mut new = planes;
        while let Some(plane) = new.pop() {
            if all.iter().any(|other| are_same(other, &plane, width)) {
                continue;
            }
            if all.len() == MOST {
                return None;
            }
            new.extend(all.iter().flat_map(|other| [image(&plane, other), image(other, &plane)]));
            all.push(plane);
        }

        // The places that no plane looks away from are one chamber of all of them.
        for Plane { normal, .. } in &mut all {
            let sign = dot(*normal, GENERIC).signum();
            *normal = normal.map(|x| sign * x);
        }
        Some(Self { planes: all })
    }

    /// The plane from which `place` is farthest on the side that it looks away from.
    fn farthest(&self, place: [f64; 3]) -> Option<&Plane> {
        let below = self.planes.iter().map(|plane| (height(plane, place), plane));
        let below = below.filter(|(height, _)| *height < 0.0);
        below.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, plane)| plane)
    }
}

impl Fold for Mirrors {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        let mut place = place;
        // Each image is nearer to the chamber, and no way to it has more mirrors than there are.
        for _ in 0..self.planes.len() {
            let Some(plane) = self.farthest(place) else { break };
            place = plane.image(place);
        }
        place
    }

    fn planes(&self) -> &[Plane] {
        &self.planes
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        self.planes.iter().map(|plane| plane.image(place)).collect()
    }
}

fn height(plane: &Plane, place: [f64; 3]) -> f64 {
    dot(difference(place, plane.point), plane.normal)
}

fn image(plane: &Plane, mirror: &Plane) -> Plane {
    Plane { point: mirror.image(plane.point), normal: mirror.image_of_vector(plane.normal) }
}

fn are_same(a: &Plane, b: &Plane, width: f64) -> bool {
    dot(a.normal, b.normal).abs() > 1.0 - SAME && height(a, b.point).abs() < TOLERANCE * width
}
