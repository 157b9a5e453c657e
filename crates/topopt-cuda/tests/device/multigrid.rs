//! Preconditioners on the device against those of the CPU: every part of the hierarchy, then
//! conjugate gradients with the whole.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::{BlockJacobi, Cuda, Device, Mf, Multigrid, Prepared, ProblemOnDevice, Real};
use topopt_fem::{
    Aggregation, ElementOperator, ElementPreconditioner, Formulation, LoadCase, MODES, Material,
    Problem, Strategy, Supports, WithSprings,
};
use topopt_linalg::{
    Backend, Cpu, CycleKind, Hierarchy, LinearOperator, Pcg, PcgOptions, PcgOutcome,
    Preconditioner, Space, StopReason, System,
};
use topopt_mesh::{HexMesh, Renumbering};
use topopt_testing::{Noise, assert_close, assert_smooths, distorted_cube, hexagon, wheel};

use crate::device;
use crate::operators::with;

/// Most unknowns of the last level, as on the CPU.
const DIRECT: usize = 600;

/// A box of three levels in random order, and meshes of irregular valence and with wedges of two.
fn problems() -> [Problem; 3] {
    [cube(16), problem(hexagon(8)), problem(wheel(6))]
}

/// A box of elements in random order.
fn cube(n: usize) -> Problem {
    let mesh = distorted_cube(n, 0.25, true);
    problem(Renumbering::shuffled(&mesh, 3).apply(&mesh))
}

/// Elements by strain modes in place of full integration.
fn by_modes() -> [Problem; 3] {
    problems().map(|problem| with(&problem, Formulation::Incompatible))
}

/// A part held where z < 0.1, with some nodes held in y alone and some on springs in x.
fn problem(mesh: HexMesh) -> Problem {
    held_below(mesh, 0.1)
}

/// A part held where z < `height`, with some nodes held in y alone and some on springs in x.
pub fn held_below(mesh: HexMesh, height: f64) -> Problem {
    let mut supports = Supports::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if x[2] < height {
            (0..3).for_each(|i| supports.fix(node, i));
        } else if x[0] > 0.85 {
            supports.fix(node, 1);
        } else if x[1] > 0.85 {
            supports.add_spring(node, 0, 0.1);
        }
    }
    let load = LoadCase::new("default", Noise(5).vector(3 * mesh.n_nodes()));
    Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
}

/// Solid bars in void of 1e-6, in shape of the coordinates.
pub fn moduli(problem: &Problem) -> Vec<f64> {
    let wave = |x: &[f64; 3]| (9.0 * x[0]).sin() + (7.0 * x[1]).cos() > 0.0 || x[2] > 0.8;
    problem.mesh().centers().iter().map(|x| if wave(x) { 1.0 } else { 1e-6 }).collect()
}

fn multigrid<'a, R: Real>(
    in_cycle: &'a Cuda<R>,
    problem: &'a Problem,
    kind: CycleKind,
) -> Multigrid<'a, R> {
    halved_from(usize::MAX, in_cycle, problem, kind)
}

/// Multigrid whose products on levels of that many rows read half of the blocks.
fn halved_from<'a, R: Real>(
    least_halved: usize,
    in_cycle: &'a Cuda<R>,
    problem: &'a Problem,
    kind: CycleKind,
) -> Multigrid<'a, R> {
    let device = in_cycle.device();
    let mesh = ProblemOnDevice::new(device, problem).unwrap();
    let backend = Cuda::<f64>::new(device).unwrap();
    let operator = Mf::<f64>::new(&mesh, problem).unwrap();
    let structure = Aggregation::new(problem, DIRECT);
    let prepared = Prepared::with_structure(structure).halved_from(least_halved);
    let mut multigrid = Multigrid::new(in_cycle, &mesh, problem, kind, &prepared).unwrap();
    // Twice: nothing of the first moduli, or of another structure, may stay.
    let n = problem.mesh().n_elements();
    for moduli in [vec![3.0; n], moduli(problem)] {
        let moduli = backend.upload(&moduli, Space::elements(n)).unwrap();
        multigrid.update(&backend, &operator, &[&moduli]).unwrap();
    }
    multigrid
}

fn cpu_multigrid(problem: &Problem, kind: CycleKind) -> topopt_fem::Multigrid<'_> {
    let mut multigrid = topopt_fem::Multigrid::new(problem, kind).unwrap();
    multigrid.update(&Cpu, Strategy::Mf.build(problem).as_ref(), &[&moduli(problem)]).unwrap();
    multigrid
}

