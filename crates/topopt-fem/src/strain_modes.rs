//! The strain of a hexahedron as a sum of modes: a mean gradient, and hourglass modes with
//! incompatible modes condensed.
//!
//! Taylor's incompatible modes cure the locking of full integration in bending
//! [TaylorBeresfordWilson1976]; frozen at the center of the element they condense in closed form.
//! The result equals theirs on parallelepipeds, passes the patch test on any shape since the mean
//! gradient is exact, and has rank 18, since the energy is a sum of squares. Diffusion takes the
//! gradients of the modes as they are.

use topopt_mesh::hexahedron::NODES;
use topopt_mesh::vector::{cross, dot};

use crate::elements::Corners;

/// Number of modes of an element.
pub const N_MODES: usize = 7;

/// The place of a mode's strain among the monomials of the reference coordinates, by the bits of
/// xi, eta and zeta: constant, linear, bilinear.
pub const MONOMIALS: [usize; N_MODES] = [0, 1, 2, 4, 6, 5, 3];

/// A mode of strain: the gradient `sum_a u_a (x) p_a` of displacements u_a, times a monomial of the
/// reference coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrainMode {
    /// p_a of each node.
    pub gradients: [[f64; 3]; 8],
    /// Integral of the square of the monomial over the element.
    pub weight: f64,
    /// Unit normal of the planes in which an incompatible mode relaxes the mode: no stress acts on
    /// them.
    pub normal: Option<[f64; 3]>,
}

impl StrainMode {
    /// Computes the modes of the element at `x`: the mean gradient, the three linear modes, the
    /// three bilinear ones.
    pub fn all(x: &Corners) -> [Self; N_MODES] {
        let m = coefficients(x);
        let center = [cross(m[2], m[4]), cross(m[4], m[1]), cross(m[1], m[2])];

        // Mean cofactors of each monomial's gradient; those of xi eta zeta vanish.
        let third = 1.0 / 3.0;
        let mut mean = [[0.0; 3]; 8];
        for (monomial, pairs) in [
            (1, [(2, 4, 1.0), (3, 5, third)]),
            (2, [(4, 1, 1.0), (6, 3, third)]),
            (4, [(1, 2, 1.0), (5, 6, third)]),
            (3, [(2, 6, third), (5, 1, third)]),
            (5, [(6, 4, third), (1, 3, third)]),
            (6, [(4, 5, third), (3, 2, third)]),
        ] {
            for (a, b, factor) in pairs {
                let product = cross(m[a], m[b]);
                (0..3).for_each(|i| mean[monomial][i] += factor * product[i]);
            }
        }
        let mean_determinant = (0..8).map(|k| dot(m[k], mean[k])).sum::<f64>() / 3.0;
        let volume = 8.0 * mean_determinant;

        // Gradients of the reference coordinates at the center.
        let determinant = dot(m[1], center[0]);
        let [gx, gy, gz] = center.map(|c| c.map(|c| c / determinant));

        let mut gradients = [[[0.0; 3]; 8]; N_MODES];
        for (a, node) in NODES.iter().enumerate() {
            let share = |monomial: usize| shape_coefficient(node, monomial);
            let of_mean = sum((0..8).map(|k| (share(k) / mean_determinant, mean[k])));
            // Coefficient of a monomial without the part that the mean gradient gives it.
            let hourglass = |monomial: usize| share(monomial) - dot(of_mean, m[monomial]);
            let [xy, xz, yz, xyz] = [3, 5, 6, 7].map(hourglass);
            let of_node = [
                of_mean,
                sum([(xy, gy), (xz, gz)]),
                sum([(xy, gx), (yz, gz)]),
                sum([(xz, gx), (yz, gy)]),
                sum([(xyz, gx)]),
                sum([(xyz, gy)]),
                sum([(xyz, gz)]),
            ];
            (0..N_MODES).for_each(|k| gradients[k][a] = of_node[k]);
        }

        let normals = [gx, gy, gz].map(|g| g.map(|component| component / dot(g, g).sqrt()));
        std::array::from_fn(|k| Self {
            gradients: gradients[k],
            weight: volume * 3f64.powi(-(MONOMIALS[k].count_ones() as i32)),
            normal: (1..=3).contains(&k).then(|| normals[k - 1]),
        })
    }
}

/// Coefficients of the monomials in the trilinear map to `x`, `[monomial][component]`.
fn coefficients(x: &Corners) -> [[f64; 3]; 8] {
    std::array::from_fn(|k| {
        sum(NODES.iter().zip(x).map(|(node, &x)| (shape_coefficient(node, k), x)))
    })
}

/// The coefficient of a monomial in the shape function of `node`.
fn shape_coefficient(node: &[f64; 3], monomial: usize) -> f64 {
    let factors = (0..3).filter(|i| monomial >> i & 1 == 1).map(|i| node[i]);
    0.125 * factors.product::<f64>()
}

/// The monomial of the reference coordinates by the bits of xi, eta and zeta.
pub(crate) fn monomial(bits: usize, xi: [f64; 3]) -> f64 {
    (0..3).filter(|i| bits >> i & 1 == 1).map(|i| xi[i]).product()
}

