//! SIMP and RAMP, loads that follow the design, the sensitivity filter, optimality criteria and the design loop, on any backend.
//!
//! This crate names no device, no file and no console: progress leaves through an [`Observer`].
//! Element fields are vectors of length \[n_elements\], nodal fields \[n_nodes\] x 3.

mod cone;
mod design_loop;
mod filter;
mod interpolation;
mod loads;
mod observer;
mod optimality_criteria;
mod stop;

pub use cone::{Cone, NeighbourStorage};
pub use design_loop::{DesignError, Ended, Optimization, Outcome, Physics};
pub use filter::SensitivityFilter;
pub use interpolation::{Interpolation, Law};
pub use loads::Loads;
pub use observer::{Design, IterationReport, Observer, ObserverError, StepTimes};
pub use optimality_criteria::{DesignSpace, OptimalityCriteria};
pub use stop::{StopRule, StopRules};
