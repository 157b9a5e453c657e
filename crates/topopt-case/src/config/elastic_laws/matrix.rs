//! Anisotropic elasticity by a stiffness matrix.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use topopt_fem::stiffness_tensor::{Frame, Stiffness, mean_modulus, turned};

use super::frame::axes;
use super::law::{ElasticLaw, NoMaterial, check_positive};

/// An anisotropic material by its stiffness matrix along the axes of a frame.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Anisotropic {
    /// Rows of the matrix from strains to stresses, both as 11, 22, 33, 12, 23, 13, with shear
    /// angles among the strains.
    pub stiffness: [[f64; 6]; 6],
    /// Axis 1, and a vector in the plane of the axes 1 and 2; by default x and y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<[[f64; 3]; 2]>,
}

impl ElasticLaw for Anisotropic {
    fn modulus(&self) -> Option<f64> {
        Some(mean_modulus(&self.stiffness))
    }

    fn stiffness(&self, _: f64) -> Result<Stiffness, NoMaterial> {
        let d = &self.stiffness;
        let different = (0..36).map(|k| (k / 6, k % 6)).find(|&(i, j)| d[i][j] != d[j][i]);
        if let Some((i, j)) = different {
            return Err(NoMaterial {
                why: format!(
                    "`stiffness` is not symmetric: {} in row {} and column {}, {} across",
                    d[i][j],
                    i + 1,
                    j + 1,
                    d[j][i]
                ),
                remedy: "give a symmetric matrix",
            });
        }
        check_positive(d, "stiffness")?;
        let (frame, modulus) = (self.axes()?, mean_modulus(d));
        Ok(turned(&d.map(|row| row.map(|d| d / modulus)), &frame))
    }

    fn axes(&self) -> Result<Frame, NoMaterial> {
        axes(self.frame)
    }
}
