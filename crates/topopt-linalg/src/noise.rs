//! Numbers without any order.

use rayon::prelude::*;

/// Numbers in [-1, 1) without any order, the same on every machine: some share of every
/// eigenvector, however the unknowns are numbered.
pub fn noise(n: usize) -> Vec<f64> {
    let numbers = (0..n).into_par_iter().map(|i| {
        let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15); // SplitMix64
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as i64 as f64 / (1u64 << 63) as f64
    });
    numbers.collect()
}
