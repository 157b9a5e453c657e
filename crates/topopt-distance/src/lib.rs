//! Distances and moving fronts on the tetrahedra of a mesh.
//!
//! [`arrival()`] solves the eikonal equation: when a front gets to each vertex, which is the
//! distance if its speed is 1. [`signed_distance()`] makes a field the signed distance to its zero
//! set, in a band around it, [`evolve()`] moves that zero set, and
//! [`curvature_flow()`] smooths it, in long steps.
//!
//! Fields have a value at each vertex and are linear on tetrahedra: those of a hexahedral mesh
//! ([`Tetrahedra::of_mesh`]) or any others. [`Patches`] of tetrahedra are what all methods work on.
//!
//! Results do not depend on the number of threads. This crate is internal to topopt, without
//! promises of stability.
//!
//! ```
//! use topopt_distance::{Patches, Speed, Tetrahedra, arrival};
//! use topopt_mesh::generate::{Benchmark, Resolution};
//!
//! // A box of 10 x 5 x 5 unit cubes, and the distance from its face x = 0.
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
//! let nodes = (0..mesh.n_nodes() as u32).filter(|&n| mesh.coordinates()[n as usize][0] == 0.0);
//! let sources: Vec<(u32, f64)> = nodes.map(|node| (node, 0.0)).collect();
//!
//! let patches = Patches::new(Tetrahedra::of_mesh(&mesh)?);
//! let found = arrival(&patches, &Speed::Uniform(1.0), &sources)?;
//! // Nodes, then centers of elements.
//! for (time, x) in found.times.iter().zip(patches.tetrahedra().points()) {
//!     assert!((time - x[0]).abs() < 1e-12);
//! }
//! # Ok::<(), topopt_distance::DistanceError>(())
//! ```

mod arrival;
mod band;
mod checks;
mod curvature_flow;
mod element;
mod error;
mod evolution;
mod front;
mod local_solver;
mod motion;
mod patches;
pub mod reference;
mod signed_distance;
mod sparse;
mod speed;
mod tetrahedra;
mod travel;
mod zero_set;

pub use arrival::{Arrival, arrival, arrival_until};
pub use checks::checked_sources;
pub use curvature_flow::{Flow, Flowed, curvature_flow};
pub use error::DistanceError;
pub use evolution::{Evolved, Steps, evolve};
pub use motion::{Coefficient, Motion};
pub use patches::{Patch, Patches};
pub use signed_distance::{SignedDistance, signed_distance};
pub use speed::{Products, Speed, Tensor};
pub use tetrahedra::Tetrahedra;
pub use travel::Travel;
