//! Linear elasticity: `cuda/mf.cu`, or `cuda/mf_clusters.cu` where the mesh is in clusters, and its
//! diagonal and energies; its strategies.

use std::sync::Arc;

use topopt_fem::{DIM, Discretization, Elasticity, ElementOperator, Formulation};
use topopt_linalg::BackendError;
use topopt_mesh::NodeToElements;

use super::adjacency::ReverseConnectivity;
use super::bsr::Bsr;
use super::clusters::Clusters;
use super::ebe_sym::{self, EbeSym, EbeSymAtomic};
use super::mf::{ElementKernels, MatrixFree, Mf, To, launch_products};
use super::nbn::Nbn;
use super::product::boxed;
use super::stored::{self, ByElements};
use super::{DeviceKernel, ProblemOnDevice, Strategy};
use crate::kernel::Grid::Threads;
use crate::kernel::{self, Shared};
use crate::kernels::{self, Part};
use crate::multigrid::{Coarsened, RigidBodies};
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, ptx};

/// Additions and multiplications per element, counted in `cuda/mf.cu`.
fn flops(formulation: Formulation) -> f64 {
    match formulation {
        Formulation::Full => 1849.0,
        Formulation::Incompatible => 1239.0,
    }
}

impl MatrixFree<DIM> for Elasticity {
    type Elements<R: Real> = Elastic<R>;
}

impl Coarsened<DIM> for Elasticity {
    type Levels<R: Real> = RigidBodies<R>;
}

impl DeviceKernel<DIM> for Elasticity {
    const STRATEGIES: &'static [Strategy] = &Strategy::ALL;

    fn adds_in_order(strategy: Strategy) -> bool {
        use Strategy::{Bsr, Dbd, EbeSym, Mf, Nbn};
        matches!(strategy, Mf | Dbd | Nbn | EbeSym | Bsr)
    }

    fn stored(
        strategy: Strategy,
        on: &Arc<ProblemOnDevice>,
        problem: &Discretization,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
        let plain = Mf::new(on, problem)?;
        let nodes = || NodeToElements::new(problem.mesh());
        match strategy {
            Strategy::Ebe => boxed(plain, ByElements::<kernels::Ebe>::new(on)?),
            Strategy::Ebe8 => boxed(plain, ByElements::<kernels::Ebe8>::new(on)?),
            Strategy::Ebe24 => boxed(plain, ByElements::<kernels::Ebe24>::new(on)?),
            Strategy::Ebe64 => boxed(plain, ByElements::<kernels::Ebe64>::new(on)?),
            Strategy::EbeSym => boxed(plain, EbeSym::new(on, problem, &nodes())?),
            Strategy::EbeSymAtomic => boxed(plain, EbeSymAtomic::new(on)?),
            Strategy::Bsr => boxed(plain, Bsr::new(on, problem, &nodes())?),
            _ => boxed(plain, Nbn::new(on, &nodes())?),
        }
    }

    fn stored_bytes(strategy: Strategy, n_nodes: usize, n_elements: usize) -> usize {
        match strategy {
            Strategy::EbeSym => EbeSym::bytes(n_elements),
            Strategy::EbeSymAtomic => ebe_sym::bytes(n_elements),
            Strategy::Bsr => Bsr::bytes(n_nodes, n_elements),
            Strategy::Nbn => {
                stored::bytes(n_elements) + ReverseConnectivity::bytes(n_nodes, n_elements)
            }
            _ => stored::bytes(n_elements),
        }
    }
}

/// Kernels over elastic elements: one thread per element, or one warp per cluster where there are any.
pub struct Elastic<R> {
    kernels: kernels::Mf<R>,
    clusters: Option<(kernels::MfClusters<R>, Arc<Clusters>)>,
    diagonal: kernels::Diagonal<R>,
    energies: kernels::Energies<R>,
    flops: f64,
}

impl<R: Real> ElementKernels<Elasticity, R, DIM> for Elastic<R> {
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
        kernel::block(&ptx::of("mf", R::NAME), "mf_dot")
    }

    fn blocks(&self, count: usize, to_slots: bool) -> usize {
        match &self.clusters {
            Some((kernels, clusters)) if !to_slots => {
                kernels.mf_clusters_dot.blocks(Threads(clusters.threads()))
            }
            _ => self.kernels.mf_dot.blocks(Threads(count)),
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
