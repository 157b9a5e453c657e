//! The CPU: vectors are `Vec<f64>`, entries lie as `[points][unknowns]`.
//!
//! Sums are taken over fixed chunks, so a result does not depend on the number of threads.

use rayon::prelude::*;

use crate::backend::{Backend, BackendError};
use crate::{Csr, Gather, Pointwise, SmoothStep, Space, SubpixelStep};

/// Entries per partial sum: sums do not depend on the number of threads.
const CHUNK: usize = 8192;
/// Independent sums within a chunk, which the compiler keeps in vector registers.
const LANES: usize = 8;

/// The CPU with all threads of the current rayon pool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

/// x^T y.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let partial = |(x, y): (&[f64], &[f64])| lane_sum(x.len(), |i| x[i] * y[i]);
    sum(x.par_chunks(CHUNK).zip(y.par_chunks(CHUNK)).map(partial))
}

impl Backend for Cpu {
    type Vector = Vec<f64>;
    type Scalar = f64;
    type Recording = ();

    fn name(&self) -> String {
        format!("cpu ({} threads)", rayon::current_num_threads())
    }

    fn zeros(&self, space: Space) -> Result<Vec<f64>, BackendError> {
        Ok(vec![0.0; space.len()])
    }

    fn upload(&self, values: &[f64], space: Space) -> Result<Vec<f64>, BackendError> {
        debug_assert_eq!(values.len(), space.len());
        Ok(values.to_vec())
    }

    fn download(&self, x: &Vec<f64>) -> Result<Vec<f64>, BackendError> {
        Ok(x.clone())
    }

    fn scalar(&self) -> f64 {
        0.0
    }

    fn value(&self, scalar: &f64) -> Result<f64, BackendError> {
        Ok(*scalar)
    }

    fn copy(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        each(y, |i, y| y.copy_from_slice(&x[i..i + y.len()]));
    }

    fn fill(&self, value: f64, x: &mut Vec<f64>) {
        x.fill(value);
    }

    fn axpby(&self, a: f64, x: &Vec<f64>, b: f64, y: &mut Vec<f64>) {
        map(y, |i, y| a * x[i] + b * y);
    }

    fn dot_into(&self, x: &Vec<f64>, y: &Vec<f64>, out: &mut f64) {
        *out = dot(x, y);
    }

    fn multiply(&self, x: &Vec<f64>, y: &Vec<f64>, z: &mut Vec<f64>) {
        map(z, |i, _| x[i] * y[i]);
    }

    fn cg_step(
        &self,
        alpha: [&f64; 2],
        d: &Vec<f64>,
        q: &Vec<f64>,
        u: &mut Vec<f64>,
        r: &mut Vec<f64>,
        rr: &mut f64,
    ) {
        let alpha = quotient(alpha);
        let changed = u.par_chunks_mut(CHUNK).zip(r.par_chunks_mut(CHUNK));
        let chunks = changed.zip(d.par_chunks(CHUNK).zip(q.par_chunks(CHUNK)));
        *rr = sum(chunks.map(|((u, r), (d, q))| {
            for i in 0..u.len() {
                u[i] += alpha * d[i];
                r[i] -= alpha * q[i];
            }
            lane_sum(r.len(), |i| r[i] * r[i])
        }));
    }

    fn cg_direction(&self, sign: f64, beta: [&f64; 2], z: &Vec<f64>, d: &mut Vec<f64>) {
        let beta = quotient(beta);
        map(d, |i, d| z[i] + sign * beta * d);
    }

    fn repeat(&self, _: &mut Option<()>, work: &mut dyn FnMut()) {
        work();
    }
}

impl Gather for Cpu {
    type Map = Csr;

    fn map(&self, rows: &Csr, [_, to]: [Space; 2]) -> Result<Csr, BackendError> {
        debug_assert_eq!(rows.n_rows(), to.len());
        Ok(rows.clone())
    }

    fn gather(&self, map: &mut Csr, x: &Vec<f64>, y: &mut Vec<f64>) {
        map.apply(x, y);
    }
}

impl Pointwise for Cpu {
    fn divide(&self, x: &Vec<f64>, y: &Vec<f64>, z: &mut Vec<f64>) {
        map(z, |i, _| x[i] / y[i]);
    }

    fn power(&self, a: f64, x: &Vec<f64>, p: f64, y: &mut Vec<f64>) {
        map(y, |i, _| a * x[i].powf(p));
    }

    fn positive_part(&self, a: f64, x: &Vec<f64>, y: &mut Vec<f64>) {
        map(y, |i, _| (a * x[i]).max(0.0));
    }

    fn scale_within(&self, a: f64, x: &Vec<f64>, bounds: [&Vec<f64>; 2], y: &mut Vec<f64>) {
        map(y, |i, _| within(a * x[i], bounds, i));
    }

