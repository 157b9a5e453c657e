//! Smoothing by patches on the device against that of the CPU, and conjugate gradients with it.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::{
    Cuda, DeviceKernel, DeviceVector, Mf, Multigrid, Prepared, ProblemOnDevice, Real,
};
use topopt_fem::{
    Constraints, CpuSolvers, Diffusion, Discretization, Elasticity, ElementKernel, ElementOperator,
    ElementPreconditioner, Formulation, LoadCase, MODES, Material, NodalModes, Problem, Strategy,
    WithSprings,
};
use topopt_linalg::{
    Backend, Cpu, CycleKind, Growth, Hierarchy, LinearOperator, PatchRelaxation, PatchStep, Pcg,
    PcgOptions, Residue, SmootherKind, Space, StopReason, System,
};
use topopt_mesh::HexMesh;
use topopt_testing::{Noise, assert_close, distorted_cube, hexagon, wheel};

use crate::device;

/// Boxes and meshes of irregular valence and with wedges; held below, and on springs or not.
fn problems<K: ElementKernel<N>, const N: usize>(kernel: impl Fn() -> K) -> Vec<Problem<K, N>> {
    let problem = |(k, mesh): (usize, HexMesh)| {
        let mut constraints = Constraints::none(mesh.n_nodes());
        for (node, x) in mesh.coordinates().iter().enumerate() {
            if x[2] < 0.1 {
                (0..N).for_each(|i| constraints.fix(node, i));
            } else if k > 0 && node % 3 == 0 {
                constraints.add_spring(node, N - 1, 0.1);
            }
        }
        let mut f = Noise(5).vector(N * mesh.n_nodes());
        constraints.clear(&mut f);
        let load = LoadCase::new("default", f);
        Problem::of(Discretization::new(mesh, kernel(), constraints), vec![load]).unwrap()
    };
    let meshes = [distorted_cube(7, 0.25, true), hexagon(4), wheel(4)];
    meshes.into_iter().enumerate().map(problem).collect()
}

const FORMULATIONS: [Formulation; 2] = [Formulation::Full, Formulation::Incompatible];

/// The problems of elasticity by both formulations.
fn elastic() -> Vec<Problem> {
    let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap());
    let by = |formulation| problems(|| kernel.with(formulation));
    FORMULATIONS.into_iter().flat_map(by).collect()
}

/// The problems of diffusion by both formulations.
fn heated() -> Vec<Problem<Diffusion, 1>> {
    let by = |formulation| problems(|| Diffusion::by(formulation));
    FORMULATIONS.into_iter().flat_map(by).collect()
}

/// Moduli or conductivities over three orders of magnitude, and capacities.
fn coefficients(n: usize) -> [Vec<f64>; 2] {
    let moduli = Noise(3).vector(n).iter().map(|v| 10f64.powf(1.5 * v)).collect();
    [moduli, Noise(4).vector(n).iter().map(|v| 2.0 + v).collect()]
}

fn on_host<K: CpuSolvers<N>, const N: usize, const M: usize>(
    problem: &Problem<K, N>,
) -> topopt_fem::Multigrid<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    let terms = coefficients(problem.mesh().n_elements());
    let terms: Vec<&Vec<f64>> = terms[..K::TERMS].iter().collect();
    let kind = CycleKind::K;
    let mut host =
        topopt_fem::Multigrid::smoothed_by(SmootherKind::Patch, &**problem, kind).unwrap();
    host.update(&Cpu, Strategy::Mf.build(problem).as_ref(), &terms).unwrap();
    host
}

