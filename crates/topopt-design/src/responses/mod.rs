//! The responses, a file each.

mod compliance;
mod host;
mod largest;
mod local_volume;
mod of_states;
mod sensitivity_filter;
mod state_functions;
mod thicker;
mod volume;
mod weighted_density;

pub use compliance::{CaseCompliance, Compliance};
pub use host::{HostFunction, HostResponse, HostValue};
pub use largest::{LargestState, StateNorm};
pub use local_volume::LocalVolume;
pub use of_states::{OfHistory, OfState, When};
pub use sensitivity_filter::SensitivityFilter;
pub use state_functions::{LoadPower, StateMean};
pub use thicker::OfThicker;
pub use volume::Volume;
pub use weighted_density::WeightedDensity;
