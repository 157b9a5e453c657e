//! Patch test, rigid motions, rank, beam theory.

use std::ops::ControlFlow;

use nalgebra::{DMatrix, SymmetricEigen};
use topopt_fem::stiffness::element_stiffness;
use topopt_fem::{
    Elasticity, ElementKernel, LoadCase, Material, Problem, ProblemError, Strategy, Supports,
};
use topopt_linalg::{Cpu, Diagonal, Pcg, PcgOptions, System};
use topopt_mesh::HexMesh;
use topopt_mesh::surface::boundary_faces;

use crate::{hold, operators, problem};
use topopt_testing::{Noise, distorted_cube, hexagon, mapped_cube, mixed_cut, wheel};

/// Solves K u = f with all moduli 1, as far as rounding lets it (below 1e-10).
pub fn solve(problem: &Problem, strategy: Strategy, f: &Vec<f64>) -> Vec<f64> {
    solve_within(problem, strategy, f, 1e-10)
}

/// Solves such a problem, until rounding stops at less than a relative `residual`.
pub fn solve_within(
    problem: &Problem,
    strategy: Strategy,
    f: &Vec<f64>,
    residual: f64,
) -> Vec<f64> {
    let mut operator = strategy.build(problem);
    operator.set_coefficients(&[&vec![1.0; problem.mesh().n_elements()]]);
    let n = problem.n_dofs();
    let mut diagonal = vec![0.0; n];
    operator.diagonal(&mut diagonal);
    let m = Diagonal::new(&Cpu, &diagonal, problem.space()).unwrap();
    let system = System { backend: &Cpu, a: operator.as_ref(), m: &m, f };
    let options = PcgOptions { tolerance: 1e-13, max_iterations: 50_000 };
    let mut u = vec![0.0; n];
    let mut pcg = Pcg::new(&Cpu, problem.space()).unwrap();
    let result = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(result.relative_residual < residual, "{result:?}");
    u
}

/// Forces on free components where `u` is prescribed at the held ones: f = -K u_held.
fn forces_of_prescribed(problem: &Problem, u: &[f64]) -> Vec<f64> {
    let mesh = problem.mesh();
    let mut f = vec![0.0; u.len()];
    for (e, hex) in mesh.hexes().iter().enumerate() {
        let ke = element_stiffness(&mesh.element_coordinates(e), problem.material());
        let dof = |i: usize| 3 * hex[i / 3] as usize + i % 3;
        for j in (0..24).filter(|&j| problem.supports().is_fixed(dof(j) / 3, j % 3)) {
            (0..24).for_each(|i| f[dof(i)] -= ke[i][j] * u[dof(j)]);
        }
    }
    problem.supports().clear(&mut f);
    f
}

/// A problem with next to nothing held: one node far from where the tests look.
fn almost_free(mesh: &HexMesh) -> Problem {
    let mut supports = Supports::none(mesh.n_nodes());
    let last = mesh.n_nodes() - 1;
    for node in [last, last - 1, last - 2, 0] {
        (0..3).for_each(|i| supports.fix(node, i));
    }
    problem(mesh.clone(), supports)
}

pub fn linear_field(mesh: &HexMesh) -> Vec<f64> {
    let gradient = [[0.3, -0.2, 0.1], [0.05, 0.4, -0.3], [0.2, 0.1, -0.25]];
    let value = |x: &[f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| 0.1 + (0..3).map(|j| gradient[i][j] * x[j]).sum::<f64>())
    };
    mesh.coordinates().iter().flat_map(value).collect()
}

#[test]
fn patch_test_on_distorted_elements() {
    patch_test(&distorted_cube(5, 0.3, false));
}

#[test]
fn patch_test_on_wedges() {
    patch_test(&wheel(4));
}

#[test]
fn patch_test_on_cells_that_were_cut() {
    patch_test(&mixed_cut());
}

