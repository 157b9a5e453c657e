//! Diffusion, one unknown per node: every operator against the reference, by name, and against
//! mathematics.

mod modes;
mod solutions;
mod tetrahedra;

use std::f64::consts::PI;
use std::ops::ControlFlow;

use nalgebra::DMatrix;
use topopt_fem::operators::Reference;
use topopt_fem::orthotropy::{mean_conductivity, stretch};
use topopt_fem::stiffness::physical_gradients;
use topopt_fem::{
    BlockJacobi, Constraints, Corners, Diffusion, Discretization, ElementKernel, ElementOperator,
    ElementPreconditioner, Formulation, Jacobi, Multigrid, StrainMode, Strategy, WithSprings,
    heat_flux,
};
use topopt_linalg::{
    Cpu, CycleKind, Hierarchy, LinearOperator, Pcg, PcgOptions, StopReason, System,
};
use topopt_mesh::{HexMesh, hexahedron};

use crate::{assert_close, moduli};
use topopt_testing::{Noise, distorted_cube, hexagon, mapped_cube, mixed_cut, wheel};

type Problem = Discretization<Diffusion, 1>;

/// Both formulations of hexahedra.
const FORMULATIONS: [Formulation; 2] = [Formulation::Incompatible, Formulation::Full];

/// Diffusion on `mesh` with the nodes held where `held` is true.
fn problem(mesh: HexMesh, held: impl Fn([f64; 3]) -> bool) -> Problem {
    problem_by(Formulation::Full, mesh, held)
}

/// Such a problem by a formulation of the elements.
fn problem_by(formulation: Formulation, mesh: HexMesh, held: impl Fn([f64; 3]) -> bool) -> Problem {
    let mut constraints = Constraints::none(mesh.n_nodes());
    for (node, &x) in mesh.coordinates().iter().enumerate() {
        if held(x) {
            constraints.fix(node, 0);
        }
    }
    Discretization::new(mesh, Diffusion::by(formulation), constraints)
}

fn problems() -> Vec<(String, Problem)> {
    let meshes = [
        ("one element", distorted_cube(1, 0.2, true)),
        ("distorted box", distorted_cube(11, 0.25, true)),
        ("irregular valence", hexagon(6)),
        ("wedges", wheel(5)),
        ("pyramids", mixed_cut()),
    ];
    let isotropic = meshes.into_iter().flat_map(|(name, mesh)| {
        FORMULATIONS
            .map(|by| (format!("{name}, {by:?}"), problem_by(by, mesh.clone(), |x| x[2] < 0.3)))
    });
    let of_both = |(name, problem): (String, Problem)| {
        let orthotropic = with_axes(problem.clone(), &noisy_axes(problem.mesh().n_elements()));
        [(format!("{name}, orthotropic"), orthotropic), (name, problem)]
    };
    isotropic.flat_map(of_both).collect()
}

/// Conductivities along x, y and z of every element, in ratios of up to 10.
fn noisy_axes(n_elements: usize) -> Vec<[f64; 3]> {
    let noise = Noise(8).vector(3 * n_elements);
    noise.as_chunks().0.iter().map(|along| along.map(|v| 10f64.powf(0.5 * v))).collect()
}

/// The problem with conductivities along x, y and z in the ratios of `along`, `[n_elements]`.
fn with_axes(problem: Problem, along: &[[f64; 3]]) -> Problem {
    problem.with_stretches(along.iter().copied().map(stretch).collect())
}

fn operators(problem: &Problem) -> Vec<Box<dyn ElementOperator<Cpu> + '_>> {
    Strategy::ALL.iter().map(|strategy| strategy.build(problem)).collect()
}

/// Conductivities and capacities over a contrast of 1e-6, each in an order of its own.
fn coefficients(problem: &Problem) -> [Vec<f64>; 2] {
    let conductivities = moduli(problem.mesh().n_elements());
    let capacities = conductivities.iter().rev().map(|c| 50.0 * c).collect();
    [conductivities, capacities]
}

fn product(a: &dyn LinearOperator<Cpu>, x: &Vec<f64>) -> Vec<f64> {
    let mut y = vec![f64::NAN; a.dimension()];
    a.apply(x, &mut y);
    y
}

/// The operator as a dense matrix.
fn dense(a: &dyn LinearOperator<Cpu>) -> DMatrix<f64> {
    let n = a.dimension();
    let unit = |k: usize| (0..n).map(|i| f64::from(i == k)).collect();
    DMatrix::from_columns(&(0..n).map(|k| product(a, &unit(k)).into()).collect::<Vec<_>>())
}

