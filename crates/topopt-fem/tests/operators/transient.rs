//! Heat in time: the theta scheme against series, its order, and the balance of heat.

use std::f64::consts::PI;
use std::ops::ControlFlow;

use topopt_fem::{
    Constraints, Diffusion, Discretization, ElementPreconditioner, Formulation, Held, Multigrid,
    StepData, StepSolver, Strategy, ThetaScheme, lumped_capacity,
};
use topopt_linalg::{Cpu, CycleKind, Pcg, PcgOptions, PcgOutcome, Space, StopReason};
use topopt_mesh::HexMesh;
use topopt_testing::{distorted_cube, mapped_box};

type Problem = Discretization<Diffusion, 1>;

const TIGHT: PcgOptions = PcgOptions { tolerance: 1e-12, max_iterations: 500 };

/// Sees the heat K w that flows into nodes in the middle of a step, the states before and after it,
/// and its outcome.
type Each<'e> = dyn FnMut(&[f64], [&[f64]; 2], PcgOutcome) + 'e;

/// A bar with values held at nodes, and what acts on it in time.
struct Study {
    mesh: HexMesh,
    is_held: fn([f64; 3]) -> bool,
    conductivity: f64,
    capacity: f64,
    /// Temperature of held nodes by place and time.
    held: fn([f64; 3], f64) -> f64,
    start: fn([f64; 3]) -> f64,
    /// Nodal heat flows.
    source: Vec<f64>,
}

impl Study {
    fn problem(&self) -> Problem {
        let mut constraints = Constraints::none(self.mesh.n_nodes());
        let coordinates = self.mesh.coordinates().iter().enumerate();
        coordinates.filter(|(_, x)| (self.is_held)(**x)).for_each(|(n, _)| constraints.fix(n, 0));
        Discretization::new(
            self.mesh.clone(),
            Diffusion::by(Formulation::Incompatible),
            constraints,
        )
    }

    /// The state after `n` steps to the time `end`.
    fn run(&self, theta: f64, n: usize, end: f64, each: &mut Each) -> Vec<f64> {
        let (problem, mesh) = (self.problem(), &self.mesh);
        let bare = Discretization::new(
            mesh.clone(),
            Diffusion::by(Formulation::Incompatible),
            Constraints::none(mesh.n_nodes()),
        );
        let (dt, elements) = (end / n as f64, mesh.n_elements());
        let [k, zero] = [self.conductivity, 0.0].map(|v| vec![v; elements]);
        let rate = vec![self.capacity / (theta * dt); elements];

        let mut operator = Strategy::Mf.build(&problem);
        let mut free = Strategy::Mf.build(&bare);
        free.set_coefficients(&[&k, &zero]);
        let is_held = |x: &[f64; 3]| (self.is_held)(*x);
        let is_free: Vec<f64> = mesh.coordinates().iter().map(|x| f64::from(!is_held(x))).collect();
        let capacity = lumped_capacity(mesh, &vec![self.capacity; elements]);
        let at = |f: &dyn Fn([f64; 3]) -> f64| -> Vec<f64> {
            mesh.coordinates().iter().map(|x| f(*x)).collect()
        };
        let held = |t: f64| at(&|x| if is_held(&x) { (self.held)(x, t) } else { 0.0 });
        let start = at(&|x| if is_held(&x) { (self.held)(x, 0.0) } else { (self.start)(x) });
        let nodes = Space::nodes(mesh.n_nodes(), 1);
        let given = [capacity.as_slice(), &is_free, &start];
        let mut scheme = ThetaScheme::new(&Cpu, nodes, theta, given).unwrap();
        operator.set_coefficients(&[&k, &rate]);
        let mut multigrid = Multigrid::<_, 1, 1>::new(&problem, CycleKind::K).unwrap();
        multigrid.update(&Cpu, operator.as_ref(), &[&k, &rate]).unwrap();
        let (mut pcg, mut flows) = (Pcg::new(&Cpu, nodes).unwrap(), vec![0.0; nodes.len()]);

        for step in 0..n {
            let [t0, t1] = [step, step + 1].map(|i| i as f64 * dt);
            let ends = [held(t0), held(t1)];
            let middle: Vec<f64> =
                ends[0].iter().zip(&ends[1]).map(|(a, b)| (1.0 - theta) * a + theta * b).collect();
            let held = Held { middle: &middle, end: &ends[1], free: free.as_ref() };
            let data = StepData { source: &self.source, held: Some(held), dt };
            let before = scheme.state().clone();
            let mut solver = StepSolver {
                backend: &Cpu,
                pcg: &mut pcg,
                operator: operator.as_ref(),
                storage: None,
                preconditioner: &multigrid,
                options: TIGHT,
                rounded: 0.0,
                monitor: &mut |_| ControlFlow::Continue(()),
            };
            let outcome = scheme.step(&mut solver, &data).unwrap();
            assert_eq!(outcome.reason, StopReason::Converged);
            scheme.middle_flows(&Cpu, free.as_ref(), &mut flows);
            each(&flows, [&before, scheme.state()], outcome);
        }
        scheme.state().clone()
    }
}

