//! The operators of diffusion by name.

use std::sync::Arc;

use topopt_fem::{Diffusion, Discretization, ElementOperator};
use topopt_linalg::BackendError;
use topopt_mesh::NodeToElements;

use super::adjacency::ReverseConnectivity;
use super::diffusion::MfDiffusion;
use super::diffusion_stored::{Assembled, Ebe, Nbn, Rows, StoredDiffusion};
use super::mesh::MeshOnDevice;
use super::slots::Slots;
use crate::Cuda;

/// How (k L + c M) u is computed on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffusionStrategy {
    /// Matrix-free: nothing stored, geometry from the coordinates.
    Mf,
    /// Matrix-free, with products in slots that nodes gather in a fixed order \[LoebEarls2019\].
    Dbd,
    /// Node by node with stored matrices and the reverse connectivity [Ratnakar2022, Alg. 3].
    Nbn,
    /// One thread an element with stored matrices [Ratnakar2022, Alg. 2].
    Ebe,
    /// An assembled matrix in compressed rows.
    Bsr,
}

impl DiffusionStrategy {
    /// All strategies. All add in a fixed order on a mesh [by color](MeshOnDevice::by_color).
    pub const ALL: [Self; 5] = [Self::Mf, Self::Dbd, Self::Nbn, Self::Ebe, Self::Bsr];

    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mf => "mf",
            Self::Dbd => "dbd",
            Self::Nbn => "nbn",
            Self::Ebe => "ebe",
            Self::Bsr => "bsr",
        }
    }

    /// Bytes of device memory that the operator stores beside the [`MeshOnDevice`] and the vectors, for
    /// a mesh of that size. Exact except for `bsr`, whose rows are taken to be as long as inside a box;
    /// without [`MfDiffusion::stretch_bytes`].
    pub fn bytes(self, n_nodes: usize, n_elements: usize) -> usize {
        let of_strategy = match self {
            Self::Mf => 0,
            Self::Dbd => Slots::<f64>::bytes(n_nodes, n_elements, 1),
            Self::Nbn => Rows::bytes(n_elements) + ReverseConnectivity::bytes(n_nodes, n_elements),
            Self::Ebe => Rows::bytes(n_elements),
            Self::Bsr => Assembled::bytes(n_nodes, n_elements),
        };
        MfDiffusion::<f64>::bytes(n_nodes, n_elements) + of_strategy
    }

    /// The operator of `problem` with all coefficients zero; `mesh` was made from that of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn build(
        self,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
        let device = mesh.device();
        let nodes = || NodeToElements::new(problem.mesh());
        let plain = || MfDiffusion::<f64>::new(mesh, problem);
        Ok(match self {
            Self::Mf => Box::new(plain()?),
            Self::Dbd => Box::new(MfDiffusion::<f64>::with_slots(mesh, problem, &nodes())?),
            Self::Nbn => {
                let plain = plain()?;
                let stored = Nbn::new(Rows::new(&plain)?, device, &nodes())?;
                Box::new(StoredDiffusion::new(plain, stored))
            }
            Self::Ebe => {
                let plain = plain()?;
                let stored = Ebe(Rows::new(&plain)?);
                Box::new(StoredDiffusion::new(plain, stored))
            }
            Self::Bsr => {
                let stored = Assembled::new(device, problem, &nodes())?;
                Box::new(StoredDiffusion::new(plain()?, stored))
            }
        })
    }
}
