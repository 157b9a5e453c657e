//! The hierarchy against its definition, and the cycle at work.

mod void;

use std::ops::ControlFlow;

use nalgebra::DMatrix;
use topopt_linalg::{
    Backend, Cpu, CycleKind, Hierarchy, LinearOperator, Pcg, PcgOptions, Preconditioner,
    SmootherKind, StopReason, System,
};
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_mesh::{HexMesh, Renumbering};

use topopt_fem::{
    Aggregation, DIRECT, ElementOperator, ElementPreconditioner, LoadCase, MODES, Material,
    Multigrid, NodalAggregation, Problem, Strategy, Supports, WithSprings,
};

use topopt_testing::{Noise, distorted_cube, hexagon, mapped_cube, wheel};

/// A part held where z < 0.1, with some nodes held in y alone.
fn problem(mesh: HexMesh) -> Problem {
    loaded(clamped(&mesh), mesh)
}

/// A part that stands on springs where z < 0.1 and is tied at some other nodes.
fn on_springs(mesh: HexMesh) -> Problem {
    let mut supports = Supports::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if x[2] < 0.1 {
            (0..3).for_each(|i| supports.add_spring(node, i, 0.2 + i as f64));
        } else if x[0] > 0.85 {
            supports.add_spring(node, 1, 40.0);
        }
    }
    loaded(supports, mesh)
}

fn clamped(mesh: &HexMesh) -> Supports {
    let mut supports = Supports::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if x[2] < 0.1 {
            (0..3).for_each(|i| supports.fix(node, i));
        } else if x[0] > 0.85 {
            supports.fix(node, 1);
        }
    }
    supports
}

fn loaded(supports: Supports, mesh: HexMesh) -> Problem {
    let forces = Noise(5).vector(3 * mesh.n_nodes());
    let load = LoadCase::new("default", forces);
    Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
}

/// Solid bars in void of 1e-6, in shape of the coordinates.
fn moduli(problem: &Problem) -> Vec<f64> {
    let wave = |x: &[f64; 3]| (9.0 * x[0]).sin() + (7.0 * x[1]).cos() > 0.0 || x[2] > 0.8;
    problem.mesh().centers().iter().map(|x| if wave(x) { 1.0 } else { 1e-6 }).collect()
}

fn problems() -> [Problem; 4] {
    let shuffled = |mesh: HexMesh| Renumbering::shuffled(&mesh, 3).apply(&mesh);
    [
        problem(shuffled(distorted_cube(12, 0.25, true))),
        problem(hexagon(8)),
        on_springs(hexagon(8)),
        problem(wheel(6)),
    ]
}

/// The columns of a linear map of dimension `n`.
fn dense(n: usize, map: impl Fn(&Vec<f64>) -> Vec<f64>) -> DMatrix<f64> {
    let column = |j: usize| {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        map(&unit)
    };
    let columns: Vec<_> = (0..n).map(|j| column(j).into()).collect();
    DMatrix::from_columns(&columns)
}

fn apply(a: &dyn LinearOperator<Cpu>, x: &Vec<f64>) -> Vec<f64> {
    let mut y = vec![0.0; a.dimension()];
    a.apply(x, &mut y);
    y
}

/// A cycle over at least three levels, the last of at most 40 unknowns.
fn deep_multigrid(problem: &Problem, kind: CycleKind) -> Multigrid<'_> {
    let multigrid = Multigrid::down_to(40, problem, kind, SmootherKind::Chebyshev).unwrap();
    assert!(multigrid.levels().len() >= 3, "{:?}", multigrid.levels());
    multigrid
}

/// Iterations to a relative residual of 1e-9, 500 at most.
fn iterations(a: &dyn LinearOperator<Cpu>, m: &Multigrid, f: &Vec<f64>) -> usize {
    let system = System { backend: &Cpu, a, m, f };
    let options = PcgOptions { tolerance: 1e-9, max_iterations: 500 };
    let (mut u, mut pcg) = (vec![0.0; f.len()], Pcg::new(&Cpu, a.space()).unwrap());
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(()));
    outcome.unwrap().iterations
}