/// Compares M^-1, and steps of every kind, with those of the CPU.
fn compare<R: Real>(
    backend: &Cuda<R>,
    space: Space,
    found: &dyn PatchRelaxation<Cuda<R>>,
    expected: &dyn PatchRelaxation<Cpu>,
    tolerance: f64,
) {
    let growth = |value: f64| Growth { result: value * value, start: 1.0 };
    let there = |value: f64| {
        let number = |v: f64| {
            let v = backend.upload(&[v], Space::level(1, 1)).unwrap();
            backend.dot(&v, &v)
        };
        Growth { result: number(value), start: number(1.0) }
    };
    let (inner, outer) = (growth(1.7), growth(1.3));
    let (inner_there, outer_there) = (there(1.7), there(1.3));
    let close = |found: &DeviceVector<R>, expected: &[f64], what: &str| {
        let found = backend.download(found).unwrap();
        assert_close(&found, expected, tolerance, &format!("{what}, {}", R::NAME));
    };

    let b = Noise(1).vector(space.len());
    let [mut r, mut d, mut x] = [2, 3, 4].map(|seed| Noise(seed).vector(space.len()));
    let upload = |v: &Vec<f64>| backend.upload(v, space).unwrap();
    let (b_there, [mut r_there, mut d_there, mut x_there]) = (upload(&b), [&r, &d, &x].map(upload));
    expected.invert(&inner, &b, &mut d);
    found.invert(&inner_there, &b_there, &mut d_there);
    close(&d_there, &d, "M^-1 b");

    for (residue, factors, stays) in [
        ("zero", [0.9, 0.0], true),
        ("left", [1.2, 0.3], true),
        ("x", [0.8, 0.0], false),
        ("x", [0.7, 0.2], true),
        ("left", [1.1, 0.1], true),
    ] {
        let of_host = match residue {
            "zero" => Residue::OfZero { b: &b },
            "left" => Residue::Left,
            _ => Residue::Of { b: &b },
        };
        let of_device = match residue {
            "zero" => Residue::OfZero { b: &b_there },
            "left" => Residue::Left,
            _ => Residue::Of { b: &b_there },
        };
        let (inner, outer) = (&inner, &outer);
        let step = PatchStep { residue: of_host, factors, inner, outer, stays };
        expected.relax(&step, &mut r, &mut d, &mut x);
        let (inner, outer) = (&inner_there, &outer_there);
        let step = PatchStep { residue: of_device, factors, inner, outer, stays };
        found.relax(&step, &mut r_there, &mut d_there, &mut x_there);
        close(&d_there, &d, &format!("d of {residue}"));
        close(&x_there, &x, &format!("x of {residue}"));
        if stays {
            close(&r_there, &r, &format!("r of {residue}"));
        }
    }
}

fn there<'a, R: Real, K: DeviceKernel<N>, const N: usize>(
    backend: &'a Cuda<R>,
    mesh: &Arc<ProblemOnDevice<K, N>>,
    problem: &'a Problem<K, N>,
) -> Multigrid<'a, R, K, N> {
    let double = Cuda::<f64>::new(backend.device()).unwrap();
    let n = problem.mesh().n_elements();
    let [k, c] = coefficients(n).map(|v| double.upload(&v, Space::elements(n)).unwrap());
    let operator = Mf::<f64, K, N>::new(mesh, problem).unwrap();
    let prepared = Prepared::new(problem).smoothed_by(SmootherKind::Patch);
    let mut m = Multigrid::new(backend, mesh, problem, CycleKind::K, &prepared).unwrap();
    let terms = K::TERMS;
    m.update(&double, &operator, &[&c, &k][..terms]).unwrap(); // what is recorded has to follow other numbers
    m.update(&double, &operator, &[&k, &c][..terms]).unwrap();
    m
}

fn assert_steps<R: Real>(tolerance: f64) {
    let Some(device) = device() else { return };
    let backend = Cuda::<R>::new(&device).unwrap();
    for problem in heated() {
        let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
        let (host, there) = (on_host::<_, 1, 1>(&problem), there(&backend, &mesh, &problem));
        let found = there.hierarchy().patches(0).unwrap();
        assert!(there.hierarchy().n_levels() == 2 || there.hierarchy().patches(1).is_none());
        let expected = host.hierarchy().patches(0).unwrap();
        compare(&backend, problem.space(), found, expected, tolerance);
    }
    for problem in elastic() {
        let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
        let (host, there) = (on_host::<_, 3, MODES>(&problem), there(&backend, &mesh, &problem));
        let found = there.hierarchy().patches(0).unwrap();
        let expected = host.hierarchy().patches(0).unwrap();
        compare(&backend, problem.space(), found, expected, tolerance);
    }
}

