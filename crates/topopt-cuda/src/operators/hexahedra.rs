//! Elastic hexahedra: `cuda/mf.cu`, or `cuda/mf_clusters.cu` where the mesh is in clusters, their
//! diagonal and energies.

use std::sync::Arc;

use topopt_fem::{DIM, Discretization, Elasticity, Formulation};
use topopt_linalg::BackendError;

use super::ProblemOnDevice;
use super::clusters::Clusters;
use super::mf::{ElementKernels, Mf, To, launch_products};
use crate::code;
use crate::kernel::Grid::Threads;
use crate::kernel::{self, Shared};
use crate::kernels::{self, Part};
use crate::vector::{DeviceVector, Real};

/// Additions and multiplications per element, counted in `cuda/mf.cu`.
fn flops(formulation: Formulation) -> f64 {
    match formulation {
        Formulation::Full => 1849.0,
        Formulation::Incompatible => 1239.0,
    }
}

/// Kernels over hexahedra: one thread per element, or one warp per cluster where there are any.
pub struct Hexahedra<R> {
    kernels: kernels::Mf<R>,
    clusters: Option<(kernels::MfClusters<R>, Arc<Clusters>)>,
    diagonal: kernels::Diagonal<R>,
    energies: kernels::Energies<R>,
    flops: f64,
}

impl<R: Real> ElementKernels<Elasticity, R, DIM> for Hexahedra<R> {
    fn new(on_device: &ProblemOnDevice, _: &Discretization) -> Result<Self, BackendError> {
        let (device, formulation) = (&on_device.device, on_device.formulation());
        let with_kernels = |clusters: &Arc<Clusters>| -> Result<_, BackendError> {
            Ok((kernels::MfClusters::load_for(formulation, device)?, clusters.clone()))
        };
        Ok(Self {
            kernels: kernels::Mf::load_for(formulation, device)?,
            clusters: on_device.clusters.as_ref().map(with_kernels).transpose()?,
            diagonal: kernels::Diagonal::load_for(formulation, device)?,
            energies: kernels::Energies::load_for(formulation, device)?,
            flops: flops(formulation),
        })
    }

    fn dot_block() -> u32 {
        kernel::block(code::of("mf", R::NAME), "mf_dot")
    }

    fn blocks(&self, part: Part, to_slots: bool) -> usize {
        match &self.clusters {
            Some((kernels, clusters)) if !to_slots => {
                kernels.mf_clusters_dot.blocks(Threads(clusters.threads()))
            }
            _ => self.kernels.mf_dot.blocks(Threads(part.count as usize)),
        }
    }

    fn products(
        &self,
        mf: &Mf<R>,
        part: Part,
        x: &DeviceVector<R>,
        to: To<'_, R>,
        partial: Option<Shared<f64>>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = mf.problem();
        let (material, moduli) = (mf.problem().material(), &mf.coefficients()[0]);
        let to = match (to, &self.clusters) {
            (To::Nodes(y), Some((kernels, clusters))) => {
                let (grid, clusters) = (Threads(clusters.threads()), &**clusters);
                return match partial {
                    Some(partial) => kernels
                        .mf_clusters_dot(grid, clusters, mesh, material, moduli, x, y, partial),
                    None => kernels.mf_clusters(grid, clusters, mesh, material, moduli, x, y),
                };
            }
            (to, _) => to,
        };

        let (grid, held, at) =
            (Threads(part.count as usize), &constraints.held, &constraints.at_supports);
        launch_products!(
            self.kernels,
            mf | mf_dot | mf_to_slots | mf_to_slots_dot,
            (grid, mesh, part, held, at, material, moduli, x),
            to,
            partial
        );
    }

    fn diagonal(
        &self,
        mf: &Mf<R>,
        part: Part,
        coefficients: &[DeviceVector<R>],
        out: &mut DeviceVector<R>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = mf.problem();
        let (grid, material) = (Threads(part.count as usize), mf.problem().material());
        let (held, moduli) = (&constraints.held, &coefficients[0]);
        self.diagonal.diagonal(grid, mesh, part, held, material, moduli, out);
    }

    fn work(&self, mf: &Mf<R>, _: usize, [v, u]: [&DeviceVector<R>; 2], out: &mut DeviceVector<R>) {
        let (mesh, material) = (&mf.problem().mesh, mf.problem().material());
        let grid = Threads(mesh.n_elements);
        match std::ptr::eq(v, u) {
            true => self.energies.energies(grid, mesh, material, u, out),
            false => self.energies.work(grid, mesh, material, v, u, out),
        }
    }

    fn product_cost(&self) -> [f64; 2] {
        [self.flops, 0.0]
    }
}