/// The sum of vectors times factors.
fn sum(terms: impl IntoIterator<Item = (f64, [f64; 3])>) -> [f64; 3] {
    terms
        .into_iter()
        .fold([0.0; 3], |sum, (factor, v)| std::array::from_fn(|i| sum[i] + factor * v[i]))
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, Matrix3, Vector3};
    use topopt_mesh::hexahedron::{gauss_points, jacobian};
    use topopt_testing::Noise;

    use super::*;
    use crate::shape_gradients::physical_gradients;
    use crate::{Elasticity, ElementKernel, Formulation, Material};

    const RATIO: f64 = 0.3;

    fn stiffness(x: &Corners, formulation: Formulation) -> DMatrix<f64> {
        let material = Material::new(1.0, RATIO).unwrap();
        let ke = Elasticity::new(&material).with(formulation).matrix(0, x);
        DMatrix::from_fn(24, 24, |r, c| ke[r / 3][r % 3][c / 3][c % 3])
    }

    /// Strain-displacement columns of unit vectors times a gradient, in Voigt's order.
    fn strain(gradient: [f64; 3]) -> DMatrix<f64> {
        let [x, y, z] = gradient;
        DMatrix::from_row_slice(
            6,
            3,
            &[x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z, y, x, 0.0, 0.0, z, y, z, 0.0, x],
        )
    }

    /// Taylor's incompatible modes, condensed numerically \[TaylorBeresfordWilson1976\].
    fn wilson_taylor(x: &Corners) -> DMatrix<f64> {
        let (lambda, mu) = Material::new(1.0, RATIO).unwrap().unit_lame();
        let d = DMatrix::from_fn(6, 6, |i, j| match (i < 3 && j < 3, i == j) {
            (true, true) => lambda + 2.0 * mu,
            (true, false) => lambda,
            (false, true) => mu,
            _ => 0.0,
        });

        let at = |xi| Matrix3::from_fn(|i, j| jacobian(x, xi)[i][j]);
        let center = at([0.0; 3]);
        let inverse = center.try_inverse().unwrap();
        let mut k = [DMatrix::zeros(24, 24), DMatrix::zeros(9, 24), DMatrix::zeros(9, 9)];

        for xi in gauss_points() {
            let (gradients, det) = physical_gradients(x, xi);
            let mut b = DMatrix::zeros(6, 24);
            for (a, g) in gradients.into_iter().enumerate() {
                b.view_mut((0, 3 * a), (6, 3)).copy_from(&strain(g));
            }

            let mut g = DMatrix::zeros(6, 9);
            for i in 0..3 {
                let unit = Vector3::from_fn(|k, _| f64::from(u8::from(k == i)));
                let along = inverse.transpose() * unit;
                let scale = -2.0 * xi[i] * center.determinant() / det;
                let along = std::array::from_fn(|k| scale * along[k]);
                g.view_mut((0, 3 * i), (6, 3)).copy_from(&strain(along));
            }

            k[0] += b.transpose() * &d * &b * det;
            k[1] += g.transpose() * &d * &b * det;
            k[2] += g.transpose() * &d * &g * det;
        }

        let [uu, au, aa] = k;
        &uu - au.transpose() * aa.lu().solve(&au).unwrap()
    }

    /// A cube whose corners are moved by up to `by`, and then sheared and stretched.
    fn distorted(by: f64, random: &mut Noise) -> Corners {
        NODES.map(|node| {
            let [x, y, z] = node.map(|x| x + by * (2.0 * random.number() - 1.0));
            [2.0 * x + 0.3 * y + 0.2 * z, 0.7 * y - 0.1 * z, 0.5 * z + 0.1 * x]
        })
    }

    #[test]
    fn a_parallelepiped_is_that_of_incompatible_modes() {
        let x = distorted(0.0, &mut Noise(1));
        let (found, expected) = (stiffness(&x, Formulation::Incompatible), wilson_taylor(&x));
        assert!((&found - &expected).amax() < 1e-13 * expected.amax());
        let full = stiffness(&x, Formulation::Full);
        assert!((&full - &expected).amax() > 1e-2 * expected.amax());
    }

    #[test]
    fn the_patch_test_holds_and_six_motions_have_no_energy() {
        let mut random = Noise(5);
        for _ in 0..50 {
            let x = distorted(0.35, &mut random);
            let found = stiffness(&x, Formulation::Incompatible);
            let full = stiffness(&x, Formulation::Full);
            let gradient: Vec<f64> = random.vector(9);
            let u = DMatrix::from_fn(24, 1, |k, _| {
                (0..3).map(|j| gradient[3 * (k % 3) + j] * x[k / 3][j]).sum()
            });
            let (f, expected) = (&found * &u, &full * &u);
            assert!((&f - &expected).amax() < 1e-12 * expected.amax());

            let values = found.symmetric_eigenvalues();
            let largest = values.max();
            let zeros = values.iter().filter(|value| value.abs() < 1e-12 * largest).count();
            assert_eq!(zeros, 6, "{values}");
            assert!(values.min() > -1e-12 * largest);
        }
    }
}
