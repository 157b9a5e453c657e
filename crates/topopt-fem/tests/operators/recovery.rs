//! Nodal stresses from patches, and the error that they show.

use topopt_fem::recovery::Samples;
use topopt_fem::stress_error::Solution;
use topopt_fem::{Discretization, Elasticity, Formulation, LoadCase, Material, Problem, Strategy};
use topopt_mesh::HexMesh;

use crate::convergence::{Point, gradient, load, points, wavy};
use crate::mechanics::{linear_field, solve};
use crate::stresses::{hold_components, pull, quarter};
use crate::{hold, moduli};
use topopt_testing::{distorted_cube, distorted_tetrahedra, kuhn, mapped_box, mapped_cube, wheel};

const BOTH: [Formulation; 2] = [Formulation::Full, Formulation::Incompatible];

fn kernel(by: Formulation) -> Elasticity {
    Elasticity::new(&Material::new(1.0, 0.3).unwrap()).with(by)
}

fn one_material(mesh: &HexMesh) -> Vec<Option<u32>> {
    vec![Some(0); mesh.n_elements()]
}

/// Constant stresses of each material are found at all of its nodes, and show no error.
#[test]
fn linear_displacements_are_exact_up_to_the_interfaces_of_materials() {
    for mesh in [
        distorted_cube(3, 0.3, true),
        wheel(2),
        mapped_box([4, 1, 1], |x| x),
        distorted_tetrahedra(3, 0.3, true),
        kuhn([4, 1, 1], wavy, true),
    ] {
        let (u, moduli) = (linear_field(&mesh), moduli(mesh.n_elements()));
        let materials: Vec<_> = (0..mesh.n_elements() as u32).map(Some).collect();
        for kernel in BOTH.map(kernel) {
            let solution = Solution {
                kernel: &kernel,
                elements: (&mesh).into(),
                moduli: &moduli,
                deformed: (&u).into(),
            };
            let found = solution.nodal_stresses(materials.clone());
            let first = found.values[found.of_element(0)[0] as usize];
            for (e, modulus) in moduli.iter().enumerate() {
                for &node in found.of_element(e) {
                    let value = found.values[node as usize];
                    for (value, first) in value.iter().zip(first) {
                        let difference = value / modulus - first / moduli[0];
                        assert!(difference.abs() < 1e-12, "{difference:e}");
                    }
                }
            }
            assert!(solution.errors(&found).iter().all(|error| error.abs() < 1e-20));
        }
    }
}

/// In a corner of a part four elements tell how a field varies, be they of different sizes.
#[test]
fn two_layers_need_no_slopes_of_elements() {
    let field = |[x, y, z]: [f64; 3]| [1.0 + 2.0 * x - 3.0 * y + 0.5 * z];
    for growth in [1.0f64, 1.5, 2.0] {
        let mesh = mapped_box([3, 2, 2], |x| x.map(|v| growth.powf(2.0 * v) + v));
        let samples = Samples {
            values: mesh.centers().into_iter().map(field).collect(),
            slopes: vec![[[0.0]; 3]; mesh.n_elements()],
            materials: one_material(&mesh),
        };
        let found = samples.recovered(&mesh);
        for (&node, [value]) in found.nodes.iter().zip(&found.values) {
            let [expected] = field(mesh.coordinates()[node as usize]);
            assert!((value - expected).abs() < 1e-12, "{growth}: {value} for {expected}");
        }
    }
}

/// The displacement of a beam along x under a moment, E = 1, without rounding of its section.
fn bent([x, y, z]: [f64; 3]) -> [f64; 3] {
    let nu = 0.3;
    [x * z, -nu * y * z, -0.5 * (x * x - nu * y * y + nu * z * z)]
}

#[test]
fn bending_is_exact_to_the_surface_with_one_element_through() {
    let bar = |[x, y, z]: [f64; 3]| [6.0 * x, 2.0 * y - 1.0, z - 0.5];
    let sizes = [[6, 1, 1], [6, 3, 1], [6, 2, 2], [8, 3, 4]];
    let hexahedra = sizes.map(|n| mapped_box(n, bar));
    let tetrahedra = sizes.map(|n| kuhn(n, bar, false));
    let distorted = [distorted_tetrahedra(3, 0.3, true)];
    for mesh in hexahedra.into_iter().chain(tetrahedra).chain(distorted) {
        let u: Vec<f64> = mesh.coordinates().iter().flat_map(|&x| bent(x)).collect();
        let kernel = kernel(Formulation::Incompatible);
        let moduli = vec![1.0; mesh.n_elements()];
        let solution = Solution {
            kernel: &kernel,
            elements: (&mesh).into(),
            moduli: &moduli,
            deformed: (&u).into(),
        };
        let found = solution.nodal_stresses(one_material(&mesh));
        for (&node, value) in found.nodes.iter().zip(&found.values) {
            let expected = [mesh.coordinates()[node as usize][2], 0.0, 0.0, 0.0, 0.0, 0.0];
            for (value, expected) in value.iter().zip(expected) {
                assert!((value - expected).abs() < 1e-12, "{value} for {expected}");
            }
        }
        assert!(solution.errors(&found).iter().all(|error| error.abs() < 1e-20));
    }
}

