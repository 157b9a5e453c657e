//! Multigrid of tetrahedra on the device against that of the CPU: every part of the hierarchy, the
//! cycle, and conjugate gradients.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::{Cuda, Device, Mf, ProblemOnDevice, Real, TetrahedraMultigrid};
use topopt_fem::tetrahedra::TetrahedraMultigrid as OnCpu;
use topopt_fem::{
    ElementOperator, ElementPreconditioner, LoadCase, Problem, Strategy, Supports, WithSprings,
};
use topopt_linalg::{
    Backend, Cpu, CycleKind, Hierarchy, LinearOperator, Pcg, PcgOptions, PcgOutcome,
    Preconditioner, Space, StopReason, System,
};
use topopt_mesh::{HexMesh, Renumbering};
use topopt_testing::{Noise, assert_close, assert_smooths, distorted_tetrahedra, kuhn};

use crate::device;
use crate::multigrid::{assert_mixed, held_below, moduli};

/// A part held where z is small, with some nodes held in y alone and some on springs in x.
fn problem(mesh: &HexMesh) -> Problem {
    let mesh = Renumbering::on_import(mesh).apply(mesh);
    held_below(mesh, 0.05)
}

/// A cube with two levels of aggregates, and a bent one of a single level.
fn problems() -> [Problem; 2] {
    let bent = |[x, y, z]: [f64; 3]| [x, y + 0.1 * x * x, z + 0.2 * x * y];
    [problem(&distorted_tetrahedra(8, 0.2, true)), problem(&kuhn([4, 3, 5], bent, true))]
}

/// Updated twice: nothing of the first moduli may stay.
fn multigrid<'a, R: Real>(
    in_cycle: &'a Cuda<R>,
    there: &Arc<ProblemOnDevice>,
    problem: &'a Problem,
    kind: CycleKind,
) -> TetrahedraMultigrid<'a, R> {
    let backend = Cuda::<f64>::new(in_cycle.device()).unwrap();
    let operator = Mf::<f64>::new(there, problem).unwrap();
    let mut multigrid = TetrahedraMultigrid::new(in_cycle, there, problem, kind).unwrap();
    let n = problem.mesh().n_elements();
    for moduli in [vec![3.0; n], moduli(problem)] {
        let moduli = backend.upload(&moduli, Space::elements(n)).unwrap();
        multigrid.update(&backend, &operator, &[&moduli]).unwrap();
    }
    multigrid
}

fn cpu_multigrid(problem: &Problem, kind: CycleKind) -> OnCpu<'_> {
    let mut multigrid = OnCpu::new(problem, kind).unwrap();
    multigrid.update(&Cpu, Strategy::Mf.build(problem).as_ref(), &[&moduli(problem)]).unwrap();
    multigrid
}

/// On every level: the operator, the inverse of groups, both transfers; and the last solve.
fn assert_levels<R: Real>(device: &Arc<Device>, problem: &Problem, tolerance: f64) {
    let (backend, kind) = (Cuda::<R>::new(device).unwrap(), CycleKind::V);
    let there = ProblemOnDevice::new(device, problem).unwrap();
    let found = multigrid(&backend, &there, problem, kind);
    let expected = cpu_multigrid(problem, kind);
    assert_eq!(found.levels(), expected.levels());
    let (found, expected) = (found.hierarchy(), expected.hierarchy());
    let n_levels = expected.n_levels();
    assert_eq!(found.n_levels(), n_levels);
    for level in 0..n_levels {
        let space = found.operator(level).space();
        let x = Noise(level as u64 + 1).vector(space.len());
        let on_device = backend.upload(&x, space).unwrap();
        let (mut y, mut z) = (backend.zeros(space).unwrap(), vec![0.0; x.len()]);
        // Below the finest level numbers are made of inverses, which grow what is rounded.
        let tolerance = if level > 0 { tolerance.max(1e-9) } else { tolerance };
        let compare = |found: &[f64], expected: &[f64], tolerance, what: &str| {
            let what = format!("{what} of level {level}, {}", R::NAME);
            assert_close(found, expected, tolerance, &what);
        };
        found.operator(level).apply(&on_device, &mut y);
        expected.operator(level).apply(&x, &mut z);
        compare(&backend.download(&y).unwrap(), &z, tolerance, "operator");
        if level + 1 == n_levels {
            // Rounded forces alone move what is soft.
            let b = backend.upload(&z, space).unwrap();
            found.solve_last(&b, &mut y);
            expected.solve_last(&backend.download(&b).unwrap(), &mut z);
            assert_energy_close(expected.operator(level), &backend.download(&y).unwrap(), &z);
            continue;
        }

        // Where blocks are singular both backends choose other motions without stiffness, which
        // forces of the operator do not move and which have no forces. Inverses are stored in
        // single precision, whose rounding of soft motions is in the forces of stiff ones.
        let (r, forces) = (z.clone(), |motion: &Vec<f64>| forces(expected.operator(level), motion));
        let on_device = backend.upload(&r, space).unwrap();
        found.inverse_diagonal(level).apply(&on_device, &mut y);
        expected.inverse_diagonal(level).apply(&r, &mut z);
        let y = backend.download(&y).unwrap();
        compare(&forces(&y), &forces(&z), 1e3 * tolerance.max(1e-7), "inverse of groups");
        assert_smooths(&backend, found.inverse_diagonal(level), 1e2 * tolerance);

        let coarse = expected.operator(level + 1).space();
        let (mut restricted, mut sums) = (backend.zeros(coarse).unwrap(), vec![0.0; coarse.len()]);
        found.transfer(level).restrict(&on_device, &mut restricted);
        expected.transfer(level).restrict(&r, &mut sums);
        compare(&backend.download(&restricted).unwrap(), &sums, tolerance, "restriction");
        let (mut sum, mut prolonged) = (backend.upload(&x, space).unwrap(), x.clone());
        found.transfer(level).prolong_add(&restricted, &mut sum);
        expected.transfer(level).prolong_add(&sums, &mut prolonged);
        let sum = backend.download(&sum).unwrap();
        compare(&forces(&sum), &forces(&prolonged), tolerance, "prolongation");
    }
}

