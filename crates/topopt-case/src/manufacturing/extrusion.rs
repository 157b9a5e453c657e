//! Designs of constant section, along a direction or a curve, and with a twist.

use rayon::prelude::*;
use topopt_mesh::CellList;
use topopt_mesh::numbers::place;
use topopt_mesh::vector::{difference, dot, unit};

use super::curve::{Curve, Foot};
use super::fold::{Fold, Folds, moved};
use super::kind::{self, Asked, Key, ManufacturingKind};
use crate::config::{Config, Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `extrusion`.
pub(super) const EXTRUSION: ManufacturingKind = ManufacturingKind {
    name: "extrusion",
    text: "The section is constant along a direction or a curve, as in a profile, and may turn.",
    keys: &[
        Key::optional("direction", Shape::Vector, "Direction of extrusion, of any length."),
        Key::optional(
            PATH,
            Shape::Vectors,
            "Points of a curve along which the section is constant, and across which it lies, in \
             place of `direction`.",
        ),
        Key::optional(
            TWIST,
            Shape::Number,
            "Turn of the section about the direction or the curve over `twist_length`, in degrees; by \
             default none.",
        ),
        Key::optional(
            TWIST_LENGTH,
            Shape::Positive,
            "Length over which the section turns by `twist_degrees`; that of the `path` by default.",
        ),
        Key::optional(POINT, Shape::Vector, "Coordinates of a point in the plane or on the axis."),
    ],
    has_passive_images: false,
    has_ends: false,
    must_join: None,
    follows: false,
    suits,
    pose,
    measure: kind::no_measure,
};

const DIRECTION: &str = "direction";
const PATH: &str = "path";
const TWIST: &str = "twist_degrees";
const TWIST_LENGTH: &str = "twist_length";
const POINT: &str = "point";

/// Most points of a path.
const MOST: usize = 200;

fn suits(_: &Config, entry: &Manufacturing) -> Option<[&'static str; 3]> {
    let [direction, path, twist, over, point] =
        [DIRECTION, PATH, TWIST, TWIST_LENGTH, POINT].map(|key| entry.gives(key));
    if direction == path {
        return Some([
            "`kind = \"extrusion\"` needs `direction` or `path`, and not both",
            "along which way",
            "give the direction along which the section is constant, such as \
             `direction = [1.0, 0.0, 0.0]`, or points of a curve by `path`",
        ]);
    }
    if twist && direction && !(over && point) {
        return Some([
            "a section that turns needs an axis, and a length over which it turns",
            "without `point` or `twist_length`",
            "add a point on the axis by `point = [0.0, 0.0, 0.0]`, and `twist_length = ...`",
        ]);
    }
    if !twist && (over || point) {
        return Some([
            "`twist_length` and `point` are without effect where the section does not turn",
            "without `twist_degrees`",
            "add `twist_degrees = ...`, or remove them",
        ]);
    }
    (path && point).then_some([
        "the section of a path turns about the path itself",
        "with `point`",
        "remove `point`",
    ])
}

/// A section that is constant along a direction.
struct Straight {
    direction: [f64; 3],
    width: f64,
}

/// A section that is constant along a curve, about which it may turn.
struct Along {
    curve: Curve,
    /// Turn by length, in radians.
    twist: f64,
    width: f64,
}

fn pose(asked: &Asked) -> Result<Folds, Finding> {
    asked.entries.iter().map(|entry| of_entry(asked, entry)).collect()
}

fn of_entry(asked: &Asked, entry: &Manufacturing) -> Result<Box<dyn Fold>, Finding> {
    let about = [
        "the direction of extrusion has no length",
        "give the direction along which the section is constant, such as [1, 0, 0]",
    ];
    let width = asked.width;
    let curve = match entry.vectors(PATH) {
        Some(points) => Curve::through(&checked(asked, entry, points)?),
        None => {
            let direction = asked.direction(entry, DIRECTION, about)?;
            if !entry.gives(TWIST) {
                return Ok(Box::new(Straight { direction, width }));
            }
            Curve::line(entry.vector(POINT).unwrap_or_default(), direction)
        }
    };
    let over = entry.number(TWIST_LENGTH).unwrap_or_else(|| curve.length());
    let twist = entry.number(TWIST).unwrap_or(0.0).to_radians() / over;
    let along = Along { curve, twist, width };
    if let Some(center) = along.without_one_foot(asked.centers) {
        let message =
            format!("the part has sections of this path that cross, as at {}", place(center));
        return Err(asked.finding(
            entry,
            PATH,
            [
                &message,
                "bends too narrowly",
                "give a path with wider bends, nearer to the part: the radius of a bend has to be \
             larger than the distance of the part from the path",
            ],
        ));
    }
    Ok(Box::new(along))
}

/// The points of a path that makes sense.
fn checked(
    asked: &Asked,
    entry: &Manufacturing,
    points: Vec<[f64; 3]>,
) -> Result<Vec<[f64; 3]>, Finding> {
    let is_twice = points.windows(2).any(|pair| pair[0] == pair[1]);
    if points.len() < 2 || points.len() > MOST || is_twice {
        return Err(asked.finding(
            entry,
            PATH,
            [
                "a path of extrusion has two to 200 points, none twice in a row",
                "these points",
                "give points along the curve, such as [[0, 0, 0], [10, 0, 2], [20, 0, 8]]",
            ],
        ));
    }
    if points[0] == points[points.len() - 1] {
        return Err(asked.finding(
            entry,
            PATH,
            [
                "the path of extrusion ends where it begins",
                "a closed curve",
                "leave out the last point and what the part does not reach; the sections of a ring \
                 repeat themselves by `kind = \"cyclic\"` with many `sectors`",
            ],
        ));
    }
    if let Some(turn) = points.windows(3).find(|three| goes_back(three)) {
        let message = format!("the path of extrusion goes back over itself at {}", place(turn[1]));
        return Err(asked.finding(
            entry,
            PATH,
            [&message, "these points", "give points in the order along the curve, each once"],
        ));
    }
    Ok(points)
}

/// Cosine of the sharpest turn of a path, of 150 degrees: a curve through its points comes back.
const SHARPEST: f64 = -0.866;

/// Whether a path turns back at the middle one of three points.
fn goes_back(points: &[[f64; 3]]) -> bool {
    let way = |i: usize| unit(difference(points[i + 1], points[i])).unwrap_or_default();
    dot(way(0), way(1)) < SHARPEST
}

impl Fold for Straight {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        moved(place, -dot(place, self.direction), self.direction)
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        vec![moved(place, self.width, self.direction)]
    }
}