#[test]
fn every_operator_equals_the_reference() {
    for (name, problem) in problems() {
        let [conductivities, capacities] = coefficients(&problem);
        let n = problem.mesh().n_elements();
        let [v, u] = [11, 12].map(|seed| Noise(seed).vector(problem.n_dofs()));
        let mut reference = Reference::new(&problem);
        reference.set_coefficients(&[&conductivities, &capacities]);
        for mut operator in operators(&problem) {
            operator.set_coefficients(&[&conductivities, &capacities]);
            let what = |part: &str| format!("{part} of {} on {name}", operator.strategy());
            let found = product(operator.as_ref(), &u);
            assert_close(&found, &product(&reference, &u), 1e-13, &what("product"));

            let [mut found, mut expected] = [(); 2].map(|()| vec![f64::NAN; problem.n_dofs()]);
            operator.diagonal(&mut found);
            reference.diagonal(&mut expected);
            assert_close(&found, &expected, 1e-13, &what("diagonal"));

            for term in [Diffusion::CONDUCTION, Diffusion::CAPACITY] {
                let [mut found, mut expected] = [(); 2].map(|()| vec![f64::NAN; n]);
                operator.element_work(term, &v, &u, &mut found);
                reference.element_work(term, &v, &u, &mut expected);
                assert_close(&found, &expected, 1e-13, &what("work"));
            }
        }
    }
}

#[test]
fn it_is_symmetric_and_positive_definite() {
    let cases = FORMULATIONS.into_iter().flat_map(|by| {
        let free = problem_by(by, distorted_cube(3, 0.25, true), |_| false);
        let held = problem_by(by, wheel(2), |x| x[2] < 0.2);
        [(free.clone(), 0.0, 1), (free, 1.0, 0), (held, 0.0, 0)]
    });
    for (problem, capacity, zeros) in cases {
        let n = problem.mesh().n_elements();
        for mut operator in operators(&problem) {
            operator.set_coefficients(&[&moduli(n), &vec![capacity; n]]);
            let a = dense(operator.as_ref());
            assert!((&a - a.transpose()).amax() < 1e-15, "{}", operator.strategy());
            let eigenvalues = a.symmetric_eigenvalues();
            let is_zero = |v: &&f64| **v < 1e-9 * eigenvalues.max();
            assert!(eigenvalues.min() > -1e-15, "{}", operator.strategy());
            assert_eq!(eigenvalues.iter().filter(is_zero).count(), zeros);
        }
    }
}

/// On the finest level of a hierarchy stands the matrix of the operator that is solved, with its
/// coefficients as they are.
#[test]
fn multigrid_reads_the_assembled_matrix() {
    for (name, problem) in problems().into_iter().skip(1) {
        let [k, c] = coefficients(&problem);
        let [mut matrix_free, mut assembled] =
            [Strategy::Mf, Strategy::Bsr].map(|strategy| strategy.build(&problem));
        let counts = [&mut matrix_free, &mut assembled].map(|operator| {
            operator.set_coefficients(&[&c, &k]);
            let mut m = Multigrid::new(&problem, CycleKind::V).unwrap();
            m.update(&Cpu, operator.as_ref(), &[&c, &k]).unwrap();
            operator.set_coefficients(&[&k, &c]);
            m.update(&Cpu, operator.as_ref(), &[&k, &c]).unwrap();
            let finest = product(m.hierarchy().operator(0), &Noise(6).vector(problem.n_dofs()));
            let expected = product(operator.as_ref(), &Noise(6).vector(problem.n_dofs()));
            assert_close(&finest, &expected, 1e-13, &name);
            let mut f = Noise(5).vector(problem.n_dofs());
            problem.constraints().clear(&mut f);
            solve(operator.as_ref(), &m, &f, &mut vec![0.0; f.len()])
        });
        assert_eq!(counts[0], counts[1], "{name}");
        assert!(matrix_free.assembled().is_none() && assembled.assembled().is_some());
    }
}

#[test]
fn the_capacities_of_nodes_add_up_to_the_volume() {
    for (name, problem) in problems() {
        let mesh = problem.mesh();
        let free = problem.with_constraints(Constraints::none(mesh.n_nodes()));
        let volumes = mesh.volumes();
        for mut operator in operators(&free) {
            operator.set_coefficients(&[&vec![0.0; volumes.len()], &vec![1.0; volumes.len()]]);
            let capacities = product(operator.as_ref(), &vec![1.0; mesh.n_nodes()]);
            assert!(capacities.iter().all(|&c| c > 0.0));
            let (found, expected) = (capacities.iter().sum::<f64>(), volumes.iter().sum::<f64>());
            assert!((found / expected - 1.0).abs() < 1e-13, "{} on {name}", operator.strategy());

            let mut works = vec![0.0; volumes.len()];
            let ones = vec![1.0; mesh.n_nodes()];
            operator.element_work(Diffusion::CAPACITY, &ones, &ones, &mut works);
            assert_close(&works, &volumes, 1e-13, "volumes");
        }
    }
}