/// On every level: the operator, the inverse diagonal, both transfers; and the last solve.
fn assert_levels<R: Real>(device: &Arc<Device>, problem: &Problem, tolerance: f64) {
    let (backend, kind) = (Cuda::<R>::new(device).unwrap(), CycleKind::K);
    let expected = cpu_multigrid(problem, kind);
    for least_halved in [usize::MAX, 1] {
        let found = halved_from(least_halved, &backend, problem, kind);
        assert_equal_levels(&backend, &found, &expected, tolerance);
    }
}

fn assert_equal_levels<R: Real>(
    backend: &Cuda<R>,
    found: &Multigrid<R>,
    expected: &topopt_fem::Multigrid,
    tolerance: f64,
) {
    assert_eq!(found.levels(), expected.levels());
    let (found, expected) = (found.hierarchy(), expected.hierarchy());
    let n_levels = expected.n_levels();
    assert_eq!(found.n_levels(), n_levels);
    let compare = |y: &<Cuda<R> as Backend>::Vector, level: usize, expected: &[f64], what: &str| {
        let y = backend.download(y).unwrap();
        assert_close(&y, expected, tolerance, &format!("{what} on level {level}, {}", R::NAME));
    };
    for level in 0..n_levels {
        let n = expected.operator(level).dimension();
        let space = found.operator(level).space();
        assert_eq!(space, expected.operator(level).space());
        let x = Noise(level as u64 + 1).vector(n);
        let on_device = backend.upload(&x, space).unwrap();
        let (mut y, mut z) = (backend.zeros(space).unwrap(), vec![0.0; n]);
        found.operator(level).apply(&on_device, &mut y);
        expected.operator(level).apply(&x, &mut z);
        compare(&y, level, &z, "operator");
        if level + 1 == n_levels {
            found.solve_last(&backend.upload(&z, space).unwrap(), &mut y);
            let solved = backend.download(&y).unwrap();
            assert_energy_close(expected.operator(level), &solved, &x);
            continue;
        }
        let r = in_range_of_diagonal(expected.operator(level), level, &x);
        found.inverse_diagonal(level).apply(&backend.upload(&r, space).unwrap(), &mut y);
        expected.inverse_diagonal(level).apply(&r, &mut z);
        let (y, d) = (backend.download(&y).unwrap(), z.clone());
        let [y, d] = [y, d].map(|v| in_range_of_diagonal(expected.operator(level), level, &v));
        assert_close(&y, &d, 1e2 * tolerance, &format!("inverse diagonal, level {level}"));
        let inverse = found.inverse_diagonal(level);
        assert_smooths(backend, inverse, 1e2 * tolerance);
        let coarse = expected.operator(level + 1).space();
        let (mut restricted, mut sums) = (backend.zeros(coarse).unwrap(), vec![0.0; coarse.len()]);
        found.transfer(level).restrict(&on_device, &mut restricted);
        expected.transfer(level).restrict(&x, &mut sums);
        compare(&restricted, level + 1, &sums, "restriction");
        let mut sum = backend.upload(&x, space).unwrap();
        let mut prolonged = x.clone();
        found.transfer(level).prolong_add(&restricted, &mut sum);
        expected.transfer(level).prolong_add(&sums, &mut prolonged);
        compare(&sum, level, &prolonged, "prolongation");
    }
}

/// Motions without stiffness are free to differ, so errors are measured by their energy.
fn assert_energy_close(a: &dyn LinearOperator<Cpu>, found: &[f64], expected: &[f64]) {
    let energy = |v: &Vec<f64>| {
        let mut product = vec![0.0; v.len()];
        a.apply(v, &mut product);
        v.iter().zip(product).map(|(v, f)| v * f).sum::<f64>()
    };
    let error: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
    let relative = (energy(&error) / energy(&expected.to_vec())).sqrt();
    assert!(relative < 1e-4, "last solve: error {relative:.1e} of the energy norm");
}

/// D x for the block diagonal D of `a`, made of products with one block of x at a time. Both
/// backends may leave out other directions of a singular block, but not of its range.
fn in_range_of_diagonal(a: &dyn LinearOperator<Cpu>, level: usize, x: &[f64]) -> Vec<f64> {
    let n = a.dimension();
    if level == 0 {
        return x.to_vec(); // no singular blocks
    }
    let mut y = vec![0.0; n];
    for start in (0..n).step_by(MODES) {
        let block = start..start + MODES;
        let mut one = vec![0.0; n];
        one[block.clone()].copy_from_slice(&x[block.clone()]);
        let mut product = vec![0.0; n];
        a.apply(&one, &mut product);
        y[block.clone()].copy_from_slice(&product[block]);
    }
    y
}

