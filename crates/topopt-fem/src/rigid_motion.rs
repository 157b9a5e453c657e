//! Rigid motions of a part.

use serde::Serialize;
use topopt_mesh::vector::cross;

use crate::DIM;

/// A rigid motion about a center: a small displacement, or an acceleration.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RigidMotion {
    /// Motion of the center.
    pub translation: [f64; DIM],
    /// Rotation about it, in radians.
    pub rotation: [f64; DIM],
}

impl RigidMotion {
    /// The motion at `offset` from the center.
    pub fn at(&self, offset: [f64; DIM]) -> [f64; DIM] {
        let turned = cross(self.rotation, offset);
        std::array::from_fn(|i| self.translation[i] + turned[i])
    }

    /// Adds `factor` times another one about the same center.
    pub(crate) fn add(&mut self, factor: f64, other: &Self) {
        for i in 0..DIM {
            self.translation[i] += factor * other.translation[i];
            self.rotation[i] += factor * other.rotation[i];
        }
    }
}
