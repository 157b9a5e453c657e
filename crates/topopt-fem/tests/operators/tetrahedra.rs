//! Tetrahedra of ten nodes against mechanics, known values and the reference.

use std::f64::consts::FRAC_PI_2;
use std::ops::ControlFlow;

use nalgebra::{DMatrix, SymmetricEigen};
use topopt_fem::operators::Reference;
use topopt_fem::{
    BlockJacobi, Discretization, Elasticity, ElementOperator, ElementPreconditioner, LoadCase,
    Material, Problem, Strategy, Supports, nodal_body_forces, surface_load, tetrahedra,
};
use topopt_linalg::{Cpu, CycleKind, LinearOperator, Pcg, PcgOptions, Preconditioner, System};
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};
use topopt_mesh::tetrahedron::straight;
use topopt_mesh::{Face, HexMesh, Renumbering};
use topopt_testing::{Noise, assert_close, distorted_tetrahedra, kuhn};

use crate::hold;
use crate::mechanics::linear_field;

const STEEL: f64 = 210_000.0;

fn steel() -> Elasticity {
    Elasticity::new(&Material::new(STEEL, 0.3).unwrap())
}

/// Boundary faces whose centers are `chosen`.
fn faces(mesh: &HexMesh, chosen: impl Fn([f64; 3]) -> bool) -> Vec<Face> {
    let is_chosen = |face: &Face| chosen(face_center(&face_coordinates(mesh, *face)));
    boundary_faces(mesh).into_iter().filter(is_chosen).collect()
}

/// The work of a unit force on a part that is held at `held`, under a `traction` in z on the faces
/// that are `loaded`; renumbered, by PCG with block Jacobi.
fn deflection(
    mesh: &HexMesh,
    held: impl Fn([f64; 3]) -> bool,
    loaded: impl Fn([f64; 3]) -> bool,
    traction: f64,
) -> f64 {
    let mesh = Renumbering::on_import(mesh).apply(mesh);
    let loads = surface_load::traction(&mesh, &faces(&mesh, loaded), [0.0, 0.0, traction]);
    let mut forces = vec![0.0; 3 * mesh.n_nodes()];
    loads.iter().for_each(|(node, f)| forces[3 * *node as usize + 2] = f[2]);
    let total: f64 = forces.iter().sum();

    let supports = hold(&mesh, held);
    let moduli = vec![STEEL; mesh.n_elements()];
    let load = LoadCase::new("end", forces);
    let problem = Problem::of(Discretization::new(mesh, steel(), supports), vec![load]).unwrap();
    let f = &problem.load_cases()[0].forces;
    let u = solve(&problem, &moduli, f);

    // 2 F . u - u . K u, whose error is that of u squared.
    let mut energies = vec![0.0; moduli.len()];
    Strategy::Mf.build(&problem).element_work(0, &u, &u, &mut energies);
    let work: f64 = f.iter().zip(&u).map(|(f, u)| f * u).sum();
    (2.0 * work - STEEL * energies.iter().sum::<f64>()) / total
}

fn solve(problem: &Problem, moduli: &Vec<f64>, f: &Vec<f64>) -> Vec<f64> {
    let mut operator = Strategy::Mf.build(problem);
    operator.set_coefficients(&[moduli]);
    let mut m = BlockJacobi::new(problem);
    m.update(&Cpu, operator.as_ref(), &[moduli]).unwrap();
    let system = System { backend: &Cpu, a: operator.as_ref(), m: &m, f };
    let options = PcgOptions { tolerance: 1e-13, max_iterations: 50_000 };
    let mut u = vec![0.0; f.len()];
    let mut pcg = Pcg::new(&Cpu, problem.space()).unwrap();
    let result = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    // As far as rounding lets it: thin parts are ill-conditioned.
    assert!(result.relative_residual < 1e-7, "{result:?}");
    u
}

