//! MMA and GCMMA on the first of the large problems of \[Svanberg2002\].
//!
//!     cargo run --release -p topopt-design --example svanberg_2002 -- 100000 [ITERATIONS [MOVE]]
//!
//! Stops where the residual of the conditions of an optimum is small, or after ITERATIONS, 200 by
//! default. Designs move by at most the share MOVE of the ranges, 1 by default.
//!
//! minimize x^T S x subject to n/2 - x^T P x <= 0, n/2 - x^T Q x <= 0, -1 <= x <= 1, from x = 0.5.
//! The matrices are full and positive definite, so what the constraints allow is not convex. With
//! a_ij = (i + j) / (2 n - 2), i and j from 0, and t_ij = 1 / (1 + |i - j|),
//!
//!     s_ij = (2 + sin(4 pi a_ij)) t_ij / ln n
//!     p_ij = (1 + 2 a_ij) t_ij / ln n
//!     q_ij = (3 - 2 a_ij) t_ij / ln n
//!
//! No matrix is formed: t is Toeplitz, and the factors before it are sums of products of a function
//! of i and one of j.

use std::error::Error;
use std::time::{Duration, Instant};

use rustfft::num_complex::Complex;
use topopt_design::{Function, Mma, Optimizer, OtherDesigns, SolveError, Subproblem};
use topopt_linalg::{Cpu, Space};

const ITERATIONS: usize = 200;
/// Lines besides those of the first iterations and of the last one.
const LINES: usize = 10;
const FIRST: usize = 3;
const HEADER: &str =
    "iteration         objective   constraints / n  residual  evaluations    step s     all s";
/// The residual of an optimum.
const SMALL: f64 = 1e-6;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let n: usize = arguments.next().ok_or("how many variables?")?.parse()?;
    if n < 2 {
        return Err("at least two variables".into());
    }
    let iterations = arguments.next().map_or(Ok(ITERATIONS), |count| count.parse())?;
    let move_limit = arguments.next().map_or(Ok(1.0), |share| share.parse())?;

    let problem = Problem::new(n);
    let mma = || Mma::new(&Cpu, Space::variables(n), move_limit);
    for (name, mma) in [("MMA", mma()?), ("GCMMA", mma()?.globally_convergent())] {
        println!("{name}, {n} variables, moves of at most {move_limit}");
        println!("{HEADER}");
        run(&problem, mma, iterations)?;
    }
    Ok(())
}

/// Prints how `mma` comes down.
fn run(problem: &Problem, mut mma: Mma<Cpu>, iterations: usize) -> Result<(), SolveError> {
    let n = problem.n;
    let bounds = [vec![-1.0; n], vec![1.0; n]];
    let (mut design, mut next, mut multipliers) = (vec![0.5; n], vec![0.0; n], vec![0.0; 2]);
    let mut others = Others { problem, evaluations: 0, time: Duration::ZERO };
    let (start, mut steps) = (Instant::now(), Duration::ZERO);

    for k in 0..=iterations {
        let functions = problem.functions(&design);
        let [objective, constraints @ ..] = &functions;
        let residual = residual(&design, objective, constraints, &multipliers);
        let is_last = k == iterations || residual <= SMALL;
        if is_last || k <= FIRST || k % iterations.div_ceil(LINES) == 0 {
            let evaluations = k + 1 + others.evaluations;
            print(k, &functions, residual, evaluations, [steps, start.elapsed()]);
        }
        if is_last {
            break;
        }

        let (before, start) = (others.time, Instant::now());
        let mut subproblem = Subproblem {
            backend: &Cpu,
            design: &design,
            bounds: bounds.each_ref(),
            objective,
            constraints,
            others: &mut others,
        };
        multipliers = mma.next(&mut subproblem, &mut next)?;
        steps += start.elapsed() - (others.time - before);
        std::mem::swap(&mut design, &mut next);
    }
    Ok(())
}

/// A line for iteration `k`: seconds are those of the optimizer and all.
fn print(
    k: usize,
    functions: &[Function<Cpu>; 3],
    residual: f64,
    evaluations: usize,
    times: [Duration; 2],
) {
    let [f, constraints @ ..] = functions.each_ref().map(|function| function.value);
    let [g, h] = constraints.map(|value| value / functions[0].gradient.len() as f64);
    let [step, all] = times.map(|time| time.as_secs_f64());
    println!(
        "{k:9} {f:17.9} {g:8.1e} {h:8.1e} {residual:9.1e} {evaluations:12} {step:9.3} {all:9.3}"
    );
}

/// How far a design is from an optimum: the largest of what a step along the gradient of the
/// Lagrangian moves within the bounds, and of violations and products with multipliers over n.
fn residual(
    design: &[f64],
    objective: &Function<Cpu>,
    constraints: &[Function<Cpu>],
    multipliers: &[f64],
) -> f64 {
    let of_variable = |j: usize| {
        let terms = constraints.iter().zip(multipliers).map(|(g, lambda)| lambda * g.gradient[j]);
        let slope = objective.gradient[j] + terms.sum::<f64>();
        (design[j] - (design[j] - slope).clamp(-1.0, 1.0)).abs()
    };
    let of_constraint = |(g, lambda): (&Function<Cpu>, &f64)| {
        g.value.max((lambda * g.value).abs()) / design.len() as f64
    };
    let of_constraints = constraints.iter().zip(multipliers).map(of_constraint);
    (0..design.len()).map(of_variable).chain(of_constraints).fold(0.0, f64::max)
}

