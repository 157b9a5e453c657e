//! The filter against the equation that it solves, and its multigrid.

use std::f64::consts::PI;

use nalgebra::DMatrix;
use topopt_linalg::{Backend, Preconditioner};
use topopt_mesh::Renumbering;

use super::*;
use crate::operators::Reference;
use crate::{
    Constraints, Discretization, ElementOperator, ElementPreconditioner, Jacobi, Strategy,
};

use topopt_testing::{Noise, distorted_cube, distorted_tetrahedra, kuhn, mapped_cube, wheel};

fn meshes() -> [HexMesh; 5] {
    let bulge = |[x, y, z]: [f64; 3]| [x, y + 0.1 * x * x, z + 0.2 * x * y];
    let shuffled = |mesh: HexMesh| Renumbering::shuffled(&mesh, 3).apply(&mesh);
    [
        shuffled(distorted_cube(12, 0.25, true)),
        distorted_cube(3, 0.2, false),
        wheel(6),
        shuffled(distorted_tetrahedra(7, 0.2, true)),
        kuhn([5, 3, 4], bulge, true),
    ]
}

/// The mesh on which the equation stands.
fn own(mesh: &HexMesh) -> HexMesh {
    mesh.linear().unwrap_or_else(|| mesh.clone())
}

fn apply(a: &dyn Averaging<Cpu>, x: &Vec<f64>) -> Vec<f64> {
    let mut y = vec![0.0; a.space().len()];
    a.apply(x, &mut y).unwrap();
    y
}

fn product(a: &dyn LinearOperator<Cpu>, x: &Vec<f64>) -> Vec<f64> {
    let mut y = vec![0.0; a.dimension()];
    a.apply(x, &mut y);
    y
}

fn largest_difference(a: &[f64], b: impl IntoIterator<Item = f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Iterations of the filter of noise.
fn iterations(filter: &Helmholtz<'_, Cpu, AssembledEquation>) -> usize {
    let n = filter.equation.n_elements();
    filter.solve(&Noise(7).vector(n), &mut vec![0.0; n]).unwrap().iterations
}

#[test]
fn it_is_symmetric_and_keeps_constants_and_sums() {
    for mesh in meshes() {
        let filter = Helmholtz::new(&mesh, 0.6).unwrap();
        let volumes = mesh.volumes();
        let ones = apply(&filter, &volumes);
        assert!(largest_difference(&ones, vec![1.0; ones.len()]) < 1e-10);
        let (x, z) = (Noise(1).vector(ones.len()), Noise(2).vector(ones.len()));
        let (y, w) = (apply(&filter, &x), apply(&filter, &z));
        assert!(
            (Cpu.dot(&volumes, &y) - x.iter().sum::<f64>()).abs() < 1e-9 * Cpu.dot(&x, &x).sqrt()
        );
        assert!((Cpu.dot(&y, &z) - Cpu.dot(&x, &w)).abs() < 1e-9 * Cpu.dot(&y, &x));
    }
}

#[test]
fn a_spike_on_cubes_spreads_within_its_bounds() {
    let mesh = mapped_cube(10, |x| x);
    for radius in [0.05, 0.2, 1.0] {
        let filter = Helmholtz::new(&mesh, radius).unwrap();
        let mut x = vec![0.0; mesh.n_elements()];
        x[345] = mesh.volumes()[345];
        let y = apply(&filter, &x);
        assert!(y.iter().all(|&y| (-1e-12..=1.0).contains(&y)));
        assert!(y[345] == y.iter().copied().fold(0.0, f64::max) && y[345] < 1.0);
    }
}

#[test]
fn it_blurs_as_much_as_the_cone() {
    let (n, h) = (19, 1.0 / 19.0);
    let mesh = mapped_cube(n, |x| x);
    let radius = 3.0 * h;
    let middle = n.pow(3) / 2;
    let mut x = vec![0.0; n.pow(3)];
    x[middle] = 1.0;
    let y = apply(&Helmholtz::new(&mesh, radius).unwrap(), &x);
    let centers = mesh.centers();
    let moment: f64 =
        (0..y.len()).map(|e| y[e] * (centers[e][0] - centers[middle][0]).powi(2)).sum();
    let variance = moment * h.powi(3); // of 2 r^2, which is R^2 / 6
    assert!((6.0 * variance / (radius * radius) - 1.0).abs() < 1e-3, "{variance}");
}

/// A spike in each of the six tetrahedra of a brick, whose mean is as wide as the cone.
#[test]
fn it_blurs_as_much_as_the_cone_on_tetrahedra() {
    let (n, radius) = (13, 0.25);
    let mesh = kuhn([n; 3], |x| x, false);
    let (centers, volume) = (mesh.centers(), mesh.volumes()[0]);
    let filter = Helmholtz::new(&mesh, radius).unwrap();
    let middle = 6 * (n.pow(3) / 2);
    let variances = (middle..middle + 6).map(|spike| {
        let mut x = vec![0.0; centers.len()];
        x[spike] = 1.0;
        let y = apply(&filter, &x);
        let square = |c: &[f64; 3]| (0..3).map(|i| (c[i] - centers[spike][i]).powi(2)).sum::<f64>();
        y.iter().zip(&centers).map(|(y, c)| y * square(c) * volume / 3.0).sum::<f64>()
    });
    let variance = variances.sum::<f64>() / 6.0;
    assert!((6.0 * variance / (radius * radius) - 1.0).abs() < 1e-2, "{variance}");
}

/// A spike on tetrahedra without obtuse angles stays within its bounds.
#[test]
fn a_spike_on_tetrahedra_spreads_within_its_bounds() {
    let mesh = kuhn([6; 3], |x| x, false);
    for radius in [0.05, 0.3, 1.0] {
        let mut x = vec![0.0; mesh.n_elements()];
        x[345] = mesh.volumes()[345];
        let y = apply(&Helmholtz::new(&mesh, radius).unwrap(), &x);
        assert!(y.iter().all(|&y| (-1e-12..=1.0).contains(&y)));
    }
}

/// The exact n = cos(pi x) cos(pi y) cos(pi z), which has no flux through the unit cube's surface.
#[test]
fn it_is_of_second_order() {
    assert_second_order([8, 16].map(|n| mapped_cube(n, wavy)));
    assert_second_order([8, 16].map(|n| kuhn([n; 3], wavy, true)));
}

fn wavy(x: [f64; 3]) -> [f64; 3] {
    let shift = 0.12 * x.map(|v| (PI * v).sin()).iter().product::<f64>();
    [x[0] + shift, x[1] - shift, x[2] + 0.5 * shift]
}

fn assert_second_order(meshes: [HexMesh; 2]) {
    let exact = |x: [f64; 3]| x.map(|v| (PI * v).cos()).iter().product::<f64>();
    let radius = 0.8;
    let factor = 1.0 + 3.0 * PI * PI * radius * radius / 12.0; // 1 + 3 pi^2 r^2
    let errors = meshes.map(|mesh| {
        let (centers, volumes) = (mesh.centers(), mesh.volumes());
        let x = centers.iter().zip(&volumes).map(|(&c, v)| factor * exact(c) * v).collect();
        let y = apply(&Helmholtz::new(&mesh, radius).unwrap(), &x);
        let square = |((&c, v), y): ((&[f64; 3], &f64), &f64)| v * (y - exact(c)).powi(2);
        centers.iter().zip(&volumes).zip(&y).map(square).sum::<f64>().sqrt()
    });
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.2, "order {order:.3}, errors {errors:?}");
}