fn patch_test(mesh: &HexMesh) {
    let mut supports = Supports::none(mesh.n_nodes());
    for node in boundary_faces(mesh).into_iter().flat_map(|face| face.nodes(mesh)) {
        (0..3).for_each(|i| supports.fix(node as usize, i));
    }
    for strategy in Strategy::ALL {
        let u = linear_field(mesh);
        let held = problem(mesh.clone(), supports.clone());
        let f = forces_of_prescribed(&held, &u);
        let found = solve(&held, strategy, &f);
        for (dof, (found, exact)) in found.iter().zip(&u).enumerate() {
            if !held.supports().is_fixed(dof / 3, dof % 3) {
                assert!((found - exact).abs() < 1e-12, "{}: {found} {exact}", strategy.name());
            }
        }
    }
}

#[test]
fn rigid_motions_give_no_force() {
    for mesh in [distorted_cube(4, 0.3, true), hexagon(3), wheel(4), mixed_cut()] {
        let problem = almost_free(&mesh);
        for mut operator in operators(&problem) {
            operator.set_coefficients(&[&vec![1.0; mesh.n_elements()]]);
            let (t, w) = ([0.3, -0.1, 0.2], [0.5, 0.7, -0.4]);
            let rigid = |x: &[f64; 3]| -> [f64; 3] {
                std::array::from_fn(|i| {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    t[i] + w[j] * x[k] - w[k] * x[j]
                })
            };
            let u: Vec<f64> = mesh.coordinates().iter().flat_map(rigid).collect();
            let mut f = vec![0.0; u.len()];
            operator.apply(&u, &mut f);
            // Held nodes are left out of K, so only elements away from them see a rigid motion.
            let held = |e: &[u32; 8]| e.iter().any(|&n| problem.supports().is_fixed(n as usize, 0));
            let mut touched = vec![false; mesh.n_nodes()];
            for hex in mesh.hexes().iter().filter(|hex| held(hex)) {
                hex.iter().for_each(|&n| touched[n as usize] = true);
            }
            let inner: Vec<usize> = (0..mesh.n_nodes()).filter(|&n| !touched[n]).collect();
            assert!(inner.len() > mesh.n_nodes() / 4);
            for n in inner {
                for i in 0..3 {
                    assert!(f[3 * n + i].abs() < 1e-13, "{} node {n}", operator.strategy());
                }
            }
        }
    }
}

#[test]
fn element_stiffness_is_symmetric_of_rank_18() {
    let mesh = distorted_cube(1, 0.3, true);
    let (x, material) = (mesh.element_coordinates(0), Material::new(1.0, 0.3).unwrap());
    let ke = element_stiffness(&x, &material);
    let matrix = DMatrix::from_fn(24, 24, |i, j| ke[i][j]);
    assert!((&matrix - matrix.transpose()).amax() < 1e-15);
    let mut eigenvalues = SymmetricEigen::new(matrix).eigenvalues.as_slice().to_vec();
    eigenvalues.sort_by(f64::total_cmp);
    assert!(eigenvalues[..6].iter().all(|v| v.abs() < 1e-14), "{eigenvalues:?}");
    assert!(eigenvalues[6] > 1e-3, "{eigenvalues:?}");
    let blocks = Elasticity::new(&material).diagonal_blocks(0, &[0, 1, 2, 3, 4, 5, 6, 7], &x);
    for (a, block) in blocks.into_iter().enumerate() {
        for (k, [i, j]) in [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2]].into_iter().enumerate()
        {
            assert!((block[k] - ke[3 * a + i][3 * a + j]).abs() < 1e-15);
        }
    }
}

/// Fully integrated hex8 are too stiff in bending by about (h / height)^2: with four elements over
/// the height of a beam ten times as long the tip moves 96 % of what Timoshenko's theory says.
#[test]
fn slender_cantilever_against_timoshenko() {
    let [coarse, fine] = [2, 4].map(|n| 1.0 - tip_deflection_over_theory(n));
    assert!((0.03..0.05).contains(&fine), "{fine:.4} too stiff");
    let order = (coarse / fine).log2();
    assert!((1.6..2.1).contains(&order), "order {order:.3}");
}

