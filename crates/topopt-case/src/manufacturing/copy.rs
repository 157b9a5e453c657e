//! Designs of which a region is repeated elsewhere, turned and scaled.

use topopt_mesh::vector::{cross, difference, dot, unit};

use super::fold::{Fold, Folds, moved};
use super::kind::{self, Asked, Key, ManufacturingKind};
use crate::config::{Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `copy`.
pub(super) const COPY: ManufacturingKind = ManufacturingKind {
    name: "copy",
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
struct Region {
    corner: [f64; 3],
    /// Axes of length 1, across each other.
    axes: [[f64; 3]; 3],
    /// Lengths of the box along the axes.
    size: [f64; 3],
    /// Length of the unit in which places are given along the axes.
    scale: f64,
}

struct Copy {
    main: Region,
    copy: Region,
}

fn pose(asked: &Asked) -> Result<Folds, Finding> {
    let copies = asked.entries.iter().map(|entry| copy(asked, entry));
    let copies = copies.collect::<Result<Vec<_>, _>>()?;
    for (k, copy) in copies.iter().enumerate() {
        let others = copies[..k].iter().flat_map(|other| [&other.main, &other.copy]);
        let mut others = others.chain([&copy.main]);
        if others.any(|other| asked.centers.iter().any(|&at| copy.copy.has(at) && other.has(at))) {
            return Err(asked.finding(
                asked.entries[k],
                "to",
                [
                    "a copy has elements that another box of a copy has, too",
                    "overlaps",
                    "move it by `to`, or make it smaller by `scale` or `size`",
                ],
            ));
        }
    }
    Ok(copies.into_iter().map(|copy| Box::new(copy) as Box<_>).collect())
}

fn copy(asked: &Asked, entry: &Manufacturing) -> Result<Copy, Finding> {
    let vector = |key| entry.vector(key).unwrap_or_default();
    let size = vector("size");
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
    let scale = entry.number("scale").unwrap_or(1.0);
    Ok(Copy {
        main: Region { corner: vector("origin"), axes: main, size, scale: 1.0 },
        copy: Region { corner: vector("to"), axes: axes(asked, entry, [to_x, to_y])?, size, scale },
    })
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

/// Share of the lengths of a box by which places beside it count as in it.
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

impl Fold for Copy {
    fn fold(&self, place: [f64; 3]) -> [f64; 3] {
        self.copy.inside(place).map_or(place, |along| self.main.place(along))
    }

    fn images(&self, place: [f64; 3]) -> Vec<[f64; 3]> {
        let of_main = self.main.inside(place).map(|along| self.copy.place(along));
        let of_copy = self.copy.inside(place).map(|along| self.main.place(along));
        of_main.into_iter().chain(of_copy).collect()
    }
}