/// Values of another program, to the digits that the condition of the matrix leaves.
#[test]
fn deflections_are_those_known() {
    let end = |length: f64| move |x: [f64; 3]| x[0] > length - 1e-9;
    let start = |x: [f64; 3]| x[0] < 1e-9;
    for (n, expected) in [(1, 1.872_866_170_154e-2), (2, 1.898_292_112_456e-2)] {
        let mesh = kuhn([10 * n, n, n], |[x, y, z]| [10.0 * x, y, z], false);
        let found = deflection(&mesh, start, end(10.0), 1.0);
        assert!((found / expected - 1.0).abs() < 1e-11, "{found:e} {expected:e}");
    }

    // A thin strip, in which hexahedra lock: 2.0251 is right. Solved in extended precision; direct
    // solvers in double precision are off by 1e-8.
    let mesh = kuhn([12, 2, 1], |[x, y, z]| [120.0 * x, 20.0 * y, 2.0 * z], false);
    let found = deflection(&mesh, start, end(120.0), 0.25);
    assert!((found / 1.980_152_623_65 - 1.0).abs() < 1e-10, "{found}");
    assert!(found > 0.975 * 2.0251);
}

#[test]
fn curved_arches_bend_as_known() {
    // Turned about the middle of its width, so that elements are not mirror images.
    let bent = |[x, y, z]: [f64; 3]| {
        let (angle, radius) = (FRAC_PI_2 * x, 9.0 + z);
        [radius * angle.cos(), 1.0 - y, radius * angle.sin()]
    };
    for (is_curved, expected) in [(true, 3.747_713_078_792e-2), (false, 3.760_898_938_791e-2)] {
        let mesh = kuhn([8, 1, 1], bent, is_curved);
        let found = deflection(&mesh, |x| x[2] < 1e-9, |x| x[0] < 1e-9, 1.0);
        assert!((found / expected - 1.0).abs() < 1e-10, "{found:e} {expected:e}");
    }
}

#[test]
fn patch_test_on_distorted_tetrahedra() {
    let mesh = distorted_tetrahedra(3, 0.3, false);
    let mut supports = Supports::none(mesh.n_nodes());
    for node in boundary_faces(&mesh).into_iter().flat_map(|face| face.all_nodes(&mesh)) {
        (0..3).for_each(|i| supports.fix(node as usize, i));
    }
    let exact = linear_field(&mesh);
    let moduli = vec![1.0; mesh.n_elements()];
    let free = Discretization::new(mesh.clone(), steel(), Supports::none(mesh.n_nodes()));
    let mut operator = Reference::new(&free);
    operator.set_coefficients(&[&moduli]);
    let mut held = exact.clone();
    supports.clear_free(&mut held);
    let mut f = vec![0.0; held.len()];
    operator.apply(&held, &mut f);
    f.iter_mut().for_each(|f| *f = -*f);
    supports.clear(&mut f);

    let load = LoadCase::new("boundary", f.clone());
    let problem = Problem::of(Discretization::new(mesh, steel(), supports), vec![load]).unwrap();
    let found = solve(&problem, &moduli, &f);
    let mut n_free = 0;
    for (dof, (found, exact)) in found.iter().zip(&exact).enumerate() {
        if !problem.supports().is_fixed(dof / 3, dof % 3) {
            assert!((found - exact).abs() < 1e-12, "{found} {exact}");
            n_free += 1;
        }
    }
    assert!(n_free > 300);
}

#[test]
fn the_stiffness_is_symmetric_of_rank_24() {
    let mut x = straight([[0.0, 0.1, 0.0], [2.0, 0.0, 0.3], [0.1, 1.5, 0.2], [0.4, 0.3, 1.2]]);
    for bend in [0.0, 0.15] {
        x[6][2] += bend;
        let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap());
        let ke = tetrahedra::matrix(&kernel, 0, &x);
        let matrix = DMatrix::from_fn(30, 30, |i, j| ke[i / 3][i % 3][j / 3][j % 3]);
        assert!((&matrix - matrix.transpose()).amax() < 1e-14);
        let mut eigenvalues = SymmetricEigen::new(matrix).eigenvalues.as_slice().to_vec();
        eigenvalues.sort_by(f64::total_cmp);
        assert!(eigenvalues[..6].iter().all(|v| v.abs() < 1e-13), "{eigenvalues:?}");
        assert!(eigenvalues[6] > 1e-3, "{eigenvalues:?}");
    }
}

