//! Anisotropic elasticity as a matrix between strains and stresses.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use crate::DIM;
use crate::strain_tensor::{Strain, listed};

/// A symmetric matrix D from strains to stresses, both as (xx, yy, zz, xy, yz, zx), with shear
/// angles among the strains (force per area).
pub type Stiffness = [[f64; 6]; 6];

/// Rows of orthonormal axes.
pub type Frame = [[f64; DIM]; DIM];

/// Place of the component ij of a stress in its list.
pub const PLACE: [[usize; DIM]; DIM] = [[0, 3, 5], [3, 1, 4], [5, 4, 2]];

/// Components ij of a stress by their places.
const COMPONENTS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)];

/// Returns the least eigenvalue of a symmetric matrix: where it is positive, every strain has
/// energy.
pub fn least_eigenvalue(d: &Stiffness) -> f64 {
    matrix(d).symmetric_eigenvalues().min()
}

/// Inverts a stiffness, or a compliance.
pub fn inverted(d: &Stiffness) -> Option<Stiffness> {
    let inverse = matrix(d).try_inverse()?;
    // Symmetric to the bit, as K_e is to be.
    let entry = |i, j| 0.5 * (inverse[(i, j)] + inverse[(j, i)]);
    Some(std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))))
}

/// Twice the energy per volume of a stress, sigma : D^-1 sigma.
pub fn stress_energy(d: &Stiffness, stress: &[f64; 6]) -> f64 {
    let s = Vector6::from_row_slice(stress);
    let factors = matrix(d).cholesky();
    factors.map_or(0.0, |factors| factors.solve(&s).dot(&s))
}

/// Turns `d` from the axes of a frame to those of the mesh.
pub fn turned(d: &Stiffness, frame: &Frame) -> Stiffness {
    // Strains in the frame of a unit strain along the axes of the mesh: e' = T e, D = T^T D' T.
    let t = Matrix6::from_fn(|row, column| {
        let ((a, b), (i, j)) = (COMPONENTS[row], COMPONENTS[column]);
        // A shear angle is twice the component of the tensor.
        match (a == b, i == j) {
            (true, true) => frame[a][i] * frame[a][i],
            (true, false) => frame[a][i] * frame[a][j],
            (false, true) => 2.0 * frame[a][i] * frame[b][i],
            (false, false) => frame[a][i] * frame[b][j] + frame[a][j] * frame[b][i],
        }
    });
    let turned = t.transpose() * matrix(d) * t;
    let entry = |i, j| 0.5 * (turned[(i, j)] + turned[(j, i)]);
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// Young's modulus of the isotropic material that is as stiff on average over all directions, by
/// Voigt's bulk and shear moduli.
pub fn mean_modulus(d: &Stiffness) -> f64 {
    let axial = d[0][0] + d[1][1] + d[2][2];
    let across = d[0][1] + d[1][2] + d[2][0];
    let shear = d[3][3] + d[4][4] + d[5][5];
    let [bulk, shear] = [(axial + 2.0 * across) / 9.0, (axial - across + 3.0 * shear) / 15.0];
    9.0 * bulk * shear / (3.0 * bulk + shear)
}

/// D e of a strain as a list.
pub fn stress(d: &Stiffness, strain: &Strain) -> [f64; 6] {
    d.map(|row| row.iter().zip(strain).map(|(d, e)| d * e).sum())
}

/// Strains that take the stress on planes of normal n away, as a matrix M from stresses to these:
/// of strains sym(alpha n^T) that with alpha = A^-1 (sigma n) and A_ij = D_(ik)(jl) n_k n_l.
pub fn relaxing(d: &Stiffness, n: [f64; DIM]) -> Stiffness {
    let across = Matrix3::from_fn(|i, j| coupling(d, n, n)[i][j]).try_inverse();
    let across = across.unwrap_or_default();
    let columns = COMPONENTS.map(|component| strain_of_traction(&across, n, component));
    std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]))
}

