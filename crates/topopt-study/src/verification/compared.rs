//! A number before and after.

use serde::{Deserialize, Serialize};

/// A number of the optimized design beside that of the verified one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written")]
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

/// The three numbers as JSON has them, where one that is not finite is null.
#[derive(Deserialize)]
struct Written {
    optimized: Option<f64>,
    verified: Option<f64>,
    ratio: Option<f64>,
}

impl From<Written> for Compared {
    fn from(Written { optimized, verified, ratio }: Written) -> Self {
        let [optimized, verified, ratio] =
            [optimized, verified, ratio].map(|number| number.unwrap_or(f64::NAN));
        Self { optimized, verified, ratio }
    }
}
