//! SIMP and RAMP, filters and projection, loads that follow the design, optimality criteria and the
//! design loop, on any backend.
//!
//! This crate names no device, no file and no console: progress leaves through an [`Observer`].
//! Element fields are vectors of length \[n_elements\], nodal fields \[n_nodes\] x 3.

mod accuracy;
mod cone;
mod cone_walk;
mod continuation;
mod density_filter;
mod design_loop;
mod design_space;
mod filter;
mod interpolation;
mod loads;
mod observer;
mod optimality_criteria;
mod outcome;
mod physical_density;
mod projection;
mod root;
mod sensitivity_filter;
mod stop;
mod transform;
mod void_elements;

pub use accuracy::Accuracy;
pub use cone::{Cone, NeighborStorage};
pub use continuation::{Continuation, Stage, WeightsOf};
pub use density_filter::DensityFilter;
pub use design_loop::{Optimization, Physics};
pub use design_space::DesignSpace;
pub use filter::Filter;
pub use interpolation::{Interpolation, Law};
pub use loads::Loads;
pub use observer::{Design, DesignState, IterationReport, Observer, ObserverError, StepTimes};
pub use optimality_criteria::OptimalityCriteria;
pub use outcome::{DesignError, Ended, Outcome};
pub use physical_density::PhysicalDensity;
pub use projection::Projection;
pub use sensitivity_filter::SensitivityFilter;
pub use stop::{StopRule, StopRules};
pub use transform::DesignTransform;
pub use void_elements::StructureState;