#[test]
fn every_level_equals_that_of_the_cpu() {
    let Some(device) = device() else { return };
    for [cube, hexagon, wheel] in [problems(), by_modes()] {
        assert_eq!(cpu_multigrid(&cube, CycleKind::K).hierarchy().n_levels(), 3);
        assert_levels::<f64>(&device, &cube, 1e-12);
        assert_levels::<f32>(&device, &cube, 2e-6);
        assert_levels::<f64>(&device, &hexagon, 1e-12);
        assert_levels::<f64>(&device, &wheel, 1e-12);
    }
}

#[test]
fn block_jacobi_equals_that_of_the_cpu() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let [cube, hexagon, wheel] = problems();
    let (renumbering, colors) = Renumbering::shuffled(wheel.mesh(), 2).by_color(wheel.mesh());
    let by_color = problem(renumbering.apply(wheel.mesh()));
    let [_, irregular, wedges] = by_modes();
    let plain = [cube, hexagon, wheel, irregular, wedges].map(|problem| (problem, None));
    for (problem, colors) in plain.into_iter().chain([(by_color, Some(colors))]) {
        let (moduli, r) = (moduli(&problem), Noise(7).vector(problem.n_dofs()));
        let mesh = match colors {
            Some(colors) => ProblemOnDevice::by_color(&device, &problem, &colors).unwrap(),
            None => ProblemOnDevice::new(&device, &problem).unwrap(),
        };
        let operator = Mf::<f64>::new(&mesh, &problem).unwrap();
        let mut found = BlockJacobi::new(&mesh).unwrap();
        let on_device = backend.upload(&moduli, Space::elements(moduli.len())).unwrap();
        found.update(&backend, &operator, &[&on_device]).unwrap();
        let mut z = backend.zeros(problem.space()).unwrap();
        found.apply(&backend, &backend.upload(&r, problem.space()).unwrap(), &mut z);
        let mut expected = topopt_fem::BlockJacobi::new(&problem);
        expected.update(&Cpu, Strategy::Mf.build(&problem).as_ref(), &[&moduli]).unwrap();
        let mut reference = vec![0.0; r.len()];
        expected.apply(&Cpu, &r, &mut reference);
        assert_eq!(found.name(), expected.name());
        assert_close(&backend.download(&z).unwrap(), &reference, 1e-12, "block-jacobi");
    }
}

/// Outcome and displacements of a solve to 1e-7.
fn solve<B: Backend>(
    backend: &B,
    operator: &mut dyn ElementOperator<B>,
    m: &dyn Preconditioner<B>,
    problem: &Problem,
) -> (PcgOutcome, Vec<f64>) {
    let moduli = moduli(problem);
    operator.set_coefficients(&[&backend.upload(&moduli, Space::elements(moduli.len())).unwrap()]);
    let space = problem.space();
    let f = backend.upload(&problem.load_cases()[0].forces, problem.space()).unwrap();
    let (mut u, mut pcg) = (backend.zeros(space).unwrap(), Pcg::new(backend, space).unwrap());
    let options = PcgOptions { tolerance: 1e-7, max_iterations: 1000 };
    let system = System { backend, a: operator, m, f: &f };
    let go_on = &mut |_| ControlFlow::Continue(());
    let outcome = pcg.solve(&system, &mut u, options, go_on).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);
    (outcome, backend.download(&u).unwrap())
}

fn assert_iterations<R: Real>(device: &Arc<Device>, problem: &Problem, kind: CycleKind) {
    let mut operator = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    let cpu = cpu_multigrid(problem, kind);
    let (expected, reference) = solve(&Cpu, &mut operator, &cpu, problem);
    let backend = Cuda::<f64>::new(device).unwrap();
    let mesh = ProblemOnDevice::new(device, problem).unwrap();
    let elements = Box::new(Mf::<f64>::new(&mesh, problem).unwrap());
    let mut operator = WithSprings::new(&backend, problem, elements).unwrap();
    let of_cycle = Cuda::<R>::new(device).unwrap();
    let mut gpu = halved_from(1, &of_cycle, problem, kind);
    let (found, u) = solve(&backend, &mut operator, &gpu, problem);
    assert!(
        found.iterations.abs_diff(expected.iterations) <= 1,
        "{}, {kind:?}: {found:?}, {expected:?}",
        R::NAME
    );
    assert_close(&u, &reference, 1e-4, "displacements");

    // The second solve replays what the first recorded.
    if gpu.take_steps().unwrap() {
        for _ in 0..2 {
            let (mixed, u) = solve(&backend, &mut operator, &gpu, problem);
            assert_mixed(&mixed, &found);
            assert_close(&u, &reference, 1e-4, "displacements by steps in single precision");
        }
    }
}