/// A linear field has no source at inner nodes, however the mesh is distorted.
#[test]
fn patch_test() {
    let is_inside = |x: [f64; 3]| x.iter().all(|v| (1e-9..1.0 - 1e-9).contains(v));
    for by in FORMULATIONS {
        let problem = problem_by(by, distorted_cube(4, 0.3, false), |_| false);
        let (mesh, n) = (problem.mesh(), problem.mesh().n_elements());
        let points = mesh.coordinates().iter();
        let u: Vec<f64> = points.map(|x| 1.0 + x[0] - 2.0 * x[1] + x[2]).collect();
        for mut operator in operators(&problem) {
            operator.set_coefficients(&[&vec![2.0; n], &vec![0.0; n]]);
            for (source, &x) in product(operator.as_ref(), &u).iter().zip(mesh.coordinates()) {
                assert!(!is_inside(x) || source.abs() < 1e-14, "{}", operator.strategy());
            }

            // The energy is that of the gradient over the volume.
            let mut works = vec![0.0; n];
            operator.element_work(Diffusion::CONDUCTION, &u, &u, &mut works);
            let expected: Vec<f64> = mesh.volumes().iter().map(|v| 6.0 * v).collect();
            assert_close(&works, &expected, 1e-13, operator.strategy());
        }
    }
}

/// Relative residual at which [`solve`] ends.
pub const TOLERANCE: f64 = 1e-10;

/// Solves K u = f; returns the iterations.
pub fn solve(
    operator: &dyn ElementOperator<Cpu>,
    m: &dyn ElementPreconditioner<Cpu>,
    f: &Vec<f64>,
    u: &mut Vec<f64>,
) -> usize {
    let system = System { backend: &Cpu, a: operator, m, f };
    let options = PcgOptions { tolerance: TOLERANCE, max_iterations: 2000 };
    let mut pcg = Pcg::new(&Cpu, operator.space()).unwrap();
    let outcome = pcg.solve(&system, u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);
    outcome.iterations
}

/// Iterations for noise, with conductivities `k` of every element.
fn iterations(problem: &Problem, kind: CycleKind, k: &Vec<f64>, c: &Vec<f64>) -> usize {
    let mut operator = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    operator.set_coefficients(&[k, c]);
    let mut m = Multigrid::new(problem, kind).unwrap();
    m.update(&Cpu, &operator, &[k, c]).unwrap();
    let mut f = Noise(5).vector(problem.n_dofs());
    problem.constraints().clear(&mut f);
    solve(&operator, &m, &f, &mut vec![0.0; f.len()])
}

#[test]
fn iterations_of_multigrid_hardly_grow_under_refinement() {
    for capacity in [0.0, 100.0] {
        let counts = [8, 16, 32].map(|n| {
            let problem = problem(distorted_cube(n, 0.2, true), |x| x[2] < 0.3 / n as f64);
            let n = problem.mesh().n_elements();
            iterations(&problem, CycleKind::K, &vec![1.0; n], &vec![capacity; n])
        });
        assert!(counts[2] <= counts[0] + 6 && counts[2] <= 22, "{capacity}: {counts:?}");
    }
}

/// Noise in the conductivities over a contrast of 1e-6, and springs (a film) on free nodes.
#[test]
fn every_preconditioner_solves_and_multigrid_in_few_iterations() {
    for (name, problem) in problems().into_iter().skip(2) {
        let [k, c] = coefficients(&problem);
        let mut constraints = problem.constraints().clone();
        (0..problem.mesh().n_nodes()).step_by(3).for_each(|node| {
            constraints.add_spring(node, 0, 1e-3);
        });
        let problem = problem.with_constraints(constraints);
        for kind in CycleKind::ALL {
            let count = iterations(&problem, kind, &k, &c);
            assert!(count <= 60, "{name}, {}: {count}", kind.name());
        }

        let mut operator = WithSprings::new(&Cpu, &problem, Strategy::Mf.build(&problem)).unwrap();
        operator.set_coefficients(&[&k, &c]);
        let mut jacobi = Jacobi::new(&Cpu, problem.space()).unwrap();
        let mut blocks = BlockJacobi::new(&problem);
        let mut f = Noise(5).vector(problem.n_dofs());
        problem.constraints().clear(&mut f);
        let preconditioners: [&mut dyn ElementPreconditioner<Cpu>; 2] = [&mut jacobi, &mut blocks];
        let solutions = preconditioners.map(|m| {
            m.update(&Cpu, &operator, &[&k, &c]).unwrap();
            let mut u = vec![0.0; f.len()];
            solve(&operator, m, &f, &mut u);
            u
        });
        assert_close(&solutions[0], &solutions[1], 1e-6, &name); // contrast times tolerance
    }
}

