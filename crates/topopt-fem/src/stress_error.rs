//! Nodal stresses, and the error of an analysis that they show \[ZienkiewiczZhu1992\].

use rayon::prelude::*;
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::{GAUSS, determinant, gauss_points, inverse};
use topopt_mesh::{HexMesh, tetrahedron};

use crate::recovery::{NO_VALUE, Recovered, Samples};
use crate::stiffness_tensor::stress_energy;
use crate::stress::{Deformed, Stress, stress_at};
use crate::{DIM, Elasticity, ElementKernel, Elements};

/// A solved part: Young's moduli `[n_elements]` (force per area) and its deformation.
#[derive(Debug, Clone, Copy)]
pub struct Solution<'a> {
    /// Formulation of the elements and Poisson's ratio.
    pub kernel: &'a Elasticity,
    /// The elements.
    pub elements: Elements<'a>,
    /// Young's moduli, `[n_elements]` (force per area).
    pub moduli: &'a [f64],
    /// Displacements and thermal strains.
    pub deformed: Deformed<'a>,
}

impl<'a> Solution<'a> {
    fn mesh(&self) -> &'a HexMesh {
        self.elements.mesh()
    }

    /// Recovers the stresses at the nodes of every material, `[n_elements]`; see
    /// [`Samples::materials`].
    pub fn nodal_stresses(&self, materials: Vec<Option<u32>>) -> Recovered<6> {
        let elements = || (0..self.mesh().n_elements()).into_par_iter();
        let center = self.mesh().reference_center();
        let values = elements().map(|e| self.stress(e, center)).collect();
        let slopes = elements().map(|e| self.slopes(e)).collect();
        Samples { values, slopes, materials }.recovered(self.mesh())
    }

    /// Squares of the energy norm of what the stresses of the elements differ from the nodal ones,
    /// interpolated: `[n_elements]` (force times length), 0 for an element without.
    pub fn errors(&self, nodal: &Recovered<6>) -> Vec<f64> {
        let elements = (0..self.mesh().n_elements()).into_par_iter();
        elements.map(|e| self.error(e, nodal)).collect()
    }

    fn stress(&self, element: usize, xi: [f64; DIM]) -> Stress {
        stress_at(self.kernel, self.elements, self.moduli[element], self.deformed, element, xi)
    }

    /// Slopes of the element's stress at its center along x, y and z.
    fn slopes(&self, element: usize) -> [Stress; DIM] {
        let center = self.mesh().reference_center();
        let m = self.mesh().jacobian(element, center);
        let inverse = inverse(&m, determinant(&m));
        let step = if self.mesh().shape() == Shape::Tetrahedron { 0.1 } else { GAUSS };
        let mut slopes = [[0.0; 6]; DIM];
        for k in 0..DIM {
            let at = |shift: f64| {
                let mut xi = center;
                xi[k] += shift;
                self.stress(element, xi)
            };
            let (ahead, behind) = (at(step), at(-step));
            for (j, slope) in slopes.iter_mut().enumerate() {
                for i in 0..6 {
                    slope[i] += (ahead[i] - behind[i]) / (2.0 * step) * inverse[k][j];
                }
            }
        }
        slopes
    }

    fn error(&self, element: usize, nodal: &Recovered<6>) -> f64 {
        let nodes = nodal.of_element(element);
        if nodes.contains(&NO_VALUE) || self.moduli[element] <= 0.0 {
            return 0.0;
        }
        let at_point = |(xi, weight): ([f64; DIM], f64)| {
            let mut difference = self.stress(element, xi).map(|stress| -stress);
            for (share, &node) in self.mesh().shape_functions(xi).iter().zip(nodes) {
                let value = nodal.values[node as usize];
                (0..6).for_each(|i| difference[i] += share * value[i]);
            }
            self.strain_energy(element, &difference) * weight * self.mesh().determinant(element, xi)
        };
        self.points().into_iter().map(at_point).sum::<f64>() / self.moduli[element]
    }

    /// Points and weights of a rule for squares of differences of stresses.
    fn points(&self) -> Vec<([f64; DIM], f64)> {
        match self.mesh().shape() {
            Shape::Tetrahedron => tetrahedron::fine_rule().into(),
            _ => gauss_points().map(|xi| (xi, 1.0)).into(),
        }
    }

    /// Twice the energy per volume of a stress in an element at Young's modulus 1, sigma : C^-1
    /// sigma.
    pub fn strain_energy(&self, element: usize, stress: &Stress) -> f64 {
        let kernel = self.kernel.of_element(&self.elements, element);
        if let Some(d) = kernel.anisotropic() {
            return stress_energy(d, stress);
        }
        let ([xx, yy, zz, xy, yz, zx], nu) = (stress, kernel.material().poissons_ratio());
        let square = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + yz * yz + zx * zx);
        (1.0 + nu) * square - nu * (xx + yy + zz).powi(2)
    }
}
