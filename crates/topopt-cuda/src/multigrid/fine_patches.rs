//! The finest level smoothed by patches of its assembled matrix, by the kernels of `cuda/patch_relax.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Aggregates, Discretization};
use topopt_linalg::{
    BackendError, BlockPattern, Growth, PatchStep, Patches, Residue, SWEEPS, inner_factors,
};
use topopt_mesh::NodeToElements;

use crate::Cuda;
use crate::assembly::{Assembled, Assembly, AssemblyStrategy, Pattern, Routine, launch};
use crate::kernel::Grid::{Blocks, Threads};
use crate::kernels::{self, Growths, PatchRowsView, Sweeps};
use crate::operators::MeshOnDevice;
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};

/// Unknowns of a patch at most, a thread each.
const BLOCK: usize = defined!("patch_relax.cu", "BLOCK");
const _: () = assert!(Patches::most_rows(1) <= BLOCK && 3 * Patches::most_rows(3) <= BLOCK);
const _: () = assert!(SWEEPS == defined!("patch_relax.cu", "SWEEPS"));

/// How the matrix is assembled whenever coefficients change: in a fixed order.
const ASSEMBLY: AssemblyStrategy = AssemblyStrategy::LocalRow;

/// The matrix of a discretization in patches of whole aggregates, in the precision `R`.
pub(super) struct FinePatches<R> {
    kernels: kernels::PatchRelax<R>,
    assembly: Assembly<R>,
    unknowns: usize,
    n_rows: usize,
    n_patches: usize,
    /// Lists of the patches, laid out as in `cuda/patch_relax.cu`.
    order: CudaSlice<u32>,
    starts: CudaSlice<u32>,
    inside_offsets: CudaSlice<u32>,
    inside: CudaSlice<u32>,
    outside_offsets: CudaSlice<u32>,
    outside: CudaSlice<u32>,
    /// The block on the diagonal of each row.
    diagonal: CudaSlice<u32>,
}

/// Arguments of a launch of `relax_patch1` or `relax_patch3` that depend on the step.
struct Launch<'a, R> {
    residue: u32,
    b: &'a DeviceVector<R>,
    factors: [f64; 2],
    scalars: &'a CudaSlice<f64>,
    growths: Growths,
    stays: u32,
}

impl<R: Real> FinePatches<R> {
    /// Builds the patches of `problem`, on whose mesh `mesh` is, by `aggregates`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it, its kernels cannot be loaded, or there
    /// are more blocks than 32 bits count.
    pub fn new<K: Assembled<N>, const N: usize>(
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<K, N>,
        aggregates: &Aggregates,
    ) -> Result<Self, BackendError> {
        let device = mesh.device();
        let adjacency = NodeToElements::new(problem.mesh());
        let pattern = Pattern::new(problem, &adjacency)?;
        let n_rows = problem.mesh().n_nodes();
        let begin = |row: usize| pattern.row_offsets()[row] as usize;
        let rows = (0..n_rows).map(|row| pattern.columns()[begin(row)..begin(row + 1)].to_vec());
        let blocks = BlockPattern::new(rows.collect());
        let patches = Patches::of_groups(&blocks, N, aggregates.members());

        let place = |row: usize| blocks.row(row).partition_point(|&column| column < row as u32);
        let diagonal: Vec<u32> = (0..n_rows).map(|row| (begin(row) + place(row)) as u32).collect();
        let starts: Vec<usize> = patches.starts().iter().map(|&start| start as usize).collect();
        let all = |own: &[usize]| patches.inside(&(own[0]..own[1])).as_flattened();
        let inside: Vec<u32> = starts.windows(2).flat_map(all).copied().collect();
        let outside: Vec<u32> = (0..n_rows).flat_map(|k| patches.outside(k)).copied().collect();
        Ok(Self {
            kernels: kernels::PatchRelax::load(device)?,
            assembly: Assembly::new(mesh, problem, &adjacency, &pattern, ASSEMBLY)?,
            unknowns: N,
            n_rows,
            n_patches: patches.len(),
            order: device.upload(patches.order())?,
            starts: device.upload(patches.starts())?,
            inside_offsets: device.upload(&offsets((0..n_rows).map(|k| patches.n_inside(k))))?,
            inside: device.upload(&inside)?,
            outside_offsets: device
                .upload(&offsets((0..n_rows).map(|k| patches.outside(k).len())))?,
            outside: device.upload_list(&outside)?,
            diagonal: device.upload(&diagonal)?,
        })
    }

    /// Bytes on the device for a mesh of that size, of rows as inside a box, 27 blocks long.
    pub fn bytes(n_nodes: usize, n_elements: usize, unknowns: usize) -> usize {
        // A row: its blocks, their columns and upper halves; its elements; where its blocks belong,
        // and four vectors of the smoother.
        let matrix = 27 * (size_of::<R>() * unknowns * unknowns + 4) + 14 * 9 + 9;
        let row = matrix + 27 * 8 + 20 + 4 * unknowns * size_of::<R>();
        row * n_nodes + 40 * n_elements
    }

