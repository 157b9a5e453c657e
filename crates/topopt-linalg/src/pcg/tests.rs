//! Every end of a solve, and the residual that is believed.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::{Cost, Cpu, Diagonal, Pointwise, Preconditioner, Space};

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

/// Multiples of the solution are nearer to it than 0 up to twice it.
#[test]
fn a_start_is_nearer_to_the_solution_than_zero() {
    let a = spread(200);
    let exact: Vec<f64> = (0..200).map(|i| (i as f64 * 0.1).sin()).collect();
    let mut f = vec![0.0; 200];
    a.apply(&exact, &mut f);
    let m = Diagonal::new(&Cpu, &vec![1.0; 200], a.space()).unwrap();
    let system = System { backend: &Cpu, a: &a, m: &m, f: &f };
    let mut pcg = Pcg::new(&Cpu, a.space()).unwrap();
    for (factor, expected) in [(1.0, true), (0.1, true), (1.9, true), (2.1, false), (-0.1, false)] {
        let u = exact.iter().map(|u| factor * u).collect();
        assert_eq!(pcg.is_start(&system, &u).unwrap(), expected, "{factor}");
    }
    assert!(!pcg.is_start(&system, &vec![0.0; 200]).unwrap());
    assert!(!pcg.is_start(&system, &vec![f64::NAN; 200]).unwrap());
}

/// The diagonal, times a factor that changes with every application until it gives way.
struct Erratic {
    diagonal: Diagonal<Cpu>,
    applications: AtomicUsize,
    is_plain: AtomicBool,
    has_another: bool,
}

impl Preconditioner<Cpu> for Erratic {
    fn name(&self) -> &'static str {
        "erratic"
    }
    fn is_linear(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }
    fn apply(&self, backend: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.diagonal.apply(backend, r, z);
        let turn = self.applications.fetch_add(1, Ordering::Relaxed);
        if !self.is_linear() {
            for (i, z) in z.iter_mut().enumerate() {
                *z *= 10_f64.powi(((i * 7 + turn * 11) % 13) as i32 - 6);
            }
        }
    }
    fn give_way(&self) -> bool {
        self.has_another && !self.is_plain.swap(true, Ordering::Relaxed)
    }
}

#[test]
fn a_preconditioner_that_does_not_converge_gives_way() {
    let a = Tridiagonal { shift: vec![0.0; 200] };
    let f: Vec<f64> = (0..200).map(|i| (i as f64).sin()).collect();
    let diagonal: Vec<f64> = a.shift.iter().map(|s| 2.0 + s).collect();
    let [(steady, alone), (giving, way)] = [false, true].map(|has_another| {
        let diagonal = Diagonal::new(&Cpu, &diagonal, a.space()).unwrap();
        let (applications, is_plain) = (0.into(), false.into());
        let m = Erratic { diagonal, applications, is_plain, has_another };
        let mut u = vec![0.0; 200];
        let system = System { backend: &Cpu, a: &a, m: &m, f: &f };
        let mut pcg = Pcg::new(&Cpu, a.space()).unwrap();
        (pcg.solve(&system, &mut u, TIGHT, &mut go_on).unwrap(), u)
    });
    assert_eq!((steady.reason, steady.strengthened), (StopReason::IterationLimit, 0));
    assert_eq!((giving.reason, giving.strengthened), (StopReason::Converged, 1));
    assert!((129..400).contains(&giving.iterations), "{giving:?}");

    let mut expected = vec![0.0; 200];
    solve(&a, &f, &mut expected, TIGHT, &mut go_on);
    assert!(Cpu.max_difference(&way, &expected) < 1e-10);
    assert!(Cpu.max_difference(&alone, &expected) > 1e-10);
}

/// An operator whose products are a millionth too large, except for the first and those from the
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

/// Solves by products that are inexact until `until`.
fn inexact_solve(until: usize) -> PcgOutcome {
    let n = 200;
    let exact = Tridiagonal { shift: (0..n).map(|i| 1e-3 * i as f64).collect() };
    let a = Inexact { exact, until, products: AtomicUsize::new(0) };
    let m = Diagonal::new(&Cpu, &vec![1.0; n], a.space()).unwrap();
    let (mut u, f) = (vec![0.0; n], vec![1.0; n]);
    let mut pcg = Pcg::new(&Cpu, a.space()).unwrap();
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 1000 };
    let system = System { backend: &Cpu, a: &a, m: &m, f: &f };
    pcg.solve(&system, &mut u, options, &mut go_on).unwrap()
}

