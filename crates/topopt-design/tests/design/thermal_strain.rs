//! Thermal strains with densities: gradients against finite differences, a bar between walls.

use topopt_design::Chain;
use topopt_fem::{LoadCase, Material, Problem, Supports, TemperatureChange, ThermalStrains};
use topopt_testing::kuhn;

use super::differences::hold_against_differences;
use super::responses::loaded;

/// Two materials that expand, one of them along z only, under temperatures that vary.
pub fn strains(n: usize, factor: f64) -> ThermalStrains {
    let expansions = vec![[0.01, 0.01, 0.01, 0.0, 0.0, 0.0], [0.0, 0.0, 0.02, 0.0, 0.0, 0.0]];
    let change = |e: usize| TemperatureChange {
        mean: factor * (10.0 + (e % 7) as f64),
        gradient: [1.0, -0.5 * factor, 0.2 * (e % 3) as f64],
    };
    let of_element = (0..n as u32).map(|e| e / 5 % 2).collect();
    ThermalStrains::new(expansions, of_element, (0..n).map(change).collect())
}

/// `problem` with thermal strains in its first two load cases.
fn warmed(problem: &Problem) -> Problem {
    let n = problem.mesh().n_elements();
    let warm = |(case, factor): (&LoadCase, f64)| LoadCase {
        thermal: Some(strains(n, factor)),
        ..case.clone()
    };
    let cases = problem.load_cases().iter().zip([1.0, -0.7]).map(warm).collect();
    let (mesh, supports) = (problem.mesh().clone(), problem.supports().clone());
    Problem::new(mesh, *problem.material(), supports, cases).unwrap()
}

/// A cantilever of curved tetrahedra with weight in one load case and moved supports in the other.
fn of_tetrahedra() -> Problem {
    let map = |[x, y, z]: [f64; 3]| [2.0 * x, y + 0.1 * x * x, z - 0.1 * x * y];
    let mesh = kuhn([4, 2, 2], map, true);
    let (mut supports, n) = (Supports::none(mesh.n_nodes()), 3 * mesh.n_nodes());
    let mut moved = vec![0.0; n];
    for (node, x) in mesh.coordinates().iter().enumerate().filter(|(_, x)| x[0] < 1e-9) {
        (0..3).for_each(|i| supports.fix(node, i));
        moved[3 * node + 2] = 0.3 * x[1];
    }
    let forces = (0..n).map(|k| if k % 3 == 1 { -0.01 } else { 0.0 }).collect();
    let cases = [
        LoadCase { body_force: [0.0, -0.05, 0.02].into(), ..LoadCase::new("down", forces) },
        LoadCase { prescribed: Some(moved), ..LoadCase::new("moved", vec![0.0; n]) },
    ];
    Problem::new(mesh, Material::new(2.0, 0.3).unwrap(), supports, cases.into()).unwrap()
}

/// Compliance and displacements by adjoint states, under forces, weight, moved supports and heat.
#[test]
fn gradients_with_thermal_strains_agree_with_finite_differences() {
    hold_against_differences(&warmed(&loaded()), || Chain::identity(128));
    hold_against_differences(&warmed(&of_tetrahedra()), || Chain::identity(96));
}
