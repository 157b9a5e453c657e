//! Forces per volume, as gravity and rotation make them.

use serde::{Serialize, Serializer};

use crate::DIM;

/// A force per volume that is linear in the coordinates, b(x) = uniform + gradient x, of solid
/// material of mass factor 1; an element of density rho and mass factor m carries rho m times as
/// much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BodyForce<const N: usize = DIM> {
    /// The force at the origin of the coordinates.
    #[serde(serialize_with = "listed")]
    pub uniform: [f64; N],
    /// Gradient of the force: db_i/dx_j at `[i][j]`.
    #[serde(serialize_with = "listed")]
    pub gradient: [[f64; DIM]; N],
}

/// Serializes an array of any length, which serde does not for a generic one.
fn listed<T: Serialize, S: Serializer, const N: usize>(
    values: &[T; N],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    values.as_slice().serialize(serializer)
}

impl<const N: usize> BodyForce<N> {
    /// No body force.
    pub const ZERO: Self = Self { uniform: [0.0; N], gradient: [[0.0; DIM]; N] };

    /// Whether it is zero everywhere.
    pub fn is_zero(&self) -> bool {
        (0..N).all(|i| self.is_zero_along(i))
    }

    /// Whether component `i` is zero everywhere.
    pub fn is_zero_along(&self, i: usize) -> bool {
        self.uniform[i] == 0.0 && self.gradient[i] == [0.0; DIM]
    }

    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.uniform.iter().chain(self.gradient.as_flattened()).all(|b| b.is_finite())
    }

    /// The part that changes with the place, at `x`.
    pub(crate) fn varying_at(&self, x: [f64; DIM]) -> [f64; N] {
        self.gradient.map(|row| row.iter().zip(x).map(|(b, x)| b * x).sum())
    }

    /// `factor` times it.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            uniform: self.uniform.map(|b| factor * b),
            gradient: self.gradient.map(|row| row.map(|b| factor * b)),
        }
    }

    /// The sum with `other`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            uniform: std::array::from_fn(|i| self.uniform[i] + other.uniform[i]),
            gradient: std::array::from_fn(|i| {
                std::array::from_fn(|j| self.gradient[i][j] + other.gradient[i][j])
            }),
        }
    }
}

impl BodyForce {
    /// The centrifugal force -w x (w x (x - c)) of unit mass per volume, which turns with the
    /// angular velocity w (radians per time) about an axis through the point c.
    pub fn centrifugal(w: [f64; DIM], c: [f64; DIM]) -> Self {
        let square: f64 = w.iter().map(|w| w * w).sum();
        let gradient = std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { square } else { 0.0 } - w[i] * w[j])
        });
        let about_origin = Self { uniform: [0.0; DIM], gradient };
        Self { uniform: about_origin.varying_at(c).map(|b| -b), gradient }
    }
}

impl<const N: usize> From<[f64; N]> for BodyForce<N> {
    /// Returns a uniform force, such as gravity.
    fn from(uniform: [f64; N]) -> Self {
        Self { uniform, ..Self::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topopt_mesh::vector::{cross, difference};

    #[test]
    fn a_centrifugal_force_is_minus_w_cross_w_cross_r() {
        let (w, c) = ([0.3, -2.0, 0.7], [1.0, 5.0, -2.0]);
        let force = BodyForce::centrifugal(w, c);
        for x in [c, [0.0; 3], [3.0, -1.0, 4.0], [1.3, 3.0, -1.3]] {
            let expected = cross(w, cross(w, difference(x, c))).map(|a| -a);
            let varying = force.varying_at(x);
            for i in 0..3 {
                assert!((force.uniform[i] + varying[i] - expected[i]).abs() < 1e-13, "{x:?}");
            }
        }
        assert!(!force.is_zero() && BodyForce::centrifugal([0.0; 3], c).is_zero());
        assert!(BodyForce::centrifugal([0.0, 0.0, 2.0], c).is_zero_along(2));
    }
}
