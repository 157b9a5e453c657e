//! The method of moving asymptotes on the device, by `cuda/moving_asymptotes.cu`.

use cudarc::driver::CudaSlice;
use topopt_linalg::{
    Approximation, ApproximationSums, AsymptoteRules, BackendError, MovingAsymptotes,
};

use crate::Cuda;
use crate::kernel::Grid::{Blocks, Threads};
use crate::kernel::place;
use crate::vector::DeviceVector;

/// Most constraints, and those up to which one kernel makes all sums.
const MOST_CONSTRAINTS: usize = defined!("moving_asymptotes.cu", "MOST_CONSTRAINTS");
const MOST_AT_ONCE: usize = defined!("moving_asymptotes.cu", "MOST_AT_ONCE");
/// Numbers that fit shared memory; functions and slopes of a block, and variables that it takes at
/// once.
const POOL: usize = defined!("moving_asymptotes.cu", "POOL");
const FUNCTIONS: usize = defined!("moving_asymptotes.cu", "FUNCTIONS");
const TILE: usize = defined!("moving_asymptotes.cu", "TILE");
const STRIP: usize = defined!("moving_asymptotes.cu", "STRIP");
/// Numbers per variable from which changes and slopes of all functions follow.
const FACTORS: usize = 5;
const WARP: usize = 32;
/// Blocks that share the variables: some for each multiprocessor, fewer where they have many sums.
const WORKERS: usize = 528;
const MOST_PARTIAL_SUMS: usize = 1 << 20;

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
        let (m, device) = (approximation.functions.len() - 1, self.device());
        if m > MOST_CONSTRAINTS {
            let message = format!("{m} constraints; at most {MOST_CONSTRAINTS} are possible");
            let (device, operation) = (device.name().into(), "moving asymptotes".into());
            return Err(BackendError { device, operation, message });
        }
        let functions = &approximation.functions;
        let places: Vec<u64> = functions.iter().map(|(gradient, ..)| place(gradient)).collect();
        let scales = functions.iter().map(|(_, scale, _)| *scale);
        let curvatures = functions.iter().map(|(.., curvature)| *curvature);
        let numbers: Vec<f64> = scales.chain(curvatures).chain(weights.iter().copied()).collect();
        let uploaded = Uploaded {
            places: device.upload(&places)?,
            numbers: device.upload(&numbers)?,
            is_wanted: u32::from(minimum.is_some()),
        };

        let mut nothing = device.zeros(1)?;
        let minimum = minimum.map_or(&mut nothing, |minimum| &mut minimum.values);
        match m > MOST_AT_ONCE {
            false => self.all_sums(approximation, &uploaded, minimum),
            true => self.sums_by_factors(approximation, &uploaded, minimum),
        }
    }
}

/// Functions as a kernel reads them.
struct Uploaded {
    /// Device addresses of the gradients, `[m + 1]`.
    places: CudaSlice<u64>,
    /// Scales, curvatures and weights, `[3][m + 1]`.
    numbers: CudaSlice<f64>,
    /// Whether the minimum is requested.
    is_wanted: u32,
}

impl Cuda<f64> {
    /// All sums by one kernel.
    fn all_sums(
        &self,
        approximation: &Approximation<DeviceVector<f64>>,
        Uploaded { places, numbers, is_wanted }: &Uploaded,
        minimum: &mut CudaSlice<f64>,
    ) -> Result<ApproximationSums, BackendError> {
        let Approximation { design, bounds, asymptotes, limits, functions } = approximation;
        let (n, m, kernels) = (design.len(), functions.len() - 1, &self.asymptotes);
        let block = kernels.minimize_approximation.block();

        let n_pairs = m * (m + 1) / 2;
        let n_sums = n_pairs + m + 2;
        let n_workers = WORKERS.min(n.div_ceil(block.min(POOL / (2 * m + 2))));
        let mut partial = self.device().zeros(n_workers * n_sums)?;

        kernels.minimize_approximation(
            Blocks(n_workers * n_sums.div_ceil(block)),
            n,
            m,
            n_workers,
            *is_wanted,
            *design,
            bounds[0],
            bounds[1],
            asymptotes[0],
            asymptotes[1],
            limits[0],
            limits[1],
            places,
            numbers,
            minimum,
            &mut partial,
        );
        let mut coupling = self.added(&partial, n_workers, n_sums)?;
        let distance = coupling.pop().unwrap_or_default();
        let changes = coupling.split_off(n_pairs);
        Ok(ApproximationSums { coupling, changes, distance })
    }

    /// Computes all sums by kernels that read one gradient each, for functions too many for one block.
    fn sums_by_factors(
        &self,
        approximation: &Approximation<DeviceVector<f64>>,
        Uploaded { places, numbers, is_wanted }: &Uploaded,
        minimum: &mut CudaSlice<f64>,
    ) -> Result<ApproximationSums, BackendError> {
        let Approximation { design, bounds, asymptotes, limits, functions } = approximation;
        let (n, m, kernels) = (design.len(), functions.len() - 1, &self.asymptotes);
        let mut factors = self.device().zeros(FACTORS * n)?;
        let n_workers = WORKERS.min(n.div_ceil(kernels.minimize_weighted.block()));
        let mut partial = self.device().zeros(n_workers * 2)?;

        kernels.minimize_weighted(
            Blocks(n_workers),
            n,
            m,
            *is_wanted,
            *design,
            bounds[0],
            bounds[1],
            asymptotes[0],
            asymptotes[1],
            limits[0],
            limits[1],
            places,
            numbers,
            minimum,
            &mut factors,
            &mut partial,
        );
        let own = self.added(&partial, n_workers, 2)?;

        let mut partial = self.device().zeros(n_workers * (m + 1))?;
        let grid = Blocks(n_workers * (m + 1).div_ceil(FUNCTIONS));
        kernels.approximate_changes(grid, n, m, n_workers, places, numbers, &factors, &mut partial);
        let mut changes = self.added(&partial, n_workers, m + 1)?;
        for (change, (.., curvature)) in changes.iter_mut().zip(functions) {
            *change += curvature * own[0];
        }

        let (n_pairs, tiles) = (m * (m + 1) / 2, m.div_ceil(TILE));
        let n_workers = (MOST_PARTIAL_SUMS / n_pairs).clamp(1, WORKERS).min(n.div_ceil(STRIP));
        let mut partial = self.device().zeros(n_workers * n_pairs)?;
        let grid = Blocks(n_workers * tiles * (tiles + 1) / 2);
        kernels.slope_products(grid, n, m, n_workers, places, numbers, &factors, &mut partial);
        let coupling = self.added(&partial, n_workers, n_pairs)?;
        Ok(ApproximationSums { coupling, changes, distance: own[1] })
    }

    /// The sums of all workers.
    fn added(
        &self,
        partial: &CudaSlice<f64>,
        n_workers: usize,
        n_sums: usize,
    ) -> Result<Vec<f64>, BackendError> {
        let mut sums = self.device().zeros(n_sums)?;
        let grid = Blocks(n_sums.div_ceil(WARP));
        self.asymptotes.add_partial_sums(grid, n_sums, n_workers, partial, &mut sums);
        self.device().download(&sums)
    }
}
