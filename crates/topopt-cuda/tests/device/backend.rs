//! The operations of the device backend against those of the CPU, and conjugate gradients on both.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::operators::{Mf, ProblemOnDevice};
use topopt_cuda::{Cuda, Device, Real};
use topopt_fem::{
    ElementOperator, ElementPreconditioner, Jacobi, LoadCase, Material, Problem, Strategy, Supports,
};
use topopt_linalg::{
    Backend, Cpu, Csr, Pcg, PcgOptions, PcgOutcome, Pointwise, SmoothStep, Space, StopReason,
    SubpixelStep, System,
};
use topopt_mesh::HexMesh;
use topopt_testing::{Noise, distorted_cube, hexagon, wheel};

use crate::device;

/// Lengths below, at and beyond those of a warp, a block, and all blocks of a launch.
const LENGTHS: [usize; 6] = [1, 31, 512, 513, 9_000, 300_000];

/// A step in the midst of the vectors' entries.
const STEP: SmoothStep = SmoothStep { base: 0.4, height: 0.6, sharpness: 3.0, center: 0.1 };
const SUBPIXEL: SubpixelStep =
    SubpixelStep { base: 0.1, height: 0.9, level: 0.4, half_width: 0.55 };

/// Returns the results of every operation of a backend on vectors of length n: vectors, then
/// scalars.
fn everything<B: Pointwise>(backend: &B, n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let [a, b, c] = [1, 2, 3].map(|seed| Noise(seed).vector(n));
    let positive: Vec<f64> = c.iter().map(|v| 1.5 + v).collect();
    let upload = |v: &[f64]| backend.upload(v, Space::elements(v.len())).unwrap();
    let (x, y, p) = (upload(&a), upload(&b), upload(&positive));
    let (lower, upper) = (upload(&vec![-0.3; n]), upload(&vec![0.4; n]));
    let out = |operation: &dyn Fn(&mut B::Vector)| {
        let mut z = upload(&a);
        operation(&mut z);
        backend.download(&z).unwrap()
    };
    let bounds = [&lower, &upper];
    let within = upload(&b.iter().map(|v| 0.05 + 0.34 * v).collect::<Vec<_>>());
    // Rows of 0 to 3 entries.
    let starts: Vec<usize> = (0..=n).map(|i| [0, 0, 1, 3][i % 4] + 6 * (i / 4)).collect();
    let columns = (0..starts[n]).map(|k| (k * 397 % n) as u32).collect();
    let rows = Csr { values: Noise(5).vector(starts[n]), columns, starts };
    let map = || backend.map(&rows, [Space::elements(n); 2]).unwrap();
    // Three unknowns per node.
    let spaces = [n.div_ceil(3), n].map(|points| Space::nodes(points, 3));
    let to_nodes = Csr::selection((0..3 * n).map(|k| (k * 211 % spaces[0].len()) as u32).collect());
    let nodal = || {
        let mut z = backend.zeros(spaces[1]).unwrap();
        let x = backend.upload(&Noise(6).vector(spaces[0].len()), spaces[0]).unwrap();
        backend.gather(&mut backend.map(&to_nodes, spaces).unwrap(), &x, &mut z);
        backend.download(&z).unwrap()
    };
    let mut vectors = vec![
        out(&|z| backend.gather(&mut map(), &x, z)),
        nodal(),
        backend.download(&backend.zeros(Space::elements(n)).unwrap()).unwrap(),
        out(&|z| backend.copy(&y, z)),
        out(&|z| backend.fill(-2.5, z)),
        out(&|z| backend.axpby(0.7, &y, -1.3, z)),
        out(&|z| backend.multiply(&x, &y, z)),
        out(&|z| backend.divide(&x, &p, z)),
        out(&|z| backend.power(2.0, &p, -0.5, z)),
        out(&|z| backend.positive_part(-1.5, &x, z)),
        out(&|z| backend.scale_within(0.8, &x, bounds, z)),
        out(&|z| backend.sigmoid(0.2, 0.7, &x, bounds, z)),
        out(&|z| backend.logit(1.5, &within, bounds, z)),
        out(&|z| backend.softplus(&x, z)),
        out(&|z| backend.smooth_step(&STEP, &x, z)),
        out(&|z| backend.smooth_step_slope(&STEP, &y, z)),
        out(&|z| backend.subpixel_step(&SUBPIXEL, &x, &p, z)),
        out(&|z| backend.subpixel_slopes(&SUBPIXEL, &x, &p, z, &mut upload(&a))),
        out(&|z| backend.subpixel_slopes(&SUBPIXEL, &x, &p, &mut upload(&b), z)),
    ];
    let (xy, pp) = (backend.dot(&x, &y), backend.dot(&p, &p));
    let (mut u, mut r, mut d) = (upload(&a), upload(&b), upload(&c));
    let [mut squares, mut weighted] = [backend.scalar(), backend.scalar()];
    backend.cg_step([&xy, &pp], &x, &p, &mut u, &mut r, &mut squares);
    backend.cg_direction(1.0, [&xy, &pp], &x, &mut d);
    // A denominator that is not positive makes a step of length zero.
    let minus = backend.dot(&x, &{
        let mut opposite = upload(&a);
        backend.axpby(0.0, &x, -1.0, &mut opposite);
        opposite
    });
    backend.cg_direction(1.0, [&xy, &minus], &y, &mut r);
    let mut product = upload(&c);
    backend.multiply_dot(&p, &x, &mut product, &mut weighted);
    vectors.extend([&u, &r, &d, &product].map(|v| backend.download(v).unwrap()));
    let scalars = [
        xy,
        pp,
        squares,
        weighted,
        backend.dot_scaled_within(0.8, &x, bounds, &y),
        backend.max_difference(&x, &y),
    ];
    (vectors, scalars.iter().map(|s| backend.value(s).unwrap()).collect())
}