#[test]
fn a_residual_that_drifted_costs_a_few_iterations_more() {
    let exact = inexact_solve(0);
    let drifted = inexact_solve(exact.iterations);
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
    assert_eq!(result.or_rounded(1.0).reason, StopReason::IterationLimit);

    let unreachable = PcgOptions { tolerance: 1e-18, ..TIGHT };
    let result = solve(&spread(200), &f, &mut vec![0.0; 200], unreachable, &mut go_on);
    assert_eq!(result.reason, StopReason::Stagnated);
    let [enough, short] = [1.0, 0.5].map(|share| share * result.relative_residual);
    assert_eq!(result.or_rounded(enough).reason, StopReason::Converged);
    assert_eq!(result.or_rounded(short).reason, StopReason::Stagnated);

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

/// The diagonal, as a preconditioner whose solves take their steps with numbers rounded to singles,
/// or fail there.
struct InSingles {
    diagonal: Diagonal<Cpu>,
    a: Tridiagonal,
    pcg: std::sync::Mutex<Pcg<Cpu>>,
    fails: bool,
}

impl Preconditioner<Cpu> for InSingles {
    fn name(&self) -> &'static str {
        "in singles"
    }
    fn apply(&self, backend: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) {
        self.diagonal.apply(backend, r, z);
    }
    fn lower_precision(&self) -> Option<&dyn LowerPrecision<Cpu>> {
        Some(self)
    }
}

/// A product in singles.
struct Rounded<'a>(&'a Tridiagonal);

impl LinearOperator<Cpu> for Rounded<'_> {
    fn space(&self) -> Space {
        self.0.space()
    }
    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let singles = x.iter().map(|x| f64::from(*x as f32)).collect();
        self.0.apply(&singles, y);
        y.iter_mut().for_each(|y| *y = f64::from(*y as f32));
    }
    fn cost(&self) -> Cost {
        Cost::default()
    }
}

impl LowerPrecision<Cpu> for InSingles {
    fn correct(
        &self,
        r: &Vec<f64>,
        e: &mut Vec<f64>,
        task: Correction,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        if self.fails {
            e.fill(f64::NAN);
            return Ok(outcome(task.at.iterations + 1, f64::NAN, StopReason::NotFinite));
        }
        let (a, m) = (&Rounded(&self.a), &self.diagonal);
        let system = System { backend: &Cpu, a, m, f: r };
        self.pcg.lock().unwrap().correct(&system, e, task, monitor)
    }
}

/// Solves with `steps` in singles, which fail if asked to, and in doubles alone.
fn in_singles(fails: bool) -> ([PcgOutcome; 2], f64) {
    let shift: Vec<f64> = (0..2000).map(|i| 1e-3 + (i % 7) as f64 * 1e-3).collect();
    let a = Tridiagonal { shift: shift.clone() };
    let exact: Vec<f64> = (0..2000).map(|i| (i as f64 * 0.01).sin()).collect();
    let mut f = vec![0.0; 2000];
    a.apply(&exact, &mut f);
    let of_shift: Vec<f64> = a.shift.iter().map(|s| 2.0 + s).collect();
    let diagonal = || Diagonal::new(&Cpu, &of_shift, a.space()).unwrap();
    let pcg = || Pcg::new(&Cpu, a.space()).unwrap();
    let steps =
        InSingles { diagonal: diagonal(), a: Tridiagonal { shift }, pcg: pcg().into(), fails };

    let [mut mixed, mut double] = [vec![0.0; 2000], vec![0.0; 2000]];
    let m: [&dyn Preconditioner<Cpu>; 2] = [&steps, &diagonal()];
    let solved = |m, u: &mut Vec<f64>| {
        pcg().solve(&System { backend: &Cpu, a: &a, m, f: &f }, u, TIGHT, &mut go_on).unwrap()
    };
    let outcomes = [solved(m[0], &mut mixed), solved(m[1], &mut double)];
    (outcomes, Cpu.max_difference(&mixed, &exact))
}

/// Numbers in singles round at 6e-8, far above the tolerance of 1e-12.
#[test]
fn steps_in_singles_reach_what_doubles_reach_with_few_products_in_doubles() {
    let ([mixed, double], error) = in_singles(false);
    assert_eq!([mixed.reason, double.reason], [StopReason::Converged; 2]);
    assert!(error < 1e-9, "{error}");
    assert!(mixed.relative_residual <= 1e-12);
    assert!(mixed.iterations as f64 <= 1.3 * double.iterations as f64, "{mixed:?} {double:?}");
    assert!(10 * mixed.products < mixed.iterations, "{mixed:?}");
    assert_eq!(double.products, double.iterations + 2, "and both true residuals");
}

#[test]
fn steps_that_fail_in_singles_are_taken_in_doubles() {
    let ([mixed, double], error) = in_singles(true);
    assert_eq!(mixed.reason, StopReason::Converged);
    assert!(error < 1e-10, "{error}");
    assert_eq!(mixed.iterations, double.iterations + 1, "one failed");
}
