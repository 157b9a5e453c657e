//! Multigrid for diffusion, one unknown per node: what the host makes of fixed coefficients, and the
//! cycle on the device by the kernels of `cuda/scalar_levels.cu`.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::{
    Aggregates, DIRECT, Diffusion, Discretization, ElementOperator, ElementPreconditioner,
    NodalAggregation, WithSprings,
};
use topopt_linalg::{
    Backend, BackendError, BlockCsr, Cost, Cpu, Cycle, CycleKind, Growth, Hierarchy,
    InverseDiagonal, LinearOperator, Preconditioner, Residual, Space, Transfer,
};

use super::State;
use super::block_diagonal::how;
use super::transfer::flatten;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::operators::{MeshOnDevice, MfDiffusion};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads that make a row of a product or restrict to an aggregate.
const WARP: usize = 32;
/// The aggregate of a held node; NONE of `cuda/scalar_levels.cu`.
const NONE: u32 = u32::MAX;

/// The hierarchy on the host.
pub(super) type OnHost<'p> = NodalAggregation<'p, Diffusion, 1, 1>;

/// `multigrid` for an equation of diffusion whose coefficients stay: a cycle in precision `R`, for
/// conjugate gradients in double precision.
pub struct ScalarMultigrid<'a, R: Real> {
    backend: &'a Cuda<R>,
    cycle: Cycle<Cuda<R>, ScalarHierarchy<'a, R>>,
    state: Mutex<State<R>>,
}

impl<'a, R: Real> ScalarMultigrid<'a, R> {
    /// For `problem`, of whose mesh `mesh` was made, with conductivities and capacities, each
    /// `[n_elements]`. The host makes all numbers.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        kind: CycleKind,
        coefficients: [&Vec<f64>; 2],
    ) -> Result<Self, BackendError> {
        let operator = topopt_fem::Strategy::Mf.build(problem);
        let mut host = topopt_fem::Multigrid::<Diffusion, 1, 1>::new(problem, kind)?;
        host.update(&Cpu, operator.as_ref(), &coefficients)?;
        drop(operator);
        Self::of(backend, mesh, problem, host.hierarchy(), (kind, coefficients))
    }

    /// Of what the host has made.
    pub(super) fn of(
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &Discretization<Diffusion, 1>,
        host: &OnHost<'_>,
        (kind, coefficients): (CycleKind, [&Vec<f64>; 2]),
    ) -> Result<Self, BackendError> {
        let mut fine = MfDiffusion::new(mesh, problem)?;
        let elements = Space::elements(problem.mesh().n_elements());
        let upload = |values: &Vec<f64>| backend.upload(values, elements);
        fine.set_coefficients(&[&upload(coefficients[0])?, &upload(coefficients[1])?]);
        let fine = WithSprings::new(backend, problem, Box::new(fine))?;
        let hierarchy = ScalarHierarchy::new(backend, problem, fine, host)?;
        let mut cycle = Cycle::new(backend, kind, hierarchy)?;
        cycle.update(backend, |_| ());
        let state = Mutex::new(State::new(backend, problem.space())?);
        Ok(Self { backend, cycle, state })
    }

    /// Bytes on the device, for a mesh of that size without springs whose aggregates have some 27 nodes
    /// and as many neighbors.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        let real = size_of::<R>();
        // A node: nine vectors, its aggregate and its place there, and an entry of the first matrix. The
        // levels below and their vectors are a tenth. The last inverse is a square.
        let node = 9 * real + 8 + real + 4;
        MfDiffusion::<R>::bytes(n_nodes, n_elements)
            + node * n_nodes * 11 / 10
            + 8 * DIRECT * DIRECT
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &ScalarHierarchy<'a, R> {
        self.cycle.hierarchy()
    }

    /// Takes other coefficients, which `host` has followed.
    pub(super) fn follow(
        &mut self,
        host: &OnHost<'_>,
        terms: [&Vec<f64>; 2],
    ) -> Result<(), BackendError> {
        self.cycle.hierarchy_mut().follow(self.backend, host, terms)?;
        self.cycle.update(self.backend, |_| ());
        // What was recorded knows the old matrices.
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).recorded = None;
        Ok(())
    }
}

impl<R: Real> Preconditioner<Cuda<f64>> for ScalarMultigrid<'_, R> {
    fn name(&self) -> &'static str {
        self.cycle.name()
    }

    fn is_linear(&self) -> bool {
        self.cycle.is_linear()
    }

    fn check_interval(&self, _: &Cuda<f64>) -> usize {
        self.cycle.check_interval(self.backend)
    }

    fn apply(&self, _: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.apply(self.backend, &self.cycle, r, z);
    }
}