/// A cantilever of length 10 and height 1 with n elements over its height, loaded at its tip.
fn tip_deflection_over_theory(n: usize) -> f64 {
    let (length, height) = (10.0, 1.0);
    let mesh = beam(10 * n, n, length, height);
    let tip: Vec<usize> =
        (0..mesh.n_nodes()).filter(|&i| mesh.coordinates()[i][0] > length - 1e-9).collect();
    let mut forces = vec![0.0; 3 * mesh.n_nodes()];
    tip.iter().for_each(|&node| forces[3 * node + 1] = -1.0 / tip.len() as f64);
    let supports = hold(&mesh, |x| x[0] < 1e-9);
    let load = LoadCase::new("tip", forces.clone());
    let material = Material::new(1.0, 0.3).unwrap();
    let problem = Problem::new(mesh, material, supports, vec![load]).unwrap();
    let u = solve(&problem, Strategy::Mf, &forces);
    let deflection = -tip.iter().map(|&node| u[3 * node + 1]).sum::<f64>() / tip.len() as f64;
    let inertia = height.powi(4) / 12.0;
    let shear = length / (5.0 / 6.0 * height * height / (2.0 * 1.3));
    deflection / (length.powi(3) / (3.0 * inertia) + shear)
}

fn beam(nx: usize, n: usize, length: f64, height: f64) -> HexMesh {
    let (dx, dy) = (length / nx as f64, height / n as f64);
    let place = |[i, j, k]: [usize; 3]| [i as f64 * dx, j as f64 * dy, k as f64 * dy];
    let (coordinates, hexes) = topopt_mesh::generate::block([nx, n, n], place);
    HexMesh::new(coordinates, hexes, topopt_mesh::Sets::default()).unwrap()
}

/// A plate of any thinness, clamped at a side, is held; what turns about a line is not.
#[test]
fn thin_parts_are_held_as_thick_ones_are() {
    for thin in [1.0, 1e3, 1e6, 1e8] {
        let mesh = mapped_cube(3, |[x, y, z]| [x + 5.0, y, z / thin]);
        let nodes: Vec<u32> = (0..mesh.n_nodes() as u32).collect();
        let clamped = hold(&mesh, |x| x[0] < 5.01);
        assert_eq!(clamped.free_rigid_motions(&mesh, &nodes), [""; 0], "thinner by {thin}");
        let line = hold(&mesh, |x| x[0] < 5.01 && x[2] < 0.01 / thin);
        let about = line.free_rigid_motions(&mesh, &nodes);
        assert_eq!(about.len(), 1, "thinner by {thin}: {about:?}");
        assert!(about[0].contains("rotation about y"), "thinner by {thin}: {about:?}");
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let mesh = || mapped_cube(2, |x| x);
    let material = Material::new(1.0, 0.3).unwrap();
    let n = mesh().n_nodes();
    let load = |forces| vec![LoadCase::new("push", forces)];
    let ones = vec![1.0; 3 * n];
    let refused = |supports, loads| Problem::new(mesh(), material, supports, loads).unwrap_err();

    assert_eq!(refused(Supports::none(n), load(ones.clone())), ProblemError::NoSupport);

    let mut hinge = Supports::none(n);
    for node in (0..n).filter(|&i| i % 9 == 0) {
        (0..3).for_each(|i| hinge.fix(node, i)); // an edge line parallel to z
    }
    let ProblemError::RigidMotion { motions, parts: 1, .. } = refused(hinge, load(ones.clone()))
    else {
        panic!("a hinge was accepted");
    };
    assert_eq!(motions, ["translation in x with translation in y with rotation about z"]);

    let mut sliding = Supports::none(n);
    (0..n).for_each(|node| sliding.fix(node, 0));
    let ProblemError::RigidMotion { motions, .. } = refused(sliding, load(ones.clone())) else {
        panic!("a sliding part was accepted");
    };
    assert_eq!(motions, ["translation in y", "translation in z", "rotation about x"]);

    let held = || hold(&mesh(), |x| x[0] < 0.1);
    assert_eq!(refused(held(), vec![]), ProblemError::NoLoad);
    let mut on_supports = vec![0.0; 3 * n];
    on_supports[0] = 1.0; // node 0 lies at x = 0
    for forces in [vec![0.0; 3 * n], on_supports] {
        assert!(matches!(refused(held(), load(forces)), ProblemError::ZeroLoad { .. }));
    }
    let nan = Noise(1).vector(3 * n).iter().map(|v| v / 0.0 * 0.0).collect();
    assert!(matches!(refused(held(), load(nan)), ProblemError::BadLoad { .. }));
}
