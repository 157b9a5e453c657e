//! Members and gaps of known width.

use topopt_testing::distorted_cube;

use super::*;
use crate::Field;

/// The solid where `depth` is positive in a cube of 16^3 elements of width 1, distorted.
fn measured(depth: impl Fn([f64; 3]) -> f64) -> [Option<f64>; 2] {
    let mesh = distorted_cube(16, 0.25, false);
    let scaled = mesh.coordinates().iter().map(|x| x.map(|x| 16.0 * x)).collect();
    let mesh = HexMesh::new(scaled, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap();
    let at = |points: &[[f64; 3]]| points.iter().map(|&x| depth(x)).collect();
    let field = Field::new(&mesh, at(mesh.coordinates()), at(&mesh.centers())).unwrap();
    let cut = Cut { mesh: &mesh, field: &field, threshold: 0.0 };
    let found = narrowest(cut, &vec![false; mesh.n_elements()]);
    println!(
        "{:?}",
        found.map(|f| f.map(|f| (
            (1000.0 * f.width).round() / 1000.0,
            f.at.map(|v| (10.0 * v).round() / 10.0)
        )))
    );
    found.map(|found| found.map(|found| found.width))
}

fn plate(half: f64, n: [f64; 3], x: [f64; 3]) -> f64 {
    let size = length(n);
    half - (0..3).map(|d| n[d] * (x[d] - 8.07)).sum::<f64>().abs() / size
}

#[test]
fn plates_and_slots() {
    for n in [[1.0, 0.0, 0.0], [1.0, 0.2, 0.1], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [3.0, 1.0, 2.0]] {
        for width in [0.7, 1.0, 1.6, 2.3, 3.5, 5.0] {
            println!("{n:?} {width}");
            measured(|x| plate(0.5 * width, n, x));
            measured(|x| -plate(0.5 * width, n, x));
        }
    }
}

#[test]
fn bars() {
    for width in [1.0, 1.6, 2.3, 3.5, 5.0] {
        println!("{width}");
        measured(|x| {
            plate(0.5 * width, [1.0, 0.3, 0.0], x).min(plate(0.5 * width, [0.3, -1.0, 0.0], x))
        });
        measured(|x| 0.5 * width - length([x[0] - 8.1, x[1] - 7.9, 0.0]));
        measured(|x| -0.5 * width + length([x[0] - 8.1, x[1] - 7.9, x[2] - 8.0]));
    }
}
