//! Cubes of tetrahedra, and errors on them.

use topopt_distance::Tetrahedra;
use topopt_mesh::tetrahedra::volume;

/// A cube of `n`^3 cells with edges of `width` / n in all, each cut into six tetrahedra around its
/// diagonal.
pub fn cube(n: usize, width: f64) -> Tetrahedra {
    let side = n + 1;
    let place = |i: usize| i as f64 * width / n as f64;
    let points = (0..side * side * side)
        .map(|v| [place(v % side), place(v / side % side), place(v / side / side)])
        .collect();

    let steps = [1, side, side * side];
    let paths = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];
    let mut cells = Vec::new();
    for cell in 0..n * n * n {
        let corner = cell % n + side * (cell / n % n) + side * side * (cell / n / n);
        for path in paths {
            let mut at = corner;
            let [b, c, d] = path.map(|axis| {
                at += steps[axis];
                at as u32
            });
            cells.push([corner as u32, b, c, d]);
        }
    }
    Tetrahedra::new(points, cells).unwrap()
}

/// Mean over the volume of |found - expected|: over the corners of each tetrahedron, times its
/// volume.
pub fn mean_error(
    tetrahedra: &Tetrahedra,
    found: &[f64],
    expected: impl Fn([f64; 3]) -> f64,
) -> f64 {
    let error = |&vertex: &u32| {
        (found[vertex as usize] - expected(tetrahedra.points()[vertex as usize])).abs()
    };
    let (mut sum, mut total) = (0.0, 0.0);
    for (cell, corners) in tetrahedra.cells().iter().enumerate() {
        let volume = volume(tetrahedra.corners(cell)).abs();
        sum += volume * corners.iter().map(error).sum::<f64>() / 4.0;
        total += volume;
    }
    sum / total
}

/// The signed distance from a sphere, negative inside.
pub fn sphere(center: [f64; 3], radius: f64, x: [f64; 3]) -> f64 {
    (0..3).map(|d| (x[d] - center[d]).powi(2)).sum::<f64>().sqrt() - radius
}

/// The largest |error(vertex, x)| of all points.
pub fn largest(points: &[[f64; 3]], error: impl Fn(usize, [f64; 3]) -> f64) -> f64 {
    points.iter().enumerate().map(|(vertex, &x)| error(vertex, x).abs()).fold(0.0, f64::max)
}

/// The largest |expected(x)| where the field `found` is zero on an edge: how far it lies from the
/// zero set of an expected distance.
pub fn apart(tetrahedra: &Tetrahedra, found: &[f64], expected: impl Fn([f64; 3]) -> f64) -> f64 {
    let points = tetrahedra.points();
    let mut apart = 0.0f64;
    for corners in tetrahedra.cells() {
        for [a, b] in [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]] {
            let [a, b] = [a, b].map(|corner: usize| corners[corner] as usize);
            if (found[a] < 0.0) != (found[b] < 0.0) {
                let share = found[a] / (found[a] - found[b]);
                let at = [0, 1, 2].map(|d| points[a][d] + share * (points[b][d] - points[a][d]));
                apart = apart.max(expected(at).abs());
            }
        }
    }
    apart
}
