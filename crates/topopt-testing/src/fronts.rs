//! Fronts for tests: sources, speeds, and errors against exact distances.

use topopt_mesh::generate::block;
use topopt_mesh::vector::{difference, length};
use topopt_mesh::{HexMesh, Sets};

use crate::noise::Noise;

/// Random speeds of the tetrahedra, from 0.2 to 1.8, and random tensors with eigenvalues between
/// 0.2 and 2 (xx, yy, zz, yz, zx, xy).
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

/// The cube `[0, 100]^3` of 100^3 hexahedra of width 1.
pub fn cube() -> HexMesh {
    let (coordinates, hexes) = block([100; 3], |node| node.map(|i| i as f64));
    HexMesh::new(coordinates, hexes, Sets::default()).expect("a cube of cubes")
}

/// A signed distance; arrival times of fronts are compared with its absolute value.
pub type Distance = fn([f64; 3]) -> f64;

/// Distances in the cube `[0, 100]^3` from its face x = 0, from a corner, from its middle, and from
/// a sphere of radius 20 around that.
pub const DISTANCES: [(&str, Distance); 4] = [
    ("face", |x| x[0]),
    ("corner", length),
    ("middle", from_middle),
    ("sphere", |x| from_middle(x) - 20.0),
];

fn from_middle(x: [f64; 3]) -> f64 {
    length(difference(x, [50.0; 3]))
}

/// The vertices where the distance is zero, and the corners of the tetrahedra in which it changes
/// its sign, with their exact values.
pub fn sources(points: &[[f64; 3]], cells: &[[u32; 4]], distance: Distance) -> Vec<(u32, f64)> {
    let mut sources = Vec::new();
    for corners in cells {
        let values = corners.map(|v| (v, distance(points[v as usize])));
        let is_cut = values.iter().any(|(_, d)| *d < 0.0) && values.iter().any(|(_, d)| *d > 0.0);
        let near = values.into_iter().filter(|(_, d)| is_cut || *d == 0.0);
        sources.extend(near.map(|(vertex, d)| (vertex, d.abs())));
    }
    sources.sort_unstable_by_key(|source| source.0);
    sources.dedup();
    sources
}

/// Computes the mean and largest error of `times` at the `points`.
pub fn errors(points: &[[f64; 3]], times: &[f64], distance: Distance) -> [f64; 2] {
    let error = |(x, time): (&[f64; 3], &f64)| (time - distance(*x).abs()).abs();
    let errors = || points.iter().zip(times).map(error);
    [errors().sum::<f64>() / points.len() as f64, errors().fold(0.0, f64::max)]
}