/// Least distance of sections as a share of that on the curve, and the multiple of their distance
/// by which the sections of neighbors may lie apart.
const SPREAD: f64 = 0.1;
const APART: f64 = 1.5;

impl Along {
    /// Coordinates `across` the curve in a section that has turned by so much `along` it.
    fn turned(&self, [x, y]: [f64; 2], along: f64) -> [f64; 2] {
        let (sin, cos) = (self.twist * along).sin_cos();
        [cos * x - sin * y, sin * x + cos * y]
    }

    /// A center where sections cross, or whose neighbor lies in a section far from its own.
    fn without_one_foot(&self, centers: &[[f64; 3]]) -> Option<[f64; 3]> {
        let feet: Vec<Foot> = centers.par_iter().map(|&center| self.curve.foot(center)).collect();
        let near = APART * self.width;
        let list = CellList::new(centers, near);
        let is_far = |[a, b]: [&Foot; 2], distance: f64| {
            (a.along - b.along).abs() * a.spread.min(b.spread) > APART * distance
        };
        let is_lost = |e: &usize| {
            let own = &feet[*e];
            let is_apart = |other: u32, far: f64| is_far([own, &feet[other as usize]], far);
            own.spread < SPREAD || list.any_within(centers[*e], is_apart)
        };
        (0..centers.len()).into_par_iter().find_first(is_lost).map(|e| centers[e])
    }
}

impl Fold for Along {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        let Foot { along, across, .. } = self.curve.foot(place);
        self.curve.place(0.0, self.turned(across, -along))
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        let Foot { along, across, .. } = self.curve.foot(place);
        vec![self.curve.place(along + self.width, self.turned(across, self.width))]
    }
}
