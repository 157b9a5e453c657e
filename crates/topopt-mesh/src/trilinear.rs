//! The map of a hexahedron as a polynomial: a third of the work of sums over its nodes.

use crate::hexahedron::{NODES, determinant, gauss_points};
use crate::vector::dot;

/// x(xi) = sum of coefficients times 1, xi, eta, zeta, xi eta, eta zeta, zeta xi, xi eta zeta.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trilinear([[f64; 3]; 8]);

/// The signs that the nodes have in every coefficient.
const SIGNS: [[f64; 8]; 8] = {
    let mut signs = [[1.0; 8]; 8];
    let mut a = 0;
    while a < 8 {
        let [x, y, z] = NODES[a];
        let terms = [1.0, x, y, z, x * y, y * z, z * x, x * y * z];
        let mut term = 0;
        while term < 8 {
            signs[term][a] = terms[term];
            term += 1;
        }
        a += 1;
    }
    signs
};

impl Trilinear {
    /// The map of the element with node coordinates `x`.
    #[inline]
    pub fn of(x: &[[f64; 3]; 8]) -> Self {
        let mut coefficients = [[0.0; 3]; 8];
        for (coefficient, signs) in coefficients.iter_mut().zip(&SIGNS) {
            for (node, sign) in x.iter().zip(signs) {
                for i in 0..3 {
                    coefficient[i] += 0.125 * sign * node[i];
                }
            }
        }
        Self(coefficients)
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
        let row = |i: usize| {
            [
                c[1][i] + y * c[4][i] + z * (c[6][i] + y * c[7][i]),
                c[2][i] + x * c[4][i] + z * (c[5][i] + x * c[7][i]),
                c[3][i] + x * c[6][i] + y * (c[5][i] + x * c[7][i]),
            ]
        };
        [row(0), row(1), row(2)]
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

    /// Its value at the center.
    #[inline]
    pub fn center(&self) -> [f64; 3] {
        self.0[0]
    }

    /// How far the products of coordinates move a point of the element at most, by direction.
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
    use crate::hexahedron::{shape_functions, shape_gradients};

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
