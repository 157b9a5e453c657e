//! Strains of a state on a backend.

use topopt_fem::Elasticity;
use topopt_fem::strain::{add_strain_transpose, strains};
use topopt_linalg::{Backend, BackendError, Space};
use topopt_mesh::HexMesh;

/// B: strains at the centers of the elements of a mesh, `[n_elements][6]`, of displacements,
/// `[n_nodes][3]`. Computed by the host, through which vectors of a device go.
#[derive(Debug, Clone, Copy)]
pub struct Strain<'a> {
    kernel: &'a Elasticity,
    mesh: &'a HexMesh,
}

impl<'a> Strain<'a> {
    /// The strains in elements of `kernel` on `mesh`; only the first rank reads these.
    pub fn new(kernel: &'a Elasticity, mesh: &'a HexMesh) -> Self {
        Self { kernel, mesh }
    }

    /// Space of strains: six numbers per element.
    pub fn space(&self) -> Space {
        Space { unknowns: 6, ..Space::elements(self.mesh.n_elements()) }
    }

    /// Computes B u.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn of<B: Backend>(&self, backend: &B, u: &B::Vector) -> Result<B::Vector, BackendError> {
        let u = backend.download(u)?;
        let all = if backend.has_values() {
            strains(self.kernel, self.mesh, &u, self.mesh.reference_center())
        } else {
            Vec::new()
        };
        backend.upload(all.as_flattened(), self.space())
    }

    /// Adds B^T s to `out`, `[n_nodes][3]`, for `s`, `[n_elements][6]`.
    ///
    /// # Errors
    /// [`BackendError`] if the transfer fails.
    pub fn add_transpose<B: Backend>(
        &self,
        backend: &B,
        s: &B::Vector,
        out: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let (s, mut sum) = (backend.download(s)?, backend.download(out)?);
        if backend.has_values() {
            let center = self.mesh.reference_center();
            add_strain_transpose(self.kernel, self.mesh, s.as_chunks().0, center, &mut sum);
        }
        *out = backend.upload(&sum, Space::nodes(self.mesh.n_nodes(), 3))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use topopt_fem::Material;
    use topopt_linalg::Cpu;
    use topopt_testing::{Noise, distorted_cube};

    use super::*;

    /// u = H x has the strain of H everywhere, in distorted elements too.
    #[test]
    fn strain_of_a_linear_motion_is_its_gradient() {
        let mesh = distorted_cube(3, 0.2, true);
        let h = [[0.1, 0.2, 0.3], [0.05, -0.2, 0.4], [0.0, 0.7, 0.3]];
        let row = |x: &[f64; 3], h: [f64; 3]| h[0] * x[0] + h[1] * x[1] + h[2] * x[2];
        let u: Vec<f64> = mesh.coordinates().iter().flat_map(|x| h.map(|h| row(x, h))).collect();
        let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap());
        let strains = Strain::new(&kernel, &mesh).of(&Cpu, &u).unwrap();
        for strain in strains.chunks(6) {
            for (found, expected) in strain.iter().zip([0.1, -0.2, 0.3, 0.25, 1.1, 0.3]) {
                assert!((found - expected).abs() < 1e-12, "{strain:?}");
            }
        }
    }

    #[test]
    fn transpose_has_the_same_work() {
        let mesh = distorted_cube(3, 0.2, true);
        let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap());
        let strain = Strain::new(&kernel, &mesh);
        let mut noise = Noise(7);
        let (u, s) = (noise.vector(3 * mesh.n_nodes()), noise.vector(strain.space().len()));
        let mut forces = vec![0.0; u.len()];
        strain.add_transpose(&Cpu, &s, &mut forces).unwrap();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (left, right) = (dot(&strain.of(&Cpu, &u).unwrap(), &s), dot(&u, &forces));
        assert!((left - right).abs() < 1e-12 * left.abs(), "{left} {right}");
    }
}