#[test]
fn every_coarse_matrix_is_the_galerkin_product() {
    for problem in problems() {
        let mut hierarchy = NodalAggregation::new(
            &problem,
            Aggregation::new(&problem, DIRECT),
            SmootherKind::Chebyshev,
        )
        .unwrap();
        hierarchy.update(Strategy::Mf.build(&problem).as_ref(), &[&moduli(&problem)]);
        assert!(hierarchy.n_levels() >= 2);
        for level in 0..hierarchy.n_levels() - 1 {
            let (a, coarse) = (hierarchy.operator(level), hierarchy.operator(level + 1));
            let (n, m) = (a.dimension(), coarse.dimension());
            let p = dense(m, |x| {
                let mut fine = vec![0.0; n];
                hierarchy.transfer(level).prolong_add(x, &mut fine);
                fine
            });
            let columns = p.column_iter().map(|x| apply(a, &x.as_slice().to_vec()));
            let columns: Vec<Vec<f64>> = columns.collect();
            let ap = DMatrix::from_iterator(n, m, columns.iter().flatten().copied());
            let restricted = columns.iter().flat_map(|fine| {
                let mut coarse = vec![0.0; m];
                hierarchy.transfer(level).restrict(fine, &mut coarse);
                coarse
            });
            let restricted = DMatrix::from_iterator(m, m, restricted);
            let expected = p.transpose() * ap;
            let found = dense(m, |x| apply(coarse, x));
            let size = expected.amax();
            assert!((&found - &expected).amax() < 1e-12 * size, "level {level}");
            assert!((&restricted - &expected).amax() < 1e-12 * size, "transpose on level {level}");
        }
    }
}

#[test]
fn rigid_motions_are_reproduced_on_every_level() {
    let problem = problem(distorted_cube(12, 0.25, true));
    let structure = Aggregation::new(&problem, DIRECT);
    let hierarchy =
        NodalAggregation::new(&problem, structure.clone(), SmootherKind::Chebyshev).unwrap();
    let (t, w) = ([0.3, -0.2, 0.5], [0.4, 0.1, -0.6]);
    let rigid = |x: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            t[i] + w[j] * x[k] - w[k] * x[j]
        })
    };
    // The motion in terms of the last level, then down to the nodes.
    let last = hierarchy.n_levels() - 1;
    let centers = |level: usize| match level {
        1 => structure.nodes.centers(),
        _ => structure.coarser[level - 2].centers(),
    };
    let mut motion: Vec<f64> = centers(last).iter().flat_map(|&x| [rigid(x), w].concat()).collect();
    for level in (1..last).rev() {
        let mut finer = vec![0.0; MODES * centers(level).len()];
        hierarchy.transfer(level).prolong_add(&motion, &mut finer);
        let expected: Vec<f64> =
            centers(level).iter().flat_map(|&x| [rigid(x), w].concat()).collect();
        assert!(finer.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "level {level}");
        motion = finer;
    }
    let mut u = vec![0.0; problem.n_dofs()];
    hierarchy.transfer(0).prolong_add(&motion, &mut u);
    let mut expected: Vec<f64> =
        problem.mesh().coordinates().iter().flat_map(|&x| rigid(x)).collect();
    problem.supports().clear(&mut expected);
    assert!(u.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13));
}

#[test]
fn every_cycle_is_positive_and_those_that_say_so_are_symmetric_and_linear() {
    for (problem, kind) in problems().iter().flat_map(|p| CycleKind::ALL.map(|kind| (p, kind))) {
        let moduli = moduli(problem);
        let mut multigrid = deep_multigrid(problem, kind);
        multigrid.update(&Cpu, Strategy::Mf.build(problem).as_ref(), &[&moduli]).unwrap();
        assert_eq!(multigrid.is_linear(), kind != CycleKind::K);
        let cycle = |r: &Vec<f64>| {
            let mut z = vec![0.0; r.len()];
            multigrid.apply(&Cpu, r, &mut z);
            z
        };
        for seed in 0..5 {
            let [r, s] = [seed, seed + 10].map(|seed| {
                let mut r = Noise(seed).vector(problem.n_dofs());
                problem.supports().clear(&mut r);
                r
            });
            let (mr, ms) = (cycle(&r), cycle(&s));
            assert!(Cpu.dot(&r, &mr) > 0.0);
            let asymmetry = (Cpu.dot(&mr, &s) - Cpu.dot(&ms, &r)).abs() / Cpu.dot(&mr, &r);
            let sum = r.iter().zip(&s).map(|(r, s)| 0.7 * r - 3.0 * s).collect();
            let sum_of_both = mr.iter().zip(&ms).map(|(mr, ms)| 0.7 * mr - 3.0 * ms);
            let error: Vec<f64> = cycle(&sum).iter().zip(sum_of_both).map(|(a, b)| a - b).collect();
            let nonlinearity = (Cpu.dot(&error, &error) / Cpu.dot(&mr, &mr)).sqrt();
            let is_linear = asymmetry < 1e-13 && nonlinearity < 1e-11;
            assert_eq!(is_linear, kind != CycleKind::K, "{kind:?}: {asymmetry:e} {nonlinearity:e}");
        }
    }
}

