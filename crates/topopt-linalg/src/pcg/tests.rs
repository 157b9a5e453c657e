//! Every end of a solve, and the residual that is believed.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{Cost, Cpu, Diagonal, Pointwise, Space};

/// The matrix diag(shift) + tridiag(-1, 2, -1).
struct Tridiagonal {
    shift: Vec<f64>,
}

impl LinearOperator<Cpu> for Tridiagonal {
    fn space(&self) -> Space {
        Space::level(self.shift.len(), 1)
    }
    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        for i in 0..x.len() {
            let left = if i > 0 { x[i - 1] } else { 0.0 };
            let right = x.get(i + 1).copied().unwrap_or(0.0);
            y[i] = (2.0 + self.shift[i]) * x[i] - left - right;
        }
    }
    fn cost(&self) -> Cost {
        Cost::default()
    }
}

const TIGHT: PcgOptions = PcgOptions { tolerance: 1e-12, max_iterations: 1000 };

fn solve(
    a: &Tridiagonal,
    f: &Vec<f64>,
    u: &mut Vec<f64>,
    options: PcgOptions,
    monitor: &mut Monitor,
) -> PcgOutcome {
    let diagonal: Vec<f64> = a.shift.iter().map(|s| (2.0 + s).abs()).collect();
    let m = Diagonal::new(&Cpu, &diagonal, a.space()).unwrap();
    let mut pcg = Pcg::new(&Cpu, a.space()).unwrap();
    pcg.solve(&System { backend: &Cpu, a, m: &m, f }, u, options, monitor).unwrap()
}

fn go_on(_: PcgProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn spread(n: usize) -> Tridiagonal {
    Tridiagonal { shift: (0..n).map(|i| (i % 7) as f64 * 100.0).collect() }
}

#[test]
fn solves_to_the_true_residual() {
    let a = spread(200);
    let exact: Vec<f64> = (0..200).map(|i| (i as f64 * 0.1).sin()).collect();
    let mut f = vec![0.0; 200];
    a.apply(&exact, &mut f);
    let mut u = vec![0.0; 200];
    let result = solve(&a, &f, &mut u, TIGHT, &mut go_on);
    assert_eq!(result.reason, StopReason::Converged);
    assert!(result.relative_residual <= 1e-12 && result.iterations > 3);
    assert!(Cpu.max_difference(&u, &exact) < 1e-10);

    let again = solve(&a, &f, &mut u, TIGHT, &mut go_on);
    assert_eq!((again.iterations, again.reason), (0, StopReason::Converged), "warm start");
}

/// An operator whose products are a millionth too large, but for the first and those from the
/// given one on.
struct Inexact {
    exact: Tridiagonal,
    until: usize,
    products: AtomicUsize,
}

impl LinearOperator<Cpu> for Inexact {
    fn space(&self) -> Space {
        self.exact.space()
    }
    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.exact.apply(x, y);
        if (1..self.until).contains(&self.products.fetch_add(1, Ordering::Relaxed)) {
            y.iter_mut().for_each(|y| *y *= 1.0 + 1e-6);
        }
    }
    fn cost(&self) -> Cost {
        Cost::default()
    }
}

#[test]
fn a_residual_that_drifted_costs_a_few_iterations_more() {
    let n = 200;
    let solve = |until| {
        let exact = Tridiagonal { shift: (0..n).map(|i| 1e-3 * i as f64).collect() };
        let a = Inexact { exact, until, products: AtomicUsize::new(0) };
        let m = Diagonal::new(&Cpu, &vec![1.0; n], a.space()).unwrap();
        let (mut u, f) = (vec![0.0; n], vec![1.0; n]);
        let mut pcg = Pcg::new(&Cpu, a.space()).unwrap();
        let options = PcgOptions { tolerance: 1e-8, max_iterations: 1000 };
        let system = System { backend: &Cpu, a: &a, m: &m, f: &f };
        pcg.solve(&system, &mut u, options, &mut go_on).unwrap()
    };
    let exact = solve(0);
    let drifted = solve(exact.iterations);
    assert_eq!((exact.reason, drifted.reason), (StopReason::Converged, StopReason::Converged));
    let more = drifted.iterations - exact.iterations;
    assert!(more > 0 && 2 * more <= exact.iterations, "{more} more than {}", exact.iterations);
}

#[test]
fn zero_load_gives_zero() {
    let mut u = vec![1.0; 50];
    let result = solve(&spread(50), &vec![0.0; 50], &mut u, TIGHT, &mut go_on);
    assert_eq!(result.reason, StopReason::Converged);
    assert!(u.iter().all(|&u| u == 0.0));
}

#[test]
fn every_other_end_is_told() {
    let f = vec![1.0; 200];
    let limit = PcgOptions { max_iterations: 3, ..TIGHT };
    let result = solve(&spread(200), &f, &mut vec![0.0; 200], limit, &mut go_on);
    assert_eq!((result.iterations, result.reason), (3, StopReason::IterationLimit));

    let unreachable = PcgOptions { tolerance: 1e-18, ..TIGHT };
    let result = solve(&spread(200), &f, &mut vec![0.0; 200], unreachable, &mut go_on);
    assert_eq!(result.reason, StopReason::Stagnated);

    let indefinite = Tridiagonal { shift: vec![-5.0; 200] };
    let result = solve(&indefinite, &f, &mut vec![0.0; 200], TIGHT, &mut go_on);
    assert_eq!(result.reason, StopReason::Indefinite);

    let nan = vec![f64::NAN; 200];
    let result = solve(&spread(200), &nan, &mut vec![0.0; 200], TIGHT, &mut go_on);
    assert_eq!(result.reason, StopReason::NotFinite);

    let mut stop_at_5 = |p: PcgProgress| match p.iterations {
        5 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let result = solve(&spread(200), &f, &mut vec![0.0; 200], TIGHT, &mut stop_at_5);
    assert_eq!((result.iterations, result.reason), (5, StopReason::Interrupted));
    let mut stop = |_: PcgProgress| ControlFlow::Break(());
    let loose = PcgOptions { tolerance: 1.0, ..TIGHT };
    let result = solve(&spread(200), &f, &mut vec![0.0; 200], loose, &mut stop);
    assert_eq!((result.iterations, result.reason), (0, StopReason::Interrupted));
}
