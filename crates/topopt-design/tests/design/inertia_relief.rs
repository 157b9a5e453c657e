//! Free parts under their inertia: closed forms, pins, gradients against finite differences.

use std::ops::ControlFlow;

use topopt_analysis::Linear;
use topopt_design::Chain;
use topopt_fem::{
    BodyForce, DIM, Discretization, Elasticity, ElementFactors, LoadCase, Material, Problem,
    ProblemError, Supports, stress, surface_load,
};
use topopt_linalg::Cpu;
use topopt_mesh::HexMesh;
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};
use topopt_testing::{distorted_cube, kuhn, mapped_box};

use super::differences::hold_against_differences;
use super::thermal_strain::strains;
use super::{SIMP, TIGHT, solver};

/// Length, width and area of the bar, and the force at its end.
const LENGTH: f64 = 8.0;
const WIDTH: f64 = 2.0;
const AREA: f64 = WIDTH * WIDTH;
const FORCE: f64 = 6.0;

fn discretization(mesh: &HexMesh, ratio: f64, supports: Supports) -> Discretization {
    let kernel = Elasticity::new(&Material::new(SIMP.youngs_modulus, ratio).unwrap());
    Discretization::new(mesh.clone(), kernel, supports)
}

/// Forces on all nodes that sum to those of a traction along `force` on the end of a bar.
fn pulled(mesh: &HexMesh, force: [f64; DIM]) -> LoadCase {
    let at_end = |face: &_| face_center(&face_coordinates(mesh, *face))[0] > LENGTH - 1e-9;
    let faces: Vec<_> = boundary_faces(mesh).into_iter().filter(at_end).collect();
    let mut forces = vec![0.0; DIM * mesh.n_nodes()];
    for (node, force) in surface_load::total_force(mesh, &faces, force) {
        forces[DIM * node as usize..][..DIM].copy_from_slice(&force);
    }
    LoadCase::new("pull", forces)
}

fn free(mesh: &HexMesh, ratio: f64, case: LoadCase, anchors: &[u32]) -> Problem {
    let none = Supports::none(mesh.n_nodes());
    Problem::relieved(discretization(mesh, ratio, none), vec![case], anchors).unwrap()
}

/// Compliance and displacements of a design of `density`.
fn solved(problem: &Problem, density: &Vec<f64>) -> (f64, Vec<f64>) {
    let (mut moduli, mut scratch) = (vec![0.0; density.len()], vec![0.0; density.len()]);
    SIMP.moduli(&Cpu, density, &mut scratch, &mut moduli);
    let mut linear = Linear::new(&Cpu, problem, solver(problem, TIGHT)).unwrap();
    linear.assemble(density, &moduli).unwrap();
    linear.update_preconditioner(&moduli).unwrap();
    let mut states = linear.start().unwrap();
    linear.solve(&mut states, &mut |_| ControlFlow::Continue(())).unwrap();
    let compliances = linear.compliances(&moduli, &states, &mut scratch).unwrap();
    (compliances[0], linear.loads().displacement(&Cpu, 0, &states[0]).unwrap())
}

/// Displacement of the free bar under F at x = L: its stress is F/A x/L.
fn exact([x, y, z]: [f64; DIM], ratio: f64) -> [f64; DIM] {
    let strain = FORCE / (AREA * SIMP.youngs_modulus * LENGTH);
    let across = [y, z].map(|y| -ratio * strain * x * y);
    [0.5 * strain * (x * x + ratio * (y * y + z * z)), across[0], across[1]]
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most, value| most.max(value.abs()))
}

