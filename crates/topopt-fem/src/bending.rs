//! Thin members in bending: how much too stiff their elements are, before any solve.

use topopt_mesh::hexahedron::{determinant, gauss_points, jacobian, map};
use topopt_mesh::vector::{cross, difference, dot, length};

use crate::elements::Corners;
use crate::strain::strain_energy;
use crate::{DIM, Elasticity, ElementKernel, Formulation};

/// Directions within a member in which it is bent, between 0 and half a turn.
const DIRECTIONS: usize = 4;

/// Share of the energy of tapers that a solution avoids: nodes do not follow the exact
/// displacements there. Strips of one and two elements through with nodes moved by 10 and 20 %
/// keep 0.43 to 0.52 of it.
const AVOIDED: f64 = 0.5;

/// Displacements of a member in bending that is made of the elements at `corners`, as a share of
/// the exact ones: the least over the directions of bending. The member is a plate around `center`
/// with the unit vector `normal` across, and the elements reach through all of it.
///
/// Nodes take the displacements of pure bending, and the energy of the elements is compared with
/// the exact one: an estimate that needs no solve. Measured at the end of cantilevers of cubes and
/// of a strip 120 x 20 x 2 under a force, ν = 0.3, and found by this estimate (the median over the
/// part, where nodes are moved at random in the plane by a share of an element):
///
/// | elements through, length / height | full: measured, found | incompatible: measured, found |
/// |---|---|---|
/// | cubes, 1 | 0.643, 0.649 | 0.986, 1 |
/// | cubes, 2 | 0.869, 0.881 | 0.987, 1 |
/// | cubes, 3 | 0.932, 0.943 | 0.989, 1 |
/// | cubes, 4 | 0.957, 0.967 | 0.990, 1 |
/// | 1, length 2 x height, moved 20 % | 0.267, 0.244 | 0.849, 0.834 |
/// | 1, length 4 x height, moved 10 % | 0.097, 0.094 | 0.482, 0.537 |
/// | 1, length 4 x height, moved 20 % | 0.058, 0.050 | 0.243, 0.218 |
/// | 2, length 2 x height, moved 20 % | 0.611, 0.592 | 0.965, 0.950 |
/// | 2, length 4 x height, moved 20 % | 0.226, 0.196 | 0.707, 0.570 |
/// | wedges of halved cubes, 1 | 0.653, 0.613 | 0.597, 0.599 |
/// | wedges of halved cubes, 2 | 0.869, 0.864 | 0.839, 0.857 |
///
/// Hexahedra cut from tetrahedra are bent more freely by their inner nodes than this says: 1 cube
/// of six tetrahedra through 0.773, 0.652 and 0.868, 0.748.
pub fn bending_share(
    kernel: &Elasticity,
    corners: &[Corners],
    center: [f64; DIM],
    normal: [f64; DIM],
) -> f64 {
    let exact: f64 = corners.iter().map(|x| bending_energy(x, center, normal)).sum();
    let excess = tangents(normal).map(|tangent| {
        let bent = |x: [f64; DIM]| bent(kernel, difference(x, center), [tangent, normal]);
        let excess = |kernel: &Elasticity| {
            let energies = corners.iter().map(|x| strain_energy(kernel, x, &x.map(bent)));
            energies.sum::<f64>() / exact - 1.0
        };
        // On parallelepipeds elements of incompatible modes are exact.
        match kernel.formulation() {
            Formulation::Incompatible => (1.0 - AVOIDED) * excess(kernel),
            Formulation::Full => {
                excess(kernel) - AVOIDED * excess(&kernel.with(Formulation::Incompatible))
            }
        }
    });
    1.0 / (1.0 + excess.into_iter().fold(0.0, f64::max))
}

/// Unit vectors within the plane of `normal`, `DIRECTIONS` in half a turn.
pub fn tangents(normal: [f64; DIM]) -> [[f64; DIM]; DIRECTIONS] {
    let least = (0..DIM).min_by(|&i, &j| normal[i].abs().total_cmp(&normal[j].abs()));
    let mut axis = [0.0; DIM];
    axis[least.unwrap_or(0)] = 1.0;
    let side = cross(normal, axis);
    let side = side.map(|v| v / length(side));
    let other = cross(normal, side);
    std::array::from_fn(|k| {
        let (sin, cos) = (std::f64::consts::PI * k as f64 / DIRECTIONS as f64).sin_cos();
        std::array::from_fn(|i| cos * side[i] + sin * other[i])
    })
}

/// Displacement at `x` of a plate of Young's modulus 1 under pure bending of curvature 1 along
/// `tangent`, with the contraction across.
fn bent(kernel: &Elasticity, x: [f64; DIM], [tangent, normal]: [[f64; DIM]; 2]) -> [f64; DIM] {
    let nu = kernel.material().poissons_ratio();
    let side = cross(normal, tangent);
    let [a, b, z] = [tangent, side, normal].map(|axis| dot(axis, x));
    let across = -0.5 * (a * a - nu * b * b + nu * z * z);
    std::array::from_fn(|i| a * z * tangent[i] - nu * b * z * side[i] + across * normal[i])
}