fn agrees_with_the_cpu<R: Real>(device: &Arc<Device>, epsilon: f64) {
    let backend = Cuda::<R>::new(device).unwrap();
    for n in LENGTHS {
        let (vectors, scalars) = everything(&backend, n);
        let (expected_vectors, expected_scalars) = everything(&Cpu, n);
        for (k, (found, expected)) in vectors.iter().zip(&expected_vectors).enumerate() {
            let difference = |i: usize| (found[i] - expected[i]).abs() / (1.0 + expected[i].abs());
            let largest = (0..n).map(difference).fold(0.0, f64::max);
            assert!(largest < 8.0 * epsilon, "vector {k} of {n}: {largest:.1e} ({})", R::NAME);
        }
        for (k, (found, expected)) in scalars.iter().zip(&expected_scalars).enumerate() {
            // Entries are of size one; rounding of a sum of n of them grows like a random walk.
            let difference = (found - expected).abs() / (n as f64).sqrt().max(expected.abs());
            assert!(
                difference < 8.0 * epsilon,
                "scalar {k} of {n}: {difference:.1e} ({})",
                R::NAME
            );
        }
        assert_eq!((vectors, scalars), everything(&backend, n), "the same bits again, {n}");
    }
}

#[test]
fn operations_agree_with_the_cpu_and_give_the_same_bits_again() {
    let Some(device) = device() else { return };
    agrees_with_the_cpu::<f64>(&device, f64::EPSILON);
    agrees_with_the_cpu::<f32>(&device, f32::EPSILON.into());
}

#[test]
fn nodal_values_come_back_as_they_went() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let values = Noise(4).vector(3 * 1001);
    for components in [1, 3] {
        let x =
            backend.upload(&values, Space::nodes(values.len() / components, components)).unwrap();
        assert_eq!(x.len(), values.len());
        assert_eq!(backend.download(&x).unwrap(), values);
    }
    // Node by node on the host, component by component on the device.
    let mut planes = backend.zeros(Space::elements(values.len())).unwrap();
    backend.copy(&backend.upload(&values, Space::nodes(1001, 3)).unwrap(), &mut planes);
    let planes = backend.download(&planes).unwrap();
    assert_eq!(planes[..3], [values[0], values[3], values[6]]);
    assert_eq!(planes[1001..1003], [values[1], values[4]]);
}

/// A mesh clamped at its lower end and pulled at its upper one.
fn problem(mesh: HexMesh) -> Problem {
    let n = mesh.n_nodes();
    let (mut supports, mut forces) = (Supports::none(n), vec![0.0; 3 * n]);
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if x[2] < 0.05 {
            (0..3).for_each(|i| supports.fix(node, i));
        } else {
            forces[3 * node + node % 3] = x[2];
        }
    }
    let load = LoadCase::new("pull", forces);
    Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
}

fn solve<B: Pointwise>(
    backend: &B,
    operator: &mut dyn ElementOperator<B>,
    problem: &Problem,
) -> (PcgOutcome, Vec<f64>) {
    let space = problem.space();
    // Little contrast: with more, rounding alone changes the number of iterations.
    let modulus = |e: usize| if e.is_multiple_of(4) { 1.0 } else { 0.2 };
    let moduli: Vec<f64> = (0..problem.mesh().n_elements()).map(modulus).collect();
    let moduli = backend.upload(&moduli, Space::elements(moduli.len())).unwrap();
    operator.set_coefficients(&[&moduli]);
    let mut jacobi = Jacobi::new(backend, space).unwrap();
    jacobi.update(backend, operator, &[&moduli]).unwrap();
    let f = backend.upload(&problem.load_cases()[0].forces, space).unwrap();
    let mut u = backend.zeros(space).unwrap();
    let mut pcg = Pcg::new(backend, space).unwrap();
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 2000 };
    let system = System { backend, a: operator, m: &jacobi, f: &f };
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    (outcome, backend.download(&u).unwrap())
}

#[test]
fn a_solve_takes_as_many_iterations_as_on_the_cpu_and_gives_the_same() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for mesh in [distorted_cube(6, 0.2, true), hexagon(3), wheel(3)] {
        let problem = problem(mesh);
        let on_device = ProblemOnDevice::new(&device, &problem).unwrap();
        let mut mf = Mf::<f64>::new(&on_device, &problem).unwrap();
        let (found, u) = solve(&backend, &mut mf, &problem);
        let (expected, reference) = solve(&Cpu, &mut *Strategy::Mf.build(&problem), &problem);
        assert_eq!((found.reason, expected.reason), (StopReason::Converged, StopReason::Converged));
        assert!(found.relative_residual < 1e-8);
        // The device looks at the residual every few iterations.
        let late = found.iterations as i64 - expected.iterations as i64;
        assert!(late.abs() <= 8, "{} and {} iterations", found.iterations, expected.iterations);
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let difference: Vec<f64> = u.iter().zip(&reference).map(|(a, b)| a - b).collect();
        let error = norm(&difference) / norm(&reference);
        assert!(error < 1e-6, "displacements differ by {error:.1e}");
    }
}
