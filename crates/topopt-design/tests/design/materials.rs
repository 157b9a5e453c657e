//! Elements of several materials: gradients against finite differences, and a bar in series.

use topopt_design::{
    Candidate, Candidates, Chain, OptimalityCriteria, Optimization, Solver, StateEquation,
    StopRules,
};
use topopt_fem::{ElementFactors, LoadCase, Material, Problem, Strategy, surface_load};
use topopt_linalg::{Cpu, Space};
use topopt_mesh::Face;
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};

use super::differences::{hold_against_differences, hold_under};
use super::loads::hold;
use super::responses::loaded;
use super::transforms::physical;
use super::{COUNT, Recorder, SIMP, TIGHT, plain, solver, space};

/// Two materials in layers, the second stiffer and heavier.
fn layered(problem: Problem) -> Problem {
    let n = problem.mesh().n_elements();
    let of_second = |factor: f64| {
        Some((0..n).map(|e| if e / 3 % 2 == 1 { factor } else { 1.0 }).collect::<Vec<_>>())
    };
    let factors = ElementFactors { stiffness: of_second(3.0), mass: of_second(2.5) };
    problem.with_factors(factors).unwrap()
}

/// Compliance, displacements by an adjoint state and volume, under forces, weight and moved
/// supports.
#[test]
fn gradients_of_two_materials_agree_with_finite_differences() {
    hold_against_differences(&layered(loaded()), || Chain::identity(128));
    hold_against_differences(&layered(loaded()), || physical(Some(4.0)));
}

/// Two candidates beside the solid, the heavier one less stiff for its mass; also with materials of
/// sets.
#[test]
fn gradients_with_candidate_materials_agree_with_finite_differences() {
    let of = |mass, stiffness| Candidate { mass, stiffness };
    let candidates = Candidates::new(vec![of(0.6, 0.5), of(0.35, 0.4)]);
    for problem in [loaded(), layered(loaded())] {
        let space = space(problem.mesh());
        hold_under(
            &|equation| equation.with_candidates(&problem, &candidates).unwrap(),
            &space,
            &problem,
            || physical(None),
        );
    }
}

const PULL: f64 = 0.7;
const JOINT: f64 = 4.0;
const FACTOR: f64 = 3.5;

/// A bar of 10 x 5 x 5 that is pulled by t per area, of modulus E up to a joint and of a multiple
/// of E beyond.
fn series() -> Problem {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let is_end = |face: &Face| face_center(&face_coordinates(&mesh, *face))[0] > 9.99;
    let end: Vec<_> = boundary_faces(&mesh).into_iter().filter(is_end).collect();
    let mut forces = vec![0.0; 3 * mesh.n_nodes()];
    for (node, force) in surface_load::traction(&mesh, &end, [PULL, 0.0, 0.0]) {
        forces[3 * node as usize] = force[0];
    }

    let supports = hold(&mesh, |x| x[0] < 1e-9);
    let factors = mesh.centers().into_iter().map(|x| if x[0] > JOINT { FACTOR } else { 1.0 });
    let factors = ElementFactors { stiffness: Some(factors.collect()), mass: None };
    let material = Material::new(SIMP.youngs_modulus, 0.0).unwrap();
    let case = LoadCase::new("pull", forces);
    let problem = Problem::new(mesh, material, supports, vec![case]).unwrap();
    problem.with_factors(factors).unwrap()
}

/// u = t x / E, and t (a + (x - a) / factor) / E beyond the joint at a; by every operator.
#[test]
fn a_bar_of_two_materials_in_series() {
    let problem = series();
    let exact = |x: f64| PULL * (x.min(JOINT) + (x - JOINT).max(0.0) / FACTOR) / 2.0;
    let space = space(problem.mesh());
    for strategy in Strategy::ALL {
        let solver = Solver { operator: strategy.build(&problem), ..solver(&problem, TIGHT) };
        let equation = StateEquation::new(&Cpu, &problem, SIMP, solver).unwrap();
        let optimizer =
            Box::new(OptimalityCriteria::new(&Cpu, Space::variables(250), 0.2, 0.5).unwrap());
        let stop = StopRules { max_iterations: 1, ..COUNT };
        let mut optimization =
            Optimization::new(equation, plain(&space), optimizer, stop, &[1.0; 250]).unwrap();
        let mut recorder = Recorder::default();
        optimization.run(&mut recorder).unwrap();

        let u = optimization.design().displacement(0).unwrap();
        for (u, x) in u.as_chunks::<3>().0.iter().zip(problem.mesh().coordinates()) {
            let error = (u[0] - exact(x[0])).abs() + u[1].abs() + u[2].abs();
            assert!(error < 1e-10 * exact(10.0), "{}: {u:?} at {x:?}", strategy.name());
        }
        let work = PULL * 25.0 * exact(10.0);
        assert!((recorder.reports[0].objective / work - 1.0).abs() < 1e-10);
        assert!((2.0 * recorder.energy[0] / work - 1.0).abs() < 1e-10);
    }
}
