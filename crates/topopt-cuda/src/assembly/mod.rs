//! The assembled matrix in block compressed rows, by the strategies of \[CeckaLewDarve2011\] and
//! that of \[Fu2013, 5.4\]: elasticity with blocks of 3x3, diffusion with single numbers.
//!
//! All of them sum up the blocks on and above the diagonal, from the same element routine
//! (`cuda/common/tiles.cuh`), and write the mirror images with them. What depends on the mesh and
//! what is held is made once: the [`Pattern`] for all strategies, lists and partitions of a
//! strategy when it is built. Only coefficients change from one assembly to the next.

mod atomic;
mod elem_color;
#[cfg(feature = "lab")]
pub(crate) mod lab;
mod local_row;
mod model;
mod pattern;
mod routine;
mod strategy;
mod task;

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Diffusion, Discretization, Elasticity, ElementKernel};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::NodeToElements;

pub use pattern::Pattern;
pub use routine::Routine;
pub use strategy::AssemblyStrategy;
pub(crate) use task::{Rows, launch};

use crate::MeshOnDevice;
use crate::kernel::Grid::Threads;
use crate::kernels::{self, Lame};
use crate::vector::{DeviceVector, Real};
use task::{Assemble, Parts, Task, Upper};

/// Integrals that can be assembled on the device.
pub trait Assembled<const N: usize>: ElementKernel<N> {
    /// Lame's constants (lambda, mu) at Young's modulus 1, for elasticity.
    fn lame(&self) -> (f64, f64);
}

impl Assembled<3> for Elasticity {
    fn lame(&self) -> (f64, f64) {
        self.material().unit_lame()
    }
}

impl Assembled<1> for Diffusion {
    fn lame(&self) -> (f64, f64) {
        (0.0, 0.0)
    }
}

/// The matrix of a discretization on the device, assembled by one strategy in the precision `R`.
pub struct Assembly<R> {
    mesh: Arc<MeshOnDevice>,
    unknowns: usize,
    material: Lame,
    kernels: kernels::Assemble<R>,
    strategy: AssemblyStrategy,
    assemble: Box<dyn Assemble<R>>,
    /// Bytes of the lists and buffers of the strategy.
    of_strategy: usize,
    rows: Rows,
    upper: Upper,
    /// Stored element matrices, laid out as in `cuda/common/tiles.cuh`; made by `store`.
    stored: CudaSlice<R>,
    /// `[n_blocks][unknowns][unknowns]`.
    values: CudaSlice<R>,
}

impl<R: Real> Assembly<R> {
    /// The matrix of `problem` with all numbers zero; `mesh` and `pattern` were made from it, `adjacency`
    /// from its mesh.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it, its kernels cannot be loaded, or a node
    /// has more elements than the strategy can count.
    pub fn new<K: Assembled<N>, const N: usize>(
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<K, N>,
        adjacency: &NodeToElements,
        pattern: &Pattern,
        strategy: AssemblyStrategy,
    ) -> Result<Self, BackendError> {
        let device = mesh.device();
        let (lambda, mu) = problem.kernel().lame();
        let parts = Parts {
            device,
            mesh: problem.mesh(),
            adjacency,
            pattern,
            formulation: problem.kernel().formulation(),
            #[cfg(feature = "lab")]
            unknowns: N,
        };

        let before = device.allocated();
        let assemble = strategy.build(&parts)?;
        Ok(Self {
            of_strategy: device.allocated() - before,
            assemble,
            mesh: mesh.clone(),
            unknowns: N,
            material: Lame { lambda, mu, ratio: 0.0 },
            kernels: kernels::Assemble::load_for(parts.formulation, device)?,
            strategy,
            rows: Rows {
                offsets: device.upload(pattern.row_offsets())?,
                columns: device.upload(pattern.columns())?,
            },
            upper: Upper {
                n_blocks: pattern.n_upper(),
                places: device.upload(&pattern.places)?,
                mirrors: device.upload(&pattern.mirrors)?,
                masks: device.upload(&pattern.masks)?,
            },
            stored: device.zeros(1)?,
            values: device.zeros(N * N * pattern.columns().len())?,
        })
    }