/// Straight tetrahedra in several patches, and curved ones among straight ones.
fn meshes() -> [HexMesh; 3] {
    let bulge = |[x, y, z]: [f64; 3]| [x, y, z + 0.2 * (x - 0.5_f64).max(0.0).powi(2)];
    let meshes = [
        kuhn([1; 3], |x| x, false),
        distorted_tetrahedra(6, 0.3, true),
        kuhn([5, 3, 4], bulge, true),
    ];
    meshes.map(|mesh| Renumbering::on_import(&mesh).apply(&mesh))
}

#[test]
fn the_matrix_free_operator_is_the_reference() {
    for mesh in meshes() {
        let mut supports = Supports::none(mesh.n_nodes());
        (0..mesh.n_nodes()).step_by(5).for_each(|node| supports.fix(node, node % 3));
        let problem = Discretization::new(mesh.clone(), steel(), supports);
        let noise = |seed: u64, n: usize| Noise(seed).vector(n);
        let moduli: Vec<f64> = noise(1, mesh.n_elements()).iter().map(|v| 1.5 + v).collect();
        let [u, v] = [2, 3].map(|seed| noise(seed, problem.n_dofs()));

        let mut reference = Reference::new(&problem);
        let mut operator = Strategy::Mf.build(&problem);
        reference.set_coefficients(&[&moduli]);
        operator.set_coefficients(&[&moduli]);
        let of = |operator: &dyn ElementOperator<Cpu>| {
            let (mut product, mut diagonal) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            let mut work = vec![0.0; moduli.len()];
            operator.apply(&u, &mut product);
            operator.diagonal(&mut diagonal);
            operator.element_work(0, &v, &u, &mut work);
            [product, diagonal, work]
        };
        for (found, expected) in of(operator.as_ref()).iter().zip(of(&reference)) {
            assert_close(found, &expected, 1e-13, "tetrahedra");
        }

        // Inverse blocks times the blocks of the reference.
        let mut jacobi = BlockJacobi::new(&problem);
        jacobi.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
        for node in [0, mesh.n_nodes() / 2, mesh.n_nodes() - 1] {
            for i in 0..3 {
                let mut unit = vec![0.0; u.len()];
                unit[3 * node + i] = 1.0;
                let (mut column, mut z) = (vec![0.0; u.len()], vec![0.0; u.len()]);
                reference.apply(&unit, &mut column);
                (0..column.len()).filter(|dof| dof / 3 != node).for_each(|dof| column[dof] = 0.0);
                jacobi.apply(&Cpu, &column, &mut z);
                assert!((0..3).all(|j| (z[3 * node + j] - unit[3 * node + j]).abs() < 1e-12));
            }
        }
    }
}

