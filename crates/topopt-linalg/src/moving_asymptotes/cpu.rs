//! The method of moving asymptotes on the CPU.

use rayon::prelude::*;

use super::{Approximation, ApproximationSums, AsymptoteRules, MovingAsymptotes, PARTS, range};
use crate::{BackendError, Cpu};

/// Variables per partial sum: results do not depend on the number of threads.
const CHUNK: usize = 2048;

impl MovingAsymptotes for Cpu {
    fn move_asymptotes(
        &self,
        rules: &AsymptoteRules,
        design: &Vec<f64>,
        before: Option<[&Vec<f64>; 2]>,
        bounds: [&Vec<f64>; 2],
        [lower, upper]: [&mut Vec<f64>; 2],
        [smallest, largest]: [&mut Vec<f64>; 2],
    ) {
        let rows = lower.par_iter_mut().zip(upper).zip(smallest.par_iter_mut().zip(largest));
        rows.enumerate().for_each(|(j, ((lower, upper), (smallest, largest)))| {
            let before = before.map(|vectors| vectors.map(|x| x[j]));
            let of = rules.of_variable(design[j], before, bounds.map(|b| b[j]), [*lower, *upper]);
            [*lower, *upper, *smallest, *largest] = of;
        });
    }

    fn minimize_approximation(
        &self,
        approximation: &Approximation<Vec<f64>>,
        weights: &[f64],
        minimum: Option<&mut Vec<f64>>,
    ) -> Result<ApproximationSums, BackendError> {
        let firsts = (0..approximation.design.len()).into_par_iter().step_by(CHUNK);
        let chunk = |first, minimum| sums_of_chunk(approximation, weights, first, minimum);
        let partial: Vec<ApproximationSums> = match minimum {
            None => firsts.map(|first| chunk(first, None)).collect(),
            Some(minimum) => {
                let chunks = minimum.par_chunks_mut(CHUNK);
                firsts.zip(chunks).map(|(first, minimum)| chunk(first, Some(minimum))).collect()
            }
        };
        let mut sums = ApproximationSums::zero(weights.len() - 1);
        partial.iter().for_each(|partial| sums.add(partial));
        Ok(sums)
    }
}

impl Approximation<'_, Vec<f64>> {
    /// Adds what variable `j` contributes to `sums`. Returns where the weighted approximations are
    /// least.
    fn add(
        &self,
        j: usize,
        weights: &[f64],
        parts: &mut [[f64; 2]],
        sums: &mut ApproximationSums,
    ) -> f64 {
        let at = |vectors: [&Vec<f64>; 2]| vectors.map(|vector| vector[j]);
        let (x, [lower, upper]) = (self.design[j], at(self.asymptotes));
        let range = range(at(self.bounds));

        // p_i, q_i, and their weighted sums
        let mut total = [0.0; 2];
        for ((part, (gradient, scale, curvature)), weight) in
            parts.iter_mut().zip(&self.functions).zip(weights)
        {
            let slope = scale * gradient[j];
            let [plus, minus] = [slope.max(0.0), (-slope).max(0.0)];
            let own = curvature / range;
            *part = [
                (upper - x).powi(2) * (PARTS[0] * plus + PARTS[1] * minus + own),
                (x - lower).powi(2) * (PARTS[1] * plus + PARTS[0] * minus + own),
            ];
            (0..2).for_each(|k| total[k] += weight * part[k]);
        }

        let [p, q] = total.map(f64::sqrt);
        let free = (p * lower + q * upper) / (p + q);
        let [smallest, largest] = at(self.limits);
        let y = free.max(smallest).min(largest);
        let [to_upper, to_lower] = [upper - y, y - lower];
        let [of_p, of_q] = [1.0 / to_upper - 1.0 / (upper - x), 1.0 / to_lower - 1.0 / (x - lower)];
        for (change, part) in sums.changes.iter_mut().zip(&*parts) {
            *change += part[0] * of_p + part[1] * of_q;
        }
        sums.distance += (upper - lower) * (y - x).powi(2) / (to_upper * to_lower * range);

        if smallest < free && free < largest {
            let curvature = 2.0 * (total[0] / to_upper.powi(3) + total[1] / to_lower.powi(3));
            let slope = |part: &[f64; 2]| part[0] / to_upper.powi(2) - part[1] / to_lower.powi(2);
            let mut place = 0;
            for (i, of_i) in parts[1..].iter().enumerate() {
                let share = slope(of_i) / curvature;
                for of_k in &parts[1..=i + 1] {
                    sums.coupling[place] += share * slope(of_k);
                    place += 1;
                }
            }
        }
        y
    }
}

impl ApproximationSums {
    /// Returns the sums over no variables, for `m` constraints.
    pub fn zero(m: usize) -> Self {
        let (changes, coupling) = (vec![0.0; m + 1], vec![0.0; m * (m + 1) / 2]);
        Self { changes, coupling, distance: 0.0 }
    }

    fn add(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        add(&mut self.changes, &other.changes);
        add(&mut self.coupling, &other.coupling);
        self.distance += other.distance;
    }
}

/// Sums of the variables of a chunk, which minimize the approximation; written to `minimum`, if any.
fn sums_of_chunk(
    approximation: &Approximation<Vec<f64>>,
    weights: &[f64],
    first: usize,
    mut minimum: Option<&mut [f64]>,
) -> ApproximationSums {
    let mut sums = ApproximationSums::zero(weights.len() - 1);
    let mut parts = vec![[0.0; 2]; weights.len()];
    for j in first..(first + CHUNK).min(approximation.design.len()) {
        let y = approximation.add(j, weights, &mut parts, &mut sums);
        if let Some(minimum) = minimum.as_deref_mut() {
            minimum[j - first] = y;
        }
    }
    sums
}
