//! Problems with known optima, and iterates that other programs have recorded
//! [arjendeetman/GCMMA-MMA-Python](https://github.com/arjendeetman/GCMMA-MMA-Python).

use topopt_linalg::Cpu;

use super::*;
use crate::OtherDesigns;
use crate::optimizer::memory_of;

/// The objective and constraints g <= 0 at a design, each with its gradient.
type Functions = fn(&[f64]) -> Vec<(f64, Vec<f64>)>;

struct Others(Functions);

impl OtherDesigns<Cpu> for Others {
    fn is_linear(&self, _: usize) -> bool {
        false
    }

    fn constraint(&mut self, i: usize, design: &Vec<f64>) -> Result<f64, SolveError> {
        Ok((self.0)(design)[i + 1].0)
    }

    fn values(&mut self, design: &Vec<f64>) -> Result<Vec<f64>, SolveError> {
        Ok((self.0)(design).into_iter().map(|(value, _)| value).collect())
    }
}

/// A problem with the one constraint sum_j x_j^4 <= 1, which depends on the design alone.
struct Bent;

impl Bent {
    fn sum(design: &[f64]) -> f64 {
        design.iter().map(|x| x.powi(4)).sum()
    }
}

impl OtherDesigns<Cpu> for Bent {
    fn is_linear(&self, _: usize) -> bool {
        false
    }

    fn is_of_design(&self, _: usize) -> bool {
        true
    }

    fn constraint(&mut self, _: usize, design: &Vec<f64>) -> Result<f64, SolveError> {
        Ok(Self::sum(design))
    }

    fn values(&mut self, _: &Vec<f64>) -> Result<Vec<f64>, SolveError> {
        unreachable!("MMA evaluates a design once")
    }
}

/// Linearized, the constraint is missed by a half; in a stage with a narrow surface it is met.
#[test]
fn with_a_narrow_surface_the_limit_itself_is_met() {
    let design = vec![0.3, 0.5, 0.8];
    let gradient = |f: fn(f64) -> f64| design.iter().map(|x| f(*x)).collect::<Vec<f64>>();
    let function = |value, gradient, limit| Function { value, gradient, limit, share: 0.0 };
    let constraint = function(Bent::sum(&design), gradient(|x| 4.0 * x.powi(3)), 1.0);
    let objective = function(0.0, vec![-3.0, -2.0, -1.0], f64::INFINITY);
    let next = |half_width: Option<f64>| {
        let mut mma = Mma::new(&Cpu, Space::variables(3), 1.0).unwrap();
        mma.enter(&Settings { half_width, ..Settings::default() });
        let mut problem = Subproblem {
            backend: &Cpu,
            design: &design,
            bounds: [&vec![0.0; 3], &vec![2.0; 3]],
            objective: &objective,
            constraints: std::slice::from_ref(&constraint),
            others: &mut Bent,
        };
        let mut next = vec![f64::NAN; 3];
        mma.next(&mut problem, &mut next).unwrap();
        Bent::sum(&next)
    };
    let [linearized, exact] = [None, Some(0.5)].map(next);
    assert!((linearized - 1.0).abs() > 0.5, "{linearized}");
    assert!((exact - 1.0).abs() < 1e-5, "{exact}");
}

/// A problem whose first constraints may share a largest value.
struct Case {
    functions: Functions,
    start: Vec<f64>,
    bounds: [f64; 2],
    sharing: usize,
}

impl Case {
    fn new(functions: Functions, start: &[f64], bounds: [f64; 2]) -> Self {
        Self { functions, start: start.to_vec(), bounds, sharing: 0 }
    }

    /// The designs that `mma` makes, the start first.
    fn designs(&self, mut mma: Mma<Cpu>, iterations: usize) -> Vec<Vec<f64>> {
        self.go_on(&mut mma, &self.start, iterations)
    }