/// Returns a v.
fn forces(a: &dyn LinearOperator<Cpu>, v: &Vec<f64>) -> Vec<f64> {
    let mut product = vec![0.0; v.len()];
    a.apply(v, &mut product);
    product
}

/// Motions without stiffness are free to differ, so errors are measured by their energy.
fn assert_energy_close(a: &dyn LinearOperator<Cpu>, found: &[f64], expected: &[f64]) {
    let error: Vec<f64> = found.iter().zip(expected).map(|(a, b)| a - b).collect();
    let energy = |v: &Vec<f64>| Cpu.dot(v, &forces(a, v));
    let relative = (energy(&error) / energy(&expected.to_vec())).sqrt();
    assert!(relative < 1e-4, "last solve: error {relative:.1e} of the energy norm");
}

#[test]
fn every_level_equals_that_of_the_cpu() {
    let Some(device) = device() else { return };
    let [cube, bent] = problems();
    assert_eq!(cpu_multigrid(&cube, CycleKind::V).hierarchy().n_levels(), 4);
    assert_eq!(cpu_multigrid(&bent, CycleKind::V).hierarchy().n_levels(), 3);
    assert_levels::<f64>(&device, &cube, 1e-12);
    assert_levels::<f32>(&device, &cube, 2e-6);
    assert_levels::<f64>(&device, &bent, 1e-12);
}

/// Free values of noise.
fn noise(problem: &Problem, seed: u64) -> Vec<f64> {
    let mut noise = Noise(seed).vector(problem.n_dofs());
    problem.supports().clear(&mut noise);
    noise
}

#[test]
fn the_cycle_is_that_of_the_cpu_and_symmetric() {
    let Some(device) = device() else { return };
    let (backend, single) =
        (Cuda::<f64>::new(&device).unwrap(), Cuda::<f32>::new(&device).unwrap());
    for problem in problems() {
        let there = ProblemOnDevice::new(&device, &problem).unwrap();
        let on_gpu = multigrid(&single, &there, &problem, CycleKind::V);
        let on_cpu = cpu_multigrid(&problem, CycleKind::V);
        assert!(on_gpu.is_linear());
        let [r, s] = [1, 2].map(|seed| noise(&problem, seed));
        let [of_r, of_s] = [&r, &s].map(|v| {
            let mut z = backend.zeros(problem.space()).unwrap();
            on_gpu.apply(&backend, &backend.upload(v, problem.space()).unwrap(), &mut z);
            backend.download(&z).unwrap()
        });
        let mut expected = vec![0.0; r.len()];
        on_cpu.apply(&Cpu, &r, &mut expected);
        // Soft motions in void grow what single precision rounds.
        assert_close(&of_r, &expected, 1e-3, "the cycle");
        assert!(Cpu.dot(&of_r, &r) > 0.0);
        let difference = (Cpu.dot(&of_r, &s) - Cpu.dot(&of_s, &r)).abs();
        let size = (Cpu.dot(&of_r, &r) * Cpu.dot(&of_s, &s)).sqrt();
        assert!(difference < 1e-5 * size, "{difference:e} of {size:e}");
    }
}

