//! Equations on trilinear hexahedra: the integrals over an element, what is held, the operator K u by
//! several strategies and preconditioners on the CPU; linear elasticity with loads and stresses,
//! diffusion, and the Helmholtz filter.
//!
//! A physics is an [`ElementKernel`]: [`Elasticity`] with three unknowns per node, [`Diffusion`] with
//! one. Operators, multigrid and everything below know no more of it.
//!
//! This crate does no I/O and reads no clock. Vectors of the CPU hold nodal values as
//! `[n_nodes][unknowns]`.

mod averaging;
mod constraints;
mod diffusion;
mod discretization;
mod elasticity;
mod element_loads;
mod helmholtz;
mod kernel;
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

pub use averaging::{Averaging, AveragingError};
pub use constraints::Constraints;
pub use diffusion::Diffusion;
pub use discretization::Discretization;
pub use elasticity::Elasticity;
pub use element_loads::ElementVectors;
pub use helmholtz::{AssembledEquation, FilterEquation, Helmholtz, conductivities, shape_means};
pub use kernel::{Corners, ElementKernel, ElementMatrix, ElementVector, MAX_TERMS, Summed};
pub use material::Material;
pub use multigrid::{
    Aggregates, Aggregation, Joints, MODES, Modes, Multigrid, NodalAggregation, NodalModes,
    Supported,
};
pub use operator::ElementOperator;
pub use operators::Strategy;
pub use patches::Patches;
pub use preconditioner::{BlockJacobi, ElementPreconditioner, Jacobi, Level};
pub use problem::{LoadCase, Problem, ProblemError};
pub use springs::WithSprings;
pub use supports::Supports;

/// Directions of space, and displacement components of a node.
pub const DIM: usize = 3;