    /// Returns the designs that `mma` makes after the design `from`, which comes first.
    fn go_on(&self, mma: &mut Mma<Cpu>, from: &[f64], iterations: usize) -> Vec<Vec<f64>> {
        let n = self.start.len();
        let bounds = self.bounds.map(|bound| vec![bound; n]);
        let mut designs = vec![from.to_vec()];
        for k in 0..iterations {
            let found = (self.functions)(&designs[k]).into_iter().enumerate();
            let mut functions = found.map(|(i, (value, gradient))| {
                let share = if (1..=self.sharing).contains(&i) { 1.0 } else { 0.0 };
                Function { value, gradient, limit: 0.0, share }
            });

            let mut problem = Subproblem {
                backend: &Cpu,
                design: &designs[k],
                bounds: bounds.each_ref(),
                objective: &functions.next().unwrap(),
                constraints: &functions.collect::<Vec<_>>(),
                others: &mut Others(self.functions),
            };

            let mut next = vec![f64::NAN; n];
            mma.next(&mut problem, &mut next).unwrap();
            designs.push(next);
        }
        designs
    }

    /// Runs the unscaled form, for which other implementations have recorded designs.
    fn recorded(&self, move_limit: f64, iterations: usize) -> Vec<Vec<f64>> {
        let mma = Mma::new(&Cpu, Space::variables(self.start.len()), move_limit).unwrap();
        self.designs(mma.unscaled(), iterations)
    }

    fn mma(&self, move_limit: f64, iterations: usize) -> Vec<Vec<f64>> {
        self.designs(
            Mma::new(&Cpu, Space::variables(self.start.len()), move_limit).unwrap(),
            iterations,
        )
    }

    fn gcmma(&self, move_limit: f64, iterations: usize) -> Vec<Vec<f64>> {
        let mma = Mma::new(&Cpu, Space::variables(self.start.len()), move_limit).unwrap();
        self.designs(mma.globally_convergent(), iterations)
    }

    /// The objective at designs after the start.
    fn objectives(&self, designs: &[Vec<f64>]) -> Vec<f64> {
        designs[1..].iter().map(|design| (self.functions)(design)[0].0).collect()
    }
}

/// Whether the first numbers found are those printed, with four decimals.
fn assert_printed(found: &[f64], printed: &[f64]) {
    let rounded: Vec<f64> = found.iter().map(|v| (v * 1e4).round() / 1e4).collect();
    assert_eq!(rounded[..printed.len()], *printed);
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let far = found.iter().zip(expected).any(|(a, b)| (a - b).abs() > tolerance);
    assert!(!far, "{found:?} for {expected:?}");
}

/// Two balls and the origin: "toy" of Svanberg's note.
fn toy(x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let ball = |center: [f64; 3]| {
        let squares: f64 = x.iter().zip(center).map(|(x, c)| (x - c).powi(2)).sum();
        (squares - 9.0, x.iter().zip(center).map(|(x, c)| 2.0 * (x - c)).collect())
    };
    let (square, slopes) = ball([0.0; 3]);
    vec![(square + 9.0, slopes), ball([5.0, 2.0, 1.0]), ball([3.0, 4.0, 3.0])]
}

/// The cantilever beam of [Svanberg1987].
fn beam(x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let shares = [61.0, 37.0, 19.0, 7.0, 1.0];
    let deflection: f64 = shares.iter().zip(x).map(|(a, x)| a / x.powi(3)).sum();
    let slopes = shares.iter().zip(x).map(|(a, x)| -3.0 * a / x.powi(4)).collect();
    vec![(0.0624 * x.iter().sum::<f64>(), vec![0.0624; 5]), (deflection - 1.0, slopes)]
}

/// Three bars, three loads, a volume of 3: the largest compliance, minus z.
fn truss(x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let half = 0.5f64.sqrt();
    let bars = [[1.0, 0.0], [half, half], [0.0, 1.0]];
    let entry = |i: usize, k: usize| (0..3).map(|j| x[j] * bars[j][i] * bars[j][k]).sum::<f64>();
    let [a, b, c] = [entry(0, 0), entry(0, 1), entry(1, 1)];
    let determinant = a * c - b * b;
    let compliances = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|load| {
        let u = [c * load[0] - b * load[1], a * load[1] - b * load[0]].map(|u| u / determinant);
        let strain = |bar: &[f64; 2]| bar[0] * u[0] + bar[1] * u[1];
        let value = u[0] * load[0] + u[1] * load[1];
        (value, bars.iter().map(|bar| -strain(bar).powi(2)).collect())
    });
    let volume = (x.iter().sum::<f64>() - 3.0, vec![1.0; 3]);
    [(0.0, vec![0.0; 3])].into_iter().chain(compliances).chain([volume]).collect()
}

