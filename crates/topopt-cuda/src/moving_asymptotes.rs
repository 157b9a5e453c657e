//! The method of moving asymptotes on the device, by `cuda/moving_asymptotes.cu`.

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
        let (n_pairs, width) = (m * (m + 1) / 2, block.min(POOL / (2 * m + 2)));
        let n_sums = n_pairs + m + 2;
        let n_workers = WORKERS.min(MOST_PARTIAL_SUMS / n_sums).min(n.div_ceil(width));
        let mut partial = device.zeros(n_workers * n_sums)?;
        let mut sums = device.zeros(n_sums)?;

        let is_wanted = u32::from(minimum.is_some());
        let mut nothing = device.zeros(1)?;
        let minimum = minimum.map_or(&mut nothing, |minimum| &mut minimum.values);
        kernels.minimize_approximation(
            Blocks(n_workers * n_sums.div_ceil(block)),
            n,
            m,
            n_workers,
            is_wanted,
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
            &mut partial,
        );
        kernels.add_partial_sums(Threads(n_sums), n_sums, n_workers, &partial, &mut sums);
        let sums = device.download(&sums)?;
        Ok(ApproximationSums {
            coupling: sums[..n_pairs].to_vec(),
            changes: sums[n_pairs..=n_pairs + m].to_vec(),
            distance: sums[n_sums - 1],
        })
    }
}
