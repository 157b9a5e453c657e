//! Diffusion k L + c M with one unknown per node: `cuda/diffusion.cu`, with films and capacity as
//! the problem has them; its strategies.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Diffusion, Discretization, ElementOperator, FilmRows, Formulation};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::NodeToElements;

use super::adjacency::ReverseConnectivity;
use super::diffusion_stored::{Assembled, Ebe, Nbn, Rows, both};
use super::films::Films;
use super::mf::{ElementKernels, MatrixFree, Mf, To, launch_products};
use super::product::boxed;
use super::{DeviceKernel, ProblemOnDevice, Strategy};
use crate::kernel::Grid::Threads;
use crate::kernel::{self, Shared};
use crate::kernels::{self, Part};
use crate::multigrid::{Coarsened, Constants};
use crate::vector::{DeviceVector, Real, to_planes};
use crate::{Cuda, code};

/// Additions and multiplications of an element by the Gauss rule, and by modes without a capacity;
/// those more where it is stretched: counted in `cuda/diffusion.cu`.
const FLOPS: f64 = 1030.0;
const FLOPS_BY_MODES: f64 = 520.0;
const STRETCH_FLOPS: f64 = 30.0;
/// Operations per element of a consistent capacity, counted in `cuda/capacity.cu`.
const CAPACITY_FLOPS: f64 = 1400.0;

impl MatrixFree<1> for Diffusion {
    type Elements<R: Real> = Conducting<R>;
}

impl Coarsened<1> for Diffusion {
    type Levels<R: Real> = Constants<R>;
}

impl DeviceKernel<1> for Diffusion {
    const STRATEGIES: &'static [Strategy] =
        &[Strategy::Mf, Strategy::Dbd, Strategy::Nbn, Strategy::Ebe, Strategy::Bsr];

    fn adds_in_order(_: Strategy) -> bool {
        true
    }

    fn stored(
        strategy: Strategy,
        on_device: &Arc<ProblemOnDevice<Self, 1>>,
        problem: &Discretization<Self, 1>,
    ) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
        let (plain, device) = (Mf::new(on_device, problem)?, &on_device.device);
        let nodes = || NodeToElements::new(problem.mesh());
        match strategy {
            Strategy::Ebe => {
                let rows = Rows::new(&plain)?;
                boxed(plain, Ebe(rows))
            }
            Strategy::Bsr => boxed(plain, Assembled::new(device, problem, &nodes())?),
            _ => {
                let product = Nbn::new(Rows::new(&plain)?, device, &nodes())?;
                boxed(plain, product)
            }
        }
    }

    fn stored_bytes(strategy: Strategy, n_nodes: usize, n_elements: usize) -> usize {
        match strategy {
            Strategy::Bsr => Assembled::bytes(n_nodes, n_elements),
            Strategy::Nbn => {
                Rows::bytes(n_elements) + ReverseConnectivity::bytes(n_nodes, n_elements)
            }
            _ => Rows::bytes(n_elements),
        }
    }
}

/// Kernels over conducting elements, with what holds for some problems only.
pub struct Conducting<R> {
    kernels: kernels::Diffusion<R>,
    parts: kernels::DiffusionParts<R>,
    films: Option<Films<R>>,
    /// Kernels of a consistent capacity; none where it is a diagonal matrix.
    consistent: Option<kernels::Capacity<R>>,
    /// Stretches of the elements, `[3][n_elements]`, where conduction is orthotropic.
    pub(crate) stretches: Option<CudaSlice<R>>,
    /// Operations of a product for an element that is not stretched.
    flops: f64,
}

impl<R: Real> ElementKernels<Diffusion, R, 1> for Conducting<R> {
    fn new(
        on_device: &ProblemOnDevice<Diffusion, 1>,
        problem: &Discretization<Diffusion, 1>,
    ) -> Result<Self, BackendError> {
        let (device, formulation) = (&on_device.device, on_device.formulation());
        let stretches = problem.elements().stretches();
        let planes = stretches.map(|stretches| to_planes::<R>(stretches.as_flattened(), DIM));
        let consistent = problem.is_capacity_consistent();
        Ok(Self {
            kernels: kernels::Diffusion::of(device, formulation, stretches.is_some())?,
            parts: kernels::DiffusionParts::load_for(formulation, device)?,
            films: problem.film_rows().map(|rows| Films::new(device, &rows)).transpose()?,
            consistent: consistent.then(|| kernels::Capacity::load(device)).transpose()?,
            stretches: planes.map(|planes| device.upload(&planes)).transpose()?,
            flops: match formulation {
                Formulation::Full => FLOPS,
                Formulation::Incompatible => FLOPS_BY_MODES,
            },
        })
    }