/// sym(alpha n^T) with alpha = A^-1 (sigma n), for the inverse `across` of A and a stress sigma
/// that is 1 at ij.
fn strain_of_traction(across: &Matrix3<f64>, n: [f64; DIM], (i, j): (usize, usize)) -> Strain {
    let mut traction = Vector3::zeros();
    traction[i] += n[j];
    if i != j {
        traction[j] += n[i];
    }
    let alpha = across * traction;
    let entry = |i: usize, j: usize| 0.5 * (alpha[i] * n[j] + alpha[j] * n[i]);
    listed(&std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))))
}

/// The stiffness against strains that are joined by those that leave no stress on planes of normal
/// n: D - D M D with M of [`relaxing`].
pub fn relaxed(d: &Stiffness, n: [f64; DIM]) -> Stiffness {
    let (d, m) = (matrix(d), matrix(&relaxing(d, n)));
    let relaxed = d - d * m * d;
    std::array::from_fn(|i| std::array::from_fn(|j| relaxed[(i, j)]))
}

fn matrix(d: &Stiffness) -> Matrix6<f64> {
    Matrix6::from_fn(|i, j| d[i][j])
}

/// B_a^T D B_b for shape functions of the gradients `a` and `b`: sum over k and l of
/// D_(ik)(jl) a_k b_l.
pub fn coupling(d: &Stiffness, a: [f64; DIM], b: [f64; DIM]) -> [[f64; DIM]; DIM] {
    let sum = |i: usize, j: usize| -> f64 {
        let entry = |k: usize, l: usize| d[PLACE[i][k]][PLACE[j][l]] * a[k] * b[l];
        (0..DIM).map(|k| (0..DIM).map(|l| entry(k, l)).sum::<f64>()).sum()
    };
    std::array::from_fn(|i| std::array::from_fn(|j| sum(i, j)))
}

/// The matrix of an isotropic material of Lame's constants (lambda, mu).
pub fn isotropic((lambda, mu): (f64, f64)) -> Stiffness {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i, j) {
            (0..3, 0..3) if i == j => lambda + 2.0 * mu,
            (0..3, 0..3) => lambda,
            _ if i == j => mu,
            _ => 0.0,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An orthonormal frame.
    fn frame() -> Frame {
        let ((s, c), (t, d)) = (0.7f64.sin_cos(), 0.4f64.sin_cos());
        [[c, s, 0.0], [-s * d, c * d, t], [s * t, -c * t, d]]
    }

    #[test]
    fn an_isotropic_matrix_is_itself_in_any_frame() {
        let d = isotropic((0.5769, 0.3846));
        for (a, b) in d.as_flattened().iter().zip(turned(&d, &frame()).as_flattened()) {
            assert!((a - b).abs() < 1e-14);
        }
        let (lambda, mu) = (0.6, 0.4);
        let expected = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
        assert!((mean_modulus(&isotropic((lambda, mu))) - expected).abs() < 1e-14);
    }

    /// A unit strain along an axis of the frame has the stress of that column of D, turned back.
    #[test]
    fn a_turned_matrix_acts_along_its_axes() {
        let mut d = isotropic((0.3, 0.4));
        (d[0][0], d[3][3]) = (20.0, 3.0);
        let (axes, there) = (frame(), turned(&d, &frame()));
        let n = axes[0];
        let strain = COMPONENTS.map(|(i, j)| (if i == j { 1.0 } else { 2.0 }) * n[i] * n[j]);
        let found = stress(&there, &strain);
        for (found, (i, j)) in found.into_iter().zip(COMPONENTS) {
            let of_axes = (0..3).map(|a| d[a][0] * axes[a][i] * axes[a][j]);
            assert!((found - of_axes.sum::<f64>()).abs() < 1e-13, "{found}");
        }
        let energy: f64 = found.iter().zip(strain).map(|(s, e)| s * e).sum();
        assert!((stress_energy(&there, &found) - energy).abs() < 1e-12 * energy);
        let back = inverted(&inverted(&there).unwrap()).unwrap();
        assert!(
            back.as_flattened()
                .iter()
                .zip(there.as_flattened())
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
    }
}
