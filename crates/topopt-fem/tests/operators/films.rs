//! Terms that are not lumped, films on faces and a consistent capacity: every operator with them on
//! any mesh, and their cost in iterations.

use topopt_fem::operators::Reference;
use topopt_fem::{
    Constraints, Coupling, Diffusion, Discretization, ElementOperator, ElementPreconditioner,
    Formulation, Jacobi, Multigrid, Strategy, WithSprings, surface_load,
};
use topopt_linalg::{Cpu, CycleKind, LinearOperator};
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};
use topopt_mesh::{HexMesh, hexahedron};
use topopt_testing::{Noise, assert_close, distorted_cube, mixed_cut, wheel};

use crate::diffusion::{TOLERANCE, solve};

type Problem = Discretization<Diffusion, 1>;

/// The constraints `held` with a film of `coefficient` on the boundary of `mesh` above z = 0.3.
pub fn with_film(mut held: Constraints<1>, mesh: &HexMesh, coefficient: f64) -> Constraints<1> {
    let mut faces = boundary_faces(mesh);
    faces.retain(|face| face_center(&face_coordinates(mesh, *face))[2] > 0.3);
    for (node, area) in surface_load::areas(mesh, &faces) {
        held.add_spring(node as usize, 0, coefficient * area);
    }
    let couplings = surface_load::couplings(mesh, &faces).into_iter();
    let films = couplings.map(|(nodes, area)| Coupling { nodes, weight: coefficient * area });
    held.with_films(films.collect())
}

/// Diffusion on `mesh` with each 13th node held, and a film.
fn problem(mesh: HexMesh, coefficient: f64) -> Problem {
    let mut held = Constraints::none(mesh.n_nodes());
    (0..mesh.n_nodes()).step_by(13).for_each(|node| held.fix(node, 0));
    let held = with_film(held, &mesh, coefficient);
    Discretization::new(mesh, Diffusion::by(Formulation::Incompatible), held)
}

/// K x of the reference, and C x without rows and columns of held nodes, by single couplings.
fn expected(problem: &Problem, terms: [&Vec<f64>; 2], x: &Vec<f64>) -> Vec<f64> {
    let mut reference = Reference::new(problem);
    reference.set_coefficients(&terms);
    let mut y = vec![f64::NAN; x.len()];
    reference.apply(x, &mut y);
    let held = problem.constraints();
    let free = |node: usize| if held.is_held(node) { 0.0 } else { 1.0 };
    for Coupling { nodes: [a, b], weight } in held.films() {
        let [a, b] = [a, b].map(|node| *node as usize);
        y[a] += free(a) * weight * (free(b) * x[b] - x[a]);
        y[b] += free(b) * weight * (free(a) * x[a] - x[b]);
    }
    y
}

#[test]
fn every_operator_has_the_films() {
    for mesh in [distorted_cube(1, 0.2, true), distorted_cube(5, 0.2, true), wheel(4), mixed_cut()]
    {
        let problem = problem(mesh, 0.7);
        let n = problem.mesh().n_elements();
        let [k, c] = [vec![2.0; n], vec![0.5; n]];
        let x = Noise(3).vector(problem.n_dofs());
        let expected = expected(&problem, [&k, &c], &x);
        for mut operator in Strategy::ALL.map(|strategy| strategy.build(&problem)) {
            operator.set_coefficients(&[&k, &c]);
            let mut found = vec![f64::NAN; x.len()];
            operator.apply(&x, &mut found);
            assert_close(&found, &expected, 1e-13, operator.strategy());
            if let Some(matrix) = operator.assembled() {
                matrix.apply(&x, &mut found);
                assert_close(&found, &expected, 1e-13, "the matrix of the operator");
            }
        }
    }
}

/// The integral of c N_a N_b, of free nodes, times `x` by plain loops.
fn consistent(problem: &Problem, c: &[f64], x: &[f64]) -> Vec<f64> {
    let (mesh, held) = (problem.mesh(), problem.constraints());
    let mut y = vec![0.0; x.len()];
    for (e, hex) in mesh.hexes().iter().enumerate() {
        let corners = mesh.element_coordinates(e);
        for xi in hexahedron::gauss_points() {
            let det = hexahedron::determinant(&hexahedron::jacobian(&corners, xi));
            let shape = hexahedron::shape_functions(xi);
            for (a, b) in (0..64).map(|k| (k / 8, k % 8)) {
                let [i, j] = [a, b].map(|local| hex[local] as usize);
                if !held.is_held(i) && !held.is_held(j) {
                    y[i] += c[e] * det * shape[a] * shape[b] * x[j];
                }
            }
        }
    }
    y
}