#[test]
fn loads_have_their_resultants_and_moments() {
    let bulge = |[x, y, z]: [f64; 3]| [x, y + 0.1 * x * x, z + 0.2 * x * y];
    let mesh = kuhn([3, 2, 2], bulge, true);
    let all = boundary_faces(&mesh);

    // A closed surface under pressure, and its area by the divergence theorem.
    let pressed = surface_load::pressure(&mesh, &all, 2.0);
    let sum = |i: usize| pressed.iter().map(|(_, f)| f[i]).sum::<f64>();
    assert!((0..3).all(|i| sum(i).abs() < 1e-13), "{:?}", [0, 1, 2].map(sum));

    // On a flat face a third of the area goes to each middle, and nothing to the corners.
    let flat = kuhn([1; 3], |x| x, false);
    let face = boundary_faces(&flat)[0];
    let [corners, middles] =
        [0..3, 3..6].map(|range| face.nodes_of_triangle(&flat)[range].to_vec());
    for (node, share) in surface_load::areas(&flat, &[face]) {
        let expected = if middles.contains(&node) { 0.5 / 3.0 } else { 0.0 };
        assert!((share - expected).abs() < 1e-15 && (expected > 0.0 || corners.contains(&node)));
    }

    // Weight and moment about x of a block of unit volume, whose center is at 1/2.
    let forces = nodal_body_forces(&flat, None, &[0.0, 0.0, -3.0].into());
    let total: f64 = forces.iter().map(|f| f[2]).sum();
    let moment: f64 = forces.iter().zip(flat.coordinates()).map(|(f, x)| x[1] * f[2]).sum();
    assert!((total + 3.0).abs() < 1e-14 && (moment + 1.5).abs() < 1e-14, "{total} {moment}");
}

/// Iterations of PCG with multigrid to a residual of 1e-8, for the modulus of an element by its
/// number and center.
fn iterations(mesh: &HexMesh, modulus: impl Fn(usize, [f64; 3]) -> f64) -> usize {
    let mesh = Renumbering::on_import(mesh).apply(mesh);
    let end = mesh.bounding_box().max[0] - 1e-9;
    let loads = surface_load::traction(&mesh, &faces(&mesh, |x| x[0] > end), [0.0, 0.0, 1.0]);
    let mut forces = vec![0.0; 3 * mesh.n_nodes()];
    loads.iter().for_each(|(node, f)| forces[3 * *node as usize + 2] = f[2]);
    let supports = hold(&mesh, |x| x[0] < 1e-9);
    let centers = mesh.centers();
    let moduli: Vec<f64> = centers.iter().enumerate().map(|(e, x)| modulus(e, *x)).collect();
    let load = LoadCase::new("end", forces);
    let problem = Problem::of(Discretization::new(mesh, steel(), supports), vec![load]).unwrap();

    let mut operator = Strategy::Mf.build(&problem);
    operator.set_coefficients(&[&moduli]);
    let mut m = tetrahedra::TetrahedraMultigrid::new(&problem, CycleKind::V).unwrap();
    m.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
    let f = &problem.load_cases()[0].forces;
    let system = System { backend: &Cpu, a: operator.as_ref(), m: &m, f };
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 500 };
    let mut u = vec![0.0; f.len()];
    let mut pcg = Pcg::new(&Cpu, problem.space()).unwrap();
    let result = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(result.relative_residual <= 1e-8, "{result:?}");
    result.iterations
}

#[test]
fn multigrid_takes_few_iterations_on_blocks_and_thin_parts() {
    let block = kuhn([15, 5, 5], |[x, y, z]| [60.0 * x, 20.0 * y, 20.0 * z], false);
    let strip = kuhn([60, 10, 1], |[x, y, z]| [120.0 * x, 20.0 * y, 2.0 * z], false);
    assert!(iterations(&block, |_, _| 1.0) <= 30);
    assert!(iterations(&strip, |_, _| 1.0) <= 60);
    let scattered = |e: usize, _| if e % 7 < 3 { 1.0 } else { 1e-9 };
    assert!(iterations(&block, scattered) <= 60);
}

#[test]
fn multigrid_keeps_its_iterations_as_meshes_of_bars_in_void_grow() {
    let wave = |x: [f64; 3]| (9.0 * x[1]).sin() + (7.0 * x[2]).cos() > 0.0 || x[0] > 0.8;
    let found = [6, 13].map(|n| {
        let mesh = distorted_tetrahedra(n, 0.2, false);
        iterations(&mesh, |_, x| if wave(x) { 1.0 } else { 1e-9 })
    });
    assert!(found.iter().all(|&found| found <= 30), "{found:?}");
}
