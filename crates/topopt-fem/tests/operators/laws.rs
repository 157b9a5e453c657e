//! Elements with laws of their own.

use nalgebra::DMatrix;
use topopt_fem::operators::Reference;
use topopt_fem::stiffness_tensor::{Frame, Stiffness, isotropic, stress, turned};
use topopt_fem::{
    BlockJacobi, Discretization, Elasticity, ElementData, ElementKernel, ElementOperator,
    ElementPreconditioner, Formulation, Law, Laws, Material, Strategy, Supports,
    stress as stresses,
};
use topopt_linalg::{Cpu, LinearOperator, Preconditioner};
use topopt_mesh::HexMesh;
use topopt_testing::{
    Noise, assert_close, distorted_cube, distorted_tetrahedra, hexagon, mixed_cut, norm, wheel,
};

use crate::mechanics::linear_field;
use crate::{hold, moduli};

const FORMULATIONS: [Formulation; 2] = [Formulation::Full, Formulation::Incompatible];

fn frame() -> Frame {
    let ((s, c), (t, d)) = (0.7f64.sin_cos(), 0.4f64.sin_cos());
    [[c, s, 0.0], [-s * d, c * d, t], [s * t, -c * t, d]]
}

/// An orthotropic stiffness in a frame.
fn orthotropic() -> Stiffness {
    let mut d = isotropic((0.4, 0.4));
    (d[0][0], d[2][2], d[3][3], d[5][5]) = (6.0, 0.9, 0.9, 0.15);
    (d[0][1], d[1][0]) = (0.6, 0.6);
    turned(&d, &frame())
}

/// Laws of elements in turn: none, another ratio, a stiffness.
pub fn mixed(n_elements: usize) -> Laws {
    let of_ratio = Law::Isotropic(Material::new(1.0, 0.45).unwrap());
    let number = |e: usize| (e * 7 % 5 % 3).checked_sub(1).map(|number| number as u32);
    let numbers = (0..n_elements).map(number);
    Laws::new(vec![of_ratio, Law::Anisotropic(orthotropic())], numbers.collect())
}

fn kernel(formulation: Formulation) -> Elasticity {
    Elasticity::new(&Material::new(1.0, 0.2).unwrap()).with(formulation)
}

fn problem(
    mesh: HexMesh,
    kernel: Elasticity,
    supports: Supports,
    laws: Laws,
) -> Discretization<Elasticity, 3> {
    let data = ElementData { laws: Some(laws), ..ElementData::default() };
    Discretization::new(mesh, kernel, supports).with_data(data)
}

fn meshes() -> [HexMesh; 5] {
    let tetrahedra = distorted_tetrahedra(2, 0.2, true);
    [distorted_cube(9, 0.25, true), hexagon(3), wheel(4), mixed_cut(), tetrahedra]
}

#[test]
fn operators_of_laws_equal_the_reference() {
    for (mesh, formulation) in
        meshes().into_iter().flat_map(|m| FORMULATIONS.map(|f| (m.clone(), f)))
    {
        let (n, supports) = (mesh.n_elements(), hold(&mesh, |x| x[2] < 0.3));
        let problem = problem(mesh, kernel(formulation), supports, mixed(n));
        let (u, v) = (Noise(11).vector(problem.n_dofs()), Noise(12).vector(problem.n_dofs()));
        let all = |operator: &mut dyn ElementOperator<Cpu>| {
            operator.set_coefficients(&[&moduli(n)]);
            let [mut product, mut diagonal] = [(); 2].map(|()| vec![f64::NAN; u.len()]);
            let mut works = vec![f64::NAN; n];
            operator.apply(&u, &mut product);
            operator.diagonal(&mut diagonal);
            operator.element_work(0, &v, &u, &mut works);
            let mut blocks = BlockJacobi::new(&problem);
            blocks.update(&Cpu, operator, &[&moduli(n)]).unwrap();
            let mut smoothed = vec![f64::NAN; u.len()];
            blocks.apply(&Cpu, &u, &mut smoothed);
            [product, diagonal, works, smoothed]
        };
        let expected = all(&mut Reference::new(&problem));
        for strategy in Strategy::of(&problem.elements()) {
            let found = all(strategy.build(&problem).as_mut());
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(found, expected, 1e-13, strategy.name());
            }
        }
    }
}

/// Blocks of block Jacobi against products of unit vectors of the reference.
#[test]
fn diagonal_blocks_of_laws_are_those_of_the_products() {
    for mesh in [wheel(2), mixed_cut(), distorted_tetrahedra(1, 0.2, true)] {
        let (n, held) = (mesh.n_elements(), hold(&mesh, |x| x[2] < 0.2));
        let problem = problem(mesh, kernel(Formulation::Incompatible), held, mixed(n));
        let mut reference = Reference::new(&problem);
        reference.set_coefficients(&[&moduli(n)]);
        let mut blocks = BlockJacobi::new(&problem);
        blocks.update(&Cpu, &reference, &[&moduli(n)]).unwrap();
        for k in (0..problem.n_dofs()).step_by(7) {
            let unit: Vec<f64> = (0..problem.n_dofs()).map(|i| f64::from(i == k)).collect();
            let (mut column, mut z) = (vec![0.0; unit.len()], vec![f64::NAN; unit.len()]);
            reference.apply(&unit, &mut column);
            let of_node = 3 * (k / 3)..3 * (k / 3) + 3;
            (0..column.len()).filter(|i| !of_node.contains(i)).for_each(|i| column[i] = 0.0);
            blocks.apply(&Cpu, &column, &mut z);
            assert_close(&z, &unit, 1e-10, "block");
        }
    }
}

