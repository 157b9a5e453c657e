//! The assembled matrix in block compressed rows, by the strategies of \[CeckaLewDarve2011\] and that of
//! \[Fu2013, 5.4\]: elasticity with blocks of 3x3, diffusion with single numbers.
//!
//! All of them sum up the blocks on and above the diagonal, from the same element routine
//! (`cuda/common/tiles.cuh`), and write the mirror images with them. What depends on the mesh and what is
//! held is made once: the [`Pattern`] for all strategies, lists and partitions of a strategy when it is
//! built. Only coefficients change from one assembly to the next.

mod atomic;
mod elem_color;
mod global_nz;
mod local_nz;
mod model;
mod patch;
mod pattern;
mod shared_nz;
mod sources;

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Diffusion, Discretization, Elasticity, ElementKernel};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::{HexMesh, NodeToElements};

pub use pattern::Pattern;

use crate::kernel::Grid::Threads;
use crate::kernels::{self, Lame, UpperView};
use crate::vector::{DeviceVector, Real};
use crate::{Device, MeshOnDevice};

/// Launches the kernel for one unknown per node, or that for three.
macro_rules! launch {
    ($kernels:expr, $unknowns:expr, $one:ident | $three:ident ($($argument:expr),* $(,)?)) => {
        match $unknowns {
            1 => $kernels.$one($($argument),*),
            _ => $kernels.$three($($argument),*),
        }
    };
}
use launch;

/// How the matrix is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssemblyStrategy {
    /// Element by element, a launch per color [CeckaLewDarve2011, 4.1].
    ElemColor,
    /// Element by element to memory, then non-zero by non-zero [CeckaLewDarve2011, 4.2].
    GlobalNz,
    /// Non-zero by non-zero from elements in shared memory [CeckaLewDarve2011, 4.3].
    SharedNz,
    /// Non-zero by non-zero, each from the coordinates [CeckaLewDarve2011, 4.4].
    LocalNz,
    /// Rows of a patch in shared memory, to which its elements add by atomics [Fu2013, 5.4].
    Patch,
    /// Element by element with atomics.
    Atomic,
}

/// What the numbers of an element come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Routine {
    /// The coordinates.
    Computed = defined!("common/tiles.cuh", "COMPUTED") as isize,
    /// Stored matrices of coefficients 1, as coefficients alone change in a design loop.
    Stored = defined!("common/tiles.cuh", "STORED") as isize,
    /// No arithmetic: what memory alone takes [CeckaLewDarve2011, 6.3]. The matrix means nothing.
    Empty = defined!("common/tiles.cuh", "EMPTY") as isize,
}

impl Routine {
    /// All routines.
    pub const ALL: [Self; 3] = [Self::Computed, Self::Stored, Self::Empty];

    /// Name as in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Computed => "computed",
            Self::Stored => "stored",
            Self::Empty => "empty",
        }
    }
}

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

/// What a strategy is given to sum up.
pub(crate) struct Task<'a, R> {
    mesh: &'a Arc<MeshOnDevice>,
    unknowns: usize,
    upper: &'a Upper,
    routine: Routine,
    material: Lame,
    /// As `cuda/common/tiles.cuh` has them, for [`Routine::Stored`].
    stored: &'a CudaSlice<R>,
    /// Moduli; or conductivities and capacities, `[n_elements]` each.
    coefficients: [&'a DeviceVector<R>; 2],
}

impl<R> Task<'_, R> {
    /// The number of the routine, for a launch.
    fn routine(&self) -> u32 {
        self.routine as u32
    }

    /// Numbers of the blocks on and above the diagonal.
    fn upper_numbers(&self) -> usize {
        self.unknowns * self.unknowns * self.upper.n_blocks
    }
}

/// A strategy with its lists on the device.
pub(crate) trait Assemble<R>: Send + Sync {
    /// Sums up the values, `[n_blocks][unknowns][unknowns]`: whole rows, or blocks on and above the
    /// diagonal.
    fn sum_up(&mut self, task: &Task<'_, R>, values: &mut CudaSlice<R>);

    /// Whether blocks below the diagonal and held rows still have to be written.
    fn sums_above_only(&self) -> bool;

    /// Bytes that its lists and buffers take on the device.
    fn bytes(&self) -> usize;

    /// Elements evaluated in one assembly, over those of the mesh.
    fn redundancy(&self) -> f64 {
        1.0
    }
}

/// What strategies are built from.
pub(crate) struct Parts<'a> {
    device: &'a Arc<Device>,
    mesh: &'a HexMesh,
    adjacency: &'a NodeToElements,
    pattern: &'a Pattern,
    unknowns: usize,
}