#[test]
fn every_level_is_the_galerkin_product_and_reproduces_constants() {
    for mesh in meshes() {
        let filter = Helmholtz::new(&mesh, 0.6).unwrap();
        let hierarchy = filter.equation.multigrid.hierarchy();
        assert!(hierarchy.n_levels() >= 2);

        for level in 0..hierarchy.n_levels() - 1 {
            let (a, coarse) = (hierarchy.operator(level), hierarchy.operator(level + 1));
            let (n, m) = (a.dimension(), coarse.dimension());
            let transfer = hierarchy.transfer(level);
            let prolonged = |x: &Vec<f64>| {
                let mut fine = vec![0.0; n];
                transfer.prolong_add(x, &mut fine);
                fine
            };
            assert_eq!(prolonged(&vec![1.0; m]), vec![1.0; n]);

            let dense = |map: &dyn Fn(&Vec<f64>) -> Vec<f64>| {
                let unit = |j: usize| (0..m).map(|i| f64::from(i == j)).collect();
                let columns: Vec<_> = (0..m).map(|j| map(&unit(j)).into()).collect();
                DMatrix::from_columns(&columns)
            };

            let p = dense(&prolonged);
            let expected = p.transpose() * dense(&|x| product(a, &prolonged(x)));
            let restricted = dense(&|x| {
                let mut sums = vec![0.0; m];
                transfer.restrict(&product(a, &prolonged(x)), &mut sums);
                sums
            });

            let size = expected.amax();
            assert!((dense(&|x| product(coarse, x)) - &expected).amax() < 1e-12 * size);
            assert!((restricted - &expected).amax() < 1e-12 * size, "level {level}");
        }
    }
}

#[test]
fn the_cycle_is_positive_definite() {
    for mesh in meshes() {
        let filter = Helmholtz::new(&mesh, 0.6).unwrap();
        for seed in 0..5 {
            let r = Noise(seed).vector(mesh.n_vertices());
            let mut z = vec![0.0; r.len()];
            filter.equation.multigrid.apply(&Cpu, &r, &mut z);
            assert!(Cpu.dot(&r, &z) > 0.0);
        }
    }
}

