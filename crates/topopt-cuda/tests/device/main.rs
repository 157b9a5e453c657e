//! Tests of the GPU against the CPU.

mod assembly;
mod backend;
mod cascade;
mod cone;
mod corner_maps;
mod diffusion;
mod eikonal;
mod element_bounds;
mod flood;
mod gpus;
mod helmholtz;
mod laws;
mod moving_asymptotes;
mod multigrid;
mod operators;
mod patch_relax;
mod rank_solves;
mod ranks;
mod scalar_multigrid;
mod tetrahedra;
mod tetrahedra_multigrid;

use std::sync::Arc;

use topopt_cuda::{Device, Probe, probe};

/// The first GPU, if the machine has a driver and one.
fn device() -> Option<Arc<Device>> {
    match probe() {
        Probe::Found { .. } => Some(Device::open(0).unwrap()),
        _ => {
            println!("skipped: no CUDA device");
            None
        }
    }
}
