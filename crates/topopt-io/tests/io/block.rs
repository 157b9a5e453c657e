//! A distorted block of hexahedra, for tests.

use topopt_mesh::generate::block;

/// Connectivity of a block of `n[0]` x `n[1]` x `n[2]` elements.
pub fn hexes(n: [usize; 3]) -> Vec<[u32; 8]> {
    block(n, |_| [0.0; 3]).1
}

/// Coordinates with every digit in use, in a block that is bent and sheared.
pub fn coordinates(n: [usize; 3]) -> Vec<[f64; 3]> {
    let place = |at: [usize; 3]| {
        let [x, y, z] = at.map(|v| v as f64);
        [x + 0.1 * (y + 0.3).sin(), y / 3.0 + 1e-9 * x, z * 1.7 + 0.05 * (x * y).cos()]
    };
    block(n, place).0
}