    fn dot_scaled_within(&self, a: f64, x: &Vec<f64>, bounds: [&Vec<f64>; 2], w: &Vec<f64>) -> f64 {
        sum(w.par_chunks(CHUNK).enumerate().map(|(c, w)| {
            let start = c * CHUNK;
            lane_sum(w.len(), |i| w[i] * within(a * x[start + i], bounds, start + i))
        }))
    }

    fn smooth_step(&self, step: &SmoothStep, x: &Vec<f64>, y: &mut Vec<f64>) {
        map(y, |i, _| step.value(x[i]));
    }

    fn smooth_step_slope(&self, step: &SmoothStep, x: &Vec<f64>, y: &mut Vec<f64>) {
        map(y, |i, y| y * step.slope(x[i]));
    }

    fn subpixel_step(
        &self,
        step: &SubpixelStep,
        v: &Vec<f64>,
        squares: &Vec<f64>,
        y: &mut Vec<f64>,
    ) {
        map(y, |i, _| step.value(v[i], squares[i]));
    }

    fn subpixel_slopes(
        &self,
        step: &SubpixelStep,
        v: &Vec<f64>,
        squares: &Vec<f64>,
        y: &mut Vec<f64>,
        z: &mut Vec<f64>,
    ) {
        let chunks = y.par_chunks_mut(CHUNK).zip(z.par_chunks_mut(CHUNK)).enumerate();
        chunks.for_each(|(c, (y, z))| {
            for (k, (y, z)) in y.iter_mut().zip(z).enumerate() {
                let i = c * CHUNK + k;
                let by = step.slopes(v[i], squares[i]);
                [*y, *z] = by.map(|slope| *y * slope);
            }
        });
    }

    fn sigmoid(
        &self,
        shift: f64,
        largest: f64,
        x: &Vec<f64>,
        bounds: [&Vec<f64>; 2],
        y: &mut Vec<f64>,
    ) {
        let [lower, upper] = bounds;
        map(y, |i, _| {
            let z = (x[i] + shift).clamp(-largest, largest);
            within(lower[i] + (upper[i] - lower[i]) / (1.0 + (-z).exp()), bounds, i)
        });
    }

    fn logit(&self, largest: f64, x: &Vec<f64>, bounds: [&Vec<f64>; 2], y: &mut Vec<f64>) {
        let [lower, upper] = bounds;
        map(y, |i, _| {
            let [below, above] = [x[i] - lower[i], upper[i] - x[i]];
            if lower[i] == upper[i] {
                return 0.0;
            }
            (below / above).ln().clamp(-largest, largest)
        });
    }

    fn softplus(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        map(y, |i, _| x[i].max(0.0) + (-x[i].abs()).exp().ln_1p());
    }

    fn max_difference(&self, x: &Vec<f64>, y: &Vec<f64>) -> f64 {
        x.par_iter().zip(y).map(|(x, y)| (x - y).abs()).reduce(|| 0.0, f64::max)
    }
}

/// a / b; 0 where b is not positive.
fn quotient([a, b]: [&f64; 2]) -> f64 {
    if *b <= 0.0 { 0.0 } else { a / b }
}

fn within(value: f64, [lower, upper]: [&Vec<f64>; 2], i: usize) -> f64 {
    value.max(lower[i]).min(upper[i])
}

/// Calls `f(start, chunk)` for every chunk of `y`, in parallel.
fn each(y: &mut [f64], f: impl Fn(usize, &mut [f64]) + Sync) {
    y.par_chunks_mut(CHUNK).enumerate().for_each(|(c, y)| f(c * CHUNK, y));
}

/// y_i = f(i, y_i).
fn map(y: &mut [f64], f: impl Fn(usize, f64) -> f64 + Sync) {
    each(y, |start, y| y.iter_mut().enumerate().for_each(|(i, y)| *y = f(start + i, *y)));
}

/// Sum of f(0) .. f(n - 1) in eight independent lanes, which the compiler vectorizes.
fn lane_sum(n: usize, f: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    for block in 0..n / LANES {
        for (l, lane) in lanes.iter_mut().enumerate() {
            *lane += f(block * LANES + l);
        }
    }
    let tail: f64 = (n - n % LANES..n).map(f).sum();
    lanes.iter().sum::<f64>() + tail
}