/// Straight tetrahedra of ten nodes hold the displacements of a pulled bar, with lateral
/// contraction; hexahedra are exact at the nodes without it.
#[test]
fn a_bar_pulled_at_one_end_has_stress_in_proportion_to_the_length() {
    let to_bar = |[x, y, z]: [f64; DIM]| [x * LENGTH, y * WIDTH - 1.0, z * WIDTH - 1.0];
    let hexahedra = mapped_box([8, 2, 2], |x| to_bar([x[0], x[1], x[2]]));
    let tetrahedra = kuhn([4, 2, 2], to_bar, false);
    for (mesh, ratio) in [(hexahedra, 0.0), (tetrahedra, 0.3)] {
        let problem = free(&mesh, ratio, pulled(&mesh, [FORCE, 0.0, 0.0]), &[]);
        assert_eq!(problem.free_part().unwrap().n_motions(), 6);
        let n = mesh.n_elements();
        let (_, u) = solved(&problem, &vec![1.0; n]);

        let mut relief = problem.inertia_relief().unwrap();
        relief.assemble(&vec![1.0; n], mesh.n_nodes());
        let exact: Vec<_> = mesh.coordinates().iter().map(|&x| exact(x, ratio)).collect();
        let mut expected = exact.into_flattened();
        relief.remove_motions(&mut expected);
        let error = largest(u.iter().zip(&expected).map(|(u, v)| u - v)) / largest(expected);
        assert!(error < 1e-8, "{error:.1e}");

        let deformed = stress::Deformed { u: &u, thermal: None };
        let (moduli, center) = (vec![SIMP.youngs_modulus; n], mesh.reference_center());
        let (kernel, elements) = (problem.kernel(), problem.elements());
        let found = stress::stresses(kernel, elements, &moduli, deformed, center);
        for (e, stress) in found.into_iter().enumerate() {
            let expected = FORCE / AREA * mesh.center(e)[0] / LENGTH;
            let others = largest(stress[1..].iter().copied());
            assert!((stress[0] - expected).abs() < 1e-8 && others < 1e-8, "{e}: {stress:?}");
        }
    }
}

/// A force beside the center pushes and turns; every part of the balance is known.
#[test]
fn accelerations_are_those_of_a_rigid_body() {
    let mesh = mapped_box([8, 2, 2], |[x, y, z]| [x * LENGTH, y * WIDTH, z * WIDTH]);
    let problem = free(&mesh, 0.3, pulled(&mesh, [0.0, FORCE, 0.0]), &[]);
    let mut relief = problem.inertia_relief().unwrap();
    relief.assemble(&vec![0.5; mesh.n_elements()], mesh.n_nodes());
    let mut f = problem.load_cases()[0].forces.clone();
    let a = relief.acceleration(&f);
    let (mass, center, a_of_center) = relief.about_center_of_mass(&a);

    let expected = 0.5 * LENGTH * AREA;
    assert!((mass - expected).abs() < 1e-12 * mass, "{mass}");
    assert!(largest((0..3).map(|i| center[i] - [0.5 * LENGTH, 1.0, 1.0][i])) < 1e-12);
    let inertia = mass * (LENGTH * LENGTH + WIDTH * WIDTH) / 12.0;
    let turning = FORCE * 0.5 * LENGTH / inertia;
    let along = a_of_center.translation;
    assert!(largest([along[0], along[1] - FORCE / mass, along[2]]) < 1e-12, "{along:?}");
    let turned = a_of_center.rotation;
    assert!(largest([turned[0], turned[1], turned[2] - turning]) < 1e-12, "{turned:?}");

    // Loads and inertia are in balance: the pins carry nothing.
    relief.subtract_inertia(&a, &mut f);
    let rest = relief.acceleration(&f);
    assert!(largest([rest.translation, rest.rotation].concat()) < 1e-13, "{rest:?}");
}

/// Other nodes as anchors give other pins, and the same displacements.
#[test]
fn displacements_do_not_depend_on_the_pins() {
    let mesh = distorted_cube(4, 0.2, true);
    let mut case = LoadCase::new("scattered", vec![0.0; DIM * mesh.n_nodes()]);
    for (k, force) in case.forces.iter_mut().enumerate() {
        *force = (1.7 * k as f64).sin();
    }
    case.body_force = BodyForce::centrifugal([0.0, 0.3, 1.0], [2.0, 0.0, 0.0]);
    let density: Vec<f64> = (0..mesh.n_elements()).map(|e| 0.6 + 0.3 * (e as f64).sin()).collect();

    let anchors: [&[u32]; 3] = [&[], &[0, 1, 5], &[60, 61, 62, 85]];
    let problems = anchors.map(|anchors| free(&mesh, 0.3, case.clone(), anchors));
    let pins: Vec<_> =
        problems.iter().map(|problem| problem.free_part().unwrap().pins().to_vec()).collect();
    assert!(pins[0] != pins[1] && pins[1] != pins[2], "{pins:?}");
    let [(compliance, u), others @ ..] = problems.map(|problem| solved(&problem, &density));
    for (other, v) in others {
        let error = largest(u.iter().zip(v).map(|(u, v)| u - v)) / largest(u.iter().copied());
        assert!(error < 1e-8, "{error:.1e}");
        assert!((other / compliance - 1.0).abs() < 1e-9, "{other} {compliance}");
    }
}

