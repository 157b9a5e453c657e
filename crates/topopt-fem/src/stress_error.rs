//! Nodal stresses, and the error of an analysis that they show \[ZienkiewiczZhu1992\].

use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::hexahedron::{
    GAUSS, determinant, gauss_points, inverse, jacobian, shape_functions,
};

use crate::recovery::{NO_VALUE, Recovered, Samples};
use crate::stress::{CENTER, Stress, stress_at};
use crate::{DIM, Elasticity};

/// A solved part: Young's moduli `[n_elements]` (force per area) and displacements `[n_nodes][3]`.
#[derive(Debug, Clone, Copy)]
pub struct Solution<'a> {
    /// Formulation of the elements and Poisson's ratio.
    pub kernel: &'a Elasticity,
    /// The mesh.
    pub mesh: &'a HexMesh,
    /// Young's moduli, `[n_elements]` (force per area).
    pub moduli: &'a [f64],
    /// Displacements, `[n_nodes][3]` (length).
    pub u: &'a [f64],
}

impl Solution<'_> {
    /// Recovers the stresses at the nodes of every material, `[n_elements]`; see
    /// [`Samples::materials`].
    pub fn nodal_stresses(&self, materials: Vec<Option<u32>>) -> Recovered<6> {
        let elements = || (0..self.mesh.n_elements()).into_par_iter();
        let values = elements().map(|e| self.stress(e, CENTER)).collect();
        let slopes = elements().map(|e| self.slopes(e)).collect();
        Samples { values, slopes, materials }.recovered(self.mesh)
    }

    /// Squares of the energy norm of what the stresses of the elements differ from the nodal ones,
    /// interpolated: `[n_elements]` (force times length), 0 for an element without.
    pub fn errors(&self, nodal: &Recovered<6>) -> Vec<f64> {
        let corners = nodal.of_corners.par_iter().enumerate();
        corners.map(|(e, corners)| self.error(e, corners, nodal)).collect()
    }

    fn stress(&self, element: usize, xi: [f64; DIM]) -> Stress {
        stress_at(self.kernel, self.mesh, self.moduli[element], self.u, element, xi)
    }

    /// Slopes of the element's stress at its center along x, y and z.
    fn slopes(&self, element: usize) -> [Stress; DIM] {
        let m = jacobian(&self.mesh.element_coordinates(element), CENTER);
        let inverse = inverse(&m, determinant(&m));
        let mut slopes = [[0.0; 6]; DIM];
        for k in 0..DIM {
            let at = |xi: f64| {
                self.stress(element, std::array::from_fn(|i| if i == k { xi } else { 0.0 }))
            };
            let (ahead, behind) = (at(GAUSS), at(-GAUSS));
            for (j, slope) in slopes.iter_mut().enumerate() {
                for i in 0..6 {
                    slope[i] += (ahead[i] - behind[i]) / (2.0 * GAUSS) * inverse[k][j];
                }
            }
        }
        slopes
    }

    fn error(&self, element: usize, corners: &[u32; 8], nodal: &Recovered<6>) -> f64 {
        if corners.contains(&NO_VALUE) || self.moduli[element] <= 0.0 {
            return 0.0;
        }
        let x = self.mesh.element_coordinates(element);
        let at_point = |xi: [f64; DIM]| {
            let mut difference = self.stress(element, xi).map(|stress| -stress);
            for (share, &corner) in shape_functions(xi).iter().zip(corners) {
                let value = nodal.values[corner as usize];
                (0..6).for_each(|i| difference[i] += share * value[i]);
            }
            self.strain_energy(&difference) * determinant(&jacobian(&x, xi))
        };
        gauss_points().into_iter().map(at_point).sum::<f64>() / self.moduli[element]
    }

    /// Twice the energy per volume of a stress at Young's modulus 1, sigma : C^-1 sigma.
    pub fn strain_energy(&self, [xx, yy, zz, xy, yz, zx]: &Stress) -> f64 {
        let nu = self.kernel.material().poissons_ratio();
        let square = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + yz * yz + zx * zx);
        (1.0 + nu) * square - nu * (xx + yy + zz).powi(2)
    }
}