/// Sums partial results in their order, whichever thread made them.
fn sum(partials: impl IndexedParallelIterator<Item = f64>) -> f64 {
    let mut values = Vec::new();
    partials.collect_into_vec(&mut values);
    values.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(n: usize) -> (Vec<f64>, Vec<f64>) {
        ((0..n).map(|i| (i as f64).sin()).collect(), (0..n).map(|i| (i as f64).cos()).collect())
    }

    #[test]
    fn reductions_match_plain_sums() {
        for n in [0, 1, 7, 8, CHUNK - 1, 3 * CHUNK + 5] {
            let (x, y) = vectors(n);
            let plain: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            assert!((Cpu.dot(&x, &y) - plain).abs() <= 1e-15 * n as f64);
            let largest = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert_eq!(Cpu.max_difference(&x, &y), largest);
        }
    }

    #[test]
    fn reductions_do_not_depend_on_the_number_of_threads() {
        let (x, y) = vectors(100_003);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Cpu.dot(&x, &y))
        };
        assert_eq!(with(1).to_bits(), with(3).to_bits());
    }

    #[test]
    fn pointwise_operations() {
        let (x, y) = vectors(CHUNK + 3);
        let mut z = y.clone();

        Cpu.axpby(2.0, &x, -3.0, &mut z);
        assert_eq!(z[CHUNK], 2.0 * x[CHUNK] - 3.0 * y[CHUNK]);
        Cpu.power(0.5, &x.iter().map(|x| x + 2.0).collect(), 3.0, &mut z);
        assert!((z[9] - 0.5 * (x[9] + 2.0).powi(3)).abs() < 1e-14);
        Cpu.positive_part(-2.0, &x, &mut z);
        assert!(z.iter().zip(&x).all(|(z, x)| *z == (-2.0 * x).max(0.0)));

        let (lower, upper) = (vec![-0.5; x.len()], vec![0.25; x.len()]);
        Cpu.scale_within(2.0, &x, [&lower, &upper], &mut z);
        assert!(z.iter().zip(&x).all(|(z, x)| *z == (2.0 * x).clamp(-0.5, 0.25)));
        let sum = Cpu.dot_scaled_within(2.0, &x, [&lower, &upper], &y);
        assert!((sum - Cpu.dot(&z, &y)).abs() < 1e-12);

        let step = SmoothStep { base: 0.4, height: 0.6, sharpness: 7.0, center: 0.3 };
        Cpu.smooth_step(&step, &x, &mut z);
        assert_eq!(z[9], 0.4 + 0.6 * (7.0 * (x[9] - 0.3)).tanh());

        let h = 1e-6;
        z.fill(2.0);
        Cpu.smooth_step_slope(&step, &x, &mut z);
        for (z, x) in z.iter().zip(&x) {
            let difference = (step.value(x + h) - step.value(x - h)) / h;
            assert!((z - difference).abs() < 1e-8, "{z} {difference}");
        }
    }

    #[test]
    fn logit_and_sigmoid_are_inverse_within_bounds() {
        let (x, _) = vectors(CHUNK + 3);
        let (lower, upper) = (vec![-1.5; x.len()], vec![2.5; x.len()]);
        let [mut latent, mut back, mut integral] = [x.clone(), x.clone(), x.clone()];
        Cpu.logit(10.0, &x, [&lower, &upper], &mut latent);
        Cpu.sigmoid(0.0, 10.0, &latent, [&lower, &upper], &mut back);
        assert!(Cpu.max_difference(&x, &back) < 1e-14);

        let h = 1e-6;
        Cpu.sigmoid(0.3, 10.0, &x, [&lower, &upper], &mut back);
        let shifted = |h: f64| x.iter().map(|x| x + 0.3 + h).collect::<Vec<_>>();
        Cpu.softplus(&shifted(h), &mut integral);
        Cpu.softplus(&shifted(-h), &mut latent);
        for i in 0..x.len() {
            let slope = (integral[i] - latent[i]) / (2.0 * h);
            assert!((back[i] - (4.0 * slope - 1.5)).abs() < 1e-8);
        }
    }

    #[test]
    fn logits_at_bounds_are_finite_and_sigmoids_far_out_stay_within() {
        let (lower, upper) = (vec![0.1, 0.1, 0.3], vec![0.9, 0.9, 0.3]);
        let mut y = vec![0.0; 3];
        Cpu.logit(8.0, &vec![0.1, 0.9, 0.3], [&lower, &upper], &mut y);
        assert_eq!(y, [-8.0, 8.0, 0.0]);
        let far = vec![-1e4, 1e4, 1e4];
        Cpu.sigmoid(1.0, 40.0, &far, [&lower, &upper], &mut y);
        assert_eq!(y, [0.1, 0.9, 0.3]);
        Cpu.sigmoid(1.0, 2.0, &far, [&lower, &upper], &mut y);
        let share = 0.8 / (1.0 + 2f64.exp());
        assert!((y[0] - 0.1 - share).abs() + (y[1] - 0.9 + share).abs() < 1e-15);
        Cpu.softplus(&vec![-1e4, 1e4, 0.0], &mut y);
        assert_eq!(y, [0.0, 1e4, 2f64.ln()]);
    }

    #[test]
    fn conjugate_gradient_step() {
        let n = 2 * CHUNK + 1;
        let (d, q) = vectors(n);
        let (mut u, mut r) = (vec![1.0; n], vec![2.0; n]);
        let mut rr = Cpu.scalar();
        Cpu.cg_step([&1.0, &2.0], &d, &q, &mut u, &mut r, &mut rr);
        assert_eq!(u[n - 1], 1.0 + 0.5 * d[n - 1]);
        assert_eq!(r[n - 1], 2.0 - 0.5 * q[n - 1]);
        assert!((rr - Cpu.dot(&r, &r)).abs() < 1e-10);
    }
}
