//! The filter's sum over neighbors on the device against plain sums on the host.

use topopt_cuda::{Cone, Cuda};
use topopt_linalg::{Backend, LinearOperator, Space};

use crate::device;

/// Points of a crooked grid, in an order that has nothing to do with their places.
fn points(n: usize) -> Vec<[f64; 3]> {
    let place = |i: usize| {
        let i = i * 397 % n;
        let [a, b, c] = [i % 9, i / 9 % 8, i / 72].map(|k| k as f64);
        [a + 0.3 * (b * 1.7).sin() - 40.0, 1.1 * b + 0.2 * (c + a).cos(), 0.7 * c]
    };
    (0..n).map(place).collect()
}

#[test]
fn equals_the_plain_sum_over_all_pairs() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for n in [1, 130, 500] {
        let points = points(n);
        let x: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64).sin()).collect();
        for radius in [0.01, 1.0, 2.3, 100.0] {
            let cone = Cone::new(&device, &points, radius).unwrap();
            let mut y = backend.upload(&vec![f64::NAN; n], Space::elements(n)).unwrap();
            cone.apply(&backend.upload(&x, Space::elements(n)).unwrap(), &mut y);
            let found = backend.download(&y).unwrap();
            let mut pairs = 0;
            for (e, found) in found.iter().enumerate() {
                let mut expected = 0.0;
                for i in 0..n {
                    let distance =
                        (0..3).map(|k| (points[e][k] - points[i][k]).powi(2)).sum::<f64>().sqrt();
                    pairs += usize::from(distance <= radius);
                    expected += (radius - distance).max(0.0) * x[i];
                }
                let error = (found - expected).abs() / expected;
                assert!(error < 1e-13, "n {n}, radius {radius}, element {e}: error {error:.1e}");
            }
            assert_eq!(cone.dimension(), n);
            assert_eq!(cone.mean_neighbors(), pairs as f64 / n as f64);
        }
    }
}
