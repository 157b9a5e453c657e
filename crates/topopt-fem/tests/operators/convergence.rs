//! Observed orders of convergence by a manufactured solution on distorted meshes.

use std::f64::consts::PI;

use topopt_fem::stiffness::physical_gradients;
use topopt_fem::{Material, Strategy};
use topopt_mesh::{HexMesh, hexahedron};

use crate::mechanics::solve;
use crate::{hold, problem};
use topopt_testing::mapped_cube;

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

/// Body force that makes [`exact`] the solution, in weak form: f_a = integral of sigma grad N_a.
pub fn load(mesh: &HexMesh, material: &Material) -> Vec<f64> {
    let (lambda, mu) = material.unit_lame();
    let mut f = vec![0.0; 3 * mesh.n_nodes()];
    for (e, hex) in mesh.hexes().iter().enumerate() {
        let x = mesh.element_coordinates(e);
        for (xi, weight) in gauss_5() {
            let (shape_gradients, det) = physical_gradients(&x, xi);
            let g = gradient(hexahedron::map(&x, xi));
            let trace = g[0][0] + g[1][1] + g[2][2];
            for (a, &node) in hex.iter().enumerate() {
                for i in 0..3 {
                    let flux: f64 = (0..3)
                        .map(|j| {
                            let volumetric = if i == j { lambda * trace } else { 0.0 };
                            (volumetric + mu * (g[i][j] + g[j][i])) * shape_gradients[a][j]
                        })
                        .sum();
                    f[3 * node as usize + i] += flux * det * weight;
                }
            }
        }
    }
    f
}

/// A 5x5x5 Gauss rule: exact enough not to be seen in the orders.
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
    for (e, hex) in mesh.hexes().iter().enumerate() {
        let x = mesh.element_coordinates(e);
        for (xi, weight) in gauss_5() {
            let (shape_gradients, det) = physical_gradients(&x, xi);
            let shape = hexahedron::shape_functions(xi);
            let point = hexahedron::map(&x, xi);
            let (value, g) = (exact(point), gradient(point));
            let at = |a: usize, i: usize| u[3 * hex[a] as usize + i];
            for i in 0..3 {
                let found: f64 = (0..8).map(|a| shape[a] * at(a, i)).sum();
                l2 += (found - value[i]).powi(2) * det * weight;
                for j in 0..3 {
                    let found: f64 = (0..8).map(|a| shape_gradients[a][j] * at(a, i)).sum();
                    h1 += (found - g[i][j]).powi(2) * det * weight;
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

#[test]
fn second_order_in_l2_and_first_in_h1() {
    let levels = [8, 16].map(|n| {
        let mesh = mapped_cube(n, wavy);
        let surface = |x: [f64; 3]| x.iter().any(|v| !(1e-9..=1.0 - 1e-9).contains(v));
        let problem = problem(mesh.clone(), hold(&mesh, surface));
        let mut f = load(&mesh, problem.material());
        problem.supports().clear(&mut f);
        errors(&mesh, &solve(&problem, Strategy::Mf, &f))
    });
    let l2_order = (levels[0].0 / levels[1].0).log2();
    let h1_order = (levels[0].1 / levels[1].1).log2();
    assert!((l2_order - 2.0).abs() < 0.1, "L2 order {l2_order:.3}");
    assert!((h1_order - 1.0).abs() < 0.1, "H1 order {h1_order:.3}");
}
