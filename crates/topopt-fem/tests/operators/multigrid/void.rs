//! Structures that are made around void.

use super::*;

/// Iterations to 1e-9 of the cycle made for `void`, for the first load case.
fn iterations_around(problem: &Problem, moduli: &Vec<f64>, void: &[u32]) -> usize {
    let mut operator = Strategy::Mf.build(problem);
    operator.set_coefficients(&[moduli]);
    let mut multigrid = deep_multigrid(problem, CycleKind::K);
    multigrid.restructure(&Cpu, void).unwrap();
    multigrid.update(&Cpu, operator.as_ref(), &[moduli]).unwrap();
    iterations(operator.as_ref(), &multigrid, &problem.load_cases()[0].forces)
}

/// Bars beside each other in void of 1e-9, which meet in edges only, so that each turns about them.
#[test]
fn a_structure_around_void_and_hinges_saves_iterations() {
    let (n, problem) = (12.0, problem(distorted_cube(12, 0.1, false)));
    let is_solid = |x: &[f64; 3]| {
        let [i, j] = [x[0], x[1]].map(|v| (v * n / 3.0) as usize);
        (i + j) % 2 == 0
    };
    let centers = problem.mesh().centers();
    let moduli: Vec<f64> = centers.iter().map(|x| if is_solid(x) { 1.0 } else { 1e-9 }).collect();
    let void: Vec<u32> =
        (0..centers.len()).filter(|&e| !is_solid(&centers[e])).map(|e| e as u32).collect();
    let [plain, around] = [&[][..], &void].map(|void| iterations_around(&problem, &moduli, void));
    assert!(4 * around <= 3 * plain, "{around} iterations, {plain} without void");
}

/// A hierarchy restructured for a void equals one made for it at first, whatever came between.
#[test]
fn a_structure_depends_on_its_void_alone() {
    let problem = problem(hexagon(8));
    let moduli = moduli(&problem);
    let void: Vec<u32> = (0..).zip(&moduli).filter(|(_, e)| **e < 0.1).map(|(e, _)| e).collect();
    let r = Noise(4).vector(problem.n_dofs());
    let after = |voids: &[&[u32]]| {
        let mut multigrid = Multigrid::new(&problem, CycleKind::K).unwrap();
        voids.iter().for_each(|void| multigrid.restructure(&Cpu, void).unwrap());
        multigrid.update(&Cpu, Strategy::Mf.build(&problem).as_ref(), &[&moduli]).unwrap();
        let mut z = vec![0.0; r.len()];
        multigrid.apply(&Cpu, &r, &mut z);
        (z, multigrid.levels())
    };
    let expected = after(&[&void]);
    assert_eq!(after(&[&void[..50], &void]), expected);
    let of_problem =
        loaded(clamped(problem.mesh()), problem.mesh().clone()).with_void(void.clone());
    let multigrid = Multigrid::new(&of_problem, CycleKind::K).unwrap();
    assert_eq!(multigrid.levels(), expected.1);
    assert_ne!(after(&[]).1, expected.1);
}

/// Void that encloses single nodes leaves no aggregate that could not turn.
#[test]
fn no_aggregate_lies_in_a_line() {
    let problem = problem(distorted_cube(14, 0.2, true));
    let mut noise = Noise(3);
    let n = problem.mesh().n_elements() as u32;
    let void: Vec<u32> = (0..n).filter(|_| noise.number() > 0.0).collect();
    let structure = Aggregation::around(&problem, &void, DIRECT);
    let spread = |points: &Vec<u32>| {
        let x = |point: u32| problem.mesh().coordinates()[point as usize];
        let center: [f64; 3] = std::array::from_fn(|i| {
            points.iter().map(|&p| x(p)[i]).sum::<f64>() / points.len() as f64
        });
        let d = DMatrix::from_fn(3, points.len(), |i, k| x(points[k])[i] - center[i]);
        let mut values: Vec<f64> = d.svd(false, false).singular_values.iter().copied().collect();
        values.resize(3, 0.0);
        values[1] / values[0]
    };
    let least = structure.nodes.members().iter().map(spread).fold(f64::INFINITY, f64::min);
    assert!(least > 0.02, "{least}");
    let sum: usize = structure.nodes.members().iter().map(Vec::len).sum();
    assert_eq!(sum, problem.mesh().n_nodes());
    let moduli: Vec<f64> =
        (0..n).map(|e| if void.binary_search(&e).is_ok() { 1e-6 } else { 1.0 }).collect();
    let n = iterations_around(&problem, &moduli, &void);
    assert!(n <= 60, "{n} iterations");
}