/// The exact strain energy of [`bent`]: half of the integral of the squared distance from the
/// middle.
fn bending_energy(x: &Corners, center: [f64; DIM], normal: [f64; DIM]) -> f64 {
    let at_point = |xi: [f64; DIM]| {
        let z = dot(normal, difference(map(x, xi), center));
        0.5 * z * z * determinant(&jacobian(x, xi))
    };
    gauss_points().into_iter().map(at_point).sum()
}

#[cfg(test)]
mod tests {
    use topopt_mesh::hexahedron::NODES;

    use super::*;
    use crate::{ElementKernel, Material};

    const SIDE: f64 = 2.0;

    fn kernel(formulation: Formulation) -> Elasticity {
        Elasticity::new(&Material::new(1.0, 0.3).unwrap()).with(formulation)
    }

    /// `n` bricks above each other, which are together [`SIDE`] thick, with edges of `length` in a
    /// plane whose axes are directions of bending. `tilt` leans their edges against each other.
    fn column(n: usize, length: f64, tilt: f64) -> (Vec<Corners>, [[f64; 3]; 3]) {
        let axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let height = SIDE / n as f64;
        let corner = |layer: usize, [x, y, z]: [f64; 3]| {
            let up = height * (layer as f64 + 0.5 * (z + 1.0)) - 0.5 * SIDE;
            let local = [0.5 * length * x * (1.0 + tilt * up), 0.5 * length * y, up];
            std::array::from_fn(|i| (0..3).map(|k| local[k] * axes[k][i]).sum())
        };
        ((0..n).map(|layer| NODES.map(|xi| corner(layer, xi))).collect(), axes)
    }

    fn share(formulation: Formulation, n: usize, length: f64, tilt: f64) -> f64 {
        let (corners, axes) = column(n, length, tilt);
        bending_share(&kernel(formulation), &corners, [0.0; 3], axes[2])
    }

    /// The exact energy of bending, E/2 z^2, of a brick of length a and height b is joined by that
    /// of the shear of its straight edges and of their missing contraction.
    #[test]
    fn bricks_of_full_integration_have_the_shear_of_straight_edges() {
        let (nu, shear) = (0.3_f64, 0.5 / 1.3);
        let lambda = nu / (1.3 * 0.4);
        let own = lambda * (1.0 - nu).powi(2) + 2.0 * shear * (1.0 + nu * nu);
        for (n, length) in [(1, 2.0), (1, 7.0), (2, 1.0), (4, 3.0)] {
            let ratio = n as f64 * length / SIDE;
            let one = own + shear * (1.0 + nu * nu) * ratio * ratio;
            let expected = 1.0 / (1.0 + (one - 1.0) / (n * n) as f64);
            let found = share(Formulation::Full, n, length, 0.0);
            assert!((found - expected).abs() < 1e-12, "{n}, {length}: {found} for {expected}");
            let found = share(Formulation::Incompatible, n, length, 0.0);
            assert!((found - 1.0).abs() < 1e-12, "{n}, {length}: {found}");
        }
    }

    /// Edges lean by a share of the length, and both the lean and the length count by their
    /// squares.
    #[test]
    fn tapers_are_too_stiff_by_the_squares_of_their_lean_and_length() {
        let excess = |length: f64, tilt: f64| {
            share(Formulation::Incompatible, 1, length, tilt).recip() - 1.0
        };
        assert!(excess(8.0, 0.05) > 0.02);
        let by_length = excess(16.0, 0.01) / excess(8.0, 0.01);
        let by_lean = excess(8.0, 0.02) / excess(8.0, 0.01);
        assert!((14.0..18.0).contains(&by_length), "{by_length}");
        assert!((3.5..4.5).contains(&by_lean), "{by_lean}");
    }

    #[test]
    fn strain_energy_is_half_of_the_product_with_the_matrix() {
        let (corners, _) = column(1, 3.0, 0.2);
        let u = corners[0].map(|[x, y, z]| [x * y, z * z - x, y * y * z]);
        for kernel in [Formulation::Full, Formulation::Incompatible].map(kernel) {
            let matrix = kernel.matrix(0, &corners[0]);
            let rows = matrix.as_flattened().iter().zip(u.as_flattened());
            let expected: f64 = rows
                .map(|(row, own)| {
                    let row = row.as_flattened().iter().zip(u.as_flattened());
                    0.5 * own * row.map(|(k, u)| k * u).sum::<f64>()
                })
                .sum();
            let found = strain_energy(&kernel, &corners[0], &u);
            assert!((found - expected).abs() < 1e-12 * expected, "{found} for {expected}");
        }
    }
}
