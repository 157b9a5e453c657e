//! Analyses of a given part, on any backend: the states of a steady or a transient equation.
//!
//! [`Linear`] solves K u = f for all load cases of a problem, at given coefficients of the
//! elements; [`Transient`] steps through C du/dt + K u = f. [`History`] keeps the states of a
//! transient equation for gradients by its adjoint. [`Strain`] gives the strains of a state.
//!
//! This crate knows no design: densities only scale the weight and the capacity of elements.
//! Element fields are vectors of length `[n_elements]`, nodal fields `[n_nodes][n]`.
//!
//! A bar of length 4 and cross-section 1 that is pulled at its end:
//!
//! ```
//! use topopt_analysis::{Linear, Solver};
//! use topopt_fem::{Jacobi, LoadCase, Material, Problem, Strategy, Supports};
//! use topopt_linalg::Cpu;
//! use topopt_mesh::generate::{Benchmark, Resolution};
//!
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250))?;
//! let mut supports = Supports::none(mesh.n_nodes());
//! let mut forces = vec![0.0; 3 * mesh.n_nodes()];
//! let extent = mesh.bounding_box().extent();
//! let mut pulled = 0;
//! for (node, x) in mesh.coordinates().iter().enumerate() {
//!     if x[0] < 1e-9 {
//!         (0..3).for_each(|i| supports.fix(node, i));
//!     } else if x[0] > extent[0] - 1e-9 {
//!         forces[3 * node] = 1.0;
//!         pulled += 1;
//!     }
//! }
//! let n = mesh.n_elements();
//! let material = Material::new(1.0, 0.3).ok_or("not a material")?;
//! let problem = Problem::new(mesh, material, supports, vec![LoadCase::new("pull", forces)])?;
//!
//! let solver = Solver {
//!     operator: Strategy::Mf.build(&problem),
//!     preconditioner: Box::new(Jacobi::new(&Cpu, problem.space())?),
//!     whole: None,
//!     tolerance: 1e-8,
//!     max_iterations: 2000,
//! };
//! let mut linear = Linear::new(&Cpu, &problem, solver)?;
//! let mut states = linear.start()?;
//! linear.assemble(&vec![1.0; n], &vec![1.0; n])?;
//! linear.update_preconditioner(&vec![1.0; n])?;
//! linear.solve(&mut states, &mut |_| std::ops::ControlFlow::Continue(()))?;
//!
//! let force = f64::from(pulled);
//! let work = linear.compliances(&vec![1.0; n], &states, &mut vec![0.0; n])?[0];
//! let elongation = force * extent[0] / (extent[1] * extent[2]);
//! // Clamped at one end, and pulled at nodes with equal forces, it is no exact state of a bar.
//! assert!((work / force / elongation - 1.0).abs() < 0.05);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod effort;
mod history;
mod host_map;
mod linear;
mod loads;
mod moment;
mod origin;
mod own_forces;
mod solve_error;
mod strain;
mod transient;
mod whole;

pub use effort::Effort;
pub use history::{AdjointWork, History, Observe, Slope};
pub use host_map::{HostMap, Pullback};
pub use linear::{Linear, Solver};
pub use loads::Loads;
pub use moment::Moment;
pub use solve_error::SolveError;
pub use strain::Strain;
pub use transient::{Bare, Transient};
pub use whole::Whole;