/// Paraboloid around whose minimum plain MMA oscillates.
fn bowl(x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let [u, v] = [x[0] - 50.0, x[1] - 25.0];
    vec![(u * u + v * v + 25.0, vec![2.0 * u, 2.0 * v])]
}

/// Example from the NLopt tutorial.
fn root(x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let cube = |a: f64, b: f64| {
        let t = a * x[0] + b;
        (t.powi(3) - x[1], vec![3.0 * a * t * t, -1.0])
    };
    vec![(x[1].sqrt(), vec![0.0, 0.5 / x[1].sqrt()]), cube(2.0, 0.0), cube(-1.0, 1.0)]
}

/// The first of the large problems of [Svanberg2002]: quadratic forms with full matrices. The
/// example `svanberg_2002` has it for any number of variables.
fn forms(x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let half = x.len() as f64 / 2.0;
    vec![
        form(x, 0.0, |mean| 2.0 + (2.0 * std::f64::consts::TAU * mean).sin()),
        form(x, half, |mean| -1.0 - 2.0 * mean),
        form(x, half, |mean| -3.0 + 2.0 * mean),
    ]
}

/// A quadratic form and its gradient; `factor` of entries by the mean of their row and column.
fn form(x: &[f64], offset: f64, factor: fn(f64) -> f64) -> (f64, Vec<f64>) {
    let n = x.len();
    let entry = |i: usize, j: usize| {
        let mean = (i + j) as f64 / (2 * n - 2) as f64;
        factor(mean) / ((1 + i.abs_diff(j)) as f64 * (n as f64).ln())
    };
    let products: Vec<f64> =
        (0..n).map(|i| x.iter().enumerate().map(|(j, x)| entry(i, j) * x).sum::<f64>()).collect();
    let value = offset + products.iter().zip(x).map(|(y, x)| y * x).sum::<f64>();
    (value, products.into_iter().map(|y| 2.0 * y).collect())
}

#[test]
fn two_balls_have_the_recorded_iterates() {
    let case = Case::new(toy, &[4.0, 3.0, 2.0], [0.0, 5.0]);
    let designs = case.recorded(1.0, 12);
    assert_printed(&case.objectives(&designs), &[9.9599, 8.8030, 8.7703, 8.7702]);
    assert_printed(&designs[1], &[2.3903, 1.8057, 0.9929]);
    let optimum = [2.01751858568, 1.78001143734, 1.23750714834];
    assert_near(&designs[12], &optimum, 1e-6);
    assert_near(&case.mma(1.0, 12)[12], &optimum, 1e-6);
    assert_near(case.gcmma(1.0, 40).last().unwrap(), &optimum, 1e-5);
}

#[test]
fn the_beam_has_the_recorded_iterates() {
    let case = Case::new(beam, &[5.0; 5], [1.0, 10.0]);
    let designs = case.recorded(1.0, 12);
    assert_printed(&case.objectives(&designs), &[1.2759, 1.3269, 1.3361, 1.3396, 1.3400]);
    let optimum = [6.01601589, 5.30917386, 4.49432957, 3.50147497, 2.15266533];
    assert_near(&designs[12], &optimum, 1e-6);
    assert_near(&case.mma(1.0, 12)[12], &optimum, 1e-6);

    let designs = case.gcmma(1.0, 40);
    assert_printed(&case.objectives(&designs), &[1.3886, 1.3504, 1.3409, 1.3401, 1.3400]);
    let objectives = case.objectives(&designs);
    assert!(objectives.windows(2).all(|pair| pair[1] < pair[0] + 1e-6), "{objectives:?}");
    assert_near(&designs[40], &optimum, 1e-5);
}

/// The truss for least largest compliance.
#[test]
fn the_largest_of_several_is_minimized() {
    let case = Case { sharing: 3, ..Case::new(truss, &[1.0; 3], [0.001, 3.0]) };
    let designs = case.recorded(1.0, 6);
    assert_printed(&designs[1], &[0.9034, 1.1619, 0.9034]);
    assert_near(&designs[6], &[0.75, 1.5, 0.75], 1e-6);
    let compliances: Vec<f64> = truss(&designs[6])[1..4].iter().map(|(c, _)| *c).collect();
    assert_near(&compliances, &[8.0 / 9.0; 3], 1e-6);
    assert_near(case.gcmma(1.0, 30).last().unwrap(), &[0.75, 1.5, 0.75], 1e-5);
}