#[test]
fn steps_by_patches_equal_those_of_the_cpu() {
    assert_steps::<f64>(1e-12);
    assert_steps::<f32>(1e-5);
}

/// Iterations to 1e-8.
fn solve(
    backend: &Cuda<f64>,
    a: &dyn LinearOperator<Cuda<f64>>,
    m: &dyn ElementPreconditioner<Cuda<f64>>,
    f: &[f64],
) -> usize {
    let f = backend.upload(f, a.space()).unwrap();
    let mut u = backend.zeros(a.space()).unwrap();
    let mut pcg = Pcg::new(backend, a.space()).unwrap();
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 200 };
    let system = System { backend, a, m, f: &f };
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);
    outcome.iterations
}

fn iterations_on_host<K: CpuSolvers<N>, const N: usize, const M: usize>(
    problem: &Problem<K, N>,
) -> usize
where
    [f64; M]: NodalModes<N>,
{
    let host = on_host::<K, N, M>(problem);
    let terms = coefficients(problem.mesh().n_elements());
    let terms: Vec<&Vec<f64>> = terms[..K::TERMS].iter().collect();
    let mut a = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    a.set_coefficients(&terms);
    let f = &problem.load_cases()[0].forces;
    let (mut u, mut pcg) = (vec![0.0; f.len()], Pcg::new(&Cpu, problem.space()).unwrap());
    let system = System { backend: &Cpu, a: &a, m: &host, f };
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 200 };
    pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap().iterations
}

/// In both precisions of the cycle, in about the iterations of the CPU, whose coarse levels are
/// smoothed by patches as well.
fn assert_solves<R: Real>() {
    let Some(device) = device() else { return };
    let (backend, of_cycle) =
        (Cuda::<f64>::new(&device).unwrap(), Cuda::<R>::new(&device).unwrap());
    let on_elements = |v: &Vec<f64>| backend.upload(v, Space::elements(v.len())).unwrap();
    let near = |found: usize, expected: usize| found.abs_diff(expected) <= 2 + expected / 10;

    for problem in heated() {
        let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
        let [k, c] = coefficients(problem.mesh().n_elements()).each_ref().map(on_elements);
        let operator = Box::new(Mf::<f64, _, _>::new(&mesh, &problem).unwrap());
        let mut a = WithSprings::new(&backend, &problem, operator).unwrap();
        a.set_coefficients(&[&k, &c]);
        let m = there(&of_cycle, &mesh, &problem);
        let found = solve(&backend, &a, &m, &problem.load_cases()[0].forces);
        let expected = iterations_on_host::<_, 1, 1>(&problem);
        assert!(near(found, expected), "heat, {}: {found} {expected}", R::NAME);
    }
    for problem in elastic() {
        let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
        let [moduli, _] = coefficients(problem.mesh().n_elements()).each_ref().map(on_elements);
        let operator = Box::new(Mf::<f64, _, _>::new(&mesh, &problem).unwrap());
        let mut a = WithSprings::new(&backend, &problem, operator).unwrap();
        a.set_coefficients(&[&moduli]);
        let m = there(&of_cycle, &mesh, &problem);
        let found = solve(&backend, &a, &m, &problem.load_cases()[0].forces);
        let expected = iterations_on_host::<_, 3, MODES>(&problem);
        assert!(near(found, expected), "elasticity, {}: {found} {expected}", R::NAME);
    }
}

#[test]
fn solves_take_the_iterations_of_the_cpu() {
    assert_solves::<f64>();
    assert_solves::<f32>();
}
