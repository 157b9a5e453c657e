//! Linear elasticity on trilinear hexahedra: element stiffness, supports, loads, the operator
//! K(E) u by several strategies on the CPU, and stresses; and the Helmholtz filter.
//!
//! This crate does no I/O and reads no clock. Vectors of the CPU hold nodal values as
//! \[node\]\[component\].

mod element_loads;
mod helmholtz;
mod lanes;
mod material;
mod multigrid;
mod operator;
pub mod operators;
mod patches;
mod preconditioner;
mod problem;
mod springs;
pub mod stiffness;
pub mod stress;
mod supports;
pub mod surface_load;

pub use element_loads::ElementVectors;
pub use helmholtz::Helmholtz;
pub use material::Material;
pub use multigrid::{
    Aggregates, Aggregation, Joints, MODES, Multigrid, RigidAggregation, Supported, element_bounds,
};
pub use operator::ElementOperator;
pub use operators::Strategy;
pub use patches::Patches;
pub use preconditioner::{BlockJacobi, ElementPreconditioner, Jacobi, Level};
pub use problem::{LoadCase, Problem, ProblemError};
pub use springs::WithSprings;
pub use supports::Supports;

/// Displacement components of a node.
pub const DIM: usize = 3;
