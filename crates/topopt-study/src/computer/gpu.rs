//! GPUs, by CUDA.

mod fastest;
mod memory;
mod on_gpu;
mod opened;
mod part;
mod place;
mod solvable;

pub use opened::problem_on_device;
pub use place::{Gpu, Group};
pub use solvable::GpuSolvable;