/// Gradients of the shape functions at the Gauss points or of the modes, with their weights.
fn gradients(formulation: Formulation, x: &Corners) -> Vec<([[f64; 3]; 8], f64)> {
    match formulation {
        Formulation::Full => hexahedron::gauss_points().map(|xi| physical_gradients(x, xi)).into(),
        Formulation::Incompatible => {
            StrainMode::all(x).map(|mode| (mode.gradients, mode.weight)).into()
        }
    }
}

/// The reference on stretched elements, against the integral of sum_i k_i dN_a/dx_i dN_b/dx_i.
#[test]
fn orthotropic_elements_have_the_integral_of_their_conductivities() {
    for (name, isotropic) in problems().into_iter().filter(|(name, _)| !name.contains("ortho")) {
        let free = isotropic.with_constraints(Constraints::none(isotropic.mesh().n_nodes()));
        let n = free.mesh().n_elements();
        let along = noisy_axes(n);
        let free = with_axes(free, &along);
        let [v, u] = [11, 12].map(|seed| Noise(seed).vector(free.n_dofs()));

        let mut expected = vec![0.0; n];
        for (e, hex) in free.mesh().hexes().iter().enumerate() {
            let x = free.mesh().element_coordinates(e);
            for (gradients, weight) in gradients(free.kernel().formulation(), &x) {
                let slope = |field: &[f64], i: usize| -> f64 {
                    (0..8).map(|a| field[hex[a] as usize] * gradients[a][i]).sum()
                };
                let works = (0..3).map(|i| along[e][i] * slope(&v, i) * slope(&u, i));
                expected[e] += works.sum::<f64>() * weight;
            }
        }

        let mut found = vec![0.0; n];
        Reference::new(&free).element_work(Diffusion::CONDUCTION, &v, &u, &mut found);
        for (found, along) in found.iter_mut().zip(&along) {
            *found *= mean_conductivity(*along);
        }
        assert_close(&found, &expected, 1e-13, &name);
    }
}

/// A linear field: the flux is exact in any element.
#[test]
fn the_flux_follows_the_conductivity_along_each_axis() {
    let isotropic = problem(distorted_cube(3, 0.25, true), |_| false);
    let n = isotropic.mesh().n_elements();
    let along = noisy_axes(n);
    let means: Vec<f64> = along.iter().copied().map(mean_conductivity).collect();
    let points = isotropic.mesh().coordinates().iter();
    let u: Vec<f64> = points.map(|x| 1.0 + x[0] - 2.0 * x[1] + 3.0 * x[2]).collect();

    let expected: Vec<f64> = along.iter().flat_map(|[x, y, z]| [-x, 2.0 * y, -3.0 * z]).collect();
    let orthotropic = with_axes(isotropic.clone(), &along);
    let found = heat_flux(&orthotropic, &means, &u).into_flattened();
    assert_close(&found, &expected, 1e-13, "orthotropic");

    let expected: Vec<f64> = means.iter().flat_map(|k| [-k, 2.0 * k, -3.0 * k]).collect();
    let found = heat_flux(&isotropic, &means, &u).into_flattened();
    assert_close(&found, &expected, 1e-13, "isotropic");
}

/// Aggregates do not follow the axis along which most is conducted, and conjugate gradients make up
/// for it: 18 iterations where it is the same along all axes.
#[test]
fn iterations_of_multigrid_grow_with_the_ratio_of_conductivities() {
    let isotropic = problem(distorted_cube(16, 0.2, true), |x| x[2] < 0.01);
    let n = isotropic.mesh().n_elements();
    for (ratio, most) in [(10.0, 30), (100.0, 75)] {
        for along in [[1.0, 1.0, ratio], [ratio, 1.0, 1.0], [ratio, ratio, 1.0]] {
            let problem = with_axes(isotropic.clone(), &vec![along; n]);
            let count = iterations(&problem, CycleKind::K, &vec![1.0; n], &vec![0.0; n]);
            assert!(count <= most, "{along:?}: {count}");
        }
    }
}
