//! The law between density and stiffness that a case asks for.

use topopt_design::{Interpolation, Law};

use crate::config::{self, Config};

/// The law of `[design]` before the first stage of a continuation.
/// `modulus` is that of the solid.
pub fn of(config: &Config, modulus: f64) -> Interpolation {
    Interpolation {
        law: match config.design.interpolation {
            config::Interpolation::Simp => Law::Simp,
            config::Interpolation::Ramp => Law::Ramp,
        },
        penalty: config.design.penalty,
        youngs_modulus: modulus,
        void_stiffness: config.design.void_stiffness,
    }
}
