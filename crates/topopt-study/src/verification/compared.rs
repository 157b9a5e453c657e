//! A number before and after.

use serde::Serialize;

/// A number of the optimized design beside that of the verified one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Compared {
    /// With the densities of the run.
    pub optimized: f64,
    /// With solid and void elements.
    pub verified: f64,
    /// verified / optimized.
    pub ratio: f64,
}

impl Compared {
    pub(super) fn new(optimized: f64, verified: f64) -> Self {
        Self { optimized, verified, ratio: verified / optimized }
    }
}
