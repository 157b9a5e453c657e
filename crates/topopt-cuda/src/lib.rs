//! The CUDA backend: vectors and operators on NVIDIA GPUs.
//!
//! Kernels of `cuda/` are embedded as PTX, which the driver compiles for the GPU at hand, and as
//! machine code where the build was given some. Nodal vectors are component planes,
//! `[component][node]`; the host sees `[node][component]`.
//!
//! This crate is internal to topopt, without promises of stability.

#[macro_use]
mod kernel;
#[macro_use]
mod strategies;
mod archive;
pub mod assembly;
mod backend;
mod cascade;
mod code;
mod cone;
mod device;
pub mod distance;
mod flood;
mod gather;
mod halo;
mod helmholtz;
mod kernels;
mod moving_asymptotes;
mod multigrid;
mod nccl;
pub mod operators;
mod probe;
mod replay;
mod scalars;
mod staged;
mod timing;
mod vector;

pub use backend::Cuda;
pub use cone::Cone;
pub use device::{Device, DeviceError};
pub use gather::DeviceMap;
pub use halo::DeviceHalo;
pub use helmholtz::{MatrixFreeEquation, part_of_filter};
pub use multigrid::{
    BlockJacobi, DeviceHierarchy, Multigrid, OtherRanks, Prepared, TetrahedraMultigrid,
    VertexHierarchy, element_bounds, structure_of_part,
};
pub use nccl::{Nccl, NcclId};
pub use operators::{
    DeviceCorners, DeviceKernel, MeshOnDevice, Mf, ProblemOnDevice, ShapeMeans, Strategy,
};
pub use probe::{Probe, probe};
pub use staged::Staged;
pub use vector::{DeviceVector, Real};
