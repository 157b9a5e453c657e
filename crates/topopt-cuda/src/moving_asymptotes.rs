//! The method of moving asymptotes on the device, by `cuda/moving_asymptotes.cu`.

use cudarc::driver::CudaSlice;
use topopt_linalg::{
    Approximation, ApproximationSums, AsymptoteRules, BackendError, MovingAsymptotes,
};

use crate::Cuda;
use crate::kernel::Grid::{Blocks, Threads};
use crate::kernel::place;
use crate::vector::DeviceVector;

/// Most constraints, and the numbers that fit shared memory.
const MOST_CONSTRAINTS: usize = defined!("moving_asymptotes.cu", "MOST_CONSTRAINTS");
const POOL: usize = defined!("moving_asymptotes.cu", "POOL");
/// Blocks that share the variables: some for each multiprocessor, fewer where they have many sums.
const WORKERS: usize = 528;
const MOST_PARTIAL_SUMS: usize = 1 << 20;
/// Rows of a tile of products, and constraints up to which all sums are made at once.
const TILE: usize = defined!("moving_asymptotes.cu", "TILE");
const MOST_AT_ONCE: usize = 16;

impl MovingAsymptotes for Cuda<f64> {
    fn move_asymptotes(
        &self,
        rules: &AsymptoteRules,
        design: &DeviceVector<f64>,
        before: Option<[&DeviceVector<f64>; 2]>,
        [floor, ceiling]: [&DeviceVector<f64>; 2],
        [lower, upper]: [&mut DeviceVector<f64>; 2],
        [smallest, largest]: [&mut DeviceVector<f64>; 2],
    ) {
        let (n, AsymptoteRules { initial, shrink, grow, move_limit }) = (design.len(), *rules);
        let [last, first] = before.unwrap_or([design; 2]);
        let has_before = u32::from(before.is_some());
        self.asymptotes.move_asymptotes(
            Threads(n),
            n,
            initial,
            shrink,
            grow,
            move_limit,
            has_before,
            design,
            last,
            first,
            floor,
            ceiling,
            lower,
            upper,
            smallest,
            largest,
        );
    }

    fn minimize_approximation(
        &self,
        approximation: &Approximation<DeviceVector<f64>>,
        weights: &[f64],
        minimum: Option<&mut DeviceVector<f64>>,
    ) -> Result<ApproximationSums, BackendError> {
        let Approximation { design, bounds, asymptotes, limits, functions } = approximation;
        let (n, m, device) = (design.len(), functions.len() - 1, self.device());
        if m > MOST_CONSTRAINTS {
            let message = format!("{m} constraints; at most {MOST_CONSTRAINTS} are possible");
            let (device, operation) = (device.name().into(), "moving asymptotes".into());
            return Err(BackendError { device, operation, message });
        }
        let places: Vec<u64> = functions.iter().map(|(gradient, ..)| place(gradient)).collect();
        let [scales, curvatures]: [Vec<f64>; 2] =
            [functions.iter().map(|f| f.1).collect(), functions.iter().map(|f| f.2).collect()];
        let (places, weights) = (device.upload(&places)?, device.upload(weights)?);
        let (scales, curvatures) = (device.upload(&scales)?, device.upload(&curvatures)?);

        let kernels = &self.asymptotes;
        let block = kernels.minimize_approximation.block();
        let (keeps_slopes, width) = (m > MOST_AT_ONCE, block.min(POOL / (2 * m + 2)));
        let n_pairs = if keeps_slopes { 0 } else { m * (m + 1) / 2 };
        let n_sums = n_pairs + m + 2;
        let n_workers = WORKERS.min(n.div_ceil(width));
        let mut partial = device.zeros(n_workers * n_sums)?;
        let mut slopes = device.zeros(if keeps_slopes { m * n } else { 1 })?;

        let is_wanted = u32::from(minimum.is_some());
        let mut nothing = device.zeros(1)?;
        let minimum = minimum.map_or(&mut nothing, |minimum| &mut minimum.values);
        kernels.minimize_approximation(
            Blocks(n_workers * n_sums.div_ceil(block)),
            n,
            m,
            n_workers,
            is_wanted,
            u32::from(keeps_slopes),
            *design,
            bounds[0],
            bounds[1],
            asymptotes[0],
            asymptotes[1],
            limits[0],
            limits[1],
            &places,
            &scales,
            &curvatures,
            &weights,
            minimum,
            &mut slopes,
            &mut partial,
        );
        let mut sums = self.added(&partial, n_workers, n_sums)?;
        let distance = sums.pop().unwrap_or_default();
        let changes = sums.split_off(n_pairs);
        let coupling = if keeps_slopes { self.products(&slopes, n, m)? } else { sums };
        Ok(ApproximationSums { coupling, changes, distance })
    }
}

impl Cuda<f64> {
    /// The sums of products of `slopes`, `[m][n]`, row by row.
    fn products(
        &self,
        slopes: &CudaSlice<f64>,
        n: usize,
        m: usize,
    ) -> Result<Vec<f64>, BackendError> {
        let (n_pairs, tiles) = (m * (m + 1) / 2, m.div_ceil(TILE));
        let n_workers = (MOST_PARTIAL_SUMS / n_pairs).clamp(1, WORKERS);
        let mut partial = self.device().zeros(n_workers * n_pairs)?;
        let grid = Blocks(n_workers * tiles * (tiles + 1) / 2);
        self.asymptotes.slope_products(grid, n, m, n_workers, slopes, &mut partial);
        self.added(&partial, n_workers, n_pairs)
    }

    /// The sums of all workers.
    fn added(
        &self,
        partial: &CudaSlice<f64>,
        n_workers: usize,
        n_sums: usize,
    ) -> Result<Vec<f64>, BackendError> {
        let mut sums = self.device().zeros(n_sums)?;
        self.asymptotes.add_partial_sums(Threads(n_sums), n_sums, n_workers, partial, &mut sums);
        self.device().download(&sums)
    }
}
