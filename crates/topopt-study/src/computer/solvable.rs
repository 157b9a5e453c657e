//! `Solvable`: solvers of a physics on each kind of computer.

use topopt_case::config::Config;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_fem::CpuSolvers;

#[cfg(feature = "cuda")]
use super::gpu::GpuSolvable;

/// A physics as GPUs solve it, which this program does not have.
#[cfg(not(feature = "cuda"))]
pub trait GpuSolvable<const N: usize> {}

#[cfg(not(feature = "cuda"))]
impl<K, const N: usize> GpuSolvable<N> for K {}

/// A physics with N unknowns per node, as computers solve it.
pub trait Solvable<const N: usize>: Physics<N> + CpuSolvers<N> + GpuSolvable<N> {
    /// Returns warnings about a case, one sentence each.
    fn doubts(_config: &Config, _model: &Model<Self, N>) -> Vec<String> {
        Vec::new()
    }

    /// Warns of thin members whose elements bend too little, among those that `are_solid`,
    /// `[n_elements]` in the order of the problem, or all.
    fn thin_members(_model: &Model<Self, N>, _are_solid: Option<&[bool]>) -> Option<String> {
        None
    }
}
