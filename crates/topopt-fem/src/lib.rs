//! Equations on trilinear hexahedra or on tetrahedra of ten nodes: the integrals over an element,
//! what is held, the operator K u by several strategies and preconditioners on the CPU; linear
//! elasticity with loads and stresses, diffusion, and the Helmholtz filter.
//!
//! A physics is an [`ElementKernel`]: [`Elasticity`] with three unknowns per node, [`Diffusion`]
//! with one. Operators, multigrid and everything below know nothing else of it.
//!
//! A cantilever of 12 x 2 x 2 cubes under a force at its tip:
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use topopt_fem::{
//!     ElementPreconditioner, LoadCase, Material, Multigrid, Problem, Strategy, Supports,
//! };
//! use topopt_linalg::{Cpu, CycleKind, Pcg, PcgOptions, System};
//! use topopt_mesh::{HexMesh, Sets};
//!
//! let at = |i: usize, j: usize, k: usize| (i + 13 * (j + 3 * k)) as u32;
//! let nodes = (0..117).map(|n| [(n % 13) as f64, (n / 13 % 3) as f64, (n / 39) as f64]);
//! let hexes = (0..48).map(|e| {
//!     let (i, j, k) = (e % 12, e / 12 % 2, e / 24);
//!     let face = |k| [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)];
//!     let ([a, b, c, d], [e, f, g, h]) = (face(k), face(k + 1));
//!     [a, b, c, d, e, f, g, h]
//! });
//! let mesh = HexMesh::new(nodes.collect(), hexes.collect(), Sets::default())?;
//!
//! // Held at x = 0, pulled down at x = 12.
//! let (mut supports, mut forces) = (Supports::none(117), vec![0.0; 3 * 117]);
//! for (j, k) in (0..9).map(|n| (n % 3, n / 3)) {
//!     (0..3).for_each(|component| supports.fix(at(0, j, k) as usize, component));
//!     forces[3 * at(12, j, k) as usize + 2] = -1.0 / 9.0;
//! }
//! let material = Material::new(1000.0, 0.3).ok_or("no such material")?;
//! let problem = Problem::new(mesh, material, supports, vec![LoadCase::new("tip", forces)])?;
//!
//! let moduli = vec![1000.0; 48];
//! let mut operator = Strategy::Mf.build(&problem);
//! operator.set_coefficients(&[&moduli]);
//! let mut multigrid = Multigrid::new(&problem, CycleKind::K)?;
//! multigrid.update(&Cpu, operator.as_ref(), &[&moduli])?;
//! let f = &problem.load_cases()[0].forces;
//! let system = System { backend: &Cpu, a: operator.as_ref(), m: &multigrid, f };
//! let options = PcgOptions { tolerance: 1e-10, max_iterations: 100 };
//! let (mut u, mut pcg) = (vec![0.0; 3 * 117], Pcg::new(&Cpu, problem.space())?);
//! pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(()))?;
//!
//! // A slender beam bends by F l^3 / (3 E I) = 0.432; two elements over the height are stiffer.
//! let tip = -u[3 * at(12, 1, 1) as usize + 2];
//! assert!((0.3..0.45).contains(&tip), "{tip}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Vectors of the CPU hold nodal values as `[n_nodes][unknowns]`. This crate is internal to topopt,
//! without promises of stability.

mod assembled;
mod averaging;
pub mod bearing;
pub mod bending;
mod body_force;
mod constraints;
mod corner_maps;
mod cpu_solvers;
mod diffusion;
mod discretization;
mod distributed;
mod distributed_part;
mod distributed_preconditioner;
mod elasticity;
mod element_loads;
mod element_matrices;
mod elements;
mod films;
mod flux;
mod formulation;
mod free_part;
mod half_model;
mod helmholtz;
mod idle;
mod inertia_relief;
mod internal_force;
mod kernel;
mod lane_laws;
mod lanes;
mod laws;
mod material;
mod mode_geometry;
mod multigrid;
mod operator;
pub mod operators;
pub mod orthotropy;
mod patches;
mod preconditioner;
mod problem;
mod problem_view;
pub mod recovery;
mod relaxation;
pub mod remote_load;
mod restrained;
mod rigid_motion;
mod shape_gradients;
mod sharing;
mod springs;
pub mod stiffness;
pub mod stiffness_tensor;
pub mod strain;
mod strain_modes;
mod strain_tensor;
mod strategy;
pub mod stress;
pub mod stress_error;
mod supports;
pub mod surface_load;
mod temperature_change;
pub mod tetrahedra;
mod thermal_strain;
mod transient;
mod with_capacity;
mod with_films;

pub use assembled::matrix_row;
pub use averaging::{Averaging, AveragingError};
pub use body_force::BodyForce;
pub use constraints::Constraints;
pub use corner_maps::{Components, CornerMaps, CpuCorners, RankCorners};
pub use cpu_solvers::{CpuPreconditioner, CpuSolvers};
pub use diffusion::Diffusion;
pub use discretization::Discretization;
pub use distributed::{Distributed, PartVectors, element_halo, node_halo};
pub use distributed_part::DistributedPart;
pub use distributed_preconditioner::DistributedPreconditioner;
pub use elasticity::{BOUND_STEPS, BoundParameters, Elasticity};
pub use element_loads::{ElementVectors, nodal_body_forces};
pub use element_matrices::ElementMatrices;
pub use elements::{Corners, ElementData, Elements};
pub use films::{Coupling, FilmRows, add_film_flows};
pub use flux::heat_flux;
pub use formulation::Formulation;
pub use free_part::FreePart;
pub use half_model::{Asymmetry, HalfModel};
pub use helmholtz::{
    AssembledEquation, CpuMeans, ElementMeans, FilterEquation, Helmholtz, PartOfFilter,
    RankEquation, filter_coefficients, shape_means,
};
pub use idle::Idle;
pub use inertia_relief::InertiaRelief;
pub use internal_force::internal_forces;
pub use kernel::{ElementKernel, ElementMatrix, ElementVector, MAX_TERMS, Summed};
pub use laws::{Law, Laws};
pub use material::Material;
pub use multigrid::{
    Aggregates, Aggregation, DIRECT, Joints, MODES, Modes, Multigrid, NodalAggregation, NodalModes,
    SharedLevel, Supported,
};
pub use operator::ElementOperator;
pub use patches::Patches;
pub use preconditioner::{BlockJacobi, ElementPreconditioner, Jacobi, Level};
pub use problem::{ElementFactors, LoadCase, Problem, ProblemError};
pub use problem_view::{Acting, ProblemView, RemoteProblem};
pub use restrained::{restrained_energies, thermal_forces};
pub use rigid_motion::RigidMotion;
pub use sharing::{Divided, PartSharing, Refreshed, Shared, Sharing};
pub use springs::WithSprings;
pub use strain_modes::{MONOMIALS, StrainMode};
pub use strategy::{CpuOperator, Strategy};
pub use supports::Supports;
pub use temperature_change::{TemperatureChange, temperature_changes};
pub use thermal_strain::{Restrained, ThermalStrains};
pub use transient::{
    AdjointSteps, Held, OverTime, StepData, StepLoads, StepSolver, ThetaScheme, Timeline, Varying,
    factor_at, lumped_capacity,
};

/// Directions of space, and displacement components of a node.
pub const DIM: usize = 3;
