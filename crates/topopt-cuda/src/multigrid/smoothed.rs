//! Smoothed prolongations to aggregates: their numbers by the kernels of `cuda/smoothed.cu`,
//! transfers by those of `cuda/block_rows.cu`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::tetrahedra::SmoothedTransfer;
use topopt_fem::{DIM, MODES};
use topopt_linalg::{Backend, BackendError, Space, Transfer};

use super::block_rows::{BlockMatrix, Rows, WARP};
use super::convert::Convert;
use crate::kernel::Grid::{Blocks, Threads};
use crate::kernels::{self, BlocksView};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Steps of the power method, as on the CPU.
const POWER: usize = 15;

/// Kernels of smoothed prolongations.
pub(super) struct SmoothedKernels<R> {
    pub rows: Arc<kernels::BlockRows<R>>,
    pub in_double: Arc<kernels::BlockRows<f64>>,
    pub smoothed: Arc<kernels::Smoothed>,
}

/// [`SmoothedTransfer`] on the device, from points with three or six unknowns to aggregates with
/// six.
pub(super) struct SmoothedOnDevice<R> {
    kernels: SmoothedKernels<R>,
    unknowns: usize,
    /// The prolongation P.
    rows: Rows<R>,
    n_aggregates: usize,
    /// Rows of P^T: `[n_aggregates + 1]`.
    offsets: CudaSlice<u32>,
    /// Points, `[n_blocks]`.
    points: CudaSlice<u32>,
    /// Places of their blocks in P, `[n_blocks]`.
    places: CudaSlice<u32>,
    numbers: Numbers,
}

/// Ingredients of P and P^T A P, in double precision.
struct Numbers {
    /// Aggregate of every point.
    aggregates: CudaSlice<u32>,
    /// `[point][mode][unknown]`.
    tentative: CudaSlice<f64>,
    /// D^-1, `[point][column][row]`.
    inverses: CudaSlice<f64>,
    prolongation: CudaSlice<f64>,
    /// A P.
    product: Rows<f64>,
    /// Start of the power method, and its vectors.
    start: DeviceVector<f64>,
    x: DeviceVector<f64>,
    y: DeviceVector<f64>,
}

impl Numbers {
    fn new<const B: usize>(
        device: &Device,
        on_host: &SmoothedTransfer<B, MODES>,
    ) -> Result<Self, BackendError> {
        let columns = |rows: &[[f64; MODES]; B]| -> [[f64; B]; MODES] {
            std::array::from_fn(|m| std::array::from_fn(|i| rows[i][m]))
        };
        let tentative: Vec<[[f64; B]; MODES]> =
            on_host.tentative().par_iter().map(columns).collect();
        let n = tentative.len();
        let start: Vec<f64> = (0..B * n).map(|i| (i as f64 * 12.9898).sin()).collect();
        let space = Space::level(n, B);
        let zeros = || Ok(DeviceVector { space, values: device.zeros(B * n)? });
        let product = on_host.product();
        Ok(Self {
            aggregates: device.upload(on_host.aggregates())?,
            tentative: device.upload(tentative.as_flattened().as_flattened())?,
            inverses: device.zeros(B * B * n)?,
            prolongation: device.zeros(B * MODES * on_host.prolongation().columns().len())?,
            product: Rows::zeros(device, product.offsets(), product.columns(), B * MODES)?,
            start: DeviceVector { space, values: device.upload(&start)? },
            x: zeros()?,
            y: zeros()?,
        })
    }
}

