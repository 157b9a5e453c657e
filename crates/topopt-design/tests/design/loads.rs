//! Gravity, springs and prescribed displacements against exact solutions, and the gradient of the
//! whole chain against finite differences.

use std::ops::ControlFlow;

use topopt_analysis::Loads;
use topopt_design::{Interpolation, Law};
use topopt_fem::surface_load::traction;
use topopt_fem::{
    BodyForce, ElementFactors, ElementOperator, ElementPreconditioner, LoadCase, Material,
    Multigrid, Problem, Strategy, Supports, WithSprings,
};
use topopt_linalg::{Cpu, CycleKind, Pcg, PcgOptions, StopReason, System};
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::surface::{boundary_faces, face_coordinates};
use topopt_mesh::{Face, HexMesh};
use topopt_testing::{derivative, unit};

const MODULUS: f64 = 20.0;
const LENGTH: f64 = 10.0;
const AREA: f64 = 25.0;
const SIMP: Interpolation =
    Interpolation { law: Law::Simp, penalty: 3.0, youngs_modulus: MODULUS, void_stiffness: 0.0 };
const RAMP: Interpolation =
    Interpolation { law: Law::Ramp, penalty: 4.0, youngs_modulus: MODULUS, void_stiffness: 0.0 };

/// A bar of 10 x 5 x 5 unit cubes, its nodes moved by `map`.
fn bar(map: impl Fn(&[f64; 3]) -> [f64; 3]) -> HexMesh {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let coordinates = mesh.coordinates().iter().map(map).collect();
    HexMesh::new(coordinates, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap()
}

fn straight() -> HexMesh {
    bar(|x| *x)
}

/// Inner nodes are moved, those of the surface stay.
fn distorted() -> HexMesh {
    bar(|&[x, y, z]| {
        let pi = std::f64::consts::PI;
        let shift = 0.6 * (0.1 * pi * x).sin() * (0.2 * pi * y).sin() * (0.2 * pi * z).sin();
        [x + shift * y.cos(), y - 0.5 * shift * x.sin(), z + 0.4 * shift]
    })
}

/// The faces with all nodes at `x`.
fn end(mesh: &HexMesh, x: f64) -> Vec<Face> {
    let is_end =
        |face: &Face| face_coordinates(mesh, *face).iter().all(|p| (p[0] - x).abs() < 1e-9);
    boundary_faces(mesh).into_iter().filter(is_end).collect()
}

fn nodes(mesh: &HexMesh, chosen: impl Fn(&[f64; 3]) -> bool) -> Vec<usize> {
    (0..mesh.n_nodes()).filter(|&n| chosen(&mesh.coordinates()[n])).collect()
}

pub fn hold(mesh: &HexMesh, chosen: impl Fn(&[f64; 3]) -> bool) -> Supports {
    let mut supports = Supports::none(mesh.n_nodes());
    nodes(mesh, chosen).into_iter().for_each(|n| (0..3).for_each(|i| supports.fix(n, i)));
    supports
}

/// A load case without any load yet.
fn unloaded(mesh: &HexMesh) -> LoadCase {
    LoadCase::new("default", vec![0.0; 3 * mesh.n_nodes()])
}

fn field(mesh: &HexMesh, value: impl Fn(&[f64; 3]) -> [f64; 3]) -> Vec<f64> {
    mesh.coordinates().iter().flat_map(value).collect()
}

fn problem(mesh: HexMesh, poisson: f64, supports: Supports, cases: Vec<LoadCase>) -> Problem {
    Problem::new(mesh, Material::new(MODULUS, poisson).unwrap(), supports, cases).unwrap()
}

/// Results of a design of given densities.
struct Evaluation {
    compliance: f64,
    gradient: Vec<f64>,
    /// Displacements per load case, \[n_nodes\]\[3\].
    displacements: Vec<Vec<f64>>,
    /// Iterations of conjugate gradients, the most of any load case.
    iterations: usize,
}

fn evaluate(problem: &Problem, law: &Interpolation, density: &Vec<f64>) -> Evaluation {
    let n = density.len();
    let mut loads = Loads::new(&Cpu, problem).unwrap();
    let mut operator = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    let mut preconditioner = Multigrid::new(problem, CycleKind::K).unwrap();
    let (mut moduli, mut scratch) = (vec![0.0; n], vec![0.0; n]);

    law.moduli(&Cpu, density, &mut scratch, &mut moduli);
    operator.set_coefficients(&[&moduli]);
    preconditioner.update(&Cpu, &operator, &[&moduli]).unwrap();
    loads.assemble(&Cpu, density, &moduli).unwrap();

    let mut pcg = Pcg::new(&Cpu, problem.space()).unwrap();
    let (mut free, mut iterations) = (Vec::new(), 0);
    for case in 0..problem.load_cases().len() {
        let system =
            System { backend: &Cpu, a: &operator, m: &preconditioner, f: loads.forces(case) };
        let mut v = vec![0.0; problem.n_dofs()];
        let options = PcgOptions { tolerance: 1e-12, max_iterations: 500 };
        let outcome =
            pcg.solve(&system, &mut v, options, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(outcome.reason, StopReason::Converged, "{outcome:?}");
        iterations = iterations.max(outcome.iterations);
        free.push(v);
    }

    let found = loads.compliances(&Cpu, &operator, &moduli, &free, &mut scratch).unwrap();
    let compliance: f64 = loads.weights().zip(found).map(|(weight, c)| weight * c).sum();
    let (mut energies, mut gradient) = (vec![0.0; n], vec![0.0; n]);
    loads.energies(&Cpu, &operator, &free, &mut scratch, &mut energies).unwrap();
    law.sensitivities(&Cpu, density, &energies, &mut scratch, &mut gradient);
    loads.add_sensitivities(&Cpu, &free, &mut gradient).unwrap();

    let displacements =
        (0..free.len()).map(|case| loads.displacement(&Cpu, case, &free[case]).unwrap()).collect();
    Evaluation { compliance, gradient, displacements, iterations }
}

fn assert_field(found: &[f64], expected: &[f64], tolerance: f64) {
    let largest = expected.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / largest;
        assert!(error < tolerance, "component {k}: {found} {expected}, error {error:.1e}");
    }
}

fn assert_relative(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found} {expected}");
}

