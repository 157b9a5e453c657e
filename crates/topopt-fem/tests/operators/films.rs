//! Films of convection on faces: every operator with them, on any mesh, and what they cost a solve.

use topopt_fem::operators::Reference;
use topopt_fem::{
    Constraints, Coupling, Diffusion, Discretization, ElementOperator, ElementPreconditioner,
    Jacobi, Multigrid, Strategy, WithSprings, surface_load,
};
use topopt_linalg::{Cpu, CycleKind, LinearOperator};
use topopt_mesh::HexMesh;
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};
use topopt_testing::{Noise, assert_close, distorted_cube, mixed_cut, wheel};

use crate::diffusion::solve;

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
    Discretization::new(mesh, Diffusion, held)
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

/// A constant flows through a film as its row sums say, to the last bit of each coupling.
#[test]
fn a_constant_is_not_coupled() {
    let mesh = distorted_cube(4, 0.2, true);
    let held = with_film(Constraints::none(mesh.n_nodes()), &mesh, 3.0);
    let problem = Discretization::new(mesh, Diffusion, held);
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

/// Iterations with multigrid and with the diagonal.
fn iterations(problem: &Problem) -> [usize; 2] {
    let n = problem.mesh().n_elements();
    let [k, c] = [vec![1.0; n], vec![0.0; n]];
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
