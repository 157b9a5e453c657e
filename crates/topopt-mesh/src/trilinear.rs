//! The map of a hexahedron as a polynomial: a third of the work of sums over its nodes.

use crate::hexahedron::{determinant, gauss_points};
use crate::vector::dot;

/// x(xi) = sum of coefficients times 1, xi, eta, zeta, xi eta, eta zeta, zeta xi, xi eta zeta.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trilinear([[f64; 3]; 8]);

impl Trilinear {
    /// The map of the element with node coordinates `x`.
    #[inline]
    pub fn of(x: &[[f64; 3]; 8]) -> Self {
        let mut c = [[0.0; 3]; 8];
        for i in 0..3 {
            // Sums and differences along xi, of those along eta, and of those along zeta.
            let pair = |low: usize, high: usize| (x[low][i] + x[high][i], x[high][i] - x[low][i]);
            let ((s0, d0), (s1, d1), (s2, d2), (s3, d3)) =
                (pair(0, 1), pair(3, 2), pair(4, 5), pair(7, 6));
            let (ss_low, sd_low, ds_low, dd_low) = (s0 + s1, s1 - s0, d0 + d1, d1 - d0);
            let (ss_high, sd_high, ds_high, dd_high) = (s2 + s3, s3 - s2, d2 + d3, d3 - d2);

            c[0][i] = 0.125 * (ss_low + ss_high);
            c[1][i] = 0.125 * (ds_low + ds_high);
            c[2][i] = 0.125 * (sd_low + sd_high);
            c[3][i] = 0.125 * (ss_high - ss_low);
            c[4][i] = 0.125 * (dd_low + dd_high);
            c[5][i] = 0.125 * (sd_high - sd_low);
            c[6][i] = 0.125 * (ds_high - ds_low);
            c[7][i] = 0.125 * (dd_high - dd_low);
        }
        Self(c)
    }

    /// x(xi).
    #[inline]
    pub fn at(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let Self(c) = self;
        let along = |i: usize| {
            let (low, high) = (c[0][i] + y * c[2][i], c[3][i] + y * c[5][i]);
            low + z * high + x * (c[1][i] + y * c[4][i] + z * (c[6][i] + y * c[7][i]))
        };
        [along(0), along(1), along(2)]
    }

    /// `J[i][j]` = dx_i/dxi_j at `xi`.
    #[inline]
    pub fn jacobian(&self, [x, y, z]: [f64; 3]) -> [[f64; 3]; 3] {
        let Self(c) = self;
        std::array::from_fn(|i| {
            [
                c[1][i] + y * c[4][i] + z * (c[6][i] + y * c[7][i]),
                c[2][i] + x * c[4][i] + z * (c[5][i] + x * c[7][i]),
                c[3][i] + x * c[6][i] + y * (c[5][i] + x * c[7][i]),
            ]
        })
    }

    /// det J at `xi`.
    #[inline]
    pub fn determinant(&self, xi: [f64; 3]) -> f64 {
        determinant(&self.jacobian(xi))
    }

    /// The map followed by `m`.
    #[inline]
    pub fn then(&self, m: &[[f64; 3]; 3]) -> Self {
        Self(self.0.map(|v| m.map(|row| dot(row, v))))
    }

    /// Returns the image of the element's center, x(0).
    #[inline]
    pub fn center(&self) -> [f64; 3] {
        self.0[0]
    }

    /// Largest contribution of the products of coordinates to a point of the element, by direction.
    #[inline]
    pub fn bend(&self) -> [f64; 3] {
        let sum = |i: usize| self.0[4..].iter().map(|c| c[i].abs()).sum();
        [sum(0), sum(1), sum(2)]
    }
}

/// The point x(xi) of the element with node coordinates `x`.
pub fn map(x: &[[f64; 3]; 8], xi: [f64; 3]) -> [f64; 3] {
    Trilinear::of(x).at(xi)
}

/// The Jacobian `J[i][j]` = dx_i/dxi_j at `xi` of the element with node coordinates `x`.
pub fn jacobian(x: &[[f64; 3]; 8], xi: [f64; 3]) -> [[f64; 3]; 3] {
    Trilinear::of(x).jacobian(xi)
}

/// Volume of the element, exact for a trilinear map (2x2x2 Gauss rule).
pub fn volume(x: &[[f64; 3]; 8]) -> f64 {
    let map = Trilinear::of(x);
    gauss_points().into_iter().map(|xi| map.determinant(xi)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hexahedron::{NODES, shape_functions, shape_gradients};

    #[test]
    fn it_is_the_sum_over_the_nodes() {
        let x = NODES.map(|[a, b, c]| [a + 0.3 * b * c, b - 0.2 * a * b * c + 0.1, c + 0.4 * a]);
        let (map, xi) = (Trilinear::of(&x), [0.3, -0.8, 0.6]);
        let gradients = shape_gradients(xi);
        for i in 0..3 {
            let sum: f64 = (0..8).map(|a| shape_functions(xi)[a] * x[a][i]).sum();
            assert!((map.at(xi)[i] - sum).abs() < 1e-15);
            for j in 0..3 {
                let sum: f64 = (0..8).map(|a| gradients[a][j] * x[a][i]).sum();
                assert!((map.jacobian(xi)[i][j] - sum).abs() < 1e-15);
            }
        }
    }
}