impl<R: Real> SmoothedOnDevice<R> {
    /// The structure of `on_host`; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<const B: usize>(
        kernels: SmoothedKernels<R>,
        device: &Device,
        on_host: &SmoothedTransfer<B, MODES>,
    ) -> Result<Self, BackendError> {
        let (prolongation, transpose) = (on_host.prolongation(), on_host.transpose());
        let mut offsets = vec![0];
        offsets.extend(transpose.iter().scan(0, |end, row| {
            *end += row.len() as u32;
            Some(*end)
        }));
        let (points, places): (Vec<u32>, Vec<u32>) = transpose.iter().flatten().copied().unzip();
        let (starts, columns) = (prolongation.offsets(), prolongation.columns());
        Ok(Self {
            kernels,
            unknowns: B,
            rows: Rows::zeros(device, starts, columns, B * MODES)?,
            n_aggregates: transpose.len(),
            offsets: device.upload(&offsets)?,
            points: device.upload(&points)?,
            places: device.upload(&places)?,
            numbers: Numbers::new(device, on_host)?,
        })
    }

    /// Recomputes P for a matrix, and the numbers of P^T A P.
    pub fn update(
        &mut self,
        backend: &Cuda<f64>,
        convert: &Convert<R>,
        fine: &BlockMatrix<R>,
        coarse: &mut BlockMatrix<R>,
    ) {
        let matrix = fine.view();
        let growth = self.power(backend, fine.n_rows(), matrix);
        self.smooth(fine.n_rows(), matrix, &growth);
        convert.narrow(&self.numbers.prolongation, &mut self.rows.blocks);
        self.multiply(fine.n_rows(), matrix, coarse);
    }

    /// Inverts D, and returns the energies x^T A x after and before the last step of a power method
    /// with D^-1 A.
    fn power(&mut self, backend: &Cuda<f64>, n: usize, matrix: BlocksView) -> [Scalar; 2] {
        let (rows, smoothed) = (&self.kernels.in_double, &self.kernels.smoothed);
        let Numbers { inverses, start, x, y, .. } = &mut self.numbers;
        let (product, lanes) = (Threads(WARP * n), Threads(n));
        match self.unknowns {
            DIM => smoothed.invert_diagonals3(product, matrix, &mut *inverses),
            _ => smoothed.invert_diagonals6(product, matrix, &mut *inverses),
        }

        let BlocksView { offsets, columns, blocks, .. } = matrix;
        let inverses = &*inverses;
        let mut energies = [backend.scalar(), backend.scalar()];
        backend.copy(start, x);
        for step in 0..=POWER {
            match self.unknowns {
                DIM => rows.multiply3(product, n, offsets, columns, blocks, &*x, &mut *y),
                _ => rows.multiply6(product, n, offsets, columns, blocks, &*x, &mut *y),
            }
            if step + 1 >= POWER {
                backend.dot_into(x, y, &mut energies[POWER - step]);
            }
            match self.unknowns {
                _ if step == POWER => {}
                DIM => smoothed.apply_inverses3(lanes, n, inverses, &*y, &mut *x),
                _ => smoothed.apply_inverses6(lanes, n, inverses, &*y, &mut *x),
            }
        }
        energies
    }

    fn smooth(&mut self, n: usize, matrix: BlocksView, [result, start]: &[Scalar; 2]) {
        let Numbers { aggregates, tentative, inverses, prolongation, .. } = &mut self.numbers;
        let (grid, out) = (Threads(WARP * n), &mut *prolongation);
        let (scalars, after, before) = (result.values(), result.index(), start.index());
        let pattern = self.rows.with(out);
        let kernels = &self.kernels.smoothed;
        let (aggregates, tentative, inverses) = (&*aggregates, &*tentative, &*inverses);
        match self.unknowns {
            DIM => kernels.smooth3(
                grid, matrix, aggregates, tentative, inverses, scalars, after, before, pattern, out,
            ),
            _ => kernels.smooth6(
                grid, matrix, aggregates, tentative, inverses, scalars, after, before, pattern, out,
            ),
        }
    }

    fn multiply(&mut self, n: usize, matrix: BlocksView, coarse: &mut BlockMatrix<R>) {
        let Self { kernels, rows, offsets, points, places, numbers, .. } = self;
        let Numbers { prolongation, product, .. } = numbers;
        let (grid, kernels, left) = (Blocks(n), &kernels.smoothed, rows.with(prolongation));
        let (right, out) = (product.with(&product.blocks), &mut product.blocks);
        match self.unknowns {
            DIM => kernels.multiply_smoothed3(grid, matrix, left, right, out),
            _ => kernels.multiply_smoothed6(grid, matrix, left, right, out),
        }

        let (grid, pattern) = (Blocks(coarse.n_rows()), coarse.view());
        let (offsets, points, places, out) = (&*offsets, &*points, &*places, coarse.numbers_mut());
        match self.unknowns {
            DIM => {
                kernels
                    .galerkin_smoothed3(grid, left, right, offsets, points, places, pattern, out);
            }
            _ => {
                kernels
                    .galerkin_smoothed6(grid, left, right, offsets, points, places, pattern, out);
            }
        }
    }
}

impl<R: Real> Transfer<Cuda<R>> for SmoothedOnDevice<R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { kernels, n_aggregates: n, offsets, points, places, rows, .. } = self;
        let (grid, n, blocks, kernels) = (Threads(WARP * n), *n, &rows.blocks, &kernels.rows);
        match self.unknowns {
            DIM => {
                kernels.multiply_transpose3(grid, n, offsets, points, places, blocks, fine, coarse);
            }
            _ => {
                kernels.multiply_transpose6(grid, n, offsets, points, places, blocks, fine, coarse);
            }
        }
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let Rows { n_rows, offsets, columns, blocks } = &self.rows;
        let (grid, n, kernels) = (Threads(WARP * n_rows), *n_rows, &self.kernels.rows);
        match self.unknowns {
            DIM => kernels.add_product3(grid, n, offsets, columns, blocks, coarse, fine),
            _ => kernels.add_product6(grid, n, offsets, columns, blocks, coarse, fine),
        }
    }
}
