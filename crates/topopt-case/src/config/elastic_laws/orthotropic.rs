//! Orthotropic elasticity by engineering constants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use topopt_fem::stiffness_tensor::{Frame, Stiffness, inverted, mean_modulus, turned};

use super::frame::axes;
use super::law::{ElasticLaw, NoMaterial, check_positive};

/// An orthotropic material by nine engineering constants along the axes 1, 2 and 3 of its frame.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Orthotropic {
    /// Young's moduli along the axes 1, 2 and 3.
    pub youngs_moduli: [f64; 3],
    /// Poisson's ratios 12, 13 and 23: contraction along the second axis of a pair, over the strain
    /// along the first, under a stress along the first.
    pub poissons_ratios: [f64; 3],
    /// Shear moduli in the planes 12, 13 and 23.
    pub shear_moduli: [f64; 3],
    /// Axis 1, and a vector in the plane of the axes 1 and 2; by default x and y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<[[f64; 3]; 2]>,
}

impl Orthotropic {
    /// The matrix from stresses to strains along the axes.
    fn compliance(&self) -> Stiffness {
        let [e1, e2, e3] = self.youngs_moduli;
        let [nu12, nu13, nu23] = self.poissons_ratios;
        let [g12, g13, g23] = self.shear_moduli;
        let mut s = [[0.0; 6]; 6];
        (s[0][0], s[1][1], s[2][2]) = (1.0 / e1, 1.0 / e2, 1.0 / e3);
        (s[3][3], s[4][4], s[5][5]) = (1.0 / g12, 1.0 / g23, 1.0 / g13);
        for (i, j, entry) in [(0, 1, -nu12 / e1), (0, 2, -nu13 / e1), (1, 2, -nu23 / e2)] {
            (s[i][j], s[j][i]) = (entry, entry);
        }
        s
    }
}

impl ElasticLaw for Orthotropic {
    fn modulus(&self) -> Option<f64> {
        Some(inverted(&self.compliance()).map_or(1.0, |stiffness| mean_modulus(&stiffness)))
    }

    fn axes(&self) -> Result<Frame, NoMaterial> {
        axes(self.frame)
    }

    fn stiffness(&self, _: f64) -> Result<Stiffness, NoMaterial> {
        let no_modulus = |modulus: &&f64| !(**modulus > 0.0 && modulus.is_finite());
        let moduli = self.youngs_moduli.iter().chain(&self.shear_moduli);
        if let Some(modulus) = moduli.clone().find(no_modulus) {
            return Err(NoMaterial {
                why: format!("no material has the modulus {modulus}"),
                remedy: "give positive moduli",
            });
        }
        let compliance = self.compliance();
        check_positive(&compliance, "compliance")?;
        let frame = self.axes()?;
        let stiffness = inverted(&compliance).unwrap_or_default();
        let modulus = mean_modulus(&stiffness);
        Ok(turned(&stiffness.map(|row| row.map(|d| d / modulus)), &frame))
    }
}
