//! A block of elements in rows, for tests and measurements.

use crate::hexahedron;

/// Coordinates, `[n_nodes][3]`, and connectivity, `[n_elements][8]`, of `n[0]` x `n[1]` x `n[2]`
/// elements, numbered along the first direction first. `place` says where node (i, j, k) lies and
/// is asked in the order of the nodes.
pub fn block(
    n: [usize; 3],
    mut place: impl FnMut([usize; 3]) -> [f64; 3],
) -> (Vec<[f64; 3]>, Vec<[u32; 8]>) {
    let width = n.map(|n| n + 1);
    let (mut coordinates, mut hexes) = (Vec::new(), Vec::new());
    for node in 0..width.iter().product() {
        let at = [node % width[0], node / width[0] % width[1], node / (width[0] * width[1])];
        coordinates.push(place(at));

        if (0..3).all(|d| at[d] < n[d]) {
            hexes.push(hexahedron::NODES.map(|corner| {
                let [i, j, k] = std::array::from_fn(|d| at[d] + usize::from(corner[d] > 0.0));
                (i + width[0] * (j + width[1] * k)) as u32
            }));
        }
    }
    (coordinates, hexes)
}
