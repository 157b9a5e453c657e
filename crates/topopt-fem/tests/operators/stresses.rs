//! Stresses on linear fields, in a bar, a beam, and a plate with a hole.

use std::f64::consts::PI;

use topopt_fem::stress::{CENTER, Stress, principal, stresses, von_mises};
use topopt_fem::{
    Elasticity, Formulation, LoadCase, Material, Problem, Strategy, Supports, surface_load,
};
use topopt_mesh::surface::{boundary_faces, face_center, face_coordinates};
use topopt_mesh::{HexMesh, hexahedron};

use crate::mechanics::{linear_field, solve};
use crate::{moduli, problem_by};
use topopt_testing::{Noise, distorted_cube, mapped_box, mapped_cube};

fn material() -> Material {
    Material::new(1.0, 0.3).unwrap()
}

fn kernel() -> Elasticity {
    Elasticity::new(&material())
}

/// Displacements at moduli 1 under a `traction`, constant on each face, where `pulled` says that
/// the face with this center carries it.
pub fn pull(
    mesh: &HexMesh,
    supports: Supports,
    pulled: impl Fn([f64; 3]) -> bool,
    traction: impl Fn([f64; 3]) -> [f64; 3],
) -> Vec<f64> {
    let mut forces = vec![0.0; 3 * mesh.n_nodes()];
    for face in boundary_faces(mesh) {
        let center = face_center(&face_coordinates(mesh, face));
        if pulled(center) {
            for (node, force) in surface_load::traction(mesh, &[face], traction(center)) {
                (0..3).for_each(|i| forces[3 * node as usize + i] += force[i]);
            }
        }
    }
    supports.clear(&mut forces);
    let load = LoadCase::new("pull", forces.clone());
    let problem = Problem::new(mesh.clone(), material(), supports, vec![load]).unwrap();
    solve(&problem, Strategy::Mf, &forces)
}

/// Holds component i of the nodes where `held(x)[i]`.
pub fn hold_components(mesh: &HexMesh, held: impl Fn([f64; 3]) -> [bool; 3]) -> Supports {
    let mut supports = Supports::none(mesh.n_nodes());
    for (node, &x) in mesh.coordinates().iter().enumerate() {
        let held = held(x);
        (0..3).filter(|&i| held[i]).for_each(|i| supports.fix(node, i));
    }
    supports
}

/// D eps of [`linear_field`], by hand.
#[test]
fn exact_on_linear_fields_at_every_point() {
    let mesh = distorted_cube(3, 0.3, true);
    let u = linear_field(&mesh);
    let moduli = moduli(mesh.n_elements());
    let (lambda, mu) = (0.3 / (1.3 * 0.4), 0.5 / 1.3);
    let trace = lambda * (0.3 + 0.4 - 0.25);
    let [xx, yy, zz] = [0.3, 0.4, -0.25].map(|strain| trace + 2.0 * mu * strain);
    let [xy, yz, zx] = [-0.2 + 0.05, -0.3 + 0.1, 0.1 + 0.2].map(|shear| mu * shear);
    let points = hexahedron::gauss_points().into_iter().chain([CENTER]);
    let by_both = |xi| [Formulation::Full, Formulation::Incompatible].map(|by| (by, xi));
    for (by, xi) in points.flat_map(by_both) {
        let found = stresses(&kernel().with(by), &mesh, &moduli, &u, xi);
        for (found, modulus) in found.iter().zip(&moduli) {
            for (found, unit) in found.iter().zip([xx, yy, zz, xy, yz, zx]) {
                assert!((found / modulus - unit).abs() < 1e-13, "{found} {unit}");
            }
        }
    }
}

/// Half sigma : epsilon, summed over the Gauss points, is half u_e^T K_e u_e; of strain modes where
/// the Jacobian is constant.
#[test]
fn stresses_at_gauss_points_carry_the_energy_of_the_operator() {
    carry_the_energy(Formulation::Full, distorted_cube(4, 0.3, true));
    let sheared = mapped_cube(3, |[x, y, z]| [x + 0.3 * y, 0.4 * y + 0.1 * z, 0.5 * z - 0.2 * x]);
    carry_the_energy(Formulation::Incompatible, sheared);
}

