//! Solvers of heat conduction: one unknown per node.

use topopt_fem::Diffusion;

use super::solvable::Solvable;

impl Solvable<1> for Diffusion {}
