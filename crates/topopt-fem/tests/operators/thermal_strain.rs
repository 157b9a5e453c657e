//! Thermal strains: free bodies expand and bend without stress, held ones have the stress of
//! theory.

use topopt_fem::operators::Reference;
use topopt_fem::stiffness_tensor::{Frame, isotropic, turned};
use topopt_fem::stress::{Deformed, stresses};
use topopt_fem::{
    Discretization, Elasticity, ElementData, ElementOperator, ElementVectors, Formulation, Law,
    Laws, LoadCase, Material, Problem, Supports, TemperatureChange, ThermalStrains,
    restrained_energies, thermal_forces,
};
use topopt_linalg::LinearOperator;
use topopt_testing::{
    assert_close, distorted_cube, distorted_tetrahedra, hexagon, kuhn, mapped_box, mixed_cut, norm,
    wheel,
};

use crate::{hold, moduli};

const EXPANSION: f64 = 1.2e-5;
const WARMTH: f64 = 80.0;
const RATIO: f64 = 0.3;

fn kernel(formulation: Formulation) -> Elasticity {
    Elasticity::new(&Material::new(1.0, RATIO).unwrap()).with(formulation)
}

const FORMULATIONS: [Formulation; 2] = [Formulation::Full, Formulation::Incompatible];

/// An expansion along three axes of a frame, along the axes of the mesh.
fn orthotropic() -> ([f64; 6], Law) {
    let ((s, c), (t, d)) = (0.7f64.sin_cos(), 0.4f64.sin_cos());
    let frame: Frame = [[c, s, 0.0], [-s * d, c * d, t], [s * t, -c * t, d]];
    let mut stiffness = isotropic((0.4, 0.4));
    (stiffness[0][0], stiffness[2][2], stiffness[3][3]) = (6.0, 0.9, 0.9);
    let along = [3.0 * EXPANSION, -EXPANSION, EXPANSION];
    let entry =
        |i: usize, j: usize| -> f64 { (0..3).map(|k| along[k] * frame[k][i] * frame[k][j]).sum() };
    let shear = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| 2.0 * entry(i, j));
    let strain = [entry(0, 0), entry(1, 1), entry(2, 2), shear[0], shear[1], shear[2]];
    (strain, Law::Anisotropic(turned(&stiffness, &frame)))
}

fn of_one(strain: [f64; 6], n: usize, change: TemperatureChange) -> ThermalStrains {
    ThermalStrains::new(vec![strain], vec![0; n], vec![change; n])
}

fn isotropic_strain(change: f64) -> [f64; 6] {
    [change, change, change, 0.0, 0.0, 0.0]
}

/// K u of all elements at their moduli.
fn product(problem: &Discretization, u: &Vec<f64>) -> Vec<f64> {
    let mut operator = Reference::new(problem);
    operator.set_coefficients(&[&moduli(problem.mesh().n_elements())]);
    let mut product = vec![0.0; u.len()];
    operator.apply(u, &mut product);
    product
}

/// Forces and stresses of thermal strains are those of the displacements `u` of a free body.
fn assert_free(problem: &Discretization, strains: &ThermalStrains, u: &Vec<f64>, what: &str) {
    let (mesh, n) = (problem.mesh(), problem.mesh().n_elements());
    let forces = thermal_forces(problem, &moduli(n), strains);
    assert_close(&product(problem, u), forces.as_flattened(), 1e-12, what);

    let held = stresses(
        problem.kernel(),
        problem.elements(),
        &moduli(n),
        Deformed { u: &vec![0.0; u.len()], thermal: Some(strains) },
        mesh.reference_center(),
    );
    let largest = held.iter().map(|stress| norm(stress)).fold(0.0, f64::max);
    for xi in mesh.integration_points() {
        let deformed = Deformed { u, thermal: Some(strains) };
        let all = stresses(problem.kernel(), problem.elements(), &moduli(n), deformed, xi);
        assert!(all.iter().all(|stress| norm(stress) < 1e-11 * largest), "{what}");
    }
}

/// The patch test of a uniform change, on any element and with any law.
#[test]
fn a_free_body_expands_without_stress() {
    let tetrahedra = distorted_tetrahedra(2, 0.2, true);
    let curved = kuhn([2; 3], |[x, y, z]| [x + 0.1 * y * y, y - 0.1 * x * z, z], true);
    for mesh in
        [distorted_cube(3, 0.25, true), hexagon(2), wheel(2), mixed_cut(), tetrahedra, curved]
    {
        let (turned, law) = orthotropic();
        for (formulation, law, strain) in FORMULATIONS
            .iter()
            .flat_map(|&f| [(f, None, isotropic_strain(EXPANSION)), (f, Some(law), turned)])
        {
            let (n, nodes) = (mesh.n_elements(), mesh.n_nodes());
            let laws = law.map(|law| Laws::new(vec![law], vec![Some(0); n]));
            let data = ElementData { laws, ..ElementData::default() };
            let problem =
                Discretization::new(mesh.clone(), kernel(formulation), Supports::none(nodes))
                    .with_data(data);
            let change = TemperatureChange { mean: WARMTH, gradient: [0.0; 3] };
            let [xx, yy, zz, xy, yz, zx] = strain.map(|a| WARMTH * a);
            let u = mesh
                .coordinates()
                .iter()
                .flat_map(|&[x, y, z]| [xx * x + xy * y, yy * y + yz * z, zz * z + zx * x]);
            let u: Vec<f64> = u.collect();
            assert_free(&problem, &of_one(strain, n, change), &u, "uniform");
        }
    }
}