    fn dot_block() -> u32 {
        kernel::block(code::of("diffusion", R::NAME), "diffusion_dot")
    }

    fn further_bytes(problem: &Discretization<Diffusion, 1>) -> usize {
        let stretches = problem.elements().stretches();
        stretches.map_or(0, |stretches| stretches.len() * DIM * size_of::<R>())
            + FilmRows::bytes(problem.constraints().films().len())
    }

    fn blocks(&self, part: Part, _: bool) -> usize {
        self.kernels.diffusion_dot.blocks(Threads(part.count as usize))
    }

    fn products(
        &self,
        mf: &Mf<R, Diffusion, 1>,
        part: Part,
        x: &DeviceVector<R>,
        to: To<'_, R>,
        partial: Option<Shared<f64>>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = mf.problem();
        let (grid, held, at) =
            (Threads(part.count as usize), &constraints.held, &constraints.at_supports);
        let (stretches, [k, c]) = (self.stretches.as_ref(), both(mf.coefficients()));
        launch_products!(
            self.kernels,
            diffusion | diffusion_dot | diffusion_to_slots | diffusion_to_slots_dot,
            (grid, mesh, part, held, at, stretches, k, c, x),
            to,
            partial
        );
    }

    fn diagonal(
        &self,
        mf: &Mf<R, Diffusion, 1>,
        part: Part,
        coefficients: &[DeviceVector<R>],
        out: &mut DeviceVector<R>,
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = mf.problem();
        let (grid, held) = (Threads(part.count as usize), &constraints.held);
        let (stretches, [k, c]) = (self.stretches.as_ref(), both(coefficients));
        self.parts.diffusion_diagonal(grid, mesh, part, held, stretches, k, c, out);
    }

    fn work(
        &self,
        mf: &Mf<R, Diffusion, 1>,
        term: usize,
        [v, u]: [&DeviceVector<R>; 2],
        out: &mut DeviceVector<R>,
    ) {
        let (mesh, stretches) = (&mf.problem().mesh, self.stretches.as_ref());
        let grid = Threads(mesh.n_elements);
        match (term, &self.consistent) {
            (Diffusion::CONDUCTION, _) => {
                self.parts.conduction_work(grid, mesh, stretches, v, u, out);
            }
            (_, Some(consistent)) => consistent.consistent_work(grid, mesh, v, u, out),
            (_, None) => self.parts.capacity_work(grid, mesh, v, u, out),
        }
    }

    fn product_cost(&self) -> [f64; 2] {
        match self.stretches {
            Some(_) => [self.flops + STRETCH_FLOPS, DIM as f64],
            None => [self.flops, 0.0],
        }
    }

    /// Adds what films couple, and a capacity that is not lumped.
    fn complete(&self, mf: &Mf<R, Diffusion, 1>, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        if let Some(films) = &self.films {
            films.add(x, y);
        }
        let Some(consistent) = &self.consistent else { return };
        let ProblemOnDevice { mesh, constraints, .. } = mf.problem();
        let (held, [_, c]) = (&constraints.held, both(mf.coefficients()));
        for part in mesh.parts() {
            let grid = Threads(part.count as usize);
            consistent.consistent_capacity(grid, mesh, part, held, c, x, &mut *y);
        }
    }

    fn completion(&self, mf: &Mf<R, Diffusion, 1>) -> Option<Cost> {
        let mesh = &mf.problem().mesh;
        let (elements, nodes) = (mesh.n_elements as f64, mesh.n_nodes as f64);
        let real = size_of::<R>() as f64;
        let capacity = self.consistent.as_ref().map(|_| Cost {
            bytes_read: elements * (32.0 + real) + nodes * (25.0 + 2.0 * real),
            bytes_written: nodes * real,
            flops: elements * CAPACITY_FLOPS,
        });
        let films = self.films.as_ref().map(Films::cost);
        films.into_iter().chain(capacity).reduce(|sum, cost| sum.plus(&cost))
    }
}

impl<R: Real> Mf<R, Diffusion, 1> {
    /// The diagonal of c M, `[n_nodes]`, zero at held nodes.
    pub(crate) fn lumped_capacities(&self, out: &mut DeviceVector<R>) {
        let ProblemOnDevice { mesh, constraints, .. } = self.problem();
        let (held, [_, c]) = (&constraints.held, both(self.coefficients()));
        self.sum_of_parts(out, |part, out| {
            let grid = Threads(part.count as usize);
            self.elements().parts.lumped_capacities(grid, mesh, part, held, c, out);
        });
    }
}