fn carry_the_energy(by: Formulation, mesh: HexMesh) {
    let problem = problem_by(by, mesh.clone(), hold_components(&mesh, |x| [x[0] < 0.2; 3]));
    let mut u = Noise(2).vector(3 * mesh.n_nodes());
    problem.supports().clear(&mut u);
    let mut expected = vec![0.0; mesh.n_elements()];
    Strategy::Mf.build(&problem).element_work(0, &u, &u, &mut expected);
    let mut found = vec![0.0; mesh.n_elements()];
    for xi in hexahedron::gauss_points() {
        let at_point = stresses(problem.kernel(), &mesh, &vec![1.0; mesh.n_elements()], &u, xi);
        for (e, [xx, yy, zz, xy, yz, zx]) in at_point.into_iter().enumerate() {
            let squares = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + yz * yz + zx * zx);
            let density = 1.3 * squares - 0.3 * (xx + yy + zz).powi(2);
            let x = mesh.element_coordinates(e);
            found[e] += density * hexahedron::determinant(&hexahedron::jacobian(&x, xi));
        }
    }
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn von_mises_of_tension_shear_and_pressure() {
    assert_eq!(von_mises(&[-2.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 2.0);
    assert!((von_mises(&[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]) - 2.0 * 3f64.sqrt()).abs() < 1e-15);
    assert_eq!(von_mises(&[3.0, 3.0, 3.0, 0.0, 0.0, 0.0]), 0.0);
    // Principal stresses (4, 2, 0) in axes turned by 45 degrees about z.
    let turned = [3.0, 3.0, 0.0, 1.0, 0.0, 0.0];
    assert!((von_mises(&turned) - 12f64.sqrt()).abs() < 1e-15);
    let found = principal(&turned).into_iter().zip([4.0, 2.0, 0.0]);
    assert!(found.clone().all(|(found, exact)| (found - exact).abs() < 1e-14), "{found:?}");
}

#[test]
fn a_bar_under_tension_has_the_stress_of_its_traction() {
    let mesh = distorted_cube(4, 0.25, false);
    let supports = hold_components(&mesh, |x| x.map(|v| v < 1e-9));
    let u = pull(&mesh, supports, |x| x[0] > 1.0 - 1e-9, |_| [0.7, 0.0, 0.0]);
    for stress in stresses(&kernel(), &mesh, &vec![1.0; mesh.n_elements()], &u, CENTER) {
        let expected = [0.7, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!((0..6).all(|k| (stress[k] - expected[k]).abs() < 1e-10), "{stress:?}");
        assert!((von_mises(&stress) - 0.7).abs() < 1e-10);
    }
}

/// A beam of 10 x 1 x 1 bent by the moment M = I of a traction in steps: sigma_xx = y.
#[test]
fn a_beam_in_pure_bending_approaches_navier() {
    let error = |n: usize| {
        let mesh = mapped_box([10 * n, n, n], |[x, y, z]| [10.0 * x, y - 0.5, z - 0.5]);
        let center_line = |x: [f64; 3]| x[1].abs() < 1e-9 && x[2].abs() < 1e-9;
        let root = |x: [f64; 3]| x[0] < 1e-9;
        let supports = hold_components(&mesh, |x| {
            let middle = root(x) && center_line(x);
            [root(x), middle, middle || root(x) && x[2].abs() < 1e-9]
        });
        // n steps of the height y give the moment I (1 - 1 / n^2).
        let step = |x: [f64; 3]| [x[1] / (1.0 - 1.0 / (n * n) as f64), 0.0, 0.0];
        let u = pull(&mesh, supports, |x| x[0] > 10.0 - 1e-9, step);
        let found = stresses(&kernel(), &mesh, &vec![1.0; mesh.n_elements()], &u, CENTER);
        let centers = mesh.centers();
        let inner = |e: &usize| (centers[*e][0] - 5.0).abs() < 2.0;
        let errors = (0..mesh.n_elements()).filter(inner);
        errors.map(|e| (found[e][0] - centers[e][1]).abs()).fold(0.0, f64::max) / 0.5
    };
    let [coarse, fine] = [4, 8].map(error);
    assert!(fine < 0.01, "{fine}");
    let order = (coarse / fine).log2();
    assert!((1.5..2.4).contains(&order), "order {order:.3}: {coarse} {fine}");
}

/// Half the side of the square cut out of the plate; the hole has radius 1.
const HALF_SIDE: f64 = 4.0;

/// The stress [xx, yy, xy] around a hole of radius 1 in an infinite plate that is pulled by 1 in x
/// far away (Kirsch, 1898).
fn kirsch([x, y, _]: [f64; 3]) -> [f64; 3] {
    let (q, angle) = (1.0 / (x * x + y * y), 2.0 * y.atan2(x));
    let (c2, c4) = (angle.cos(), (2.0 * angle).cos());
    let (s2, s4) = (angle.sin(), (2.0 * angle).sin());
    [
        1.0 - q * (1.5 * c2 + c4) + 1.5 * q * q * c4,
        -q * (0.5 * c2 - c4) - 1.5 * q * q * c4,
        -q * (0.5 * s2 + s4) + 1.5 * q * q * s4,
    ]
}

/// A quarter of the plate in n elements along its radius and 2 n around, one in thickness, smaller
/// towards the hole.
fn quarter_plate(n: usize) -> HexMesh {
    quarter(n, 1, [HALF_SIDE, HALF_SIDE, 1.0 / n as f64], 1.5)
}

/// A quarter of a plate with these half sides and this thickness, in n elements along the radius of
/// the hole, which is 1, and 2 n around. The outermost elements are exp(`grading`) times as long as
/// those at the hole.
pub fn quarter(
    n: usize,
    through: usize,
    [width, height, thickness]: [f64; 3],
    grading: f64,
) -> HexMesh {
    mapped_box([n, 2 * n, through], |[s, t, z]| {
        let hole = [(0.5 * PI * t).cos(), (0.5 * PI * t).sin()];
        let square = [width * (2.0 - 2.0 * t).min(1.0), height * (2.0 * t).min(1.0)];
        let share = (grading * s).exp_m1() / grading.exp_m1();
        let [x, y] = std::array::from_fn(|i| (1.0 - share) * hole[i] + share * square[i]);
        [x, y, thickness * z]
    })
}

/// Stress of the plate in plane strain under the exact tractions of the infinite one, whose
/// stresses in its plane do not depend on the material. Relative error in L2 at the centers, and
/// sigma_xx on the edge of the hole where it is largest.
fn plate_with_a_hole(n: usize) -> (f64, f64) {
    let mesh = quarter_plate(n);
    let supports = hold_components(&mesh, |x| [x[0] < 1e-9, x[1] < 1e-9, true]);
    let cut = |v: f64| v > HALF_SIDE - 1e-9;
    let traction = |x: [f64; 3]| {
        let [xx, yy, xy] = kirsch(x);
        if cut(x[0]) { [xx, xy, 0.0] } else { [xy, yy, 0.0] }
    };
    let u = pull(&mesh, supports, |x| cut(x[0]) || cut(x[1]), traction);
    let at = |xi| stresses(&kernel(), &mesh, &vec![1.0; mesh.n_elements()], &u, xi);
    let (mut error, mut norm) = (0.0, 0.0);
    for (e, found) in at(CENTER).into_iter().enumerate() {
        let x = mesh.element_coordinates(e);
        let exact = kirsch(hexahedron::map(&x, CENTER));
        let volume = hexahedron::volume(&x);
        let square = |[xx, yy, xy]: [f64; 3]| (xx * xx + yy * yy + 2.0 * xy * xy) * volume;
        error += square([found[0] - exact[0], found[1] - exact[1], found[3] - exact[2]]);
        norm += square(exact);
    }
    let crown = n * (2 * n - 1); // the element at the hole, next to x = 0
    let peak: Stress = at([-1.0, 1.0, 0.0])[crown];
    ((error / norm).sqrt(), peak[0])
}

#[test]
fn a_plate_with_a_hole_approaches_kirsch() {
    assert!((kirsch([0.0, 1.0, 0.0])[0] - 3.0).abs() < 1e-12);
    assert!((kirsch([1.0, 0.0, 0.0])[1] + 1.0).abs() < 1e-12);
    let found = [8, 16, 32].map(plate_with_a_hole);
    let orders = [0, 1].map(|k| (found[k].0 / found[k + 1].0).log2());
    assert!(orders.iter().all(|order| (1.8..2.2).contains(order)), "{orders:?} {found:?}");
    // On an edge of an element the stress is of first order only.
    let peaks = found.map(|(_, peak)| (peak - 3.0).abs());
    assert!(peaks.is_sorted_by(|a, b| *a > 1.5 * b), "{peaks:?}");
    assert!(peaks[2] < 0.06, "{peaks:?}");
}
