//! Transversely isotropic elasticity of a part that is built in layers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use topopt_fem::stiffness_tensor::{Frame, Stiffness, inverted, turned};

use super::frame::about;
use super::law::{ElasticLaw, NoMaterial, check_positive};

/// A printed part, softer across its layers: `youngs_modulus` and `poissons_ratio` are those within
/// the layers; the modulus across is `knock_down` times as large, and so is the shear modulus
/// between the layers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layered {
    /// Direction in which layers are laid on each other, of any length.
    pub build_direction: [f64; 3],
    /// Ratio of Young's modulus across the layers to that within: about 0.55 of PLA, 0.7 of PETG, 0.6
    /// of ASA, 1 of resin.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub knock_down: f64,
}

impl ElasticLaw for Layered {
    fn modulus(&self) -> Option<f64> {
        None
    }

    fn stiffness(&self, ratio: f64) -> Result<Stiffness, NoMaterial> {
        let mut s = [[0.0; 6]; 6];
        (0..3).for_each(|i| (0..3).for_each(|j| s[i][j] = if i == j { 1.0 } else { -ratio }));
        (s[2][2], s[3][3]) = (1.0 / self.knock_down, 2.0 * (1.0 + ratio));
        (s[4][4], s[5][5]) = (s[3][3] / self.knock_down, s[3][3] / self.knock_down);
        check_positive(&s, "compliance")?;
        Ok(turned(&inverted(&s).unwrap_or_default(), &self.axes()?))
    }

    fn axes(&self) -> Result<Frame, NoMaterial> {
        about(self.build_direction, "`build_direction`")
    }

    fn is_round(&self) -> bool {
        true
    }
}
