//! A law of elasticity, as the case file gives it.

use topopt_fem::stiffness_tensor::{Frame, Stiffness, least_eigenvalue};

/// A law of elasticity from keys of a material.
pub trait ElasticLaw {
    /// Returns the modulus (force per area) that stiffnesses are multiples of; none for
    /// `youngs_modulus`.
    fn modulus(&self) -> Option<f64>;

    /// Returns D along the axes of the mesh at that modulus 1, of a material with Poisson's
    /// `ratio`.
    ///
    /// # Errors
    /// Constants of no material.
    fn stiffness(&self, ratio: f64) -> Result<Stiffness, NoMaterial>;

    /// Returns the axes of the material.
    ///
    /// # Errors
    /// Vectors that make no axes.
    fn axes(&self) -> Result<Frame, NoMaterial>;

    /// Whether the axes 1 and 2 are any two across the third one, so that nothing may tell them
    /// apart.
    fn is_round(&self) -> bool {
        false
    }
}

/// A reason for which constants are of no material, and a remedy.
#[derive(Debug)]
pub struct NoMaterial {
    /// The reason.
    pub why: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// Refuses a symmetric `matrix`, in words, by which a strain or stress has no energy.
pub fn check_positive(matrix: &Stiffness, what: &str) -> Result<(), NoMaterial> {
    let least = least_eigenvalue(matrix);
    let largest = matrix.as_flattened().iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
    if least > 1e-12 * largest {
        return Ok(());
    }
    Err(NoMaterial {
        why: format!(
            "no material has these constants: the least eigenvalue of its {what} matrix is \
             {least:.4e}, not positive"
        ),
        remedy: "correct the constants: every deformation of a material takes energy",
    })
}
