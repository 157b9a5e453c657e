//! `Sizes`: designs that come out thinner or thicker than the built one, which gives members and
//! gaps a least width.

use serde::{Deserialize, Serialize};

/// One of the designs that the same variables make, by the threshold of the projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Realization {
    /// The design that is built and written, at the threshold of the projection.
    Built,
    /// The thinner design that is solved: a member without a core of its own carries nothing.
    Eroded,
    /// The thicker design whose material counts: a gap that closes in it saves nothing.
    Dilated,
}

/// Thresholds of the thinner and of the thicker design \[WangLazarovSigmund2011\].
///
/// The thinnest design is always the most compliant one, so it alone is solved, but for outputs of
/// mechanisms: joints may be too thin or too thick, so the thickest one is solved as well, and the
/// worse of both counts. Material counts in the thickest one, with a limit that follows its ratio
/// to the built one in each iteration, so that the built design has the volume that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// Threshold of the eroded design, >= 0.5.
    pub eroded: f64,
    /// Threshold of the dilated design, <= 0.5.
    pub dilated: f64,
    /// Whether the dilated design is solved, too.
    pub solves_both: bool,
}

impl Sizes {
    /// Thresholds for the least widths of members and of gaps, in radii of the filter; 0 for any.
    pub fn new(member: f64, gap: f64) -> Self {
        Self { eroded: threshold(member), dilated: 1.0 - threshold(gap), solves_both: false }
    }

    /// Returns the thresholds with a dilated design that is solved as well, and is as much thicker
    /// as the eroded one is thinner.
    #[must_use]
    pub fn solving_both(self) -> Self {
        let eroded = self.eroded.max(1.0 - self.dilated);
        Self { eroded, dilated: 1.0 - eroded, solves_both: true }
    }
}

/// Share of a cone filter's volume that lies within a plate `width` wide, seen from its middle; in
/// radii.
pub fn share_in_plate(width: f64) -> f64 {
    filtered(0.0, width)
}

/// Share of a cone filter's volume that is behind a plane, seen from the `depth` behind it, in
/// radii.
pub fn share_behind(depth: f64) -> f64 {
    weight_below(depth)
}

/// Distance behind a plane at which that `share` of a cone filter's volume is behind it, in radii.
pub fn depth_of(share: f64) -> f64 {
    bisected(|depth| weight_below(depth) < share)
}

/// Threshold above which a cone filter leaves nothing of plates that come out up to `width` wide at
/// the threshold 1/2; both lengths in radii, `width` from 0 to 1.
///
/// The known relation [QianSigmund2013] is that of a hat over a line. A cone in space, seen along a
/// plate, weighs distances t by 1 - 3 t^2 + 2 t^3, which is narrower: with a hat's threshold plates
/// come out an eighth too thin.
fn threshold(width: f64) -> f64 {
    if width == 0.0 {
        return 0.5;
    }
    // The plate of variables that comes out as wide as asked: its filtered density there grows
    // with it.
    filtered(0.0, bisected(|thickness| filtered(0.5 * width, thickness) < 0.5))
}

/// Halvings after which no number lies in between.
const BISECTIONS: usize = 60;

/// The least length from 0 to 2 that is not `too_small`.
fn bisected(too_small: impl Fn(f64) -> bool) -> f64 {
    let (mut small, mut large) = (0.0, 2.0);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (small + large);
        *(if too_small(middle) { &mut small } else { &mut large }) = middle;
    }
    large
}

/// Filtered density at the distance `x` from the middle of a plate of variables, `thickness` wide.
fn filtered(x: f64, thickness: f64) -> f64 {
    weight_below(x + 0.5 * thickness) - weight_below(x - 0.5 * thickness)
}

/// Weight of a cone of radius 1 on one side of a plane at the distance `t` from its center.
fn weight_below(t: f64) -> f64 {
    let a = t.abs().min(1.0);
    0.5 + t.signum() * (a - a.powi(3) + 0.5 * a.powi(4))
}

/// Volume under a cone filter of that `radius`, which sums over neighbors and their volumes come
/// to away from faces of the mesh.
pub fn whole_sum(radius: f64) -> f64 {
    std::f64::consts::PI / 3.0 * radius.powi(4)
}
