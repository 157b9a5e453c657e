//! Parts of space.

use crate::BoundingBox;
use crate::vector::{difference, dot, length, unit};

/// A part of space.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Between two corners.
    Box {
        /// Smallest coordinates.
        min: [f64; 3],
        /// Largest coordinates.
        max: [f64; 3],
    },
    /// Around a plane.
    Plane {
        /// A point of the plane.
        point: [f64; 3],
        /// Normal of the plane, of any length but zero.
        normal: [f64; 3],
        /// Largest distance from the plane.
        tolerance: f64,
    },
    /// Inside an endless cylinder and outside a thinner one.
    Cylinder {
        /// A point of the axis.
        point: [f64; 3],
        /// Direction of the axis, of any length but zero.
        axis: [f64; 3],
        /// Radius.
        radius: f64,
        /// Radius of the cylinder left out; 0 for none.
        inner_radius: f64,
    },
    /// Inside a sphere.
    Sphere {
        /// Center of the sphere.
        center: [f64; 3],
        /// Radius of the sphere (length).
        radius: f64,
    },
    /// Within a distance of the nearest of some points.
    Near {
        /// The points, at least one.
        points: Vec<[f64; 3]>,
        /// The distance, not negative.
        distance: f64,
    },
}

impl Shape {
    /// Distance of `x` from the region; 0 inside.
    pub fn distance(&self, x: &[f64; 3]) -> f64 {
        match self {
            Shape::Box { min, max } => {
                BoundingBox { min: *min, max: *max }.squared_distance(*x).sqrt()
            }
            _ => (-self.depth(x)).max(0.0),
        }
    }

    /// Distance of `x` from the end of the region, negative outside; beyond an edge of a box, that
    /// from the farthest of its planes.
    pub fn depth(&self, x: &[f64; 3]) -> f64 {
        match self {
            Shape::Box { min, max } => {
                let within = |i: usize| (x[i] - min[i]).min(max[i] - x[i]);
                within(0).min(within(1)).min(within(2))
            }
            Shape::Plane { point, normal, tolerance } => {
                let height = dot(difference(*x, *point), unit(*normal).unwrap_or_default());
                tolerance - height.abs()
            }
            Shape::Cylinder { point, axis, radius, inner_radius } => {
                let from = difference(*x, *point);
                let along = unit(*axis).unwrap_or_default();
                let height = dot(from, along);
                let off: [f64; 3] = std::array::from_fn(|i| from[i] - height * along[i]);
                let off = length(off);

                // A hollow cylinder has an outside within its bore, too; a full one no end there.
                let within = radius - off;
                if *inner_radius > 0.0 { within.min(off - inner_radius) } else { within }
            }
            Shape::Sphere { center, radius } => radius - length(difference(*x, *center)),
            Shape::Near { points, distance: reach } => {
                let to = |point: &[f64; 3]| length(difference(*x, *point));
                let least = points.iter().map(to).fold(f64::INFINITY, f64::min);
                reach - least
            }
        }
    }
}
