//! The filter of sensitivities against its formula, and on a graded mesh.

use topopt_design::{Cone, SensitivityFilter, Weights};
use topopt_linalg::Cpu;

use super::cantilever;

#[test]
fn filtered_sensitivities_follow_the_formula() {
    let problem = cantilever();
    let centers = problem.mesh().centers();
    let n = centers.len();
    let density: Vec<f64> = (0..n).map(|e| 0.3 + 0.2 * (e as f64).cos()).collect();
    let raw: Vec<f64> = (0..n).map(|e| -1.0 - (e as f64).sin()).collect();

    let cone = Weights::fixed(Box::new(Cone::new(centers.clone(), 1.7, 0)));
    let (mut found, mut scratch) = (raw.clone(), vec![0.0; n]);
    let volumes: Vec<f64> = (0..n).map(|e| 1.0 + 0.9 * (e as f64 * 0.7).sin()).collect();
    let filter = SensitivityFilter::new(&Cpu, cone, &volumes, 0.01).unwrap();
    filter.apply(&Cpu, &density, &mut found, &mut scratch).unwrap();

    for e in [0, 40, n - 1] {
        let weight = |i: usize| {
            let square: f64 = (0..3).map(|k| (centers[e][k] - centers[i][k]).powi(2)).sum();
            (1.7 - square.sqrt()).max(0.0)
        };

        let numerator: f64 = (0..n).map(|i| weight(i) * density[i] * raw[i]).sum();
        let sum: f64 = (0..n).map(|i| weight(i) * volumes[i]).sum();
        let expected = volumes[e] * numerator / (density[e] * sum);
        assert!((found[e] / expected - 1.0).abs() < 1e-13);
    }
}

/// A field uniform per volume stays uniform on a graded mesh; without the volumes it does not.
#[test]
fn the_sensitivity_filter_does_not_see_how_a_mesh_is_graded() {
    let edges: Vec<f64> =
        (0..40).map(|k| (k as f64 + 0.4 * (k as f64 * 2.1).sin()) * 0.5).collect();
    let centers: Vec<[f64; 3]> =
        edges.windows(2).map(|x| [0.5 * (x[0] + x[1]), 0.0, 0.0]).collect();
    let volumes: Vec<f64> = edges.windows(2).map(|x| x[1] - x[0]).collect();
    let ones = vec![1.0; volumes.len()];
    let per_volume_spread = |measure: &[f64]| {
        let cone = Weights::fixed(Box::new(Cone::new(centers.clone(), 1.3, 0)));
        let filter = SensitivityFilter::new(&Cpu, cone, measure, 0.01).unwrap();
        let (mut found, mut scratch) = (volumes.clone(), ones.clone());
        filter.apply(&Cpu, &vec![0.3; volumes.len()], &mut found, &mut scratch).unwrap();
        let errors = found.iter().zip(&volumes).map(|(dc, v)| (dc / v - 1.0).abs());
        errors.fold(0.0, f64::max)
    };
    assert!(per_volume_spread(&volumes) < 1e-13);
    assert!(per_volume_spread(&ones) > 0.3);
}
