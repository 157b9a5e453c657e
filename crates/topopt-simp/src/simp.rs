//! Solid isotropic material with penalisation.

use topopt_linalg::Backend;

/// E_e = rho_e^p E_0 [Ratnakar2022, 2.1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simp {
    /// Penalty p >= 1.
    pub penalty: f64,
    /// Young's modulus of the solid, E_0.
    pub youngs_modulus: f64,
}

impl Simp {
    /// Moduli E_e of the densities.
    pub fn moduli<B: Backend>(&self, backend: &B, density: &B::Vector, moduli: &mut B::Vector) {
        backend.power(self.youngs_modulus, density, self.penalty, moduli);
    }

    /// dC/drho_e = -p rho_e^(p-1) E_0 u_e^T K_e u_e [Ratnakar2022, Eq. 2.5], from the element
    /// energies u_e^T K_e u_e at unit modulus. `scratch` is overwritten.
    pub fn sensitivities<B: Backend>(
        &self,
        backend: &B,
        density: &B::Vector,
        energies: &B::Vector,
        scratch: &mut B::Vector,
        sensitivities: &mut B::Vector,
    ) {
        let factor = -self.penalty * self.youngs_modulus;
        backend.power(factor, density, self.penalty - 1.0, scratch);
        backend.multiply(scratch, energies, sensitivities);
    }
}
