//! A linear field on one tetrahedron: gradients of its shape functions, volume and inradius.

use topopt_mesh::vector::{cross, difference, dot, length};

/// Smallest slope that a normal is divided by; the slope of an exact distance is 1.
pub(crate) const LEAST_SLOPE: f64 = 0.1;

/// The geometry of a tetrahedron that is not flat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    /// Gradients of the shape functions of its corners.
    pub gradients: [[f64; 3]; 4],
    /// Volume, positive for any orientation.
    pub volume: f64,
}

impl Element {
    /// The geometry of a tetrahedron with corners `x`; none if it is flat.
    #[inline]
    pub fn new(x: &[[f64; 3]; 4]) -> Option<Self> {
        let (a, b, c) = (difference(x[1], x[0]), difference(x[2], x[0]), difference(x[3], x[0]));
        let normals = [cross(b, c), cross(c, a), cross(a, b)];
        let determinant = dot(a, normals[0]);
        let inverse = 1.0 / determinant;
        if !inverse.is_finite() {
            return None;
        }

        // Loops rather than closures over arrays: these are not inlined, and an evolution takes
        // twice the time.
        let mut gradients = [[0.0; 3]; 4];
        for d in 0..3 {
            for i in 0..3 {
                gradients[i + 1][d] = normals[i][d] * inverse;
            }
            gradients[0][d] = -(gradients[1][d] + gradients[2][d] + gradients[3][d]);
        }
        Some(Self { gradients, volume: determinant.abs() / 6.0 })
    }

    /// The gradient of the field with these values at the corners.
    #[inline]
    pub fn gradient(&self, values: &[f64; 4]) -> [f64; 3] {
        let mut gradient = [0.0; 3];
        for a in 0..4 {
            for d in 0..3 {
                gradient[d] += self.gradients[a][d] * values[a];
            }
        }
        gradient
    }

    /// Radius of the inscribed sphere: the heights are 1 / |gradient|, and their reciprocals add up
    /// to that of the radius.
    pub fn inradius(&self) -> f64 {
        1.0 / self.gradients.map(length).iter().sum::<f64>()
    }
}

/// The normal of a front at a vertex, from the sum of volumes times gradients around it.
pub(crate) fn normal(sum: [f64; 3], volume: f64) -> [f64; 3] {
    let slope = length(sum).max(LEAST_SLOPE * volume);
    if slope > 0.0 { sum.map(|v| v / slope) } else { [0.0; 3] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inradius_and_the_gradient_are_those_of_a_known_tetrahedron() {
        let x = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]];
        for order in [[0, 1, 2, 3], [0, 2, 1, 3]] {
            let element = Element::new(&order.map(|corner: usize| x[corner])).unwrap();
            assert!((element.volume - 8.0 / 6.0).abs() < 1e-15);
            // 3 V / area of the faces = 4 / (6 + 2 sqrt(3)).
            assert!((element.inradius() - 4.0 / (6.0 + 12f64.sqrt())).abs() < 1e-15);
            let values = order.map(|corner| 3.0 * x[corner][0] - x[corner][2] + 7.0);
            let expected = [3.0, 0.0, -1.0];
            let gradient = element.gradient(&values);
            assert!((0..3).all(|d| (gradient[d] - expected[d]).abs() < 1e-14));
        }
        assert!(Element::new(&[x[0], x[1], x[2], [1.0, 1.0, 0.0]]).is_none());
    }
}
