//! Every operator against the reference, by name, and against mechanics.

mod bending;
mod convergence;
mod diffusion;
mod element_loads;
mod films;
mod half_model;
mod laws;
mod mechanics;
mod multigrid;
mod patch_smoother;
mod ranks;
mod recovery;
mod spread_loads;
mod stresses;
mod surface_load;
mod tetrahedra;
mod thermal_strain;
mod transient;

use topopt_fem::operators::Reference;
use topopt_fem::{
    BlockJacobi, Discretization, Elasticity, ElementOperator, ElementPreconditioner, Formulation,
    LoadCase, Material, Multigrid, Problem, Strategy, Supports, WithSprings,
};
use topopt_linalg::{Backend, Cpu, CycleKind, Hierarchy, Preconditioner};
use topopt_mesh::HexMesh;
use topopt_testing::{
    Noise, assert_close, assert_smooths, distorted_cube, hexagon, mixed_cut, wheel,
};

/// A problem on `mesh` with `supports`, steel-like Poisson's ratio and one load.
pub fn problem(mesh: HexMesh, supports: Supports) -> Problem {
    problem_by(Formulation::Full, mesh, supports)
}

/// Such a problem by a formulation of the elements.
fn problem_by(formulation: Formulation, mesh: HexMesh, supports: Supports) -> Problem {
    let n = mesh.n_nodes();
    let load = LoadCase::new("default", vec![1.0; 3 * n]);
    let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap()).with(formulation);
    Problem::of(Discretization::new(mesh, kernel, supports), vec![load]).unwrap()
}

/// Supports that hold the nodes where `held` is true.
pub fn hold(mesh: &HexMesh, held: impl Fn([f64; 3]) -> bool) -> Supports {
    let mut supports = Supports::none(mesh.n_nodes());
    for (node, &x) in mesh.coordinates().iter().enumerate() {
        if held(x) {
            (0..3).for_each(|i| supports.fix(node, i));
        }
    }
    supports
}

/// One distorted element, a distorted box of several patches, with elements in rows as long as
/// the widest register and others, a mesh of irregular valence, one with wedges and one with
/// pyramids; the supports hold some components only.
fn problems() -> Vec<(&'static str, Problem)> {
    let formulations = [Formulation::Full, Formulation::Incompatible];
    formulations.into_iter().flat_map(problems_by).collect()
}

fn problems_by(formulation: Formulation) -> Vec<(&'static str, Problem)> {
    let meshes = [
        ("one element", distorted_cube(1, 0.2, true)),
        ("distorted box", distorted_cube(11, 0.25, true)),
        ("irregular valence", hexagon(6)),
        ("wedges", wheel(5)),
        ("pyramids", mixed_cut()),
    ];
    let with_supports = |(name, mesh): (&'static str, HexMesh)| {
        let mut supports = hold(&mesh, |x| x[2] < 0.3);
        supports.fix(mesh.n_nodes() - 1, 1);
        (name, problem_by(formulation, mesh, supports))
    };
    meshes.map(with_supports).into()
}

fn operators(problem: &Problem) -> Vec<Box<dyn ElementOperator<Cpu> + '_>> {
    Strategy::ALL.iter().map(|strategy| strategy.build(problem)).collect()
}

/// Moduli over a SIMP contrast of 1e-6.
fn moduli(n: usize) -> Vec<f64> {
    Noise(3).vector(n).iter().map(|v| 10f64.powf(3.0 * (v - 1.0))).collect()
}

#[test]
fn every_operator_equals_the_reference() {
    for (name, problem) in problems() {
        let n = problem.mesh().n_elements();
        let u = Noise(11).vector(problem.n_dofs());
        let mut reference = Reference::new(&problem);
        reference.set_coefficients(&[&moduli(n)]);
        for mut operator in operators(&problem) {
            operator.set_coefficients(&[&moduli(n)]);
            assert_eq!(operator.dimension(), problem.n_dofs());
            let what = |part: &str| format!("{} of {} on {name}", part, operator.strategy());
            type Part = fn(&dyn ElementOperator<Cpu>, &Vec<f64>, &mut Vec<f64>);
            let parts: [(&str, usize, &Vec<f64>, Part); 3] = [
                ("product", problem.n_dofs(), &u, |k, u, y| k.apply(u, y)),
                ("diagonal", problem.n_dofs(), &u, |k, _, y| k.diagonal(y)),
                ("energies", n, &u, |k, u, y| k.element_work(0, u, u, y)),
            ];
            for (part, len, u, compute) in parts {
                let (mut found, mut expected) = (vec![f64::NAN; len], vec![f64::NAN; len]);
                compute(operator.as_ref(), u, &mut found);
                compute(&reference, u, &mut expected);
                assert_close(&found, &expected, 1e-13, &what(part));
            }
        }
    }
}

