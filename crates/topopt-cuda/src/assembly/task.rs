//! Inputs and outputs of the strategies of assembly.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::Formulation;
use topopt_mesh::{HexMesh, NodeToElements};

use super::model::Sizes;
use super::pattern::{PAIRS, Pattern};
use super::routine::Routine;
use crate::kernels::{Lame, UpperView};
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
pub(crate) use launch;

/// Inputs of one assembly by a strategy.
pub(crate) struct Task<'a, R> {
    pub mesh: &'a Arc<MeshOnDevice>,
    pub unknowns: usize,
    pub rows: &'a Rows,
    pub upper: &'a Upper,
    pub routine: Routine,
    pub material: Lame,
    /// Element matrices for [`Routine::Stored`], laid out as in `cuda/common/tiles.cuh`.
    pub stored: &'a CudaSlice<R>,
    /// Moduli; or conductivities and capacities, `[n_elements]` each.
    pub coefficients: [&'a DeviceVector<R>; 2],
}

impl<R> Task<'_, R> {
    /// The number of the routine, for a launch.
    pub fn routine(&self) -> u32 {
        self.routine as u32
    }

    /// Numbers of the blocks on and above the diagonal.
    pub fn upper_numbers(&self) -> usize {
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

    /// Bytes that one assembly reads and writes, beside what the routine reads of elements.
    fn traffic(&self, routine: Routine, sizes: &Sizes) -> [f64; 2];

    /// Elements evaluated in one assembly, over those of the mesh.
    fn redundancy(&self) -> f64 {
        1.0
    }

    /// Tiles made of each element.
    fn tiles(&self) -> usize {
        PAIRS
    }
}

/// Inputs from which strategies are built.
pub(crate) struct Parts<'a> {
    pub device: &'a Arc<Device>,
    pub mesh: &'a HexMesh,
    pub adjacency: &'a NodeToElements,
    pub pattern: &'a Pattern,
    pub formulation: Formulation,
    #[cfg(feature = "lab")]
    pub unknowns: usize,
}

/// Compressed rows, on the device.
pub(crate) struct Rows {
    /// `[n_nodes + 1]`.
    pub offsets: CudaSlice<u64>,
    /// Ascending in a row, `[n_blocks]`.
    pub columns: CudaSlice<u32>,
}

/// Blocks on and above the diagonal, on the device.
pub(crate) struct Upper {
    pub n_blocks: usize,
    pub places: CudaSlice<u32>,
    pub mirrors: CudaSlice<u32>,
    pub masks: CudaSlice<u8>,
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

/// Clears numbers that are added to.
pub(super) fn clear<R: Real>(device: &Device, values: &mut CudaSlice<R>) {
    device.record("clearing the matrix", device.stream().memset_zeros(values));
}
