//! A sharp curve between patches of one body or several, from corner to corner or closed.

use crate::nearest::Nearest;
use crate::surface::Vec3;

/// Sharp curve of a surface from corner to corner, or closed.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// Points, `[n_points]`; the last of a closed one is the first.
    pub points: Vec<Vec3>,
    /// Length of the curve up to each point, `[n_points]`.
    pub arcs: Vec<f64>,
    /// Corners at the ends; none of a closed one.
    pub ends: Option<[u32; 2]>,
    /// Bodies around the curve, ascending.
    pub wedges: Vec<Wedge>,
    /// Regions that sheets around the curve divide.
    pub sheets: Sheets,
    segments: Nearest,
}

/// Pairs of regions, ascending, that sheets of surface at a place divide: 0 is outside, bodies
/// follow.
pub(crate) type Sheets = Vec<[u32; 2]>;

/// Body along a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wedge {
    /// The body.
    pub body: u32,
    /// Patches on the left and on the right, seen from outside of the body along the curve.
    pub sides: [u32; 2],
    /// Angle of the body (degrees), the median along the curve.
    pub angle: f64,
}

impl Wedge {
    /// Number of hexahedra around an edge of the curve that suits the angle.
    pub fn ideal(&self) -> usize {
        match self.angle {
            angle if angle < 135.0 => 1,
            angle if angle < 225.0 => 2,
            _ => 3,
        }
    }

    /// Whether the patches at the sides are flat to each other, or the corner points inward.
    pub fn is_flat_or_concave(&self) -> bool {
        self.ideal() > 1
    }

    /// Patch across the curve from `patch`.
    pub fn other_side(&self, patch: u32) -> u32 {
        if self.sides[0] == patch { self.sides[1] } else { self.sides[0] }
    }
}

/// Foot of a place on a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChainFoot {
    /// The foot.
    pub point: Vec3,
    /// Unit tangent there.
    pub tangent: Vec3,
    /// Length of the curve up to there.
    pub arc: f64,
}

impl Chain {
    /// Measures the curve through `points`.
    pub fn new(
        points: Vec<Vec3>,
        ends: Option<[u32; 2]>,
        wedges: Vec<Wedge>,
        sheets: Sheets,
    ) -> Self {
        let mut arcs = vec![0.0; points.len()];
        for i in 1..points.len() {
            arcs[i] = arcs[i - 1] + (points[i] - points[i - 1]).norm();
        }
        let segments =
            Nearest::new(points.windows(2).map(|ends| [ends[0], ends[1], ends[1]]).enumerate());
        Self { points, arcs, ends, wedges, sheets, segments }
    }

    /// Whether the curve has no ends.
    pub fn is_closed(&self) -> bool {
        self.ends.is_none()
    }

    /// Length.
    pub fn length(&self) -> f64 {
        self.arcs[self.arcs.len() - 1]
    }

    /// Wedge of a body.
    pub fn wedge_of(&self, body: u32) -> Option<&Wedge> {
        self.wedges.iter().find(|wedge| wedge.body == body)
    }

    /// Returns the foot of `x`.
    pub fn foot(&self, x: &Vec3) -> ChainFoot {
        let foot = self.segments.foot(x);
        let [a, b] = [self.points[foot.index], self.points[foot.index + 1]];
        let tangent = (b - a).try_normalize(0.0).unwrap_or_default();
        let arc = self.arcs[foot.index] + (foot.point - a).norm();
        ChainFoot { point: foot.point, tangent, arc }
    }

    /// Returns the point at `arc`; that of a closed one at any multiple of its length more.
    pub fn at(&self, arc: f64) -> Vec3 {
        let arc = if self.is_closed() { arc.rem_euclid(self.length()) } else { arc };
        let next = self.arcs.partition_point(|&a| a <= arc).clamp(1, self.arcs.len() - 1);
        let [low, high] = [self.arcs[next - 1], self.arcs[next]];
        let share = if high > low { ((arc - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
        self.points[next - 1] + (self.points[next] - self.points[next - 1]) * share
    }
}
