//! Multigrid of one unknown per node on the device, against that of the CPU.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::{Cuda, Mf, Multigrid, Prepared, ProblemOnDevice, Real};
use topopt_fem::orthotropy::stretch;
use topopt_fem::{
    Constraints, Diffusion, Discretization, ElementOperator, ElementPreconditioner, Formulation,
    Strategy, WithSprings, lumped_capacity,
};
use topopt_linalg::{
    Backend, Cpu, CycleKind, Hierarchy, Pcg, PcgOptions, PcgOutcome, Preconditioner, Space,
    StopReason, System,
};
use topopt_mesh::HexMesh;
use topopt_testing::{Noise, assert_close, branches, distorted_cube, hexagon, wheel};

use crate::device;
use crate::diffusion::with_film;
use crate::multigrid::assert_mixed;

type Problem = Discretization<Diffusion, 1>;
type OnHost<'a> = topopt_fem::Multigrid<'a, Diffusion, 1, 1>;

/// Diffusion on `mesh`, plain, or with the lowest nodes held, springs on every third node and a
/// film.
fn problem(mesh: HexMesh, is_plain: bool) -> Problem {
    problem_by(Formulation::Full, mesh, is_plain)
}

/// Such a problem by a formulation of the elements.
fn problem_by(formulation: Formulation, mesh: HexMesh, is_plain: bool) -> Problem {
    let mut constraints = Constraints::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate().filter(|_| !is_plain) {
        if x[2] < 0.1 {
            constraints.fix(node, 0);
        } else if node.is_multiple_of(3) {
            constraints.add_spring(node, 0, 1e-3);
        }
    }
    let problem = Discretization::new(mesh, Diffusion::by(formulation), constraints);
    if is_plain { problem } else { with_film(&problem) }
}

/// With two levels and with three, of a single aggregate, orthotropic, and by modes of the gradient.
fn problems() -> [Problem; 9] {
    let by_modes = |mesh, is_plain| problem_by(Formulation::Incompatible, mesh, is_plain);
    let orthotropic = by_modes(distorted_cube(6, 0.25, true), false);
    let along = Noise(8).vector(3 * orthotropic.mesh().n_elements());
    let along = along.as_chunks().0.iter().map(|along| along.map(|v| 10f64.powf(0.3 * v)));
    [
        orthotropic.with_stretches(along.map(stretch).collect()),
        problem(distorted_cube(1, 0.2, true), false),
        problem(distorted_cube(28, 0.2, true), true),
        problem(distorted_cube(6, 0.25, true), false),
        problem(hexagon(4), false),
        problem(wheel(4), true),
        by_modes(distorted_cube(28, 0.2, true), true),
        by_modes(hexagon(4), false),
        by_modes(wheel(4), true),
    ]
}

/// Conductivities and capacities, of a size at which both terms count.
fn coefficients(problem: &Problem) -> [Vec<f64>; 2] {
    let n = problem.mesh().n_elements();
    let noise = |seed, size| Noise(seed).vector(n).iter().map(|v| size * (2.0 + v)).collect();
    [noise(3, 0.01), noise(4, 1.0)]
}

/// Around the elements `void`.
fn on_host<'a>(problem: &'a Problem, [k, c]: &[Vec<f64>; 2], void: &[u32]) -> OnHost<'a> {
    let mut host = OnHost::new(problem, CycleKind::K).unwrap();
    host.restructure(&Cpu, void).unwrap();
    host.update(&Cpu, Strategy::Mf.build(problem).as_ref(), &[k, c]).unwrap();
    host
}

