//! The responses, a file each.

mod compliance;
mod sensitivity_filter;
mod volume;

pub use compliance::Compliance;
pub use sensitivity_filter::SensitivityFilter;
pub use volume::Volume;
