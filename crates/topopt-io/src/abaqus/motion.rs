//! `Motion`: the translation and rotation of an instance.

use topopt_mesh::vector::{cross, difference, dot, length};

/// A translation, then a rotation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Motion {
    pub translation: [f64; 3],
    /// Two points of the axis, and the angle in degrees.
    pub rotation: Option<([f64; 3], [f64; 3], f64)>,
}

impl Motion {
    /// Returns the place to which `x` moves (Abaqus Keywords Guide, *INSTANCE).
    pub fn of(&self, x: [f64; 3]) -> [f64; 3] {
        let moved: [f64; 3] = std::array::from_fn(|i| x[i] + self.translation[i]);
        let Some((a, b, angle)) = self.rotation else { return moved };
        let axis = difference(b, a);
        let size = length(axis);
        if size == 0.0 {
            return moved;
        }

        // Rodrigues' formula about the axis through a.
        let axis = axis.map(|v| v / size);
        let (sine, cosine) = angle.to_radians().sin_cos();
        let r = difference(moved, a);
        let (across, along) = (cross(axis, r), dot(axis, r));
        std::array::from_fn(|i| {
            a[i] + r[i] * cosine + across[i] * sine + axis[i] * along * (1.0 - cosine)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translated_then_turned_about_an_axis() {
        let rotation = Some(([1.0, 0.0, 0.0], [1.0, 0.0, 2.0], 90.0));
        let motion = Motion { translation: [1.0, 2.0, 3.0], rotation };
        let x = motion.of([1.0, 0.0, 0.0]); // to (2, 2, 3), then about (1, 0)
        let expected = [-1.0, 1.0, 3.0];
        assert!((0..3).all(|i| (x[i] - expected[i]).abs() < 1e-15), "{x:?}");
        assert_eq!(Motion::default().of([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }
}