/// A is the operator of diffusion with those coefficients.
#[test]
fn the_assembled_equation_is_the_reference_of_diffusion() {
    for whole in meshes() {
        let mesh = own(&whole);
        let constraints = Constraints::none(mesh.n_nodes());
        let problem = Discretization::new(mesh.clone(), Diffusion::default(), constraints);
        let mut reference = Reference::new(&problem);
        let [k, c] = filter_coefficients(&whole, 0.6);
        reference.set_coefficients(&[&k, &c]);
        let filter = Helmholtz::new(&whole, 0.6).unwrap();
        let x = Noise(3).vector(mesh.n_nodes());
        let (found, expected) = (product(filter.equation.operator(), &x), product(&reference, &x));
        let size = expected.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
        assert!(largest_difference(&found, expected) < 1e-14 * size);
    }
}

/// An equation in the terms of any backend: matrix-free diffusion, preconditioned by its diagonal.
struct MatrixFree<'a> {
    operator: Box<dyn ElementOperator<Cpu> + 'a>,
    jacobi: Jacobi<Cpu>,
    assembled: &'a AssembledEquation,
}

impl FilterEquation<Cpu> for MatrixFree<'_> {
    fn operator(&self) -> &dyn LinearOperator<Cpu> {
        self.operator.as_ref()
    }

    fn preconditioner(&self) -> &dyn Preconditioner<Cpu> {
        &self.jacobi
    }

    fn n_elements(&self) -> usize {
        self.assembled.n_elements()
    }

    fn means(&self) -> &dyn ElementMeans<Cpu> {
        self.assembled.means()
    }
}

#[test]
fn matrix_free_diffusion_filters_as_the_assembled_equation() {
    for whole in meshes() {
        let mesh = own(&whole);
        let constraints = Constraints::none(mesh.n_nodes());
        let problem = Discretization::new(mesh.clone(), Diffusion::default(), constraints);
        let [k, c] = filter_coefficients(&whole, 0.6);
        let mut operator = Strategy::Mf.build(&problem);
        operator.set_coefficients(&[&k, &c]);
        let mut jacobi = Jacobi::new(&Cpu, problem.space()).unwrap();
        jacobi.update(&Cpu, operator.as_ref(), &[&k, &c]).unwrap();
        let expected = Helmholtz::new(&whole, 0.6).unwrap();
        let assembled = &expected.equation;
        let filter = Helmholtz::solving(&Cpu, MatrixFree { operator, jacobi, assembled }).unwrap();
        let x = Noise(4).vector(mesh.n_elements());
        let (found, expected) = (apply(&filter, &x), apply(&expected, &x));
        let size = expected.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
        assert!(largest_difference(&found, expected) < 1e-9 * size);
    }
}

/// On a mesh so graded that solves are slow, in which a multigrid would grow stronger.
#[test]
fn an_application_leaves_the_next_one_as_it_is() {
    let mesh = mapped_cube(16, |x| x.map(|v| (27_f64.powf(v) - 1.0) / 26.0));
    let filter = Helmholtz::new(&mesh, 0.5).unwrap();
    let n = mesh.n_elements();
    let slow = iterations(&filter);
    assert!(slow > 24, "{slow}");
    let x = Noise(3).vector(n);
    let first = apply(&filter, &x);
    iterations(&filter);
    assert_eq!(apply(&filter, &x), first);
    assert_eq!(apply(&Helmholtz::new(&mesh, 0.5).unwrap(), &x), first);
}

#[test]
fn what_is_not_solved_is_an_error() {
    let mesh = distorted_cube(3, 0.2, false);
    let filter = Helmholtz::new(&mesh, 0.6).unwrap();
    let mut x = mesh.volumes();
    x[5] = f64::NAN;
    let error = filter.apply(&x, &mut vec![0.0; x.len()]).unwrap_err();
    let AveragingError::NotSolved(outcome) = &error else { panic!("{error}") };
    assert_eq!(outcome.reason, StopReason::NotFinite);
    assert!(error.to_string().contains("the equation of the filter was not solved"), "{error}");
    x[5] = 1.0;
    apply(&filter, &x); // as if nothing had been
}

/// The radius in terms of the elements grows fourfold, and the condition of A sixteenfold.
#[test]
fn iterations_do_not_grow_with_the_mesh() {
    let counts = [8, 16, 32].map(|n| {
        let mesh = distorted_cube(n, 0.2, true);
        iterations(&Helmholtz::new(&mesh, 0.5).unwrap())
    });
    assert!(counts.iter().all(|&n| n <= 20), "{counts:?}");
    let counts = [5, 10]
        .map(|n| iterations(&Helmholtz::new(&distorted_tetrahedra(n, 0.2, true), 0.5).unwrap()));
    assert!(counts.iter().all(|&n| n <= 20), "{counts:?}");
    let usual = distorted_cube(32, 0.2, true);
    let count = iterations(&Helmholtz::new(&usual, 3.0 / 32.0).unwrap());
    assert!(count <= 20, "{count}");
}