/// Error of the nodal stresses in L2, true and estimated error of the elements in the energy norm.
fn manufactured(by: Formulation, mesh: HexMesh) -> [f64; 3] {
    let kernel = kernel(by);
    let surface = |x: [f64; 3]| x.iter().any(|v| !(1e-9..=1.0 - 1e-9).contains(v));
    let supports = hold(&mesh, surface);
    let mut f = load(&mesh, kernel.material());
    supports.clear(&mut f);
    let equation = Discretization::new(mesh.clone(), kernel, supports);
    let problem = Problem::of(equation, vec![LoadCase::new("body", f.clone())]).unwrap();
    let u = solve(&problem, Strategy::Mf, &f);

    let moduli = vec![1.0; mesh.n_elements()];
    let solution = Solution {
        kernel: &kernel,
        elements: (&mesh).into(),
        moduli: &moduli,
        deformed: (&u).into(),
    };
    let found = solution.nodal_stresses(one_material(&mesh));
    let estimated: f64 = solution.errors(&found).iter().sum();
    let (lambda, mu) = kernel.material().unit_lame();
    let (mut of_nodes, mut energy) = (0.0, 0.0);
    for e in 0..mesh.n_elements() {
        let nodes = found.of_element(e);
        for Point { xi, x, shape, weight, .. } in points(&mesh, e) {
            let g = gradient(x);
            let trace = lambda * (g[0][0] + g[1][1] + g[2][2]);
            let normal = |i: usize| trace + 2.0 * mu * g[i][i];
            let shear = |i: usize, j: usize| mu * (g[i][j] + g[j][i]);
            let exact = [normal(0), normal(1), normal(2), shear(0, 1), shear(1, 2), shear(2, 0)];
            let own = topopt_fem::stress::stress_at(&kernel, &mesh, 1.0, &u, e, xi);
            let nodal = |i: usize| -> f64 {
                nodes
                    .iter()
                    .zip(&shape)
                    .map(|(&n, share)| share * found.values[n as usize][i])
                    .sum()
            };
            let difference: [f64; 6] = std::array::from_fn(|i| own[i] - exact[i]);
            energy += weight * solution.strain_energy(e, &difference);
            of_nodes += weight * (0..6).map(|i| (nodal(i) - exact[i]).powi(2)).sum::<f64>();
        }
    }
    [of_nodes.sqrt(), energy.sqrt(), estimated.sqrt()]
}

#[test]
fn nodal_stresses_are_of_second_order_and_the_estimate_is_right() {
    for by in BOTH {
        let [coarse, fine] = [8, 16].map(|n| manufactured(by, mapped_cube(n, wavy)));
        let order = |i: usize| (coarse[i] / fine[i]).log2();
        assert!((order(0) - 2.0).abs() < 0.05, "{by:?}: nodal stresses, order {}", order(0));
        assert!((order(1) - 1.0).abs() < 0.05, "{by:?}: energy, order {}", order(1));
        let effectivity = [coarse, fine].map(|[_, exact, estimated]| estimated / exact);
        assert!(effectivity[1] < 1.12 && effectivity[1] > 0.95, "{by:?}: {effectivity:?}");
        assert!(effectivity[1] - 1.0 < 0.4 * (effectivity[0] - 1.0), "{by:?}: {effectivity:?}");
    }
}

#[test]
fn nodal_stresses_of_tetrahedra_are_better_than_their_own() {
    let [coarse, fine] =
        [6, 12].map(|n| manufactured(Formulation::Full, kuhn([n; 3], wavy, false)));
    let order = |i: usize| (coarse[i] / fine[i]).log2();
    assert!(order(0) > 2.5, "nodal stresses, order {}", order(0));
    assert!((order(1) - 2.0).abs() < 0.1, "energy, order {}", order(1));
    let effectivity = [coarse, fine].map(|[_, exact, estimated]| estimated / exact);
    assert!(effectivity[1] < 1.12 && effectivity[1] > 0.9, "{effectivity:?}");
}

/// The largest nodal sigma_xx of a plate of 100 x 50 x 5 with a hole of diameter 10, pulled by 1.
fn peak_at_hole(n: usize) -> f64 {
    let mesh = quarter(n, n / 4, [10.0, 5.0, 0.5], 2.5);
    let supports = hold_components(&mesh, |x| x.map(|v| v < 1e-9));
    let u = pull(&mesh, supports, |x| x[0] > 10.0 - 1e-9, |_| [1.0, 0.0, 0.0]);
    let (kernel, moduli) = (kernel(Formulation::Incompatible), vec![1.0; mesh.n_elements()]);
    let solution = Solution {
        kernel: &kernel,
        elements: (&mesh).into(),
        moduli: &moduli,
        deformed: (&u).into(),
    };
    let found = solution.nodal_stresses(one_material(&mesh));
    found.values.iter().map(|stress| stress[0]).fold(0.0, f64::max)
}

/// The plate cut from a mesh of curved quadratic tetrahedra with 24,945 unknowns has 3.2577,
/// expected to be within 1 %; in plane stress 2.51 of the net section are 3.14 (Howland, 1930).
#[test]
fn the_peak_at_a_hole_is_of_second_order() {
    let [coarse, middle, fine] = [8, 16, 32].map(peak_at_hole);
    let order = ((middle - coarse) / (fine - middle)).log2();
    assert!((1.9..2.3).contains(&order), "order {order:.3}: {coarse} {middle} {fine}");
    let limit = fine + (fine - middle) / 3.0;
    let found = [coarse, fine, limit].map(|peak| peak / 3.2577 - 1.0);
    assert!(found[0].abs() < 0.04 && found[1..].iter().all(|off| off.abs() < 0.01), "{found:?}");
}
