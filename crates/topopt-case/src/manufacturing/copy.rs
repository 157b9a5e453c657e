//! Designs that have a region twice or more, turned and scaled.

use topopt_mesh::vector::{cross, difference, dot, unit};

use super::fold::{Fold, Folds, moved};
use super::kind::{self, Asked, Key, ManufacturingKind};
use crate::config::{Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `copy`.
pub(super) const COPY: ManufacturingKind = ManufacturingKind {
    name: kind::COPY,
    text: "A box of the part is designed as another one is, which may be turned and of another \
           size. Images of solid and void elements stay so too. Several copies hold together.",
    keys: &[
        Key::needed("origin", Shape::Vector, "Corner of the box that is copied."),
        Key::needed("size", Shape::Vector, "Lengths of this box along the axes of its frame."),
        Key::optional(X, Shape::Vector, "First axis of its frame; by default [1, 0, 0]."),
        Key::optional(
            Y,
            Shape::Vector,
            "Direction of its second axis, from which what lies along the first one is taken; by \
             default [0, 1, 0].",
        ),
        Key::needed("to", Shape::Vector, "Corner of the copy."),
        Key::optional(TO_X, Shape::Vector, "First axis in the copy; by default that of the box."),
        Key::optional(TO_Y, Shape::Vector, "Second axis in the copy; by default that of the box."),
        Key::optional(
            "scale",
            Shape::Positive,
            "Lengths in the copy by those in the box; by default 1.",
        ),
    ],
    has_passive_images: true,
    has_ends: true,
    must_join: Some([
        "these copies join no two elements of the part",
        "move the boxes by `origin` and `to` into the part",
    ]),
    follows: false,
    suits: |_, _| None,
    pose,
    measure: kind::no_measure,
};

const X: &str = "x";
const Y: &str = "y";
const TO_X: &str = "to_x";
const TO_Y: &str = "to_y";

/// A box in a frame of its own.
#[derive(Clone, Copy, PartialEq)]
struct Region {
    corner: [f64; 3],
    /// Axes of length 1, across each other.
    axes: [[f64; 3]; 3],
    /// Lengths of the box along the axes.
    size: [f64; 3],
    /// Length of the unit in which places are given along the axes.
    scale: f64,
}

/// Two boxes of the same design; places of the second are brought to the first.
struct SameDesign {
    first: Region,
    second: Region,
}

/// Brings copies to what is copied, and this to its smallest copy, whose elements are the fewest
/// and can be variables for all.
fn pose(asked: &Asked) -> Result<Folds, Finding> {
    let boxes = asked.entries.iter().map(|entry| boxes(asked, entry));
    let boxes = boxes.collect::<Result<Vec<_>, _>>()?;
    for (k, own) in boxes.iter().enumerate() {
        if overlap(asked, own, &boxes[..k]) {
            return Err(overlapping(asked, asked.entries[k]));
        }
    }

    let is_smallest = |k: &usize| boxes[*k][1].scale < 1.0 && smallest(&boxes, *k) == Some(*k);
    let (last, first): (Vec<usize>, _) = (0..boxes.len()).partition(is_smallest);
    let turned = last.iter().map(|k| [boxes[*k][1], boxes[*k][0]]);
    let copies = first.into_iter().map(|k: usize| boxes[k]).chain(turned);
    Ok(copies.map(|[first, second]| Box::new(SameDesign { first, second }) as Box<_>).collect())
}

/// Number of the smallest copy of the main box of copy `k`, the first one of several.
fn smallest(boxes: &[[Region; 2]], k: usize) -> Option<usize> {
    let of_same = (0..boxes.len()).filter(|j| boxes[*j][0] == boxes[k][0]);
    of_same.min_by(|a, b| boxes[*a][1].scale.total_cmp(&boxes[*b][1].scale))
}

/// Whether elements are in two boxes: a main box and its copy, or either of them and one `before`.
/// Main boxes may be the same.
fn overlap(asked: &Asked, [main, copy]: &[Region; 2], before: &[[Region; 2]]) -> bool {
    let mains = before.iter().map(|[other, _]| (main, other)).filter(|(one, other)| one != other);
    let copies = before.iter().flat_map(|[main, copy]| [main, copy]).map(|other| (copy, other));
    let of_copies = before.iter().map(|[_, other]| (main, other));
    let mut pairs = mains.chain(copies).chain(of_copies).chain([(main, copy)]);
    pairs.any(|(one, other)| asked.centers.iter().any(|&at| one.has(at) && other.has(at)))
}

fn overlapping(asked: &Asked, entry: &Manufacturing) -> Finding {
    asked.finding(
        entry,
        "to",
        [
            "a box of this copy has elements that another box of a copy has, too",
            "overlaps",
            "move it by `to` or `origin`, or make it smaller by `scale` or `size`; copies of a copy \
             are copies of the same box",
        ],
    )
}

/// Reads the box that is copied, and its copy.
fn boxes(asked: &Asked, entry: &Manufacturing) -> Result<[Region; 2], Finding> {
    let vector = |key| entry.vector(key).unwrap_or_default();
    let (size, scale) = (vector("size"), entry.number("scale").unwrap_or(1.0));
    if size.iter().any(|length| *length <= 0.0) {
        return Err(asked.finding(
            entry,
            "size",
            [
                "the box that is copied has no volume",
                "lengths above 0 are needed",
                "give its lengths along the axes, such as [20, 10, 10]",
            ],
        ));
    }
    let x = entry.vector(X).unwrap_or([1.0, 0.0, 0.0]);
    let y = entry.vector(Y).unwrap_or([0.0, 1.0, 0.0]);
    let main = axes(asked, entry, [(X, x), (Y, y)])?;
    let [to_x, to_y] = [(TO_X, x), (TO_Y, y)].map(|(key, x)| (key, entry.vector(key).unwrap_or(x)));
    let copy = axes(asked, entry, [to_x, to_y])?;
    Ok([
        Region { corner: vector("origin"), axes: main, size, scale: 1.0 },
        Region { corner: vector("to"), axes: copy, size, scale },
    ])
}

/// Axes of length 1 along the first of two directions, in the plane of both, and across it.
fn axes(
    asked: &Asked,
    entry: &Manufacturing,
    [(first, x), (second, y)]: [(&str, [f64; 3]); 2],
) -> Result<[[f64; 3]; 3], Finding> {
    let x = unit(x).ok_or_else(|| no_axis(asked, entry, first))?;
    let y = unit(y).map(|y| moved(y, -dot(x, y), x)).filter(|y| dot(*y, *y) > 1e-12);
    let y = y.and_then(unit).ok_or_else(|| no_axis(asked, entry, second))?;
    Ok([x, y, cross(x, y)])
}

fn no_axis(asked: &Asked, entry: &Manufacturing, key: &str) -> Finding {
    asked.finding(
        entry,
        key,
        [
            "an axis of the frame has no direction of its own",
            "of length zero, or along the other axis",
            "give two directions across each other, such as [1, 0, 0] and [0, 1, 0]",
        ],
    )
}

/// Share of a box's lengths within which places beside it count as in it.
const ROUNDING: f64 = 1e-9;

impl Region {
    /// Returns where `place` lies along the axes, if it is in the box.
    fn inside(&self, place: [f64; 3]) -> Option<[f64; 3]> {
        let arm = difference(place, self.corner);
        let along = self.axes.map(|axis| dot(arm, axis) / self.scale);
        let is_within = |(x, size): (&f64, f64)| (x / size - 0.5).abs() <= 0.5 + ROUNDING;
        along.iter().zip(self.size).all(is_within).then_some(along)
    }

    fn has(&self, place: [f64; 3]) -> bool {
        self.inside(place).is_some()
    }

    /// The place that lies `along` the axes.
    fn place(&self, along: [f64; 3]) -> [f64; 3] {
        let along = along.iter().zip(self.axes);
        along.fold(self.corner, |place, (x, axis)| moved(place, x * self.scale, axis))
    }
}

impl Fold for SameDesign {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        self.second.inside(place).map_or(place, |along| self.first.place(along))
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        let of_first = self.first.inside(place).map(|along| self.second.place(along));
        let of_second = self.second.inside(place).map(|along| self.first.place(along));
        of_first.into_iter().chain(of_second).collect()
    }
}