/// T = g . x bends a free body: u = a ((g . x) x - g |x|^2 / 2). Elements of straight edges and
/// parallel faces have these states.
#[test]
fn a_free_body_under_a_gradient_bends_without_stress() {
    let g = [30.0, -70.0, 50.0];
    let skewed = |[x, y, z]: [f64; 3]| [x + 0.3 * y, 0.7 * y - 0.2 * z, 0.5 * z + 0.1 * x];
    let brick = mapped_box([3, 2, 2], skewed);
    for (mesh, formulation) in [
        (distorted_tetrahedra(2, 0.2, true), Formulation::default()),
        (brick, Formulation::Incompatible),
    ] {
        let n = mesh.n_elements();
        let along = |x: &[f64; 3]| (0..3).map(|i| g[i] * x[i]).sum::<f64>();
        let changes =
            (0..n).map(|e| TemperatureChange { mean: along(&mesh.center(e)), gradient: g });
        let strain = isotropic_strain(EXPANSION);
        let strains = ThermalStrains::new(vec![strain], vec![0; n], changes.collect());
        let u = mesh.coordinates().iter().flat_map(|x| {
            let square: f64 = x.iter().map(|x| x * x).sum();
            [0, 1, 2].map(|i| EXPANSION * (along(x) * x[i] - 0.5 * g[i] * square))
        });
        let u: Vec<f64> = u.collect();
        let supports = Supports::none(mesh.n_nodes());
        let problem = Discretization::new(mesh, kernel(formulation), supports);
        assert_free(&problem, &strains, &u, "gradient");
    }
}

/// A body that is held everywhere has the pressure E a T / (1 - 2 nu), and the energy of that.
#[test]
fn a_held_body_has_the_pressure_of_theory() {
    let pressure = EXPANSION * WARMTH / (1.0 - 2.0 * RATIO);
    for mesh in [distorted_cube(3, 0.25, true), wheel(2), distorted_tetrahedra(2, 0.2, true)] {
        for formulation in FORMULATIONS {
            let n = mesh.n_elements();
            let problem =
                Discretization::new(mesh.clone(), kernel(formulation), hold(&mesh, |_| true));
            let change = TemperatureChange { mean: WARMTH, gradient: [0.0; 3] };
            let strains = of_one(isotropic_strain(EXPANSION), n, change);
            let u = vec![0.0; 3 * mesh.n_nodes()];
            for xi in mesh.integration_points() {
                let deformed = Deformed { u: &u, thermal: Some(&strains) };
                let found = stresses(problem.kernel(), &mesh, &moduli(n), deformed, xi);
                for (stress, modulus) in found.iter().zip(moduli(n)) {
                    let expected = isotropic_strain(-modulus * pressure);
                    assert_close(stress, &expected, 1e-12, "stress");
                }
            }
            let energies = restrained_energies(&problem, &strains);
            let expected =
                mesh.volumes().into_iter().map(|v| 3.0 * EXPANSION * WARMTH * pressure * v);
            assert_close(&energies, &expected.collect::<Vec<_>>(), 1e-10, "energy");
        }
    }
}

/// Loads that follow the design sum up to the forces of the elements at free components, and have
/// their work.
#[test]
fn loads_are_the_forces_at_free_components() {
    for mesh in [wheel(2), distorted_tetrahedra(1, 0.2, true)] {
        let n = mesh.n_elements();
        let changes = (0..n).map(|e| TemperatureChange {
            mean: (e % 3) as f64,
            gradient: [0.3, 0.1 * e as f64, -0.2],
        });
        let strains = ThermalStrains::new(
            vec![isotropic_strain(1.0), [0.0; 6]],
            (0..n as u32).map(|e| e / 2 % 2).collect(),
            changes.collect(),
        );
        let case = LoadCase {
            thermal: Some(strains.clone()),
            ..LoadCase::new("warm", vec![0.0; 3 * mesh.n_nodes()])
        };
        let held = hold(&mesh, |x| x[2] < 0.3);
        let material = Material::new(1.0, RATIO).unwrap();
        let problem = Problem::new(mesh, material, held, vec![case]).unwrap();
        let mut f = vec![0.0; problem.n_dofs()];
        let loads = ElementVectors::of_thermal_strains(&problem, &strains);
        loads.add(&moduli(n), &mut f);
        let mut expected = thermal_forces(&problem, &moduli(n), &strains).into_flattened();
        problem.constraints().clear(&mut expected);
        assert_close(&f, &expected, 1e-13, "forces");
        assert!(norm(&f) > 0.0);
    }
}