#[test]
fn the_inverse_diagonal_is_symmetric() {
    for problem in problems() {
        let moduli = moduli(&problem);
        let mut multigrid = Multigrid::new(&problem, CycleKind::K).unwrap();
        multigrid.update(&Cpu, Strategy::Mf.build(&problem).as_ref(), &[&moduli]).unwrap();
        let diagonal = multigrid.hierarchy().inverse_diagonal(0);
        for seed in 0..5 {
            let [r, s] = [seed, seed + 10].map(|seed| Noise(seed).vector(problem.n_dofs()));
            let (dr, ds) = (apply(diagonal, &r), apply(diagonal, &s));
            assert!((Cpu.dot(&dr, &s) - Cpu.dot(&ds, &r)).abs() < 1e-12 * Cpu.dot(&dr, &r));
        }
    }
}

/// A run that goes on from a checkpoint has made no earlier updates.
#[test]
fn the_cycle_depends_on_the_last_update_alone() {
    for problem in problems() {
        let last = moduli(&problem);
        let mut operator = Strategy::Mf.build(&problem);
        let r = Noise(4).vector(problem.n_dofs());
        let mut after = |updates: &[Vec<f64>]| {
            let mut multigrid = Multigrid::new(&problem, CycleKind::K).unwrap();
            for moduli in updates {
                operator.set_coefficients(&[moduli]);
                multigrid.update(&Cpu, operator.as_ref(), &[moduli]).unwrap();
            }
            let mut z = vec![0.0; r.len()];
            multigrid.apply(&Cpu, &r, &mut z);
            z
        };
        let uniform = vec![0.3; last.len()];
        assert_eq!(after(&[uniform, last.clone()]), after(&[last]));
    }
}

/// The power method of the smoothers must not begin with a vector that is smooth along the lines in
/// which such a mesh is numbered: the eigenvalue would come out too small and the cycle diverge.
#[test]
fn a_mesh_numbered_along_lines_converges_as_a_shuffled_one() {
    let lines = Benchmark::Michell.generate(Resolution::Elements(9000)).unwrap();
    let shuffled = Renumbering::shuffled(&lines, 3).apply(&lines);
    let chords = Renumbering::along_chords(&lines).apply(&lines);
    let iterations = [lines, chords, shuffled].map(|mesh| {
        let problem = problem(mesh);
        let moduli = vec![1.0; problem.mesh().n_elements()];
        let mut operator = Strategy::Mf.build(&problem);
        operator.set_coefficients(&[&moduli]);
        let mut multigrid = Multigrid::new(&problem, CycleKind::K).unwrap();
        multigrid.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
        iterations(operator.as_ref(), &multigrid, &problem.load_cases()[0].forces)
    });
    assert!(iterations.iter().all(|&n| n < 20), "{iterations:?}");
}

#[test]
fn a_stronger_cycle_takes_fewer_iterations_until_the_next_update() {
    let [_, problem, ..] = problems();
    let moduli = moduli(&problem);
    let mut operator = Strategy::Mf.build(&problem);
    operator.set_coefficients(&[&moduli]);
    let mut multigrid = Multigrid::new(&problem, CycleKind::K).unwrap();
    multigrid.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
    let f = &problem.load_cases()[0].forces;
    let iterations = |m: &Multigrid| iterations(operator.as_ref(), m, f);
    let plain = iterations(&multigrid); // which may have grown stronger in its course
    multigrid.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
    assert!(multigrid.strengthen() && multigrid.strengthen() && !multigrid.strengthen());
    let stronger = iterations(&multigrid);
    assert!(stronger < plain, "{stronger} iterations after {plain}");
    multigrid.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
    assert_eq!(iterations(&multigrid), plain);
}

#[test]
fn cycles_k_and_v_give_way_to_each_other_until_the_next_update() {
    let [problem, ..] = problems();
    let moduli = moduli(&problem);
    let operator = Strategy::Mf.build(&problem);
    let [mut v, mut k] = [CycleKind::V, CycleKind::K].map(|kind| deep_multigrid(&problem, kind));
    let r = Noise(4).vector(problem.n_dofs());
    let applied = |m: &Multigrid| {
        let mut z = vec![0.0; r.len()];
        m.apply(&Cpu, &r, &mut z);
        z
    };

    for m in [&mut v, &mut k] {
        m.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
    }
    let of_k = applied(&k);
    assert!(k.strengthen() && k.give_way() && !k.give_way() && !k.strengthen());
    assert!(k.is_linear());
    assert_eq!(applied(&k), applied(&v));
    assert!(v.give_way() && !v.give_way() && !v.is_linear());
    assert_eq!(applied(&v), of_k);
    k.update(&Cpu, operator.as_ref(), &[&moduli]).unwrap();
    assert!(!k.is_linear());
    assert_eq!(applied(&k), of_k);
}

