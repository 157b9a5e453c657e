//! Multigrid smoothed by patches, for one and for three unknowns per node.

use std::ops::ControlFlow;

use topopt_fem::{
    Constraints, CpuSolvers, Diffusion, Discretization, Elasticity, ElementPreconditioner, MODES,
    Material, Multigrid, NodalModes, Strategy, WithSprings,
};
use topopt_linalg::{
    Backend, Cpu, CycleKind, Hierarchy, LinearOperator, Pcg, PcgOptions, Preconditioner,
    SmootherKind, StopReason, System,
};
use topopt_mesh::HexMesh;
use topopt_testing::{Noise, assert_close, distorted_cube};

/// A distorted cube that is held below and stands on some springs.
fn problem<K: CpuSolvers<N>, const N: usize>(n: usize, kernel: K) -> Discretization<K, N> {
    let mesh: HexMesh = distorted_cube(n, 0.2, true);
    let mut constraints = Constraints::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if x[2] < 0.3 / n as f64 {
            (0..N).for_each(|i| constraints.fix(node, i));
        } else if node % 7 == 0 {
            constraints.add_spring(node, N - 1, 1e-3);
        }
    }
    Discretization::new(mesh, kernel, constraints)
}

fn heat(n: usize) -> Discretization<Diffusion, 1> {
    problem(n, Diffusion::default())
}

fn elastic(n: usize) -> Discretization<Elasticity, 3> {
    problem(n, Elasticity::new(&Material::new(1.0, 0.3).unwrap()))
}

/// Bars of 1 in void of 1 / contrast, and the elements that are void.
fn bars(mesh: &HexMesh, contrast: f64) -> (Vec<f64>, Vec<u32>) {
    let is_solid =
        |x: &[f64; 3]| (9.0 * x[0]).sin() + (7.0 * x[1]).cos() > 0.0 || x[2] > 0.8 || x[2] < 0.1;
    let solid: Vec<bool> = mesh.centers().iter().map(is_solid).collect();
    let values = solid.iter().map(|&solid| if solid { 1.0 } else { 1.0 / contrast }).collect();
    let void = (0..).zip(&solid).filter(|(_, solid)| !**solid).map(|(e, _)| e).collect();
    (values, if contrast > 1.0 { void } else { Vec::new() })
}

/// A multigrid over at least three levels, made around the void.
fn multigrid<'a, K: CpuSolvers<N>, const N: usize, const M: usize>(
    problem: &'a Discretization<K, N>,
    kind: CycleKind,
    contrast: f64,
) -> Multigrid<'a, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    let (values, void) = bars(problem.mesh(), contrast);
    let none = vec![0.0; values.len()];
    let coefficients = [&values, &none];
    let mut m = Multigrid::down_to(40, problem, kind, SmootherKind::Patch).unwrap();
    assert!(m.levels().len() >= 3);
    if !void.is_empty() {
        m.restructure(&Cpu, &void).unwrap();
    }
    let operator = Strategy::Mf.build(problem);
    m.update(&Cpu, operator.as_ref(), &coefficients[..K::TERMS]).unwrap();
    m
}

fn applied(m: &dyn Preconditioner<Cpu>, r: &Vec<f64>) -> Vec<f64> {
    let mut z = vec![0.0; r.len()];
    m.apply(&Cpu, r, &mut z);
    z
}

fn free_noise<K: CpuSolvers<N>, const N: usize>(
    problem: &Discretization<K, N>,
    seed: u64,
) -> Vec<f64> {
    let mut r = Noise(seed).vector(problem.n_dofs());
    problem.constraints().clear(&mut r);
    r
}

/// Iterations to a relative residual of 1e-8.
fn iterations<K: CpuSolvers<N>, const N: usize, const M: usize>(
    problem: &Discretization<K, N>,
    kind: CycleKind,
    contrast: f64,
) -> usize
where
    [f64; M]: NodalModes<N>,
{
    let m = multigrid::<K, N, M>(problem, kind, contrast);
    let (values, _) = bars(problem.mesh(), contrast);
    let none = vec![0.0; values.len()];
    let mut a = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    topopt_fem::ElementOperator::set_coefficients(&mut a, &[&values, &none][..K::TERMS]);
    let f = free_noise(problem, 5);
    let (mut u, mut pcg) = (vec![0.0; f.len()], Pcg::new(&Cpu, a.space()).unwrap());
    let system = System { backend: &Cpu, a: &a, m: &m, f: &f };
    let options = PcgOptions { tolerance: 1e-8, max_iterations: 500 };
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged, "{kind:?}, contrast {contrast:e}");
    outcome.iterations
}

#[test]
fn it_converges_at_every_contrast() {
    for kind in [CycleKind::K, CycleKind::V] {
        let contrasts = [1.0, 1e3, 1e6, 1e9];
        let of_heat = contrasts.map(|c| iterations::<_, 1, 1>(&heat(12), kind, c));
        let of_elasticity = contrasts.map(|c| iterations::<_, 3, MODES>(&elastic(10), kind, c));
        assert!(of_heat[0] <= 25 && of_heat.iter().all(|&n| n <= 60), "{kind:?} {of_heat:?}");
        let most = of_elasticity.iter().max();
        assert!(of_elasticity[0] <= 35 && most <= Some(&200), "{kind:?} {of_elasticity:?}");
    }
}

fn check_cycle<K: CpuSolvers<N>, const N: usize, const M: usize>(problem: &Discretization<K, N>)
where
    [f64; M]: NodalModes<N>,
{
    for contrast in [1.0, 1e6] {
        let m = multigrid::<K, N, M>(problem, CycleKind::V, contrast);
        let [r, s] = [1, 2].map(|seed| free_noise(problem, seed));
        let (mr, ms) = (applied(&m, &r), applied(&m, &s));
        let asymmetry = (Cpu.dot(&mr, &s) - Cpu.dot(&ms, &r)).abs() / Cpu.dot(&mr, &r);
        assert!(Cpu.dot(&mr, &r) > 0.0 && Cpu.dot(&ms, &s) > 0.0);
        assert!(asymmetry < 1e-12, "contrast {contrast:e}: {asymmetry:e}");

        let with_threads = |n: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| applied(&multigrid::<K, N, M>(problem, CycleKind::K, contrast), &r))
        };
        assert_eq!(with_threads(1), with_threads(2));
    }
}

#[test]
fn a_cycle_is_symmetric_positive_and_the_same_bits_on_any_number_of_threads() {
    check_cycle::<_, 1, 1>(&heat(10));
    check_cycle::<_, 3, MODES>(&elastic(8));
}

/// Compares the finest matrix with the operator of the solve, springs included.
#[test]
fn the_finest_matrix_is_that_of_the_operator() {
    let problem = elastic(5);
    let m = multigrid::<_, 3, MODES>(&problem, CycleKind::V, 1e3);
    let (values, _) = bars(problem.mesh(), 1e3);
    let mut a = WithSprings::new(&Cpu, &problem, Strategy::Mf.build(&problem)).unwrap();
    topopt_fem::ElementOperator::set_coefficients(&mut a, &[&values]);
    let x = Noise(3).vector(problem.n_dofs());
    let [mut found, mut expected] = [vec![0.0; x.len()], vec![0.0; x.len()]];
    m.hierarchy().operator(0).apply(&x, &mut found);
    a.apply(&x, &mut expected);
    assert_close(&found, &expected, 1e-13, "the finest matrix");
    assert!((0..m.hierarchy().n_levels() - 1).all(|l| m.hierarchy().patches(l).is_some()));
}
