//! Loads on surfaces against the displacements of a bar.

use std::ops::ControlFlow;

use topopt_fem::{LoadCase, Material, Problem, Strategy, Supports, surface_load};
use topopt_linalg::{Cpu, Diagonal, Pcg, PcgOptions, System};
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};
use topopt_mesh::{Face, HexMesh};

const LENGTH: f64 = 10.0;
const MODULUS: f64 = 70.0;

/// A bar of 10 x 5 x 5 elements whose nodes inside, and inside its ends and sides, are moved.
fn bar() -> HexMesh {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let move_node = |&[x, y, z]: &[f64; 3]| {
        let inside = |v: f64, length: f64| if v > 0.1 && v < length - 0.1 { 0.25 } else { 0.0 };
        let shift = |a: f64, b: f64| (1.3 * a + 2.1 * b).sin();
        [
            x + inside(x, LENGTH) * shift(y, z),
            y + inside(y, 5.0) * shift(x, z),
            z + inside(z, 5.0) * shift(x + 1.0, y),
        ]
    };
    let coordinates = mesh.coordinates().iter().map(move_node).collect();
    HexMesh::new(coordinates, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap()
}

fn end(mesh: &HexMesh) -> Vec<Face> {
    let at_end = |face: &Face| face_center(&face_coordinates(mesh, *face))[0] > LENGTH - 1e-9;
    boundary_faces(mesh).into_iter().filter(at_end).collect()
}

/// Displacements of the bar held at x = 0 under `forces`, without lateral contraction.
fn solve(mesh: &HexMesh, forces: &[(u32, [f64; 3])]) -> Vec<f64> {
    let n = 3 * mesh.n_nodes();
    let mut f = vec![0.0; n];
    for (node, force) in forces {
        f[3 * *node as usize..][..3].copy_from_slice(force);
    }
    let mut supports = Supports::none(mesh.n_nodes());
    for node in (0..mesh.n_nodes()).filter(|&node| mesh.coordinates()[node][0] < 1e-9) {
        (0..3).for_each(|i| supports.fix(node, i));
    }
    let load = LoadCase::new("pull", f);
    let material = Material::new(MODULUS, 0.0).unwrap();
    let problem = Problem::new(mesh.clone(), material, supports, vec![load]).unwrap();
    let mut operator = Strategy::Mf.build(&problem);
    operator.set_coefficients(&[&vec![MODULUS; mesh.n_elements()]]);
    let mut diagonal = vec![0.0; n];
    operator.diagonal(&mut diagonal);
    let m = Diagonal::new(&Cpu, &diagonal, problem.space()).unwrap();
    let f = &problem.load_cases()[0].forces;
    let system = System { backend: &Cpu, a: operator.as_ref(), m: &m, f };
    let options = PcgOptions { tolerance: 1e-12, max_iterations: 10_000 };
    let mut u = vec![0.0; n];
    let mut pcg = Pcg::new(&Cpu, problem.space()).unwrap();
    let result = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(result.relative_residual < 1e-10, "{result:?}");
    u
}

/// Each way to pull at the end with 2.1 per area stretches the bar by u_x = t x / E, whatever its
/// elements look like, because the forces on nodes are consistent.
#[test]
fn a_bar_under_traction_stretches_evenly() {
    let (mesh, stress) = (bar(), 2.1);
    let end = end(&mesh);
    assert_eq!(end.len(), 25);
    for forces in [
        surface_load::traction(&mesh, &end, [stress, 0.0, 0.0]),
        surface_load::pressure(&mesh, &end, -stress),
        surface_load::total_force(&mesh, &end, [25.0 * stress, 0.0, 0.0]),
    ] {
        let u = solve(&mesh, &forces);
        for (u, x) in u.as_chunks::<3>().0.iter().zip(mesh.coordinates()) {
            let expected = [stress * x[0] / MODULUS, 0.0, 0.0];
            (0..3).for_each(|i| assert!((u[i] - expected[i]).abs() < 1e-10, "{u:?} at {x:?}"));
        }
    }
}

/// Equal forces on the nodes of the end do not: their sum is right, their distribution is not.
#[test]
fn equal_forces_on_nodes_do_not() {
    let (mesh, stress) = (bar(), 2.1);
    let nodes: Vec<u32> =
        (0..).zip(mesh.coordinates()).filter(|(_, x)| x[0] > 9.999).map(|(n, _)| n).collect();
    let share = 25.0 * stress / nodes.len() as f64;
    let forces: Vec<_> = nodes.iter().map(|&node| (node, [share, 0.0, 0.0])).collect();
    let u = solve(&mesh, &forces);
    let stretch = |&node: &u32| u[3 * node as usize] * MODULUS / (stress * LENGTH) - 1.0;
    assert!(nodes.iter().map(stretch).any(|error| error.abs() > 0.01));
}
