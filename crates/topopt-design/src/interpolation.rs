//! The law between density and stiffness.

use topopt_linalg::Pointwise;

/// Young's modulus of a density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interpolation {
    /// Law of the interpolation.
    pub law: Law,
    /// Parameter p or q of the law.
    pub penalty: f64,
    /// Young's modulus of the solid, E_0.
    pub youngs_modulus: f64,
    /// Young's modulus of void as a share of the solid one, in
    /// $E_e = (\varepsilon + (1 - \varepsilon) f(\rho_e)) E_0$ with the law f: the modified SIMP of
    /// \[Sigmund2007\]. If it is 0, no density may be 0.
    pub void_stiffness: f64,
}

/// How stiffness falls with density.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// $E_e = \rho_e^p E_0$ with p >= 1 [Ratnakar2022, 2.1].
    Simp,
    /// $E_e = \rho_e / (1 + q (1 - \rho_e)) E_0$ with q >= 0 \[StolpeSvanberg2001\]. It keeps a
    /// slope at density 0, so that thin material bears its own weight.
    Ramp,
}

impl Interpolation {
    /// Moduli E_e of the densities. `scratch` is overwritten.
    pub fn moduli<B: Pointwise>(
        &self,
        backend: &B,
        density: &B::Vector,
        scratch: &mut B::Vector,
        moduli: &mut B::Vector,
    ) {
        match self.law {
            Law::Simp => backend.power(self.range(), density, self.penalty, moduli),
            Law::Ramp => {
                self.ramp(backend, density, moduli);
                backend.power(self.range(), moduli, -1.0, scratch);
                backend.multiply(density, scratch, moduli);
            }
        }
        if self.void_stiffness > 0.0 {
            backend.fill(self.void_stiffness * self.youngs_modulus, scratch);
            backend.axpby(1.0, scratch, 1.0, moduli);
        }
    }

    /// Modulus of one `density`.
    pub fn modulus(&self, density: f64) -> f64 {
        let share = match self.law {
            Law::Simp => density.powf(self.penalty),
            Law::Ramp => density / (1.0 + self.penalty * (1.0 - density)),
        };
        self.void_stiffness * self.youngs_modulus + self.range() * share
    }

    /// Difference between the moduli of solid and void.
    fn range(&self) -> f64 {
        (1.0 - self.void_stiffness) * self.youngs_modulus
    }

    /// -dE_e/drho_e times the element energies u_e^T K_e u_e at unit modulus
    /// [Ratnakar2022, Eq. 2.5]. `scratch` is overwritten.
    pub fn sensitivities<B: Pointwise>(
        &self,
        backend: &B,
        density: &B::Vector,
        energies: &B::Vector,
        scratch: &mut B::Vector,
        sensitivities: &mut B::Vector,
    ) {
        match self.law {
            Law::Simp => {
                let factor = -self.penalty * self.range();
                backend.power(factor, density, self.penalty - 1.0, scratch);
            }
            Law::Ramp => {
                // dE/drho = (1 + q) / (1 + q (1 - rho))^2 E_0
                self.ramp(backend, density, sensitivities);
                let factor = -(1.0 + self.penalty) * self.range();
                backend.power(factor, sensitivities, -2.0, scratch);
            }
        }
        backend.multiply(scratch, energies, sensitivities);
    }

    /// out = 1 + q (1 - rho).
    fn ramp<B: Pointwise>(&self, backend: &B, density: &B::Vector, out: &mut B::Vector) {
        backend.fill(1.0 + self.penalty, out);
        backend.axpby(-self.penalty, density, 1.0, out);
    }
}