/// Two load cases with forces, the first with rotation, gravity and heat too.
fn loads(mesh: &HexMesh) -> Vec<LoadCase> {
    let force = |factor: f64| (0..DIM * mesh.n_nodes()).map(move |k| (factor * k as f64).sin());
    let turning = BodyForce::centrifugal([0.2, 0.3, 0.5], [1.0, 0.0, 0.0]);
    let body_force = BodyForce::from([0.0, -0.05, 0.02]).plus(&turning);
    let thermal = Some(strains(mesh.n_elements(), 0.3));
    vec![
        LoadCase { body_force, thermal, ..LoadCase::new("turn", force(1.7).collect()) },
        LoadCase { weight: 0.5, ..LoadCase::new("push", force(0.9).collect()) },
    ]
}

fn of_two_materials(problem: Problem) -> Problem {
    let n = problem.mesh().n_elements();
    let factors =
        |factor: f64| Some((0..n).map(|e| if e < n / 2 { 1.0 } else { factor }).collect());
    problem.with_factors(ElementFactors { stiffness: factors(1.0), mass: factors(3.0) }).unwrap()
}

fn wavy() -> HexMesh {
    mapped_box([8, 4, 4], |[x, y, z]| [8.0 * x + 0.2 * (4.0 * y).sin(), 4.0 * y, 4.0 * z + x * y])
}

/// Compliance and displacements by adjoint states of two materials.
#[test]
fn gradients_of_free_hexahedra_agree_with_finite_differences() {
    let mesh = wavy();
    let none = discretization(&mesh, 0.3, Supports::none(mesh.n_nodes()));
    let problem = Problem::relieved(none, loads(&mesh), &[]).unwrap();
    hold_against_differences(&of_two_materials(problem), || Chain::identity(128));
}

/// Held and moved in z, so that three motions are left.
#[test]
fn gradients_of_parts_that_are_free_in_part_agree_with_finite_differences() {
    let mesh = wavy();
    let (mut supports, mut cases) = (Supports::none(mesh.n_nodes()), loads(&mesh));
    let mut moved = vec![0.0; DIM * mesh.n_nodes()];
    for node in (0..mesh.n_nodes()).filter(|node| node % 9 == 0) {
        supports.fix(node, 2);
        moved[DIM * node + 2] = 0.3 * (node as f64).sin();
    }
    cases[1].prescribed = Some(moved);
    let held = discretization(&mesh, 0.3, supports);
    let problem = Problem::relieved(held, cases, &[]).unwrap();
    assert_eq!(problem.free_part().unwrap().n_motions(), 3);
    hold_against_differences(&problem, || Chain::identity(128));
}

#[test]
fn gradients_of_free_tetrahedra_agree_with_finite_differences() {
    let curved = |[x, y, z]: [f64; DIM]| [2.0 * x, y + 0.1 * x * x, z - 0.1 * x * y];
    let mesh = kuhn([4, 2, 2], curved, true);
    let none = discretization(&mesh, 0.3, Supports::none(mesh.n_nodes()));
    let problem = Problem::relieved(none, loads(&mesh), &[]).unwrap();
    hold_against_differences(&problem, || Chain::identity(96));
}

#[test]
fn a_part_in_free_fall_and_several_free_parts_are_refused() {
    let mesh = distorted_cube(2, 0.2, true);
    let weight =
        LoadCase { body_force: [0.0, 0.0, -1.0].into(), ..LoadCase::new("fall", vec![0.0; 81]) };
    let falling = free(&mesh, 0.3, weight, &[]);
    let error = falling.check_deformed().unwrap_err();
    assert_eq!(error, ProblemError::FreeFall { name: "fall".into() });

    let mut coordinates = mesh.coordinates().to_vec();
    coordinates.extend(mesh.coordinates().iter().map(|[x, y, z]| [x + 9.0, *y, *z]));
    let mut hexes = mesh.hexes().to_vec();
    hexes.extend(mesh.hexes().iter().map(|hex| hex.map(|node| node + 27)));
    let twice = HexMesh::new(coordinates, hexes, mesh.sets().clone()).unwrap();
    let none = discretization(&twice, 0.3, Supports::none(54));
    let case = LoadCase::new("push", vec![1.0; 162]);
    let error = Problem::relieved(none, vec![case], &[]).unwrap_err();
    assert_eq!(error, ProblemError::FreeParts { free: vec![0, 1], parts: 2 });
}