/// A bar that hangs from x = 0: u = b / E (L x - x^2 / 2), exact at nodes.
#[test]
fn a_bar_under_its_own_weight() {
    let (weight, density) = (0.3, 0.6_f64);
    let mesh = straight();
    let case = LoadCase { body_force: [weight, 0.0, 0.0].into(), ..unloaded(&mesh) };
    let problem = problem(mesh, 0.0, hold(&straight(), |x| x[0] < 1e-9), vec![case]);
    for (law, stiffness) in
        [(SIMP, density.powi(3)), (RAMP, density / (1.0 + 4.0 * (1.0 - density)))]
    {
        let found = evaluate(&problem, &law, &vec![density; 250]);
        let slope = density * weight / (stiffness * MODULUS);
        let exact =
            field(problem.mesh(), |&[x, ..]| [slope * (LENGTH * x - 0.5 * x * x), 0.0, 0.0]);
        assert_field(&found.displacements[0], &exact, 1e-10);
        // Weight times displacement, linear between nodes a unit apart.
        let integral = LENGTH.powi(3) / 3.0 - LENGTH / 12.0;
        assert_relative(found.compliance, density * weight * AREA * slope * integral, 1e-10);
    }
}

/// A bar that turns about z at x = 0: u = w^2 / E (L^2 x / 2 - x^3 / 6), exact at nodes.
#[test]
fn a_bar_that_rotates() {
    let (mass, speed, density) = (0.5, 0.7, 0.6_f64);
    let mesh = straight();
    let force = BodyForce::centrifugal([0.0, 0.0, -speed], [0.0, 2.5, 9.0]).scaled(mass);
    let case = LoadCase { body_force: force, ..unloaded(&mesh) };
    let mut rails = hold(&mesh, |x| x[0] < 1e-9);
    (0..mesh.n_nodes()).for_each(|n| (1..3).for_each(|i| rails.fix(n, i)));

    let problem = problem(mesh, 0.0, rails, vec![case]);
    let found = evaluate(&problem, &RAMP, &vec![density; 250]);
    let stiffness = MODULUS * density / (1.0 + 4.0 * (1.0 - density));
    let slope = density * mass * speed * speed / stiffness;
    let exact = field(problem.mesh(), |&[x, ..]| {
        [slope * (0.5 * LENGTH * LENGTH * x - x.powi(3) / 6.0), 0.0, 0.0]
    });
    assert_field(&found.displacements[0], &exact, 1e-10);
}

/// A bar that is pulled at its end and hangs on springs of k per area alone: u = t / k + t x / E.
#[test]
fn a_bar_on_springs() {
    for foundation in [0.05, 2.0, 1e4] {
        let pull = 0.7;
        let mesh = straight();

        let mut case = unloaded(&mesh);
        for (node, force) in traction(&mesh, &end(&mesh, LENGTH), [pull, 0.0, 0.0]) {
            case.forces[3 * node as usize] = force[0];
        }
        let mut supports = Supports::none(mesh.n_nodes());
        for (node, stiffness) in traction(&mesh, &end(&mesh, 0.0), [foundation; 3]) {
            (0..3).for_each(|i| supports.add_spring(node as usize, i, stiffness[i]));
        }

        let problem = problem(mesh, 0.0, supports, vec![case]);
        let found = evaluate(&problem, &SIMP, &vec![1.0; 250]);
        let exact =
            field(problem.mesh(), |x| [pull / foundation + pull * x[0] / MODULUS, 0.0, 0.0]);
        assert_field(&found.displacements[0], &exact, 1e-9);

        let compliance = pull * AREA * (pull / foundation + pull * LENGTH / MODULUS);
        assert_relative(found.compliance, compliance, 1e-9);
        assert!(found.iterations < 60, "{} iterations", found.iterations);
    }
}