/// Further evaluations by GCMMA: their number and their time.
struct Others<'p> {
    problem: &'p Problem,
    evaluations: usize,
    time: Duration,
}

impl OtherDesigns<Cpu> for Others<'_> {
    fn is_linear(&self, _: usize) -> bool {
        false
    }

    fn constraint(&mut self, i: usize, design: &Vec<f64>) -> Result<f64, SolveError> {
        Ok(self.values(design)?[i + 1])
    }

    fn values(&mut self, design: &Vec<f64>) -> Result<Vec<f64>, SolveError> {
        let start = Instant::now();
        let values = self.problem.functions(design).map(|function| function.value).to_vec();
        self.evaluations += 1;
        self.time += start.elapsed();
        Ok(values)
    }
}

/// The problem with n variables.
struct Problem {
    n: usize,
    toeplitz: Toeplitz,
    /// 2 pi i / (n - 1) as its sine and its cosine, and i / (n - 1).
    sines: Vec<f64>,
    cosines: Vec<f64>,
    ramp: Vec<f64>,
}

impl Problem {
    fn new(n: usize) -> Self {
        let ramp: Vec<f64> = (0..n).map(|i| i as f64 / (n - 1) as f64).collect();
        let angles = ramp.iter().map(|b| std::f64::consts::TAU * b);
        let (sines, cosines) = angles.map(f64::sin_cos).unzip();
        Self { n, toeplitz: Toeplitz::new(n), sines, cosines, ramp }
    }

    /// x^T S x, n/2 - x^T P x and n/2 - x^T Q x.
    ///
    /// 4 pi a_ij is the sum of the angles of i and j, and 2 a_ij that of the places on the ramp:
    /// ln n S = 2 T + sin T cos + cos T sin, ln n P = T + b T + T b, ln n Q = 3 T - b T - T b with
    /// diagonal matrices sin, cos and b.
    fn functions(&self, x: &[f64]) -> [Function<Cpu>; 3] {
        let Self { n, toeplitz, sines, cosines, ramp } = self;
        let times = |factors: &[f64]| x.iter().zip(factors).map(|(x, f)| f * x).collect::<Vec<_>>();
        let [plain, of_ramp] = toeplitz.products([x, &times(ramp)]);
        let [of_sines, of_cosines] = toeplitz.products([&times(sines), &times(cosines)]);

        let half = *n as f64 / 2.0;
        let function = |sign: f64, offset: f64, entry: &dyn Fn(usize) -> f64| {
            let scale = sign / (*n as f64).ln();
            let products: Vec<f64> = (0..*n).map(|i| scale * entry(i)).collect();
            let value = offset + products.iter().zip(x).map(|(y, x)| y * x).sum::<f64>();
            let gradient = products.into_iter().map(|y| 2.0 * y).collect();
            Function { value, gradient, limit: 0.0, share: 0.0 }
        };
        let of_ramps = |i: usize| ramp[i] * plain[i] + of_ramp[i];
        [
            function(1.0, 0.0, &|i| {
                2.0 * plain[i] + sines[i] * of_cosines[i] + cosines[i] * of_sines[i]
            }),
            function(-1.0, half, &|i| plain[i] + of_ramps(i)),
            function(-1.0, half, &|i| 3.0 * plain[i] - of_ramps(i)),
        ]
    }
}

/// Products with t_ij = 1 / (1 + |i - j|), which is a part of a circulant matrix.
struct Toeplitz {
    forward: std::sync::Arc<dyn rustfft::Fft<f64>>,
    inverse: std::sync::Arc<dyn rustfft::Fft<f64>>,
    /// Eigenvalues of the circulant matrix over its size.
    eigenvalues: Vec<f64>,
}

impl Toeplitz {
    fn new(n: usize) -> Self {
        let size = (2 * n).next_power_of_two();
        let mut planner = rustfft::FftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));

        let entry = |k: usize| Complex::from(1.0 / (1 + k.min(size - k)) as f64);
        let mut column: Vec<_> = (0..size).map(entry).collect();
        forward.process(&mut column);
        let eigenvalues = column.iter().map(|c| c.re / size as f64).collect();
        Self { forward, inverse, eigenvalues }
    }

    /// Two products at once, one in the real and one in the imaginary parts.
    fn products(&self, [x, y]: [&[f64]; 2]) -> [Vec<f64>; 2] {
        let mut values: Vec<_> = x.iter().zip(y).map(|(&x, &y)| Complex::new(x, y)).collect();
        values.resize(self.eigenvalues.len(), Complex::ZERO);
        self.forward.process(&mut values);
        values.iter_mut().zip(&self.eigenvalues).for_each(|(c, eigenvalue)| *c *= eigenvalue);
        self.inverse.process(&mut values);

        values.truncate(x.len());
        values.into_iter().map(|c| (c.re, c.im)).unzip::<_, _, Vec<_>, Vec<_>>().into()
    }
}
