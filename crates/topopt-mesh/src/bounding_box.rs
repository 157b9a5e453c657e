//! Axis-aligned boxes.

use rayon::prelude::*;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundingBox {
    /// Smallest coordinates.
    pub min: [f64; 3],
    /// Largest coordinates.
    pub max: [f64; 3],
}

impl BoundingBox {
    /// The smallest box around `points`.
    pub fn of(points: impl IntoIterator<Item = [f64; 3]>) -> Self {
        let mut bounds = Self { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3] };
        for point in points {
            for i in 0..3 {
                bounds.min[i] = bounds.min[i].min(point[i]);
                bounds.max[i] = bounds.max[i].max(point[i]);
            }
        }
        bounds
    }

    /// Returns the smallest box around `points`, `[n_points][3]`, computed by several threads.
    pub fn around(points: &[[f64; 3]]) -> Self {
        let joined = |a: Self, b: Self| Self {
            min: std::array::from_fn(|i| a.min[i].min(b.min[i])),
            max: std::array::from_fn(|i| a.max[i].max(b.max[i])),
        };
        let boxes = points.par_chunks(1 << 16).map(|points| Self::of(points.iter().copied()));
        boxes.reduce(|| Self::of([]), joined)
    }

    /// Whether it has a point in common with another one.
    pub fn meets(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }

    /// Square of the distance of `x` from it; 0 inside.
    #[inline]
    pub fn squared_distance(&self, x: [f64; 3]) -> f64 {
        let beyond = |i: usize| (self.min[i] - x[i]).max(x[i] - self.max[i]).max(0.0);
        let [x, y, z] = [beyond(0), beyond(1), beyond(2)];
        x * x + y * y + z * z
    }

    /// Returns the box of twice the edge lengths with the same center.
    pub fn twice(&self) -> Self {
        let half = self.extent().map(|length| 0.5 * length);
        Self {
            min: std::array::from_fn(|i| self.min[i] - half[i]),
            max: std::array::from_fn(|i| self.max[i] + half[i]),
        }
    }

    /// Edge lengths.
    pub fn extent(&self) -> [f64; 3] {
        std::array::from_fn(|i| self.max[i] - self.min[i])
    }
}
