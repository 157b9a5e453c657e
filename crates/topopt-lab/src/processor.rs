//! Peak rates of the processor, measured: memory copied and fused multiply-adds.

use std::hint::black_box;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};
use topopt_linalg::{Backend, Cpu};

/// Number of measurements; the best counts.
const ATTEMPTS: usize = 5;

/// Bytes read and written per second by copying 256 MB with all threads.
pub(crate) fn copy_bandwidth() -> f64 {
    let x = vec![1.0; 1 << 25];
    let mut y = vec![0.0; 1 << 25];
    let seconds = best_seconds(|| Cpu.copy(&x, &mut y));
    2.0 * size_of_val(x.as_slice()) as f64 / seconds
}

/// Operations per second of fused multiply-adds, two each, in double precision, in registers of the
/// width of the machine, by all threads.
pub(crate) fn peak_flops() -> f64 {
    let arch = Arch::new();
    let lanes = arch.dispatch(MultiplyAdds { rounds: 0 });
    let seconds = best_seconds(|| {
        rayon::broadcast(|_| arch.dispatch(MultiplyAdds { rounds: ROUNDS }));
    });
    2.0 * (rayon::current_num_threads() * ROUNDS * CHAINS * lanes) as f64 / seconds
}

/// Independent sums: enough for two units of four to five cycles, and few enough for 16 registers.
const CHAINS: usize = 12;

/// Multiply-adds of every sum; some hundredths of a second.
const ROUNDS: usize = 10_000_000;

/// `rounds` multiply-adds of each of [`CHAINS`] registers; gives the lanes of one.
struct MultiplyAdds {
    rounds: usize,
}

impl WithSimd for MultiplyAdds {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let factor = simd.splat_f64s(black_box(0.999));
        let term = simd.splat_f64s(black_box(1e-3));
        let mut sums = [simd.splat_f64s(black_box(0.5)); CHAINS];
        for _ in 0..self.rounds {
            for sum in &mut sums {
                *sum = simd.mul_add_e_f64s(*sum, factor, term);
            }
        }
        black_box(sums);
        S::F64_LANES
    }
}

fn best_seconds(mut work: impl FnMut()) -> f64 {
    let seconds = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..ATTEMPTS).map(seconds).fold(f64::INFINITY, f64::min)
}