/// Asserts that a solve with steps in single precision took about as many as in double, and few
/// products in double.
pub fn assert_mixed(mixed: &PcgOutcome, double: &PcgOutcome) {
    let most = double.iterations + 2 + double.iterations / 10;
    assert!(mixed.iterations <= most, "{mixed:?}, in double precision {double:?}");
    assert!(mixed.products <= 4 + mixed.iterations / 10, "{mixed:?}");
}

#[test]
fn iterations_are_those_of_the_cpu_in_both_precisions() {
    let Some(device) = device() else { return };
    let cube = cube(14);
    assert_eq!(cpu_multigrid(&cube, CycleKind::K).hierarchy().n_levels(), 3);
    for kind in CycleKind::ALL {
        assert_iterations::<f32>(&device, &cube, kind);
    }
    let by_modes = with(&cube, Formulation::Incompatible);
    assert_iterations::<f32>(&device, &by_modes, CycleKind::K);
    assert_iterations::<f64>(&device, &problem(hexagon(8)), CycleKind::K);
}

#[test]
fn a_stronger_cycle_lasts_until_the_next_update() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let single = Cuda::<f32>::new(&device).unwrap();
    let [problem, ..] = problems();
    let mut multigrid = multigrid(&single, &problem, CycleKind::K);
    let there = ProblemOnDevice::new(&device, &problem).unwrap();
    let operator = Mf::new(&there, &problem).unwrap();
    let moduli = moduli(&problem);
    let moduli = backend.upload(&moduli, Space::elements(moduli.len())).unwrap();
    let r = backend.upload(&problem.load_cases()[0].forces, problem.space()).unwrap();
    let cycle = |multigrid: &Multigrid<f32>| {
        let mut z = backend.zeros(problem.space()).unwrap();
        multigrid.apply(&backend, &r, &mut z);
        backend.download(&z).unwrap()
    };
    let plain = cycle(&multigrid);
    assert!(multigrid.strengthen() && multigrid.strengthen() && !multigrid.strengthen());
    let change: Vec<_> = cycle(&multigrid).iter().zip(&plain).map(|(z, plain)| z - plain).collect();
    assert!(Cpu.dot(&change, &change) > 1e-4 * Cpu.dot(&plain, &plain));
    multigrid.update(&backend, &operator, &[&moduli]).unwrap();
    assert_close(&cycle(&multigrid), &plain, 1e-4, "the cycle as it was");

    // Where it does not converge, it is a cycle V until the next update.
    let of_v = cycle(&self::multigrid(&single, &problem, CycleKind::V));
    assert!(multigrid.give_way() && multigrid.is_linear() && !multigrid.give_way());
    assert_close(&cycle(&multigrid), &of_v, 1e-4, "the cycle V");
    multigrid.update(&backend, &operator, &[&moduli]).unwrap();
    assert_close(&cycle(&multigrid), &plain, 1e-4, "the cycle as it was");
}

#[test]
fn the_cycle_is_positive_and_the_inverse_diagonal_symmetric() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let [problem, ..] = problems();
    let single = Cuda::<f32>::new(&device).unwrap();
    let multigrid = multigrid(&single, &problem, CycleKind::K);
    for seed in 0..3 {
        let [r, s] = [seed, seed + 10].map(|seed| {
            let mut v = Noise(seed).vector(problem.n_dofs());
            problem.supports().clear(&mut v);
            v
        });
        let mut z = backend.zeros(problem.space()).unwrap();
        multigrid.apply(&backend, &backend.upload(&r, problem.space()).unwrap(), &mut z);
        assert!(Cpu.dot(&r, &backend.download(&z).unwrap()) > 0.0);
        let [dr, ds] = [&r, &s].map(|v| {
            let mut out = single.zeros(problem.space()).unwrap();
            let diagonal = multigrid.hierarchy().inverse_diagonal(0);
            diagonal.apply(&single.upload(v, problem.space()).unwrap(), &mut out);
            single.download(&out).unwrap()
        });
        assert!((Cpu.dot(&dr, &s) - Cpu.dot(&ds, &r)).abs() < 1e-5 * Cpu.dot(&dr, &r));
    }
}