/// The diagonal, and the blocks of block Jacobi, against the products of unit vectors.
#[test]
fn the_diagonal_of_wedges_is_that_of_the_products() {
    let mesh = wheel(2);
    let problem = problem(mesh.clone(), hold(&mesh, |x| x[2] < 0.2));
    let moduli = moduli(mesh.n_elements());
    let mut reference = Reference::new(&problem);
    reference.set_coefficients(&[&moduli]);
    let unit = |k: usize| (0..problem.n_dofs()).map(|i| f64::from(i == k)).collect();
    let columns: Vec<Vec<f64>> = (0..problem.n_dofs())
        .map(|k| product_and_diagonal(&reference, &unit(k))[0].clone())
        .collect();
    let expected: Vec<f64> = columns.iter().enumerate().map(|(k, column)| column[k]).collect();
    for mut operator in operators(&problem) {
        operator.set_coefficients(&[&moduli]);
        let [_, found] = product_and_diagonal(operator.as_ref(), &unit(0));
        assert_close(&found, &expected, 1e-13, operator.strategy());
    }
    let mut blocks = BlockJacobi::new(&problem);
    blocks.update(&Cpu, &reference, &[&moduli]).unwrap();
    for (k, column) in columns.iter().enumerate() {
        let of_node = 3 * (k / 3)..3 * (k / 3) + 3;
        let mut r = vec![0.0; problem.n_dofs()];
        r[of_node.clone()].copy_from_slice(&column[of_node]);
        let mut z = vec![f64::NAN; r.len()];
        blocks.apply(&Cpu, &r, &mut z);
        assert_close(&z, &unit(k), 1e-10, "block-jacobi");
    }
}

#[test]
fn springs_add_to_every_operator() {
    let (_, plain) = problems().remove(1);
    let mut supports = plain.supports().clone();
    let stiffness = Noise(6).vector(plain.n_dofs());
    (0..plain.n_dofs()).for_each(|k| supports.add_spring(k / 3, k % 3, stiffness[k].abs()));
    let problem = self::problem(plain.mesh().clone(), supports);
    let springs = problem.supports().springs().unwrap();
    let u = Noise(11).vector(problem.n_dofs());
    for mut operator in operators(&problem) {
        operator.set_coefficients(&[&moduli(problem.mesh().n_elements())]);
        let [mut product, mut diagonal] = product_and_diagonal(operator.as_ref(), &u);
        for k in 0..u.len() {
            assert!(
                springs[k] == if supports_hold(&problem, k) { 0.0 } else { stiffness[k].abs() }
            );
            product[k] += springs[k] * u[k];
            diagonal[k] += springs[k];
        }
        let name = operator.strategy();
        let with = WithSprings::new(&Cpu, &problem, operator).unwrap();
        assert_eq!(product_and_diagonal(&with, &u), [product, diagonal], "{name}");
    }
}

fn product_and_diagonal(k: &dyn ElementOperator<Cpu>, u: &Vec<f64>) -> [Vec<f64>; 2] {
    let [mut product, mut diagonal] = [vec![f64::NAN; u.len()], vec![f64::NAN; u.len()]];
    k.apply(u, &mut product);
    k.diagonal(&mut diagonal);
    [product, diagonal]
}

fn supports_hold(problem: &Problem, dof: usize) -> bool {
    problem.supports().is_fixed(dof / 3, dof % 3)
}

#[test]
fn every_operator_is_symmetric_and_does_not_depend_on_threads() {
    let (_, problem) = problems().remove(1);
    let (x, y) = (Noise(1).vector(problem.n_dofs()), Noise(2).vector(problem.n_dofs()));
    for mut operator in operators(&problem) {
        let moduli = moduli(problem.mesh().n_elements());
        let mut apply = |v: &Vec<f64>, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0.0; v.len()];
            pool.install(|| {
                operator.set_coefficients(&[&moduli]);
                operator.apply(v, &mut out);
            });
            out
        };
        let (kx, ky) = (apply(&x, 1), apply(&y, 1));
        let scale = (Cpu.dot(&kx, &kx) * Cpu.dot(&y, &y)).sqrt();
        let difference = (Cpu.dot(&kx, &y) - Cpu.dot(&ky, &x)).abs();
        assert!(difference < 1e-14 * scale, "{}", operator.strategy());
        assert_eq!(kx, apply(&x, 3), "{}", operator.strategy());
    }
}

/// Also where nodes stand twice or four times in an element.
#[test]
fn the_assembled_matrix_is_symmetric_to_the_bit() {
    for mesh in [distorted_cube(3, 0.3, true), hexagon(2), wheel(2), mixed_cut()] {
        let problem = problem(mesh.clone(), hold(&mesh, |x| x[2] < 0.2));
        let mut operator = Strategy::Bsr.build(&problem);
        operator.set_coefficients(&[&moduli(mesh.n_elements())]);
        let n = problem.n_dofs();
        let column = |k: usize| {
            let unit: Vec<f64> = (0..n).map(|i| f64::from(i == k)).collect();
            let mut column = vec![f64::NAN; n];
            operator.apply(&unit, &mut column);
            column
        };
        let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
        for i in 0..n {
            (0..i).for_each(|j| assert_eq!(columns[i][j].to_bits(), columns[j][i].to_bits()));
        }
    }
}

#[test]
fn smoothing_in_one_pass_is_what_it_is_made_of() {
    let mesh = distorted_cube(11, 0.25, true);
    let supports = hold(&mesh, |x| x[0] < 0.1);
    let problem = problem(mesh, supports);
    let mut multigrid = Multigrid::new(&problem, CycleKind::K).unwrap();
    let moduli = moduli(problem.mesh().n_elements());
    multigrid.update(&Cpu, Strategy::Mf.build(&problem).as_ref(), &[&moduli]).unwrap();
    let hierarchy = multigrid.hierarchy();
    for level in 0..hierarchy.n_levels() - 1 {
        assert_smooths(&Cpu, hierarchy.inverse_diagonal(level), 1e-14);
    }
}