/// The hierarchy on the device; level 0 is the matrix-free operator, the others are matrices in
/// compressed rows.
pub struct ScalarHierarchy<'a, R: Real> {
    kernels: Arc<kernels::ScalarLevels<R>>,
    vector: Arc<kernels::Vector<R>>,
    fine: WithSprings<'a, Cuda<R>, MfDiffusion<R>>,
    /// Levels 1 and on.
    coarse: Vec<Matrix<R>>,
    /// Of all levels but the last.
    inverse_diagonals: Vec<InverseEntries<R>>,
    /// From each level to the next.
    transfers: Vec<ConstantTransfer<R>>,
    solving: kernels::DenseSolve<R>,
    /// Of the last level, `[n][n]`, and ones, `[n]`.
    last_inverse: CudaSlice<f64>,
    ones: CudaSlice<f64>,
}

impl<'a, R: Real> ScalarHierarchy<'a, R> {
    fn new(
        backend: &Cuda<R>,
        problem: &Discretization<Diffusion, 1>,
        fine: WithSprings<'a, Cuda<R>, MfDiffusion<R>>,
        host: &OnHost<'_>,
    ) -> Result<Self, BackendError> {
        let device = backend.device();
        let kernels = Arc::new(kernels::ScalarLevels::load(device)?);
        let vector = Arc::new(kernels::Vector::load(device)?);
        let n_levels = host.n_levels();

        let transfer = |level| {
            let is_held = |point: u32| level == 0 && problem.constraints().is_held(point as usize);
            ConstantTransfer::new(&kernels, device, host.aggregates(level), is_held)
        };

        let mut hierarchy = Self {
            fine,
            coarse: Vec::new(),
            inverse_diagonals: Vec::new(),
            transfers: (0..n_levels - 1).map(transfer).collect::<Result<_, _>>()?,
            solving: kernels::DenseSolve::load(device)?,
            ones: device.upload(&vec![1.0; host.matrix(n_levels - 1).dimension()])?,
            last_inverse: device.zeros(1)?,
            kernels,
            vector,
        };
        hierarchy.take(backend, host)?;
        Ok(hierarchy)
    }

    /// Takes the matrices and diagonals of the host.
    fn take(&mut self, backend: &Cuda<R>, host: &OnHost<'_>) -> Result<(), BackendError> {
        let (device, n_levels) = (backend.device(), host.n_levels());
        let (kernels, vector) = (&self.kernels, &self.vector);
        let matrix = |level| Matrix::new(kernels, device, host.matrix(level));
        let diagonal = |level| {
            let inverse = host.inverse_diagonal(level);
            let mut values = vec![0.0; inverse.dimension()];
            inverse.apply(&vec![1.0; values.len()], &mut values);
            let values = backend.upload(&values, inverse.space())?;
            Ok(InverseEntries { kernels: kernels.clone(), vector: vector.clone(), values })
        };
        self.coarse = (1..n_levels).map(matrix).collect::<Result<_, _>>()?;
        self.inverse_diagonals = (0..n_levels - 1).map(diagonal).collect::<Result<_, _>>()?;
        self.last_inverse = device.upload(&dense_inverse(host))?;
        Ok(())
    }

    /// The same with other coefficients on the finest level.
    fn follow(
        &mut self,
        backend: &Cuda<R>,
        host: &OnHost<'_>,
        terms: [&Vec<f64>; 2],
    ) -> Result<(), BackendError> {
        let upload = |values: &Vec<f64>| backend.upload(values, Space::elements(values.len()));
        self.fine.set_coefficients(&[&upload(terms[0])?, &upload(terms[1])?]);
        self.take(backend, host)
    }
}

/// The inverse of the last matrix by columns, which are rows: `[n][n]`.
fn dense_inverse(host: &OnHost<'_>) -> Vec<f64> {
    let n = host.matrix(host.n_levels() - 1).dimension();
    let mut inverse = vec![0.0; n * n];
    inverse.par_chunks_mut(n).enumerate().for_each(|(column, out)| {
        let (mut unit, mut solution) = (vec![0.0; n], vec![0.0; n]);
        unit[column] = 1.0;
        host.solve_last(&unit, &mut solution);
        out.copy_from_slice(&solution);
    });
    inverse
}