/// Another ratio has the bits of a part of that ratio; a matrix of the isotropic law its numbers.
#[test]
fn laws_of_isotropic_materials_are_isotropic_kernels() {
    let material = Material::new(1.0, 0.45).unwrap();
    let matrix = Law::Anisotropic(turned(&isotropic(material.unit_lame()), &frame()));
    for (mesh, formulation) in
        meshes().into_iter().flat_map(|m| FORMULATIONS.map(|f| (m.clone(), f)))
    {
        let (n, held) = (mesh.n_elements(), hold(&mesh, |x| x[2] < 0.3));
        let u = Noise(11).vector(3 * mesh.n_nodes());
        let product = |kernel: Elasticity, laws: Option<Law>| {
            let data = laws.map(|law| Laws::new(vec![law], vec![Some(0); n]));
            let data = ElementData { laws: data, ..ElementData::default() };
            let problem = Discretization::new(mesh.clone(), kernel, held.clone()).with_data(data);
            let mut operator = Strategy::Mf.build(&problem);
            operator.set_coefficients(&[&moduli(n)]);
            let mut product = vec![f64::NAN; u.len()];
            operator.apply(&u, &mut product);
            product
        };
        let expected = product(Elasticity::new(&material).with(formulation), None);
        let found = product(kernel(formulation), Some(Law::Isotropic(material)));
        assert_eq!(found, expected);
        let found = product(kernel(formulation), Some(matrix));
        assert_close(&found, &expected, 1e-13, "matrix");
    }
}

/// Linear displacements leave no force within an anisotropic part, and the stress is D : strain.
#[test]
fn the_patch_test_in_a_frame() {
    let d = orthotropic();
    for (mesh, formulation) in
        meshes().into_iter().flat_map(|m| FORMULATIONS.map(|f| (m.clone(), f)))
    {
        let n = mesh.n_elements();
        let laws = Laws::new(vec![Law::Anisotropic(d)], vec![Some(0); n]);
        let supports = Supports::none(mesh.n_nodes());
        let problem = problem(mesh, kernel(formulation), supports, laws);
        let (mesh, u) = (problem.mesh(), linear_field(problem.mesh()));
        let strain = [0.3, 0.4, -0.25, -0.15, -0.2, 0.3];
        let expected = stress(&d, &strain);
        let center = mesh.reference_center();
        for found in
            stresses::stresses(problem.kernel(), problem.elements(), &vec![2.0; n], &u, center)
        {
            (0..6).for_each(|i| assert!((found[i] - 2.0 * expected[i]).abs() < 1e-12));
        }

        let surface: Vec<u32> = topopt_mesh::surface::boundary_faces(mesh)
            .into_iter()
            .flat_map(|face| face.all_nodes(mesh).collect::<Vec<_>>())
            .collect();
        for strategy in Strategy::of(&problem.elements()) {
            let mut operator = strategy.build(&problem);
            operator.set_coefficients(&[&vec![1.0; n]]);
            let mut force = vec![f64::NAN; u.len()];
            operator.apply(&u, &mut force);
            let largest = norm(&force);
            for (node, force) in force.as_chunks::<3>().0.iter().enumerate() {
                let is_within = !surface.contains(&(node as u32));
                assert!(!is_within || norm(force) < 1e-12 * largest, "{}", strategy.name());
            }
        }
    }
}

#[test]
fn bounds_of_laws_are_above_the_largest_eigenvalues() {
    let mesh = distorted_cube(3, 0.3, true);
    for formulation in FORMULATIONS {
        let n = mesh.n_elements();
        let none = Supports::none(mesh.n_nodes());
        let problem = problem(mesh.clone(), kernel(formulation), none, mixed(n));
        let elements = problem.elements();
        let bounds = problem.kernel().bounds(&elements);
        for (e, bound) in bounds.into_iter().enumerate().filter(|(e, _)| e * 7 % 5 % 3 > 0) {
            let kernel = problem.kernel().of_element(&elements, e);
            let ke = kernel.matrix(0, &elements.corners(e));
            let k = DMatrix::from_fn(24, 24, |i, j| ke[i / 3][i % 3][j / 3][j % 3]);
            let d = DMatrix::from_fn(24, 24, |i, j| if i / 3 == j / 3 { k[(i, j)] } else { 0.0 });
            let l = d.cholesky().unwrap().l().try_inverse().unwrap();
            let exact = (&l * k * l.transpose()).symmetric_eigenvalues().max();
            let share = f64::from(bound) / exact;
            assert!((0.999_999..1.06).contains(&share), "{e}: {share}");
        }
    }
}
