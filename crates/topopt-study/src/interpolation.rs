//! The law between density and stiffness that a case asks for.

use topopt_design::{Interpolation, Law};

use crate::config::{self, Config};

/// The law of `[design]` before the first stage of a continuation.
pub(crate) fn of(config: &Config) -> Interpolation {
    Interpolation {
        law: match config.design.interpolation {
            config::Interpolation::Simp => Law::Simp,
            config::Interpolation::Ramp => Law::Ramp,
        },
        penalty: config.design.penalty,
        youngs_modulus: config.material.youngs_modulus,
        void_stiffness: config.design.void_stiffness,
    }
}