#[test]
fn every_cycle_converges_in_few_iterations_to_the_solution_of_jacobi() {
    let mut totals = [0; 3];
    for problem in problems() {
        let moduli = moduli(&problem);
        let operator = Strategy::Mf.build(&problem);
        let mut operator = WithSprings::new(&Cpu, &problem, operator).unwrap();
        operator.set_coefficients(&[&moduli]);
        let mut jacobi = topopt_fem::Jacobi::new(&Cpu, problem.space()).unwrap();
        jacobi.update(&Cpu, &operator, &[&moduli]).unwrap();
        let f = &problem.load_cases()[0].forces;
        let solve = |m: &dyn Preconditioner<Cpu>| {
            let system = System { backend: &Cpu, a: &operator, m, f };
            let options = PcgOptions { tolerance: 1e-9, max_iterations: 20_000 };
            let mut u = vec![0.0; problem.n_dofs()];
            let mut pcg = Pcg::new(&Cpu, problem.space()).unwrap();
            let go_on = &mut |_| ControlFlow::Continue(());
            let outcome = pcg.solve(&system, &mut u, options, go_on).unwrap();
            assert_eq!(outcome.reason, StopReason::Converged);
            (outcome.iterations, f.iter().zip(&u).map(|(f, u)| f * u).sum::<f64>())
        };
        let (many, expected) = solve(&jacobi);
        for (kind, total) in CycleKind::ALL.into_iter().zip(&mut totals) {
            let mut multigrid = deep_multigrid(&problem, kind);
            multigrid.update(&Cpu, &operator, &[&moduli]).unwrap();
            let (few, found) = solve(&multigrid);
            assert!((found / expected - 1.0).abs() < 1e-9, "{kind:?}: {found} {expected}");
            assert!(few <= 40 && 4 * few < many, "{kind:?}: {few}, {many} of Jacobi");
            *total += few;
        }
    }
    let [v, w, k] = totals;
    assert!(v > w && v > k, "{totals:?}");
}

/// Returns the largest eigenvalue of D^-1 K, by 300 steps of the power method.
fn largest_eigenvalue(hierarchy: &NodalAggregation, n: usize) -> f64 {
    let (mut x, mut y, mut growth) = (Noise(2).vector(n), vec![0.0; n], 0.0);
    for _ in 0..300 {
        hierarchy.operator(0).apply(&x, &mut y);
        hierarchy.inverse_diagonal(0).apply(&y, &mut x);
        growth = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        x.iter_mut().for_each(|v| *v /= growth);
    }
    growth
}

/// The Chebyshev smoother diverges beyond 1.125 times what it takes for the largest eigenvalue.
/// Single solid elements among empty ones have the largest, which ten steps of the power method
/// miss. Flat elements with incompatible modes have theirs in shear.
#[test]
fn no_moduli_make_the_smoother_diverge() {
    let flat = problem(mapped_cube(6, |[x, y, z]| [0.02 * x, y, z]));
    for problem in problems().into_iter().chain([flat]) {
        let n = problem.n_dofs();
        let mut hierarchy = NodalAggregation::new(
            &problem,
            Aggregation::new(&problem, DIRECT),
            SmootherKind::Chebyshev,
        )
        .unwrap();
        assert_eq!(hierarchy.largest_eigenvalue(0), Some(1.0));
        assert_eq!(hierarchy.largest_eigenvalue(1), None);
        let elements = problem.mesh().n_elements();
        let single =
            |step: usize| (0..elements).map(move |e| if e % step == 3 { 1.0 } else { 1e-6 });
        let mut largest = 0.0f64;
        for moduli in [moduli(&problem), single(elements).collect(), single(37).collect()] {
            hierarchy.update(Strategy::Mf.build(&problem).as_ref(), &[&moduli]);
            let found = largest_eigenvalue(&hierarchy, n);
            assert!(found < 1.09, "{found}");
            largest = largest.max(found);
        }
        assert!(largest > 0.9, "{largest}: the bound is reached by single elements");
    }
}
