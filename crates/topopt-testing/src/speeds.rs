//! Speeds of tetrahedra.

use crate::noise::Noise;

/// Speeds of the tetrahedra without order, from 0.2 to 1.8 and with tensors between 0.2 and 2
/// (xx, yy, zz, yz, zx, xy).
pub fn speeds(n_cells: usize) -> (Vec<f64>, Vec<[f64; 6]>) {
    let mut noise = Noise(3);
    let cells = (0..n_cells).map(|_| 1.0 + 0.8 * noise.number()).collect();
    let tensor = |_| {
        let [a, b, c] = [0, 1, 2].map(|_| 1.0 + 0.4 * noise.number());
        let [d, e, f] = [0, 1, 2].map(|_| 0.2 * noise.number());
        [a, b, c, d, e, f]
    };
    (cells, (0..n_cells).map(tensor).collect())
}
