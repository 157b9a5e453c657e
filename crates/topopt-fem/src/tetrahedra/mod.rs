//! Integrals over tetrahedra of ten nodes by the rule of four points, for any kernel.
//!
//! All follow from the law between gradient and flux of an
//! [`ElementKernel`](crate::ElementKernel). A tetrahedron has one coefficient per term:
//! coefficients of its own at each point would leave a solid quarter with six constraints alone,
//! and designs full of mechanisms.

pub(crate) mod integrals;
mod lanes;
mod multigrid;
mod patches;
mod strain;

pub use integrals::{
    FLOPS_PER_UNKNOWN, MASS_SHARES, TetrahedronMatrix, TetrahedronVector, body_force,
    diagonal_blocks, gradients, mass_shares, matrix,
};
pub use multigrid::{
    GROUP, GroupInverse, Rectangle, Smoothed, SmoothedTransfer, TetrahedraMultigrid,
    VertexHierarchy, VertexLevels, Vertices,
};
pub(crate) use patches::{AddTetrahedra, TetrahedraWorks, add_blocks};
pub(crate) use strain::{add_strain_transpose, strain};