fn on_device<'a, R: Real>(
    backend: &'a Cuda<R>,
    mesh: &Arc<ProblemOnDevice<Diffusion, 1>>,
    problem: &'a Problem,
    terms: &[Vec<f64>; 2],
    void: &[u32],
) -> Multigrid<'a, R, Diffusion, 1> {
    let double = Cuda::<f64>::new(backend.device()).unwrap();
    let elements = Space::elements(problem.mesh().n_elements());
    let [k, c] = &terms.each_ref().map(|term| double.upload(term, elements).unwrap());
    let operator = Mf::<f64, _, _>::new(mesh, problem).unwrap();
    let prepared = Prepared::new(problem);
    let multigrid = Multigrid::new(backend, mesh, problem, CycleKind::K, &prepared).unwrap();
    let mut multigrid = multigrid.following(problem);
    // What is recorded once has to follow other numbers and another structure.
    multigrid.update(&double, &operator, &[c, k]).unwrap();
    multigrid.restructure(&double, void).unwrap();
    multigrid.update(&double, &operator, &[k, c]).unwrap();
    // A recorded cycle keeps its scalars, whatever a solve on the same backend takes later.
    let (r, mut z) =
        (double.zeros(problem.space()).unwrap(), double.zeros(problem.space()).unwrap());
    multigrid.apply(&double, &r, &mut z);
    multigrid
}

#[test]
fn every_level_equals_that_of_the_cpu() {
    assert_levels::<f64>(1e-12);
    assert_levels::<f32>(2e-6);
}

fn assert_levels<R: Real>(tolerance: f64) {
    let Some(device) = device() else { return };
    let backend = Cuda::<R>::new(&device).unwrap();
    for problem in problems() {
        let terms = coefficients(&problem);
        let host = on_host(&problem, &terms, &[]);
        let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
        let there = on_device(&backend, &mesh, &problem, &terms, &[]);
        let (found, expected) = (there.hierarchy(), host.hierarchy());
        let last = expected.n_levels() - 1;
        assert_eq!((found.n_levels(), last >= 2), (last + 1, problem.mesh().n_nodes() > 20_000));
        for level in 0..=last {
            assert_level(&backend, &problem, (found, expected), level, tolerance);
        }
    }
}

/// Compares all that a level computes with that of the CPU.
fn assert_level<R: Real>(
    backend: &Cuda<R>,
    problem: &Problem,
    (found, expected): (&dyn Hierarchy<Cuda<R>>, &dyn Hierarchy<Cpu>),
    level: usize,
    tolerance: f64,
) {
    let last = expected.n_levels() - 1;
    let space = expected.operator(level).space();
    let mut x = Noise(9).vector(space.len());
    if level == 0 {
        problem.constraints().clear(&mut x);
    }
    let compare = |found, expected: &Vec<f64>, part| {
        let what = format!("{part} of level {level}, {}", R::NAME);
        assert_close(&backend.download(&found).unwrap(), expected, tolerance, &what);
    };

    let x_there = backend.upload(&x, space).unwrap();
    let (mut y, mut y_there) = (x.clone(), backend.zeros(space).unwrap());
    expected.operator(level).apply(&x, &mut y);
    found.operator(level).apply(&x_there, &mut y_there);
    compare(y_there, &y, "product");

    let mut y_there = backend.upload(&x, space).unwrap();
    if level == last {
        expected.solve_last(&x, &mut y);
        found.solve_last(&x_there, &mut y_there);
        compare(y_there, &y, "solution");
        return;
    }

    expected.inverse_diagonal(level).apply(&x, &mut y);
    found.inverse_diagonal(level).apply(&x_there, &mut y_there);
    compare(y_there, &y, "inverse diagonal");

    let coarse = expected.operator(level + 1).space();
    let (mut sums, mut sums_there) = (vec![0.0; coarse.len()], backend.zeros(coarse).unwrap());
    expected.transfer(level).restrict(&x, &mut sums);
    found.transfer(level).restrict(&x_there, &mut sums_there);
    y.copy_from_slice(&x);
    let mut y_there = backend.upload(&x, space).unwrap();
    expected.transfer(level).prolong_add(&sums, &mut y);
    found.transfer(level).prolong_add(&sums_there, &mut y_there);
    compare(sums_there, &sums, "restriction");
    compare(y_there, &y, "prolongation");
}

/// Solves A u = f for noise; returns u and the outcome.
fn solve<B: Backend>(
    backend: &B,
    a: &dyn ElementOperator<B>,
    m: &dyn Preconditioner<B>,
    f: &[f64],
) -> (Vec<f64>, PcgOutcome) {
    let f = &backend.upload(f, a.space()).unwrap();
    let mut u = backend.zeros(a.space()).unwrap();
    let mut pcg = Pcg::new(backend, a.space()).unwrap();
    let options = PcgOptions { tolerance: 1e-11, max_iterations: 500 };
    let system = System { backend, a, m, f };
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);
    (backend.download(&u).unwrap(), outcome)
}