impl<R: Real> Hierarchy<Cuda<R>> for ScalarHierarchy<'_, R> {
    fn n_levels(&self) -> usize {
        1 + self.coarse.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cuda<R>> {
        match level {
            0 => &self.fine,
            _ => &self.coarse[level - 1],
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cuda<R>> {
        &self.inverse_diagonals[level]
    }

    fn largest_eigenvalue(&self, level: usize) -> Option<f64> {
        (level == 0).then_some(1.0) // as on the host, whose raised diagonal it is
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cuda<R>> {
        &self.transfers[level]
    }

    fn solve_last(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        let n = self.ones.len();
        self.solving.dense_solve(Threads(WARP * n), n, &self.last_inverse, &self.ones, b, x);
    }
}

/// A matrix in compressed rows.
struct Matrix<R> {
    kernels: Arc<kernels::ScalarLevels<R>>,
    n_rows: usize,
    /// `[n_rows + 1]`.
    offsets: CudaSlice<u32>,
    /// Ascending in a row, as many as entries.
    columns: CudaSlice<u32>,
    entries: CudaSlice<R>,
}

impl<R: Real> Matrix<R> {
    fn new(
        kernels: &Arc<kernels::ScalarLevels<R>>,
        device: &Device,
        matrix: &BlockCsr<1>,
    ) -> Result<Self, BackendError> {
        let pattern = matrix.pattern();
        let offsets: Vec<u32> = pattern.offsets().iter().map(|&offset| offset as u32).collect();
        let row = |row| matrix.row(row).iter().map(|&[[entry]]| R::from_f64(entry));
        let entries: Vec<R> = (0..pattern.n_rows()).flat_map(row).collect();
        Ok(Self {
            kernels: kernels.clone(),
            n_rows: pattern.n_rows(),
            offsets: device.upload(&offsets)?,
            columns: device.upload(pattern.columns())?,
            entries: device.upload(&entries)?,
        })
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for Matrix<R> {
    fn space(&self) -> Space {
        Space::level(self.n_rows, 1)
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let Self { kernels, n_rows, offsets, columns, entries } = self;
        kernels.csr1(Threads(WARP * n_rows), *n_rows, offsets, columns, entries, x, y);
    }

    fn cost(&self) -> Cost {
        let (rows, entries) = (self.n_rows as f64, self.entries.len() as f64);
        let real = size_of::<R>() as f64;
        Cost {
            bytes_read: entries * (real + 4.0) + rows * (real + 4.0),
            bytes_written: rows * real,
            flops: 2.0 * entries,
        }
    }
}

/// The inverse of a diagonal.
struct InverseEntries<R> {
    kernels: Arc<kernels::ScalarLevels<R>>,
    vector: Arc<kernels::Vector<R>>,
    values: DeviceVector<R>,
}

impl<R: Real> LinearOperator<Cuda<R>> for InverseEntries<R> {
    fn space(&self) -> Space {
        self.values.space
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        let n = self.values.len();
        self.vector.multiply(Threads(n), n, &self.values, x, y);
    }

    fn cost(&self) -> Cost {
        let (n, real) = (self.values.len() as f64, size_of::<R>() as f64);
        Cost { bytes_read: 2.0 * real * n, bytes_written: real * n, flops: n }
    }
}

impl<R: Real> InverseDiagonal<Cuda<R>> for InverseEntries<R> {
    fn smooth(
        &self,
        residual: Residual<DeviceVector<R>>,
        [alpha, beta]: [f64; 2],
        growth: &Growth<Scalar>,
        r: &mut DeviceVector<R>,
        d: &mut DeviceVector<R>,
        x: &mut DeviceVector<R>,
    ) {
        let n = self.values.len();
        let (how, b, product) = how(residual);
        let (result, start) = (growth.result.index(), growth.start.index());
        let (scalars, inverse) = (growth.result.values(), &self.values);
        self.kernels.smooth1(
            Threads(n),
            n,
            how,
            alpha,
            beta,
            scalars,
            result,
            start,
            inverse,
            b,
            product,
            r,
            d,
            x,
        );
    }
}

/// Between points and their aggregates, which move by a constant; zero at held points.
struct ConstantTransfer<R> {
    kernels: Arc<kernels::ScalarLevels<R>>,
    n_aggregates: usize,
    /// The aggregate, or [`NONE`], `[n_points]`.
    of: CudaSlice<u32>,
    /// `[n_aggregates + 1]`.
    offsets: CudaSlice<u32>,
    /// The points of every aggregate that are not held.
    members: CudaSlice<u32>,
}

impl<R: Real> ConstantTransfer<R> {
    fn new(
        kernels: &Arc<kernels::ScalarLevels<R>>,
        device: &Device,
        aggregates: &Aggregates,
        is_held: impl Fn(u32) -> bool,
    ) -> Result<Self, BackendError> {
        let free = |members: &Vec<u32>| members.iter().copied().filter(|&p| !is_held(p)).collect();
        let members: Vec<Vec<u32>> = aggregates.members().iter().map(free).collect();
        let (offsets, members) = flatten(&members);
        let aggregate = |(point, &of)| if is_held(point) { NONE } else { of };
        let of: Vec<u32> = (0..).zip(aggregates.of()).map(aggregate).collect();
        Ok(Self {
            kernels: kernels.clone(),
            n_aggregates: aggregates.len(),
            of: device.upload(&of)?,
            offsets: device.upload(&offsets)?,
            // An array on the device has an entry at least.
            members: device.upload(if members.is_empty() { &[0] } else { &members })?,
        })
    }
}

impl<R: Real> Transfer<Cuda<R>> for ConstantTransfer<R> {
    fn restrict(&self, fine: &DeviceVector<R>, coarse: &mut DeviceVector<R>) {
        let Self { kernels, n_aggregates, offsets, members, .. } = self;
        kernels.restrict1(
            Threads(WARP * n_aggregates),
            *n_aggregates,
            offsets,
            members,
            fine,
            coarse,
        );
    }

    fn prolong_add(&self, coarse: &DeviceVector<R>, fine: &mut DeviceVector<R>) {
        let n = self.of.len();
        self.kernels.prolong1(Threads(n), n, &self.of, coarse, fine);
    }
}