/// Iterates 19 and 20 of the recorded failure, between which MMA keeps swinging.
#[test]
fn gcmma_converges_where_mma_swings() {
    let case = Case::new(bowl, &[1.0; 2], [1.0, 100.0]);
    let [even, odd] = [[50.67, 25.71], [49.78, 24.82]];
    for (k, design) in case.recorded(0.2, 30).iter().enumerate().skip(19) {
        assert_near(design, if k % 2 == 0 { &even } else { &odd }, 0.01);
    }
    assert_near(case.gcmma(0.2, 15).last().unwrap(), &[50.0, 25.0], 1e-5);
}

/// NLopt's tutorial takes 10 evaluations to come as near as 1e-3.
#[test]
fn two_cubes_bound_a_root() {
    let case = Case::new(root, &[1.234, 5.678], [1e-6, 10.0]);
    for designs in [case.mma(1.0, 10), case.gcmma(1.0, 10)] {
        let least = (8.0f64 / 27.0).sqrt();
        assert!((case.objectives(&designs)[5] - least).abs() < 1e-3);
        assert_near(&designs[10], &[1.0 / 3.0, 8.0 / 27.0], 1e-6);
    }
}

/// To the optimum that SLSQP and Ipopt find from the same start.
#[test]
fn full_quadratic_forms_come_to_the_optimum_of_others() {
    let case = Case::new(forms, &[0.5; 100], [-1.0, 1.0]);
    for designs in [case.mma(1.0, 120), case.gcmma(1.0, 100)] {
        let values = forms(designs.last().unwrap());
        assert!((values[0].0 / 24.89595 - 1.0).abs() < 1e-6, "{}", values[0].0);
        assert!(values[1..].iter().all(|(value, _)| *value < 1e-7));
    }
}

/// A constraint that nothing meets: the design that misses it by the least.
#[test]
fn what_cannot_be_met_is_missed_by_the_least() {
    let far = |x: &[f64]| vec![(x[0], vec![1.0, 0.0]), (30.0 - x[0] - x[1], vec![-1.0, -1.0])];
    let designs = Case::new(far, &[1.0; 2], [0.0, 10.0]).mma(1.0, 20);
    assert_near(&designs[20], &[10.0, 10.0], 1e-4);
}

/// A checkpoint holds all that the next design depends on.
#[test]
fn a_restored_optimizer_goes_on_to_the_same_bits() {
    let case = Case::new(beam, &[5.0; 5], [1.0, 10.0]);
    for (steps, rest) in [(1, 4), (2, 3), (3, 2)] {
        let whole = case.mma(1.0, steps + rest);
        let mut first = Mma::new(&Cpu, Space::variables(5), 1.0).unwrap();
        let begun = case.go_on(&mut first, &case.start, steps);
        let memory = memory_of(&Cpu, &first).unwrap();
        let mut second = Mma::new(&Cpu, Space::variables(5), 1.0).unwrap();
        second.restore(&Cpu, &memory).unwrap();
        assert_eq!(case.go_on(&mut second, &begun[steps], rest)[rest], whole[steps + rest]);
    }
}

/// Distance of the lower asymptote, 0.4 before, from a variable after two `changes`.
fn distance(changes: [f64; 2]) -> f64 {
    let rules = AsymptoteRules { initial: 0.5, shrink: 0.7, grow: 1.2, move_limit: 0.2 };
    let x = 0.5 + changes[1];
    x - rules.of_variable(x, Some([0.5, 0.5 - changes[0]]), [0.0, 1.0], [0.1, 0.9])[0]
}

/// A variable that functions do not depend on changes by rounding, whose sign means nothing.
#[test]
fn changes_by_rounding_move_no_asymptotes() {
    for noise in [1e-14, -1e-14] {
        assert!((distance([0.2, noise]) - 0.4).abs() < 1e-12);
        assert!((distance([noise, noise]) - 0.4).abs() < 1e-12);
    }
    assert!((distance([1e-4, 1e-4]) - 0.48).abs() < 1e-12);
    assert!((distance([1e-4, -1e-4]) - 0.28).abs() < 1e-12);
}
