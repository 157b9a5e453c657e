//! Observed orders of convergence by a manufactured solution on distorted meshes.

use std::f64::consts::PI;

use topopt_fem::stiffness::physical_gradients;
use topopt_fem::tetrahedra::gradients;
use topopt_fem::{Material, Strategy};
use topopt_mesh::cells::Shape;
use topopt_mesh::{HexMesh, tetrahedron};

use crate::mechanics::solve;
use crate::{hold, problem};
use topopt_testing::{kuhn, mapped_cube};

/// A smooth displacement that vanishes on the surface of the unit cube.
fn exact(x: [f64; 3]) -> [f64; 3] {
    let bump = x.map(|v| (PI * v).sin()).iter().product::<f64>();
    [bump, bump * x[0], -0.5 * bump * x[1]]
}

/// Gradient of [`exact`] by central differences of step 1e-5 (error some 1e-10).
pub fn gradient(x: [f64; 3]) -> [[f64; 3]; 3] {
    let h = 1e-5;
    let mut g = [[0.0; 3]; 3];
    for j in 0..3 {
        let (mut plus, mut minus) = (x, x);
        plus[j] += h;
        minus[j] -= h;
        let (plus, minus) = (exact(plus), exact(minus));
        for i in 0..3 {
            g[i][j] = (plus[i] - minus[i]) / (2.0 * h);
        }
    }
    g
}

/// A point in an element where is integrated.
pub struct Point {
    /// Reference coordinates.
    pub xi: [f64; 3],
    /// Coordinates.
    pub x: [f64; 3],
    /// Shape functions of the nodes, and their gradients.
    pub shape: Vec<f64>,
    gradients: Vec<[f64; 3]>,
    /// Volume.
    pub weight: f64,
}

/// Points of a rule that is exact enough not to be seen in the orders.
pub fn points(mesh: &HexMesh, e: usize) -> Vec<Point> {
    let rule = match mesh.shape() {
        Shape::Tetrahedron => tetrahedron::fine_rule().into(),
        _ => gauss_5(),
    };
    let point = |(xi, weight): ([f64; 3], f64)| {
        let (gradients, det) = match mesh.shape() {
            Shape::Tetrahedron => {
                let at = tetrahedron::with_first(xi);
                let (gradients, det) = gradients(&mesh.tetrahedron_coordinates(e), at);
                (gradients.to_vec(), det)
            }
            _ => {
                let (gradients, det) = physical_gradients(&mesh.element_coordinates(e), xi);
                (gradients.to_vec(), det)
            }
        };
        let (x, shape) = (mesh.point(e, xi), mesh.shape_functions(xi));
        Point { xi, x, shape, gradients, weight: det * weight }
    };
    rule.into_iter().map(point).collect()
}

/// Body force that makes [`exact`] the solution, in weak form: f_a = integral of sigma grad N_a.
pub fn load(mesh: &HexMesh, material: &Material) -> Vec<f64> {
    let (lambda, mu) = material.unit_lame();
    let mut f = vec![0.0; 3 * mesh.n_nodes()];
    for (e, nodes) in mesh.elements().enumerate() {
        for Point { x, gradients, weight, .. } in points(mesh, e) {
            let g = gradient(x);
            let trace = g[0][0] + g[1][1] + g[2][2];
            for (&node, gradient) in nodes.iter().zip(gradients) {
                for i in 0..3 {
                    let flux: f64 = (0..3)
                        .map(|j| {
                            let volumetric = if i == j { lambda * trace } else { 0.0 };
                            (volumetric + mu * (g[i][j] + g[j][i])) * gradient[j]
                        })
                        .sum();
                    f[3 * node as usize + i] += flux * weight;
                }
            }
        }
    }
    f
}

/// A 5x5x5 Gauss rule.
pub fn gauss_5() -> Vec<([f64; 3], f64)> {
    let (a, b) = (0.538_469_310_105_683_1, 0.906_179_845_938_664);
    let (wa, wb) = (0.478_628_670_499_366_47, 0.236_926_885_056_189_08);
    let line = [(-b, wb), (-a, wa), (0.0, 128.0 / 225.0), (a, wa), (b, wb)];
    let mut points = Vec::new();
    for (x, wx) in line {
        for (y, wy) in line {
            points.extend(line.map(|(z, wz)| ([x, y, z], wx * wy * wz)));
        }
    }
    points
}

/// Errors in L2 and in the H1 seminorm.
fn errors(mesh: &HexMesh, u: &[f64]) -> (f64, f64) {
    let (mut l2, mut h1) = (0.0, 0.0);
    for (e, nodes) in mesh.elements().enumerate() {
        for Point { x, shape, gradients, weight, .. } in points(mesh, e) {
            let (value, g) = (exact(x), gradient(x));
            let at = |a: usize, i: usize| u[3 * nodes[a] as usize + i];
            for i in 0..3 {
                let found: f64 = (0..nodes.len()).map(|a| shape[a] * at(a, i)).sum();
                l2 += (found - value[i]).powi(2) * weight;
                for j in 0..3 {
                    let found: f64 = (0..nodes.len()).map(|a| gradients[a][j] * at(a, i)).sum();
                    h1 += (found - g[i][j]).powi(2) * weight;
                }
            }
        }
    }
    (l2.sqrt(), h1.sqrt())
}

/// A smooth distortion of the unit cube that keeps its surface.
pub fn wavy(x: [f64; 3]) -> [f64; 3] {
    let s = x.map(|v| (PI * v).sin());
    let shift = 0.12 * s[0] * s[1] * s[2];
    [x[0] + shift, x[1] - shift, x[2] + 0.5 * shift]
}

/// Observed orders in L2 and in the H1 seminorm from one mesh to another of half the width.
fn orders(meshes: [HexMesh; 2]) -> [f64; 2] {
    let [coarse, fine] = meshes.map(|mesh| {
        let surface = |x: [f64; 3]| x.iter().any(|v| !(1e-9..=1.0 - 1e-9).contains(v));
        let problem = problem(mesh.clone(), hold(&mesh, surface));
        let mut f = load(&mesh, problem.material());
        problem.supports().clear(&mut f);
        errors(&mesh, &solve(&problem, Strategy::Mf, &f))
    });
    [(coarse.0 / fine.0).log2(), (coarse.1 / fine.1).log2()]
}

#[test]
fn hexahedra_are_of_second_order_in_l2_and_first_in_h1() {
    let [l2, h1] = orders([8, 16].map(|n| mapped_cube(n, wavy)));
    assert!((l2 - 2.0).abs() < 0.1, "L2 order {l2:.3}");
    assert!((h1 - 1.0).abs() < 0.1, "H1 order {h1:.3}");
}

#[test]
fn tetrahedra_are_of_third_order_in_l2_and_second_in_h1() {
    for is_curved in [false, true] {
        let [l2, h1] = orders([6, 12].map(|n| kuhn([n; 3], wavy, is_curved)));
        assert!((l2 - 3.0).abs() < 0.1, "L2 order {l2:.3}");
        assert!((h1 - 2.0).abs() < 0.1, "H1 order {h1:.3}");
    }
}