/// A bar whose end is moved by d: u = d x / L, and -C = E A d^2 / L, twice the strain energy.
#[test]
fn a_bar_with_a_displaced_end() {
    let (moved, mesh) = (0.4, straight());
    let prescribed = field(&mesh, |&[x, ..]| [if x > 9.5 { moved } else { 0.0 }, 0.0, 0.0]);
    let case = LoadCase { prescribed: Some(prescribed), ..unloaded(&mesh) };
    let supports = hold(&mesh, |x| x[0] < 1e-9 || x[0] > 9.5);
    let problem = problem(mesh, 0.0, supports, vec![case]);
    let found = evaluate(&problem, &SIMP, &vec![1.0; 250]);
    let exact = field(problem.mesh(), |&[x, ..]| [moved * x / LENGTH, 0.0, 0.0]);
    assert_field(&found.displacements[0], &exact, 1e-10);
    assert_relative(found.compliance, -MODULUS * AREA * moved * moved / LENGTH, 1e-10);
}

/// The patch test: a linear field prescribed on the whole boundary is found inside.
#[test]
fn a_linear_field_on_the_boundary_is_reproduced_inside() {
    let mesh = distorted();
    let inside = |&[x, y, z]: &[f64; 3]| {
        x > 1e-9 && x < 10.0 - 1e-9 && [y, z].iter().all(|&v| v > 1e-9 && v < 5.0 - 1e-9)
    };
    let exact = field(&mesh, |&[x, y, z]| {
        [0.1 + 0.3 * x - 0.2 * y + 0.1 * z, 0.05 * x + 0.4 * y - 0.3 * z, 0.2 * x - 0.25 * z]
    });

    let case = LoadCase { prescribed: Some(exact.clone()), ..unloaded(&mesh) };
    let supports = hold(&mesh, |x| !inside(x));
    assert_eq!(supports.n_fixed(), 3 * (396 - 9 * 4 * 4));

    let volume: f64 = mesh.volumes().iter().sum();
    let problem = problem(mesh, 0.3, supports, vec![case]);
    let found = evaluate(&problem, &SIMP, &vec![1.0; 250]);
    assert_field(&found.displacements[0], &exact, 1e-10);

    // strain : C : strain of the constant strain.
    let strain = [0.3, 0.4, -0.25, -0.3, 0.3, -0.15]; // xx, yy, zz, 2 yz, 2 xz, 2 xy
    let (lambda, mu) = problem.material().unit_lame();
    let trace: f64 = strain[..3].iter().sum();
    let normal: f64 = strain[..3].iter().map(|e| 2.0 * mu * e * e).sum();
    let shear: f64 = strain[3..].iter().map(|e| mu * e * e).sum();
    let energy = MODULUS * volume * (lambda * trace * trace + normal + shear);
    assert_relative(found.compliance, -energy, 1e-10);
}

/// All kinds of loads on one part: forces, weight in two directions, displaced ends, springs.
fn mixed() -> Problem {
    let mesh = distorted();
    let mut supports = hold(&mesh, |x| x[0] < 1e-9 && x[1] < 2.5);
    let far = nodes(&mesh, |x| x[0] > 9.5 && x[2] < 2.5);
    far.iter().for_each(|&n| [0, 2].iter().for_each(|&i| supports.fix(n, i)));

    for n in nodes(&mesh, |x| x[1] > 4.5 && x[0] > 3.0) {
        [(0, 0.4), (1, 1.5)].iter().for_each(|&(i, s)| supports.add_spring(n, i, s));
    }

    let mut pulled = unloaded(&mesh);
    for n in nodes(&mesh, |x| x[2] > 4.5 && x[0] > 8.5) {
        pulled.forces[3 * n + 1] = -0.2;
    }

    let moved = |sign: f64| {
        let value = |x: &[f64; 3]| if x[0] > 9.5 { [0.3 * sign, 0.0, 0.1] } else { [0.0; 3] };
        Some(field(&mesh, value))
    };

    let turning = BodyForce::centrifugal([0.03, -0.1, 0.05], [4.0, 1.0, -2.0]);
    let cases = [
        LoadCase { body_force: [0.0, -0.05, 0.02].into(), ..pulled.clone() },
        LoadCase { weight: 0.5, prescribed: moved(1.0), ..unloaded(&mesh) },
        LoadCase {
            weight: 2.0,
            body_force: BodyForce::from([0.04, 0.0, 0.0]).plus(&turning),
            prescribed: moved(-1.0),
            ..pulled.clone()
        },
    ];
    let n = mesh.n_elements();
    let mass = Some((0..n).map(|e| 1.0 + 0.3 * (e % 4) as f64).collect());
    let factors = ElementFactors { mass, stiffness: None };
    problem(mesh, 0.3, supports, cases.into()).with_factors(factors).unwrap()
}