/// Solves on the CPU, and on the device with the cycle in double precision and, if `in_single`, in
/// single precision: asserts the same solution in about as many iterations. Returns these.
fn assert_solves(
    backends: (&Cuda<f64>, &Cuda<f32>),
    problem: &Problem,
    terms: &[Vec<f64>; 2],
    f: &[f64],
    void: &[u32],
    in_single: bool,
) -> usize {
    let (backend, device) = (backends.0, backends.0.device());
    let mut a = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    a.set_coefficients(&[&terms[0], &terms[1]]);
    let (expected, count) = solve(&Cpu, &a, &on_host(problem, terms, void), f);

    let mesh = ProblemOnDevice::new(device, problem).unwrap();
    let a = Box::new(Mf::<f64, _, _>::new(&mesh, problem).unwrap());
    let mut a = WithSprings::new(backend, problem, a).unwrap();
    let elements = Space::elements(problem.mesh().n_elements());
    let [k, c] = terms.each_ref().map(|term| backend.upload(term, elements).unwrap());
    a.set_coefficients(&[&k, &c]);

    let double = on_device(backend, &mesh, problem, terms, void);
    let mut single = in_single.then(|| on_device(backends.1, &mesh, problem, terms, void));
    let of_cycle = single.as_ref().map(|m| m as &dyn Preconditioner<Cuda<f64>>);
    for m in std::iter::once(&double as &dyn Preconditioner<Cuda<f64>>).chain(of_cycle) {
        let (found, outcome) = solve(backend, &a, m, f);
        assert_close(&found, &expected, 1e-9, "solution");
        assert!(outcome.iterations.abs_diff(count.iterations) <= 1, "{outcome:?}, {count:?}");
    }
    if let Some(single) = &mut single {
        assert!(single.take_steps().unwrap());
        let (found, mixed) = solve(backend, &a, single, f);
        assert_close(&found, &expected, 1e-9, "solution by steps in single precision");
        assert_mixed(&mixed, &count);
    }
    count.iterations
}

#[test]
fn it_solves_in_as_many_iterations_as_on_the_cpu() {
    let Some(device) = device() else { return };
    let backends = &(Cuda::<f64>::new(&device).unwrap(), Cuda::<f32>::new(&device).unwrap());
    for problem in problems() {
        let mut f = Noise(5).vector(problem.n_dofs());
        problem.constraints().clear(&mut f);
        let terms = coefficients(&problem);
        let count = assert_solves((&backends.0, &backends.1), &problem, &terms, &f, &[], true);
        assert!(count <= 25, "{count}");
    }
}

/// The branches of the test on the CPU. In single precision only where a run takes it: void of 1e-9
/// is below its rounding.
#[test]
fn it_solves_designs_of_every_contrast() {
    let Some(device) = device() else { return };
    let backends = &(Cuda::<f64>::new(&device).unwrap(), Cuda::<f32>::new(&device).unwrap());
    let mesh = distorted_cube(16, 0.2, true);
    let mut constraints = Constraints::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if x[2] < 0.02 && (x[0] - 0.5).hypot(x[1] - 0.5) < 0.15 {
            constraints.fix(node, 0);
        }
    }
    let density = branches(&mesh);
    let is_void = |e: &u32| density[*e as usize] == 0.0;
    let void: Vec<u32> = (0..mesh.n_elements() as u32).filter(is_void).collect();
    let zero = vec![0.0; density.len()];
    let mut f = lumped_capacity(&mesh, &vec![1.0; density.len()]);
    let problem = Discretization::new(mesh, Diffusion::default(), constraints);
    problem.constraints().clear(&mut f);
    for contrast in [1e-3, 1e-6, 1e-9] {
        let k = density.iter().map(|rho| contrast + (1.0 - contrast) * rho.powi(3)).collect();
        let (backends, in_single) = ((&backends.0, &backends.1), contrast > 1e-7);
        let terms = [k, zero.clone()];
        for void in [&[], &void[..]] {
            let count = assert_solves(backends, &problem, &terms, &f, void, in_single);
            assert!(count <= 32, "{contrast}: {count}");
        }
    }
}