    /// Follows coefficients, as [`Assembly::assemble`] takes them, and springs, `[unknowns][n_rows]`.
    pub fn update(
        &mut self,
        coefficients: [&DeviceVector<R>; 2],
        springs: Option<&DeviceVector<R>>,
    ) {
        self.assembly.assemble(Routine::Computed, coefficients);
        let Some(springs) = springs else { return };
        let (n, diagonal) = (self.n_rows, &self.diagonal);
        let (grid, values) = (Threads(self.unknowns * n), self.assembly.values_mut());
        launch!(
            self.kernels,
            self.unknowns,
            add_to_diagonal1 | add_to_diagonal3(grid, n, diagonal, springs, values)
        );
    }

    /// Does [`topopt_linalg::PatchRelaxation::invert`] with D^-1 `inverse`.
    pub fn invert(
        &self,
        inverse: &CudaSlice<R>,
        growth: &Growth<Scalar>,
        r: &DeviceVector<R>,
        z: &mut DeviceVector<R>,
    ) {
        let launch = Launch {
            residue: defined!("patch_relax.cu", "OF_ZERO") as u32,
            b: r,
            factors: [1.0, 0.0],
            scalars: growth.result.values(),
            growths: Growths {
                inner_result: growth.result.index(),
                inner_start: growth.start.index(),
                outer_result: growth.start.index(), // over itself, which is 1
                outer_start: growth.start.index(),
            },
            stays: 0,
        };
        self.relax_patches(inverse, &launch, &r.values, z, r);
    }

    /// Does [`topopt_linalg::PatchRelaxation::relax`] with D^-1 `inverse`.
    pub fn relax(
        &self,
        inverse: &CudaSlice<R>,
        step: &PatchStep<Cuda<R>>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        let PatchStep { residue, factors, inner, outer, stays } = step;
        let (residue, b) = match residue {
            Residue::OfZero { b } => (defined!("patch_relax.cu", "OF_ZERO"), *b),
            Residue::Of { b } => (defined!("patch_relax.cu", "OF_X"), *b),
            Residue::Left => (defined!("patch_relax.cu", "LEFT"), &*x), // not read
        };
        let launch = Launch {
            residue: residue as u32,
            b,
            factors: *factors,
            scalars: inner.result.values(),
            growths: Growths {
                inner_result: inner.result.index(),
                inner_start: inner.start.index(),
                outer_result: outer.result.index(),
                outer_start: outer.start.index(),
            },
            stays: u32::from(*stays),
        };
        self.relax_patches(inverse, &launch, &r.values, d, x);

        let from_zero = u32::from(matches!(step.residue, Residue::OfZero { .. }));
        let (grid, rows, stays) =
            (Threads(self.unknowns * self.n_rows), self.view(), u32::from(step.stays));
        let (_, values) = self.assembly.matrix();
        launch!(
            self.kernels,
            self.unknowns,
            relax_between1 | relax_between3(grid, rows, values, from_zero, stays, &*d, x, r)
        );
    }

    fn relax_patches(
        &self,
        inverse: &CudaSlice<R>,
        launch: &Launch<R>,
        r: &CudaSlice<R>,
        d: &mut DeviceVector<R>,
        x: &DeviceVector<R>,
    ) {
        let &Launch { residue, b, factors: [alpha, beta], scalars, growths, stays } = launch;
        let [[first, _], [second, second_beta], [third, third_beta]] = inner_factors();
        let sweeps = Sweeps { first, second, second_beta, third, third_beta };
        let (grid, rows, (_, values)) =
            (Blocks(self.n_patches), self.view(), self.assembly.matrix());
        launch!(
            self.kernels,
            self.unknowns,
            relax_patch1
                | relax_patch3(
                    grid, rows, values, inverse, residue, sweeps, alpha, beta, scalars, growths,
                    stays, b, x, r, d
                )
        );
    }

    fn view(&self) -> PatchRowsView {
        PatchRowsView {
            n_rows: self.n_rows.into(),
            order: (&self.order).into(),
            starts: (&self.starts).into(),
            inside_offsets: (&self.inside_offsets).into(),
            inside: (&self.inside).into(),
            outside_offsets: (&self.outside_offsets).into(),
            outside: (&self.outside).into(),
            columns: (&self.assembly.matrix().0.columns).into(),
        }
    }
}

/// Returns the offsets of consecutive lists of those lengths, and the end of the last.
fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut sum = 0;
    let ends = lengths.map(|length| {
        sum += length as u32;
        sum
    });
    std::iter::once(0).chain(ends.collect::<Vec<_>>()).collect()
}
