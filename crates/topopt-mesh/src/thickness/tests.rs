//! Members and gaps of known width.

use super::*;
use crate::generate::{Benchmark, Resolution};

/// A cantilever of 40 x 20 x 20 unit elements with `inside` of their centers.
fn measured<T>(inside: impl Fn([f64; 3]) -> bool, measure: impl Fn(&Region) -> T) -> T {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(16_000)).unwrap();
    let width = mesh.bounding_box().extent()[0] / 40.0;
    let scaled = mesh.coordinates().iter().map(|x| x.map(|v| v / width)).collect();
    let mesh = HexMesh::new(scaled, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap();
    assert_eq!(mesh.n_elements(), 16_000);
    let is_inside: Vec<bool> = mesh.centers().into_iter().map(inside).collect();
    measure(&Region::new(&mesh, &is_inside))
}

fn member(inside: impl Fn([f64; 3]) -> bool) -> f64 {
    measured(inside, |region| region.smallest_member().unwrap().width)
}

fn gap(inside: impl Fn([f64; 3]) -> bool) -> f64 {
    measured(inside, |region| region.smallest_gap().unwrap().width)
}

#[test]
fn plates_and_slots_along_the_elements_are_exact() {
    for n in [1, 2, 3, 4, 7] {
        let width = f64::from(n);
        let plate = |x: [f64; 3]| (6.0..6.0 + width).contains(&x[1]);
        assert!((member(plate) - width).abs() < 1e-9, "{width} {}", member(plate));
        assert!((gap(|x| !plate(x)) - width).abs() < 1e-9, "{width} {}", gap(|x| !plate(x)));
        let bar = |x: [f64; 3]| plate(x) && (3.0..3.0 + width).contains(&x[2]);
        assert!((member(bar) - width).abs() < 1e-9, "{width} {}", member(bar));
    }
}

#[test]
fn a_block_is_as_thick_as_it_is_and_has_no_gap() {
    assert!((member(|_| true) - 20.0).abs() < 1e-9, "{}", member(|_| true));
    assert_eq!(measured(|_| true, |region| region.smallest_gap()), None);
    assert_eq!(measured(|_| false, |region| region.smallest_member()), None);
    assert_eq!(measured(|x| x[0] < 20.0, |region| region.smallest_gap()), None);
}

/// Members and slots of length 18 that lie askew to the elements.
#[test]
fn stepped_members_are_right_within_one_and_a_half_elements() {
    for angle in [10.0f64, 30.0, 45.0] {
        let (sin, cos) = angle.to_radians().sin_cos();
        for width in [2.0, 4.0, 6.5] {
            let strip = |[x, y, _]: [f64; 3]| {
                let (x, y) = (x - 20.1, y - 10.03);
                (cos * y - sin * x).abs() < 0.5 * width && (cos * x + sin * y).abs() < 9.0
            };
            let (member, gap) = (member(strip), gap(|x| !strip(x)));
            assert!((member - width).abs() < 1.5, "{angle} {width}: member {member}");
            assert!((gap - width).abs() < 1.5, "{angle} {width}: gap {gap}");
        }
    }
}

/// A neck of two elements between blocks of twenty, a hole beside it, a bump on a block.
#[test]
fn the_neck_counts_and_a_bump_does_not() {
    let block = |x: [f64; 3]| !(14.0..26.0).contains(&x[0]);
    let neck = |x: [f64; 3]| (9.0..11.0).contains(&x[1]);
    let found = measured(|x| block(x) || neck(x), |region| region.smallest_member().unwrap());
    assert!((found.width - 2.0).abs() < 1e-9, "{found:?}");
    let bump = |x: [f64; 3]| (13.0..14.0).contains(&x[0]) && (5.0..6.0).contains(&x[1]);
    let lower = |x: [f64; 3]| x[0] < 13.0 || bump(x);
    assert!((member(lower) - 13.0).abs() < 1.1, "{}", member(lower));
}

#[test]
fn parts_share_faces() {
    // Two blocks that meet in an edge, and a third far off.
    let blocks = |x: [f64; 3]| {
        let corner = x[0] < 5.0 && x[1] < 5.0;
        corner || (5.0..9.0).contains(&x[0]) && (5.0..9.0).contains(&x[1]) || x[0] > 30.0
    };
    let mut sizes =
        measured(blocks, |region| region.parts().iter().map(Vec::len).collect::<Vec<_>>());
    sizes.sort_unstable();
    assert_eq!(sizes, [4 * 4 * 20, 5 * 5 * 20, 10 * 20 * 20]);
}
