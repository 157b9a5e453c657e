//! The method of moving asymptotes on the device, against the CPU.

use topopt_cuda::Cuda;
use topopt_linalg::{
    Approximation, ApproximationSums, AsymptoteRules, Backend, Cpu, MovingAsymptotes, Space,
};
use topopt_testing::Noise;

use crate::device;

const RULES: AsymptoteRules =
    AsymptoteRules { initial: 0.5, shrink: 0.7, grow: 1.2, move_limit: 0.3 };

/// Asymptotes and limits after three designs, then the minimum and its sums: with `n` variables,
/// some of them fixed or at rest up to rounding, and `m` constraints, some with gradients of 0.
fn everything<B: MovingAsymptotes>(
    backend: &B,
    n: usize,
    m: usize,
) -> (Vec<Vec<f64>>, ApproximationSums) {
    let upload = |values: &[f64]| backend.upload(values, Space::elements(n)).unwrap();
    let zeros = || backend.zeros(Space::elements(n)).unwrap();
    let within = |seed: u64| Noise(seed).vector(n).iter().map(|v| 0.5 + 0.45 * v).collect();
    let mut designs: [Vec<f64>; 3] = [1, 2, 3].map(within);
    let [first, others @ ..] = &mut designs;
    for (design, step) in others.iter_mut().zip([1e-12, 3e-12]) {
        (1..n).step_by(5).for_each(|j| design[j] = first[j] + step);
    }
    let designs = designs.map(|design| upload(&design));
    let floor: Vec<f64> = (0..n).map(|j| if j % 7 == 3 { 1.0 } else { 0.0 }).collect();
    let (floor, ceiling) = (upload(&floor), upload(&vec![1.0; n]));
    let bounds = [&floor, &ceiling];
    let [mut lower, mut upper, mut smallest, mut largest] = [zeros(), zeros(), zeros(), zeros()];
    for (k, design) in designs.iter().enumerate() {
        let before = (k == 2).then_some([&designs[1], &designs[0]]);
        backend.move_asymptotes(
            &RULES,
            design,
            before,
            bounds,
            [&mut lower, &mut upper],
            [&mut smallest, &mut largest],
        );
    }

    let gradient = |i: usize| {
        let values = Noise(10 + i as u64).vector(n);
        upload(&values.iter().map(|v| if i == 2 { 0.0 } else { v - 0.3 }).collect::<Vec<_>>())
    };
    let gradients: Vec<_> = (0..=m).map(gradient).collect();
    let functions = gradients.iter().enumerate();
    let approximation = Approximation {
        design: &designs[2],
        bounds,
        asymptotes: [&lower, &upper],
        limits: [&smallest, &largest],
        functions: functions
            .map(|(i, g)| (g, 1.0 + 0.1 * i as f64, 1e-3 / (1.0 + i as f64)))
            .collect(),
    };
    let weights: Vec<f64> = (0..=m).map(|i| 1.0 / (1.0 + i as f64)).collect();
    let mut minimum = zeros();
    let without = backend.minimize_approximation(&approximation, &weights, None).unwrap();
    let sums =
        backend.minimize_approximation(&approximation, &weights, Some(&mut minimum)).unwrap();
    assert_eq!(without, sums);
    let vectors = [&lower, &upper, &smallest, &largest, &minimum];
    (vectors.map(|vector| backend.download(vector).unwrap()).to_vec(), sums)
}

fn assert_near(found: &[f64], expected: &[f64], name: &str) {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0f64, |size, v| size.max(v.abs()));
    let error = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error <= 1e-12 * size, "{name}: {error} of {size}");
}

#[test]
fn designs_and_sums_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for (n, m) in [(1, 0), (100, 1), (9_000, 2), (70_000, 1), (3_000, 23), (700, 65), (500, 200)] {
        let (vectors, sums) = everything(&backend, n, m);
        let (expected, expected_sums) = everything(&Cpu, n, m);
        for (found, expected) in vectors.iter().zip(&expected) {
            assert_near(found, expected, &format!("{n} {m}"));
        }
        assert_near(&sums.changes, &expected_sums.changes, "changes");
        assert_near(&sums.coupling, &expected_sums.coupling, "coupling");
        assert_near(&[sums.distance], &[expected_sums.distance], "distance");
        assert_eq!(everything(&backend, n, m), (vectors, sums));
    }
}

#[test]
fn more_constraints_than_fit_are_refused() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let x = backend.zeros(Space::elements(1)).unwrap();
    let approximation = Approximation {
        design: &x,
        bounds: [&x; 2],
        asymptotes: [&x; 2],
        limits: [&x; 2],
        functions: vec![(&x, 1.0, 1.0); 202],
    };
    let error = backend.minimize_approximation(&approximation, &[1.0; 202], None).unwrap_err();
    assert!(error.message.contains("201 constraints; at most 200"), "{error}");
}
