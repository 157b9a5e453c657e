//! The responses, a file each.

mod compliance;
mod sensitivity_filter;
mod volume;

use topopt_linalg::Pointwise;

use crate::Response;

pub use compliance::Compliance;
pub use sensitivity_filter::SensitivityFilter;
pub use volume::Volume;

/// All responses that need no settings; tests hold each against finite differences.
pub fn all<B: Pointwise + Sync>() -> Vec<Box<dyn Response<B>>> {
    vec![Box::new(Compliance), Box::new(Volume)]
}