/// Outcome and displacements of a solve to 1e-7.
fn solve<B: Backend + Sync>(
    backend: &B,
    elements: Box<dyn ElementOperator<B> + '_>,
    m: &dyn Preconditioner<B>,
    problem: &Problem,
) -> (PcgOutcome, Vec<f64>) {
    let (moduli, space) = (moduli(problem), problem.space());
    let mut operator = WithSprings::new(backend, problem, elements).unwrap();
    let moduli = backend.upload(&moduli, Space::elements(moduli.len())).unwrap();
    operator.set_coefficients(&[&moduli]);
    let f = backend.upload(&problem.load_cases()[0].forces, space).unwrap();
    let (mut u, mut pcg) = (backend.zeros(space).unwrap(), Pcg::new(backend, space).unwrap());
    let options = PcgOptions { tolerance: 1e-7, max_iterations: 1000 };
    let system = System { backend, a: &operator, m, f: &f };
    let go_on = &mut |_| ControlFlow::Continue(());
    let outcome = pcg.solve(&system, &mut u, options, go_on).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);
    (outcome, backend.download(&u).unwrap())
}

fn assert_iterations<R: Real>(there: &Arc<ProblemOnDevice>, problem: &Problem, kind: CycleKind) {
    let on_cpu = cpu_multigrid(problem, kind);
    let (expected, reference) = solve(&Cpu, Strategy::Mf.build(problem), &on_cpu, problem);
    let backend = Cuda::<f64>::new(there.device()).unwrap();
    let of_cycle = Cuda::<R>::new(there.device()).unwrap();
    let mut on_gpu = multigrid(&of_cycle, there, problem, kind);
    let elements = || Box::new(Mf::<f64>::new(there, problem).unwrap());
    let (found, u) = solve(&backend, elements(), &on_gpu, problem);
    let what = format!("{}, {kind:?}: {found:?}, {expected:?}", R::NAME);
    assert!(found.iterations.abs_diff(expected.iterations) <= 1, "{what}");
    assert_close(&u, &reference, 1e-4, "displacements");

    if on_gpu.take_steps().unwrap() {
        let (mixed, u) = solve(&backend, elements(), &on_gpu, problem);
        assert_mixed(&mixed, &found);
        assert_close(&u, &reference, 1e-4, "displacements by steps in single precision");
    }
}

#[test]
fn iterations_are_those_of_the_cpu_in_both_precisions() {
    let Some(device) = device() else { return };
    let [cube, bent] = problems();
    let there = ProblemOnDevice::new(&device, &cube).unwrap();
    for kind in [CycleKind::V, CycleKind::K] {
        assert_iterations::<f32>(&there, &cube, kind);
    }
    let there = ProblemOnDevice::new(&device, &bent).unwrap();
    assert_iterations::<f64>(&there, &bent, CycleKind::K);
}

/// Elements by color, as `solver.deterministic` has them.
#[test]
fn elements_by_color_give_the_same_bits_again() {
    let Some(device) = device() else { return };
    let single = Cuda::<f32>::new(&device).unwrap();
    let backend = Cuda::<f64>::new(&device).unwrap();
    let [_, bent] = problems();
    let (renumbering, colors) = Renumbering::shuffled(bent.mesh(), 2).by_color(bent.mesh());
    let mesh = renumbering.apply(bent.mesh());
    let supports = Supports::none(mesh.n_nodes());
    let load = LoadCase::new("default", vec![1.0; 3 * mesh.n_nodes()]);
    let mut supports = supports;
    (0..mesh.n_nodes()).step_by(7).for_each(|node| supports.fix(node, node % 3));
    let problem = Problem::new(mesh, *bent.material(), supports, vec![load]).unwrap();
    let there = ProblemOnDevice::by_color(&device, &problem, &colors).unwrap();
    let r = backend.upload(&noise(&problem, 3), problem.space()).unwrap();
    let bits = || {
        let mut z = backend.zeros(problem.space()).unwrap();
        multigrid(&single, &there, &problem, CycleKind::V).apply(&backend, &r, &mut z);
        backend.download(&z).unwrap()
    };
    assert_eq!(bits(), bits());
}