/// The bar of NAFEMS T3: 0.1 m long, one end follows 100 sin(pi t / 40).
fn nafems(n: usize) -> Study {
    let mesh = mapped_box([n, 1, 1], |[x, y, z]| [0.1 * x, 0.01 * y, 0.01 * z]);
    Study {
        source: vec![0.0; mesh.n_nodes()],
        mesh,
        is_held: |x| x[0] < 1e-9 || x[0] > 0.1 - 1e-9,
        conductivity: 35.0,
        capacity: 440.5 * 7200.0,
        held: |x, t| if x[0] > 0.05 { 100.0 * (PI * t / 40.0).sin() } else { 0.0 },
        start: |_| 0.0,
    }
}

/// Temperature of NAFEMS T3 at 0.08 m after 32 s with `elements` and `steps`.
fn nafems_temperature(theta: f64, elements: usize, steps: usize) -> f64 {
    let study = nafems(elements);
    let u = study.run(theta, steps, 32.0, &mut |_, _, _| {});
    let node = study.mesh.coordinates().iter().position(|x| (x[0] - 0.08).abs() < 1e-12).unwrap();
    u[node]
}

/// The series of NAFEMS T3 at 0.08 m and 32 s.
const EXACT: f64 = 36.603116;

/// Compares the series with the limit extrapolated by the orders of the scheme.
#[test]
fn nafems_t3_comes_to_its_series() {
    let found = [40, 80, 160].map(|n| nafems_temperature(0.5, n, 8 * n));
    assert!((found[2] - EXACT).abs() < 5e-3, "{found:?}");
    let [coarse, fine] = [0, 1].map(|i| found[i + 1] + (found[i + 1] - found[i]) / 3.0);
    let limit = fine + (fine - coarse) / 15.0;
    assert!((limit - EXACT).abs() < 2e-6, "{limit}");
}

/// Halved widths and steps leave a quarter of the error with theta 1/2, and half with 1 in time.
#[test]
fn errors_fall_by_order_two_in_space_and_in_time() {
    let errors = [20, 40, 80].map(|n| nafems_temperature(0.5, n, 8 * n) - EXACT);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).abs().log2();
        assert!((1.9..2.1).contains(&order), "{errors:?}");
    }
    // In time alone, against many steps on the same mesh.
    let fine = nafems_temperature(0.5, 20, 5120);
    for (theta, expected) in [(0.5, 2.0), (1.0, 1.0)] {
        let errors = [80, 160, 320].map(|n| nafems_temperature(theta, 20, n) - fine);
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).abs().log2();
            assert!((order - expected).abs() < 0.1, "{theta}: {errors:?}");
        }
    }
}

/// On a distorted mesh: what comes in at held nodes and by sources is what is stored.
#[test]
fn the_heat_that_is_stored_is_the_heat_that_comes_in() {
    let mesh = distorted_cube(5, 0.25, true);
    let capacities = vec![3.0; mesh.n_elements()];
    let lumped = lumped_capacity(&mesh, &capacities);
    let source: Vec<f64> = (0..mesh.n_nodes()).map(|n| 1.0 + (n as f64).sin()).collect();
    let study = Study {
        mesh,
        is_held: |x| x[2] < 0.1,
        conductivity: 2.0,
        capacity: 3.0,
        held: |x, t| 1.0 + x[0] + t,
        start: |x| 2.0 + x[1],
        source: source.clone(),
    };
    let is_held: Vec<bool> = study.mesh.coordinates().iter().map(|x| (study.is_held)(*x)).collect();
    let dt = 0.05;
    study.run(0.5, 8, 8.0 * dt, &mut |flows, [before, after], _| {
        let stored = |n: usize| lumped[n] * (after[n] - before[n]) / dt;
        let all = 0..is_held.len();
        // What must be given to held nodes besides their sources.
        let given: f64 =
            all.clone().filter(|&n| is_held[n]).map(|n| stored(n) + flows[n] - source[n]).sum();
        let total: f64 = all.map(stored).sum();
        let came = given + source.iter().sum::<f64>();
        assert!((total - came).abs() < 1e-10 * came.abs(), "{total} {came}");
    });
}

/// The line through the last two states is a better start than the last one.
#[test]
fn later_solves_take_fewer_iterations() {
    let study = nafems(40);
    let mut iterations = Vec::new();
    study.run(0.5, 40, 32.0, &mut |_, _, outcome| iterations.push(outcome.iterations));
    assert!(iterations[30] <= iterations[0], "{iterations:?}");
}
