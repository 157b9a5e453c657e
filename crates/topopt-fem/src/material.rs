//! Isotropic linear elasticity.

use serde::Serialize;

/// An isotropic linear elastic material at density 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Material {
    youngs_modulus: f64,
    poissons_ratio: f64,
}

impl Material {
    /// The material of Young's modulus (> 0, force per area) and Poisson's ratio (between -1 and
    /// 0.5); `None` outside of these ranges.
    pub fn new(youngs_modulus: f64, poissons_ratio: f64) -> Option<Self> {
        let valid = youngs_modulus > 0.0
            && youngs_modulus.is_finite()
            && poissons_ratio > -1.0
            && poissons_ratio < 0.5;
        valid.then_some(Self { youngs_modulus, poissons_ratio })
    }

    /// Young's modulus of the solid (force per area).
    pub fn youngs_modulus(&self) -> f64 {
        self.youngs_modulus
    }

    /// Poisson's ratio.
    pub fn poissons_ratio(&self) -> f64 {
        self.poissons_ratio
    }

    /// Lame's constants (lambda, mu) at Young's modulus 1.
    pub fn unit_lame(&self) -> (f64, f64) {
        let nu = self.poissons_ratio;
        (nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), 0.5 / (1.0 + nu))
    }
}