#[test]
fn every_operator_has_the_consistent_capacity() {
    for mesh in [distorted_cube(1, 0.2, true), distorted_cube(5, 0.2, true), wheel(4), mixed_cut()]
    {
        let problem = problem(mesh, 0.7).with_capacity(true);
        let n = problem.mesh().n_elements();
        let k: Vec<f64> = (0..n).map(|e| 1.0 + (e % 3) as f64).collect();
        let c: Vec<f64> = k.iter().rev().copied().collect();
        let none = vec![0.0; n];
        let [v, x] = [3, 4].map(|seed| Noise(seed).vector(problem.n_dofs()));
        let of_capacity = consistent(&problem, &c, &x);
        let expected = expected(&problem, [&k, &none], &x);
        let expected: Vec<f64> = expected.iter().zip(&of_capacity).map(|(y, c)| y + c).collect();
        let bare = problem.with_constraints(Constraints::none(problem.mesh().n_nodes()));
        let work: f64 =
            consistent(&bare, &vec![1.0; n], &x).iter().zip(&v).map(|(y, v)| y * v).sum();
        for mut operator in Strategy::ALL.map(|strategy| strategy.build(&problem)) {
            operator.set_coefficients(&[&k, &c]);
            let mut found = vec![f64::NAN; x.len()];
            operator.apply(&x, &mut found);
            assert_close(&found, &expected, 1e-13, operator.strategy());
            let mut works = vec![f64::NAN; n];
            operator.element_work(Diffusion::CAPACITY, &v, &x, &mut works);
            let found: f64 = works.iter().sum();
            assert!((found - work).abs() < 1e-12 * n as f64, "{found} {work}");
        }
    }
}

/// A constant flows through a film as its row sums say, to the last bit of each coupling.
#[test]
fn a_constant_is_not_coupled() {
    let mesh = distorted_cube(4, 0.2, true);
    let held = with_film(Constraints::none(mesh.n_nodes()), &mesh, 3.0);
    let problem = Discretization::new(mesh, Diffusion::by(Formulation::Incompatible), held);
    let n = problem.mesh().n_elements();
    let mut operator = Strategy::Mf.build(&problem);
    operator.set_coefficients(&[&vec![0.0; n], &vec![0.0; n]]);
    let mut flows = vec![f64::NAN; problem.n_dofs()];
    operator.apply(&vec![7.0; problem.n_dofs()], &mut flows);
    assert!(flows.iter().all(|flow| *flow == 0.0));
}

/// The diagonal of row sums is enough for preconditioners, whatever the film.
#[test]
fn films_hardly_cost_iterations() {
    for coefficient in [0.01, 1.0, 100.0, 1e4] {
        let problem = problem(distorted_cube(12, 0.2, true), coefficient);
        let lumped = problem.constraints().clone().with_films(Vec::new());
        let lumped = problem.with_constraints(lumped);
        let [with, without] = [&problem, &lumped].map(iterations);
        println!("{coefficient}: {with:?} iterations, lumped {without:?}");
        assert!((0..2).all(|i| with[i] <= without[i] + 2 + without[i] / 4), "{coefficient}");
    }
}

/// Iterations under a consistent capacity stay within those of the lumped one, or where storage
/// outweighs conduction within the bound of conjugate gradients for a condition number of 27: the
/// lumped capacity of a cube has 1 to 27 times the energy of the consistent one.
#[test]
fn a_consistent_capacity_costs_some_iterations() {
    let root = 27.0_f64.sqrt();
    let bound = ((2.0 / TOLERANCE).ln() / ((root + 1.0) / (root - 1.0)).ln()).ceil() as usize;
    for capacity in [1.0, 1e3, 1e6] {
        let lumped = problem(distorted_cube(12, 0.2, true), 1.0);
        let consistent = lumped.clone().with_capacity(true);
        let [with, without] = [&consistent, &lumped].map(|of| iterations_of(of, capacity));
        println!("capacity {capacity}: {with:?} iterations, lumped {without:?}, bound {bound}");
        assert!((0..2).all(|i| with[i] <= without[i].max(bound)), "{capacity}");
    }
}

/// Iterations with multigrid and with the diagonal.
fn iterations(problem: &Problem) -> [usize; 2] {
    iterations_of(problem, 0.0)
}

/// Counts iterations with multigrid and with the diagonal, at a given capacity.
fn iterations_of(problem: &Problem, capacity: f64) -> [usize; 2] {
    let n = problem.mesh().n_elements();
    let [k, c] = [vec![1.0; n], vec![capacity; n]];
    let mut operator = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    operator.set_coefficients(&[&k, &c]);
    let mut multigrid = Multigrid::<_, 1, 1>::new(problem, CycleKind::K).unwrap();
    let mut jacobi = Jacobi::new(&Cpu, problem.space()).unwrap();
    let mut f = Noise(5).vector(problem.n_dofs());
    problem.constraints().clear(&mut f);
    let preconditioners: [&mut dyn ElementPreconditioner<Cpu>; 2] = [&mut multigrid, &mut jacobi];
    preconditioners.map(|m| {
        m.update(&Cpu, &operator, &[&k, &c]).unwrap();
        solve(&operator, m, &f, &mut vec![0.0; f.len()])
    })
}
