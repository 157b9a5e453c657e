//! Elastic tetrahedra of ten nodes: `cuda/tetrahedra.cu`, straight and curved ones a launch each,
//! or `cuda/tetrahedra_clusters.cu` for straight ones in clusters, and `cuda/tetrahedra_parts.cu`.

use std::sync::Arc;

use topopt_fem::tetrahedra::FLOPS_PER_UNKNOWN;
use topopt_fem::{DIM, Discretization, Elasticity};
use topopt_linalg::BackendError;

use super::mf::{ElementKernels, Mf, To};
use super::tetrahedra_clusters::TetrahedraClusters;
use super::{MeshOnDevice, ProblemOnDevice};
use crate::code;
use crate::kernel::Grid::Threads;
use crate::kernel::{self, Shared};
use crate::kernels::{self, Part};
use crate::vector::{DeviceVector, Real};

/// Kernels over tetrahedra of ten nodes: one thread per element, or one warp per cluster where
/// there are any.
pub struct Tetrahedra<R> {
    kernels: kernels::Tetrahedra<R>,
    clusters: Option<(kernels::TetrahedraInClusters<R>, Arc<TetrahedraClusters>)>,
    parts: kernels::TetrahedraParts<R>,
    mesh: Arc<MeshOnDevice>,
}

impl<R: Real> Tetrahedra<R> {
    /// Blocks of a launch over all elements of a part.
    fn blocks_of_all(&self, part: Part) -> usize {
        match &self.clusters {
            Some((kernels, clusters)) => {
                kernels.tetrahedra_clusters_dot.blocks(Threads(clusters.threads()))
            }
            None => self.kernels.tetrahedra_dot.blocks(Threads(part.count as usize)),
        }
    }

    /// Adds the products of the straight elements of a part.
    fn add_straight(
        &self,
        mf: &Mf<R>,
        part: Part,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
        partial: Option<Shared<f64>>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = mf.problem();
        let (material, moduli) = (mf.problem().material(), &mf.coefficients()[0]);
        let bits = mesh.are_curved();
        if let Some((kernels, clusters)) = &self.clusters {
            let (grid, clusters) = (Threads(clusters.threads()), &**clusters);
            return match partial {
                Some(partial) => kernels.tetrahedra_clusters_dot(
                    grid, clusters, mesh, bits, material, moduli, x, y, partial,
                ),
                None => {
                    kernels.tetrahedra_clusters(grid, clusters, mesh, bits, material, moduli, x, y);
                }
            };
        }

        let (held, at) = (&constraints.held, &constraints.at_supports);
        let (kernels, grid) = (&self.kernels, Threads(part.count as usize));
        match partial {
            Some(partial) => kernels
                .tetrahedra_dot(grid, mesh, part, bits, held, at, material, moduli, x, y, partial),
            None => kernels.tetrahedra(grid, mesh, part, bits, held, at, material, moduli, x, y),
        }
    }

    /// Adds the products of the curved elements of a part.
    fn add_curved(
        &self,
        mf: &Mf<R>,
        part: Part,
        x: &DeviceVector<R>,
        y: &mut DeviceVector<R>,
        partial: Option<Shared<f64>>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = mf.problem();
        let Some((list, own)) = mesh.curved(part) else { return };
        let (material, moduli) = (mf.problem().material(), &mf.coefficients()[0]);
        let (held, at) = (&constraints.held, &constraints.at_supports);
        let (kernels, grid) = (&self.kernels, Threads(own.count as usize));
        match partial.map(|partial| partial.after(self.blocks_of_all(part))) {
            Some(partial) => kernels.curved_tetrahedra_dot(
                grid, mesh, own, list, held, at, material, moduli, x, y, partial,
            ),
            None => {
                kernels.curved_tetrahedra(grid, mesh, own, list, held, at, material, moduli, x, y)
            }
        }
    }
}

impl<R: Real> ElementKernels<Elasticity, R, DIM> for Tetrahedra<R> {
    fn new(on_device: &ProblemOnDevice, _: &Discretization) -> Result<Self, BackendError> {
        let device = &on_device.device;
        let with_kernels = |clusters: &Arc<TetrahedraClusters>| -> Result<_, BackendError> {
            Ok((kernels::TetrahedraInClusters::load(device)?, clusters.clone()))
        };
        Ok(Self {
            clusters: on_device.tetrahedra.as_ref().map(with_kernels).transpose()?,
            kernels: kernels::Tetrahedra::load(device)?,
            parts: kernels::TetrahedraParts::load(device)?,
            mesh: on_device.mesh.clone(),
        })
    }

    fn dot_block() -> u32 {
        kernel::block(code::of("tetrahedra", R::NAME), "tetrahedra_dot")
    }

    fn blocks(&self, part: Part, _: bool) -> usize {
        let kernel = &self.kernels.curved_tetrahedra_dot;
        let of_curved = |(_, own): (_, Part)| kernel.blocks(Threads(own.count as usize));
        self.blocks_of_all(part) + self.mesh.curved(part).map_or(0, of_curved)
    }

    fn products(
        &self,
        mf: &Mf<R>,
        part: Part,
        x: &DeviceVector<R>,
        to: To<'_, R>,
        partial: Option<Shared<f64>>,
    ) {
        // They have no slots: `Strategy::takes` says so.
        let To::Nodes(y) = to else { return };
        self.add_straight(mf, part, x, y, partial);
        self.add_curved(mf, part, x, y, partial);
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
        self.parts.tetrahedra_diagonal(grid, mesh, part, held, material, moduli, out);
    }

    fn work(&self, mf: &Mf<R>, _: usize, [v, u]: [&DeviceVector<R>; 2], out: &mut DeviceVector<R>) {
        let (mesh, material) = (&mf.problem().mesh, mf.problem().material());
        self.parts.tetrahedra_work(Threads(mesh.n_elements), mesh, material, v, u, out);
    }

    fn product_cost(&self) -> [f64; 2] {
        [DIM as f64 * FLOPS_PER_UNKNOWN, 0.0]
    }
}
