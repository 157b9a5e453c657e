//! Parts of known size.

use super::*;
use crate::generate::{Benchmark, Resolution};

/// Sizes of the parts of a cantilever of 40 x 20 x 20 unit elements with `inside` of their centers.
fn measured<T>(inside: impl Fn([f64; 3]) -> bool, measure: impl Fn(&Region) -> T) -> T {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(16_000)).unwrap();
    let width = mesh.bounding_box().extent()[0] / 40.0;
    let scaled = mesh.coordinates().iter().map(|x| x.map(|v| v / width)).collect();
    let mesh = HexMesh::new(scaled, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap();
    assert_eq!(mesh.n_elements(), 16_000);
    let is_inside: Vec<bool> = mesh.centers().into_iter().map(inside).collect();
    measure(&Region::new(&mesh, &is_inside))
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
