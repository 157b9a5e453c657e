//! A distorted block of hexahedra, for tests.

/// Node (i, j, k) of a block of `n` elements.
fn node(n: [usize; 3], [i, j, k]: [usize; 3]) -> u32 {
    (i + (n[0] + 1) * (j + (n[1] + 1) * k)) as u32
}

/// Connectivity of a block of n\[0\] x n\[1\] x n\[2\] elements.
pub fn hexes(n: [usize; 3]) -> Vec<[u32; 8]> {
    let mut hexes = Vec::new();
    for k in 0..n[2] {
        for j in 0..n[1] {
            for i in 0..n[0] {
                let at = |a, b, c| node(n, [i + a, j + b, k + c]);
                hexes.push([
                    at(0, 0, 0),
                    at(1, 0, 0),
                    at(1, 1, 0),
                    at(0, 1, 0),
                    at(0, 0, 1),
                    at(1, 0, 1),
                    at(1, 1, 1),
                    at(0, 1, 1),
                ]);
            }
        }
    }
    hexes
}

/// Coordinates with every digit in use, in a block that is bent and sheared.
pub fn coordinates(n: [usize; 3]) -> Vec<[f64; 3]> {
    let mut coordinates = Vec::new();
    for k in 0..=n[2] {
        for j in 0..=n[1] {
            for i in 0..=n[0] {
                let [x, y, z] = [i, j, k].map(|v| v as f64);
                coordinates.push([
                    x + 0.1 * (y + 0.3).sin(),
                    y / 3.0 + 1e-9 * x,
                    z * 1.7 + 0.05 * (x * y).cos(),
                ]);
            }
        }
    }
    coordinates
}
