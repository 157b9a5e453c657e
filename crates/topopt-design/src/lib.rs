//! Topology optimization by densities, on any backend.
//!
//! Design variables x become the physical density x̄ by a [`Chain`] of transforms. The
//! [`StateEquation`] gives the states u of a density, [`Response`]s judge both, and an
//! [`Optimizer`] makes the next design of their values and gradients. [`Optimization`] is the loop
//! over these.
//!
//! This crate names no device, no file and no console: progress leaves through an [`Observer`].
//! Element fields are vectors of length `[n_elements]`, nodal fields `[n_nodes][3]`.
//!
//! A cantilever of least compliance for a third of its volume, on the CPU:
//!
//! ```
//! use topopt_design::*;
//! use topopt_fem::{Jacobi, LoadCase, Material, Problem, Strategy, Supports};
//! use topopt_linalg::{Cpu, Space};
//! use topopt_mesh::generate::{Benchmark, Resolution};
//!
//! /// The compliance of every iteration.
//! struct Curve(Vec<f64>);
//! impl Observer<Cpu> for Curve {
//!     fn evaluated(&mut self, report: &IterationReport, _: &Design<Cpu>) -> Result<(), ObserverError> {
//!         self.0.push(report.objective);
//!         Ok(())
//!     }
//! }
//!
//! // A bar along x, held at x = 0 and loaded at its other end.
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250))?;
//! let mut supports = Supports::none(mesh.n_nodes());
//! let mut forces = vec![0.0; 3 * mesh.n_nodes()];
//! let length = mesh.bounding_box().max[0];
//! for (node, x) in mesh.coordinates().iter().enumerate() {
//!     (0..3).filter(|_| x[0] < 1e-9).for_each(|i| supports.fix(node, i));
//!     forces[3 * node + 1] = if x[0] > length - 1e-9 { -1.0 } else { 0.0 };
//! }
//! let (centers, volumes) = (mesh.centers(), mesh.volumes());
//! let n = volumes.len();
//! let material = Material::new(1.0, 0.3).ok_or("not a material")?;
//! let cases = vec![LoadCase::new("down", forces)];
//! let problem = Problem::new(mesh, material, supports, cases)?;
//!
//! let solver = Solver {
//!     operator: Strategy::Mf.build(&problem),
//!     preconditioner: Box::new(Jacobi::new(&Cpu, problem.space())?),
//!     whole: None,
//!     tolerance: 1e-6,
//!     max_iterations: 2000,
//! };
//! let simp = Interpolation { law: Law::Simp, penalty: 3.0, youngs_modulus: 1.0 , void_stiffness: 0.0};
//! let equation = StateEquation::new(&Cpu, &problem, simp, solver)?;
//!
//! let (solid, void) = (Vec::new(), Vec::new());
//! let space = DesignSpace::new(0.01, 1.0 / 3.0, volumes, solid, void);
//! let cone = Weights::fixed(Box::new(Cone::new(centers, 1.5, 1 << 20)));
//! let filter = DensityFilter::new(&Cpu, cone, &space.volumes)?;
//! let mut transform = physical_density(&Cpu, filter, None, None, &space)?;
//! let design = start::uniform(&Cpu, &space, &mut transform)?;
//! let formulation = Formulation {
//!     space: &space,
//!     transform,
//!     objective: Objective::new(Box::new(Compliance)),
//!     constraints: vec![Constraint::volume(&space, 1.0 / 3.0)],
//! };
//! let optimizer = Box::new(OptimalityCriteria::new(&Cpu, Space::elements(n), 0.2, 0.5)?);
//! let stop = StopRules { max_iterations: 15, change: 0.01, ..StopRules::default() };
//! let mut optimization = Optimization::new(equation, formulation, optimizer, stop, &design)?;
//! let mut curve = Curve(Vec::new());
//! let outcome = optimization.run(&mut curve)?;
//!
//! assert_eq!(outcome.ended, Ended::Rule(StopRule::MaxIterations));
//! let density = optimization.design().density()?;
//! let volume: f64 = density.iter().zip(&space.volumes).map(|(rho, v)| rho * v).sum();
//! assert!((volume / (space.design_volume() / 3.0) - 1.0).abs() < 1e-9);
//! assert!(curve.0[14] < 0.4 * curve.0[0], "{:?}", curve.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accuracy;
mod candidates;
mod cone;
mod cone_walk;
mod continuation;
mod densities;
mod design_loop;
mod design_space;
mod design_state;
mod equations;
mod evaluator;
mod formulation;
mod functions;
mod halt;
mod interpolation;
mod measures;
mod observer;
mod openings;
mod optimizer;
pub mod optimizers;
mod outcome;
mod rank_cone;
mod response;
pub mod responses;
mod root;
mod scaled;
mod sizes;
pub mod start;
mod state_equation;
mod state_function;
mod stop;
mod supports;
mod transform;
pub mod transforms;
mod void_elements;
mod weights;

pub use accuracy::Accuracy;
pub use candidates::{Candidate, Candidates, Made};
pub use cone::{Cone, NeighborStorage};
pub use continuation::{Course, Settings, Stage};
pub use design_loop::Optimization;
pub use design_space::DesignSpace;
pub use design_state::{AdjointState, DesignState, Memory, NamedVector};
pub use formulation::{Constraint, Formulation, Objective};
pub use interpolation::{Interpolation, Law};
pub use measures::Measures;
pub use observer::{Design, DesignFields, IterationReport, Observer, ObserverError, StepTimes};
pub use openings::Openings;
pub use optimizer::{Function, Optimizer, OtherDesigns, Subproblem};
pub use optimizers::{Anderson, LineSearch, Mma, OptimalityCriteria, Sequence, Simpl};
pub use outcome::{DesignError, Ended, Outcome};
pub use rank_cone::{Nearby, RankCone};
pub use response::{Dependence, Evaluated, Response};
pub use responses::{
    CaseCompliance, Compliance, HostFunction, HostResponse, HostValue, LargestState, LoadPower,
    LocalVolume, OfHistory, OfState, OfThicker, SensitivityFilter, StateMean, StateNorm, Volume,
    WeightedDensity, When,
};
pub use sizes::{Realization, Sizes, depth_of, share_behind, share_in_plate, whole_sum};
pub use state_equation::StateEquation;
pub use state_function::StateFunction;
pub use stop::{Progress, StopRule, StopRules};
pub use supports::{OverhangCone, Sheet, Supports, standing};
pub use topopt_analysis::{Bare, HostMap, Moment, Pullback, SolveError, Solver};
pub use transform::{Chain, DesignTransform, Transformed};
pub use transforms::{
    DensityFilter, Evened, HostTransform, Passive, Projection, Subpixel, Swept, Tied,
    physical_density, radius_before, variable_density,
};
pub use void_elements::{CHANGED, StructureState};
pub use weights::{Weights, WeightsOf};