impl AssemblyStrategy {
    /// All strategies.
    pub const ALL: [Self; 6] =
        [Self::ElemColor, Self::GlobalNz, Self::SharedNz, Self::LocalNz, Self::Patch, Self::Atomic];

    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ElemColor => "elem_color",
            Self::GlobalNz => "global_nz",
            Self::SharedNz => "shared_nz",
            Self::LocalNz => "local_nz",
            Self::Patch => "patch",
            Self::Atomic => "atomic",
        }
    }

    /// Whether it adds in a fixed order, so that two assemblies give the same bits.
    pub fn is_in_order(self) -> bool {
        !matches!(self, Self::Patch | Self::Atomic)
    }

    /// Whether it takes the routine: from stored matrices, `shared_nz` and `local_nz` would be
    /// `global_nz`.
    pub fn takes(self, routine: Routine) -> bool {
        routine != Routine::Stored || !matches!(self, Self::SharedNz | Self::LocalNz)
    }

    fn build<R: Real>(self, parts: &Parts<'_>) -> Result<Box<dyn Assemble<R>>, BackendError> {
        Ok(match self {
            Self::ElemColor => Box::new(elem_color::ElemColor::new(parts)?),
            Self::GlobalNz => Box::new(global_nz::GlobalNz::new(parts)?),
            Self::SharedNz => Box::new(shared_nz::SharedNz::new(parts)?),
            Self::LocalNz => Box::new(local_nz::LocalNz::new(parts)?),
            Self::Patch => Box::new(patch::Patch::new(parts)?),
            Self::Atomic => Box::new(atomic::Atomic::new(parts)?),
        })
    }
}

/// Blocks on and above the diagonal, on the device.
pub(crate) struct Upper {
    n_blocks: usize,
    places: CudaSlice<u32>,
    mirrors: CudaSlice<u32>,
    masks: CudaSlice<u8>,
}

impl From<&Upper> for UpperView {
    fn from(upper: &Upper) -> Self {
        Self {
            n_blocks: upper.n_blocks.into(),
            places: (&upper.places).into(),
            mirrors: (&upper.mirrors).into(),
            masks: (&upper.masks).into(),
        }
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
    upper: Upper,
    /// As `cuda/common/tiles.cuh` has them, once asked for.
    stored: CudaSlice<R>,
    /// `[n_blocks][unknowns][unknowns]`.
    values: CudaSlice<R>,
}

impl<R: Real> Assembly<R> {
    /// The matrix of `problem` with all numbers zero; `mesh` and `pattern` were made from it, `adjacency`
    /// from its mesh.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it, its kernels cannot be loaded, or a node has more
    /// elements than the strategy can count.
    pub fn new<K: Assembled<N>, const N: usize>(
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<K, N>,
        adjacency: &NodeToElements,
        pattern: &Pattern,
        strategy: AssemblyStrategy,
    ) -> Result<Self, BackendError> {
        let device = mesh.device();
        let (lambda, mu) = problem.kernel().lame();
        let parts = Parts { device, mesh: problem.mesh(), adjacency, pattern, unknowns: N };
        Ok(Self {
            mesh: mesh.clone(),
            unknowns: N,
            material: Lame { lambda, mu, ratio: 0.0 },
            kernels: kernels::Assemble::load(device)?,
            strategy,
            assemble: strategy.build(&parts)?,
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

    /// Sums up the matrix for changed coefficients, `[n_elements]` each: the moduli, of which the second is
    /// not read; or conductivities and capacities.
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
        self.assemble.bytes()
    }

    /// Bytes of the matrix, its pattern above the diagonal and what is stored of elements.
    pub fn bytes(&self) -> usize {
        size_of::<R>() * (self.values.len() + self.stored.len()) + 9 * self.upper.n_blocks
    }

    /// What one assembly moves and computes.
    pub fn cost(&self, routine: Routine) -> Cost {
        let numbers = self.unknowns * self.unknowns;
        let sizes = model::Sizes {
            nodes: self.mesh.n_nodes as f64,
            elements: self.mesh.n_elements as f64,
            blocks: (self.values.len() / numbers) as f64,
            upper: self.upper.n_blocks as f64,
            redundancy: self.assemble.redundancy(),
            unknowns: self.unknowns,
            real: size_of::<R>() as f64,
        };
        model::cost(self.strategy, routine, &sizes)
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

/// Clears numbers that are added to.
fn clear<R: Real>(device: &Device, values: &mut CudaSlice<R>) {
    device.record("clearing the matrix", device.stream().memset_zeros(values));
}
