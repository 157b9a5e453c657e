//! The responses, a file each.

mod compliance;
mod displacement;
mod sensitivity_filter;
mod volume;
mod weighted_density;

pub use compliance::{CaseCompliance, Compliance};
pub use displacement::{LargestDisplacement, MeanDisplacement};
pub use sensitivity_filter::SensitivityFilter;
pub use volume::Volume;
pub use weighted_density::WeightedDensity;