    /// Makes the matrices of [`Routine::Stored`], `[n_elements]` of 324 numbers, or 44 for diffusion.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for them.
    pub fn store(&mut self) -> Result<(), BackendError> {
        let n = self.mesh.n_elements;
        self.stored = self.mesh.device().zeros(model::stored_numbers(self.unknowns) * n)?;
        let (grid, mesh, stored) = (Threads(8 * n), &self.mesh, &mut self.stored);
        launch!(
            self.kernels,
            self.unknowns,
            store_tiles1 | store_tiles3(grid, mesh, self.material, stored)
        );
        Ok(())
    }

    /// Sums up the matrix for changed coefficients, `[n_elements]` each: moduli, and a second
    /// vector that is not read; or conductivities and capacities.
    ///
    /// # Panics
    /// If the strategy does not [take](AssemblyStrategy::takes) the routine, or nothing has been
    /// [stored](Self::store).
    pub fn assemble(&mut self, routine: Routine, coefficients: [&DeviceVector<R>; 2]) {
        assert!(self.strategy.takes(routine), "{} from {}", self.strategy.name(), routine.name());
        assert!(routine != Routine::Stored || self.stored.len() > 1, "nothing has been stored");
        let task = Task {
            mesh: &self.mesh,
            unknowns: self.unknowns,
            rows: &self.rows,
            upper: &self.upper,
            routine,
            material: self.material,
            stored: &self.stored,
            coefficients,
        };
        self.assemble.sum_up(&task, &mut self.values);
        if self.assemble.sums_above_only() {
            let (grid, upper) = (Threads(task.upper_numbers()), &self.upper);
            launch!(self.kernels, self.unknowns, finish1 | finish3(grid, upper, &mut self.values));
        }
    }

    /// The strategy.
    pub fn strategy(&self) -> AssemblyStrategy {
        self.strategy
    }

    /// Bytes that the strategy takes on the device beside the mesh, the matrix and its pattern.
    pub fn strategy_bytes(&self) -> usize {
        self.of_strategy
    }

    /// Bytes of the matrix with its pattern, and of what is stored of elements.
    pub fn bytes(&self) -> usize {
        let pattern = 8 * self.rows.offsets.len() + 4 * self.rows.columns.len();
        size_of::<R>() * (self.values.len() + self.stored.len()) + pattern + 9 * self.upper.n_blocks
    }

    /// Compressed rows and their values, for a product.
    pub(crate) fn matrix(&self) -> (&Rows, &CudaSlice<R>) {
        (&self.rows, &self.values)
    }

    /// The values, to be changed until the next assembly.
    pub(crate) fn values_mut(&mut self) -> &mut CudaSlice<R> {
        &mut self.values
    }

    /// Returns the counted cost of one assembly.
    pub fn cost(&self, routine: Routine) -> Cost {
        let numbers = self.unknowns * self.unknowns;
        let sizes = model::Sizes {
            nodes: self.mesh.n_nodes as f64,
            elements: self.mesh.n_elements as f64,
            blocks: (self.values.len() / numbers) as f64,
            upper: self.upper.n_blocks as f64,
            unknowns: self.unknowns,
            real: size_of::<R>() as f64,
        };
        let made = (self.assemble.redundancy(), self.assemble.tiles());
        model::cost(routine, &sizes, made, self.assemble.traffic(routine, &sizes))
    }

    /// The values of some blocks, `[blocks][unknowns][unknowns]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn values(&self, blocks: Range<usize>) -> Result<Vec<f64>, BackendError> {
        let numbers = self.unknowns * self.unknowns;
        let part = self.values.slice(numbers * blocks.start..numbers * blocks.end);
        let device = self.mesh.device();
        device.synchronize()?;
        let values = device.stream().clone_dtoh(&part);
        let values = values.map_err(|error| device.error("downloading a matrix", error))?;
        device.synchronize()?;
        Ok(values.into_iter().map(R::to_f64).collect())
    }
}