#[test]
fn the_gradient_of_mixed_loads_matches_finite_differences() {
    let problem = mixed();
    let n = problem.mesh().n_elements();
    let density: Vec<f64> = (0..n).map(|e| 0.55 + 0.4 * (e as f64 * 1.7).sin()).collect();

    // Each load case by itself, and all together.
    let alone = |case: &LoadCase| {
        let (mesh, supports) = (problem.mesh().clone(), problem.supports().clone());
        let alone = Problem::new(mesh, *problem.material(), supports, vec![case.clone()]);
        alone.unwrap().with_factors(problem.factors().clone()).unwrap()
    };
    let mut problems: Vec<_> = problem.load_cases().iter().map(alone).collect();
    problems.push(problem);

    for (k, problem) in problems.iter().enumerate() {
        for law in [SIMP, RAMP] {
            let Evaluation { gradient, .. } = evaluate(problem, &law, &density);
            let largest = gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
            for e in [0, 57, 133, n - 1] {
                let h = 1e-3 * density[e];

                let difference = derivative(&density, &unit(n, e), h, |moved| {
                    evaluate(problem, &law, moved).compliance
                });

                let error = (gradient[e] - difference).abs() / largest;
                let found = gradient[e];
                assert!(error < 1e-8, "{k} {law:?} {e}: {found} {difference}, {error:.1e}");
            }
        }
    }
}

/// Without prescribed displacements the objective is f^T u; with them it is stationary in u.
#[test]
fn the_objective_is_minus_twice_the_potential_energy() {
    let problem = mixed();
    let n = problem.mesh().n_elements();
    let density: Vec<f64> = (0..n).map(|e| 0.55 + 0.4 * (e as f64 * 1.7).sin()).collect();
    let found = evaluate(&problem, &RAMP, &density);

    let mut operator = WithSprings::new(&Cpu, &problem, Strategy::Ebe.build(&problem)).unwrap();
    let (mut moduli, mut scratch) = (vec![0.0; n], vec![0.0; n]);
    RAMP.moduli(&Cpu, &density, &mut scratch, &mut moduli);
    operator.set_coefficients(&[&moduli]);

    let mut expected = 0.0;
    let springs = problem.supports().springs().unwrap();
    let mass = problem.factors().mass.as_ref().unwrap();
    for (case, u) in problem.load_cases().iter().zip(&found.displacements) {
        let mut energies = vec![0.0; n];
        operator.element_work(0, u, u, &mut energies);
        let elements: f64 = moduli.iter().zip(&energies).map(|(e, w)| e * w).sum();
        let ground: f64 = springs.iter().zip(u).map(|(s, u)| s * u * u).sum();

        let mut forces = case.forces.clone();
        for (e, hex) in problem.mesh().hexes().iter().enumerate() {
            // On a mesh of this kind the shares of the nodes of an element are unequal.
            let loads = nodal(&problem.mesh().element_coordinates(e), &case.body_force);
            for (&node, load) in hex.iter().zip(loads) {
                (0..3)
                    .for_each(|i| forces[3 * node as usize + i] += density[e] * mass[e] * load[i]);
            }
        }

        problem.supports().clear(&mut forces);
        let work: f64 = forces.iter().zip(u).map(|(f, u)| f * u).sum();
        expected += case.weight * (2.0 * work - elements - ground);
    }
    assert_relative(found.compliance, expected, 1e-11);
}

/// The integral of N_a b over an element.
fn nodal(x: &[[f64; 3]; 8], force: &BodyForce) -> [[f64; 3]; 8] {
    use topopt_mesh::hexahedron::{determinant, gauss_points, jacobian, shape_functions};
    let mut loads = [[0.0; 3]; 8];
    for xi in gauss_points() {
        let (det, shape) = (determinant(&jacobian(x, xi)), shape_functions(xi));
        let at = |j: usize| (0..8).map(|a| shape[a] * x[a][j]).sum::<f64>();
        let b =
            |i: usize| force.uniform[i] + (0..3).map(|j| force.gradient[i][j] * at(j)).sum::<f64>();
        for (load, n) in loads.iter_mut().zip(shape) {
            (0..3).for_each(|i| load[i] += n * det * b(i));
        }
    }
    loads
}
