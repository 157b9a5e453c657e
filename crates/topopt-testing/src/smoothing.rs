//! A step of the smoother against the operations that it is made of, on any backend.

use topopt_linalg::{Backend, Growth, InverseDiagonal, Residual};

use crate::noise::Noise;

/// Compares all ways of finding the residual, to `tolerance` of the largest entry.
///
/// # Panics
/// If they differ by more.
pub fn assert_smooths<B: Backend>(backend: &B, diagonal: &dyn InverseDiagonal<B>, tolerance: f64) {
    let space = diagonal.space();
    let vector = |seed| backend.upload(&Noise(seed).vector(space.len()), space).unwrap();
    let (b, product) = (vector(1), vector(2));
    let [alpha, beta] = [0.7, 0.3];
    let growth = Growth { result: backend.dot(&b, &b), start: backend.dot(&product, &product) };
    let [b_b, p_p] = [&growth.result, &growth.start].map(|square| backend.value(square).unwrap());

    let cases = [
        (Residual::OfZero { b: &b }, 0.0),
        (Residual::Of { b: &b, ax: &product }, 0.0),
        (Residual::Of { b: &b, ax: &product }, beta),
        (Residual::After { ad: &product }, beta),
    ];

    for (case, (residual, beta)) in cases.into_iter().enumerate() {
        let [mut r, mut d, mut x] = [3, 4, 5].map(vector);
        let [mut expected_r, mut expected_d, mut expected_x, mut z] = [3, 4, 5, 6].map(vector);

        match residual {
            Residual::OfZero { .. } => {
                backend.copy(&b, &mut expected_r);
                backend.fill(0.0, &mut expected_x);
            }
            Residual::Of { .. } => {
                backend.copy(&b, &mut expected_r);
                backend.axpby(-1.0, &product, 1.0, &mut expected_r);
            }
            Residual::After { .. } => backend.axpby(-1.0, &product, 1.0, &mut expected_r),
        }

        diagonal.apply(&expected_r, &mut z);
        backend.axpby(alpha / (b_b / p_p).sqrt(), &z, beta, &mut expected_d);
        backend.axpby(1.0, &expected_d, 1.0, &mut expected_x);
        diagonal.smooth(residual, [alpha, beta], &growth, &mut r, &mut d, &mut x);

        for (found, expected) in [(&r, &expected_r), (&d, &expected_d), (&x, &expected_x)] {
            let [found, expected] = [found, expected].map(|v| backend.download(v).unwrap());
            assert_near(&found, &expected, tolerance, case);
        }
    }
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, case: usize) {
    let largest = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * largest, "{a} for {b}, case {case}");
    }
}
