//! Gates on plane lattices of points.

use super::super::cone::Points;
use super::super::{OverhangCone, Supports};
use super::{ACROSS, HALF, UP};

/// Supports of two equal layers of a plane lattice that stands on its first row, and the numbers of
/// the places along the axes. Points rest on those of their own layer where samples lie in it.
pub(super) fn plane_lattice(
    n: [usize; 2],
    share: f64,
    cone: OverhangCone,
) -> (Supports, Vec<[f64; 2]>) {
    let in_layer = n[0] * n[1];
    let counted = (0..2 * in_layer).map(|e| [e / n[1] % n[0], e % n[1]].map(|i| i as f64));
    let counted: Vec<[f64; 2]> = counted.collect();
    let place = |(e, &[i, j]): (usize, &[f64; 2])| {
        let x = i + 0.5 + share * (12.9898 * i + 78.233 * j).sin();
        let z = j + 0.5 + share * (39.3468 * i + 11.135 * j).cos();
        [x, (e / in_layer) as f64, z]
    };
    let points = Points {
        places: counted.iter().enumerate().map(place).collect(),
        owners: (0..counted.len() as u32).collect(),
        widths: vec![1.0; counted.len()],
        radii: vec![f64::INFINITY; counted.len()],
        depths: Vec::new(),
    };
    let stand: Vec<bool> = counted.iter().map(|at| at[1] == 0.0).collect();
    (Supports::of_points(&points, &cone, ACROSS, &stand), counted)
}

/// A cone of three samples in the plane of a lattice.
fn plane_cone(angle: f64, depth: f64) -> OverhangCone {
    OverhangCone { depth, n_rim: 2, ..OverhangCone::new(UP, angle) }
}

fn wavy(counted: &[[f64; 2]]) -> Vec<f64> {
    counted.iter().map(|[i, j]| 0.5 + 0.5 * (0.7 * i + 1.3 * j).sin()).collect()
}

/// Sum of values of one layer by weights.
fn sum(x: &[f64], counted: &[[f64; 2]], weight: fn(&[f64; 2]) -> f64) -> f64 {
    x.iter().zip(counted).map(|(x, at)| x * weight(at)).sum::<f64>() / 2.0
}

/// Sums of an independent program with the plane triangulation of SciPy: of the density, by column
/// and row, and of the derivatives by column.
#[test]
fn plane_lattices_have_the_sums_of_another_program() {
    for (n, degrees, depth, expected) in [
        ([12, 10], 45.0_f64, 2.0, [46.927_569_999_1, 1_498.842_098_13, 823.538_365_86]),
        ([12, 10], 30.0, 1.5, [31.531_528_600_5, 827.017_933_08, 785.287_049_30]),
        ([30, 20], 45.0, 1.5, [140.009_214_747_9, 17_688.785_527_19, 9_862.923_772_03]),
        ([30, 20], 30.0, 2.0, [156.265_595_132_2, 22_013.651_043_61, 9_072.984_996_17]),
    ] {
        let (supports, counted) = plane_lattice(n, 0.15, plane_cone(degrees.to_radians(), depth));
        let (p, chosen) = supports.swept(&wavy(&counted));
        let gradient = supports.swept_backward(&chosen, vec![1.0; counted.len()]);
        let found = [
            sum(&p, &counted, |_| 1.0),
            sum(&p, &counted, |[i, j]| (i + 1.0) * (j + 1.0)),
            sum(&gradient, &counted, |[i, _]| i + 1.0),
        ];
        let off = (0..3).map(|k| (found[k] / expected[k] - 1.0).abs()).fold(0.0, f64::max);
        assert!(off < 1e-11, "{n:?}, {degrees} degrees: {found:?}");
    }
}

/// Sums above a pad of five places, by the same program.
#[test]
fn plane_pads_have_the_sums_of_another_program() {
    for (n, depth, expected) in
        [([12, 10], 1.5, 97.650_034_955_8), ([30, 20], 2.0, 412.944_013_563_7)]
    {
        let (supports, counted) = plane_lattice(n, 0.15, plane_cone(HALF, depth));
        let middle = (n[0] as f64 - 1.0) / 2.0;
        let on_pad = |[i, j]: &[f64; 2]| f64::from(*j > 0.0 || (i - middle).abs() <= 2.0);
        let x: Vec<f64> = counted.iter().map(on_pad).collect();
        let found = sum(&supports.swept(&x).0, &counted, |_| 1.0);
        assert!((found / expected - 1.0).abs() < 1e-11, "{n:?}: {found}");
    }
}

/// The layer filter of \[Langelaar2016\] with exact extremes, in the plane.
#[test]
fn plane_voxels_have_the_layer_filter() {
    let (supports, counted) = plane_lattice([9, 7], 0.0, plane_cone(HALF, 1.0));
    let x = wavy(&counted);
    let mut expected = x.clone();
    for e in (1..7).flat_map(|j| (0..9_usize).map(move |i| 7 * i + j)) {
        let [i, j] = [e / 7, e % 7];
        let beside = i.saturating_sub(1)..=(i + 1).min(8);
        let below = beside.map(|i| expected[7 * i + j - 1]).fold(0.0, f64::max);
        expected[e] = x[e].min(below);
    }
    let (p, _) = supports.swept(&x);
    for e in 0..p.len() {
        assert!((p[e] - expected[e % 63]).abs() < 4e-16, "{} and {}", p[e], expected[e % 63]);
    }
    assert!((sum(&p, &counted, |_| 1.0) - 15.124_930_653_8).abs() < 1e-10);
}
