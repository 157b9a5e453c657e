//! Surfaces of known bodies: closed, in the right place, of the right volume, topology and widths.

mod crossings;
mod holes;
mod solid;
mod space;
mod truth;

use std::collections::HashSet;

use topopt_mesh::HexMesh;
use topopt_surface::{Draw, Form, Part, Shape, Shaping, TriangleSurface, UncutSolid};
use topopt_testing::{distorted_cube, distorted_tetrahedra};

/// Every directed edge once and its reverse once, and every vertex used.
fn assert_closed(surface: &TriangleSurface) {
    let mut edges = HashSet::new();
    let mut used = vec![false; surface.vertices().len()];
    for triangle in surface.triangles() {
        for i in 0..3 {
            assert!(edges.insert((triangle[i], triangle[(i + 1) % 3])), "an edge twice");
            used[triangle[i] as usize] = true;
        }
    }
    assert!(edges.iter().all(|&(a, b)| edges.contains(&(b, a))), "an open edge");
    assert!(used.iter().all(|&used| used));
}

/// A cube of edge 1 in `n`^3 distorted hexahedra, and in about twice as many tetrahedra.
fn meshes(n: usize) -> [HexMesh; 2] {
    [distorted_cube(n, 0.2, false), distorted_tetrahedra(2 * n / 3, 0.2, false)]
}

/// Width of an element: the edge of a cube of the mean volume.
fn width(mesh: &HexMesh) -> f64 {
    (1.0 / mesh.n_elements() as f64).cbrt()
}

/// Share of each element in which `depth` is positive, by what its integration points stand for,
/// `[n_elements]`.
fn shares(mesh: &HexMesh, depth: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    let xi = mesh.integration_points();
    let share = |element: usize| {
        let across = (mesh.volume(element) / xi.len() as f64).cbrt();
        let of_point = |&xi: &[f64; 3]| 0.5 + depth(mesh.point(element, xi)) / across;
        let sum: f64 = xi.iter().map(|xi| of_point(xi).clamp(0.0, 1.0)).sum();
        sum / xi.len() as f64
    };
    (0..mesh.n_elements()).map(share).collect()
}

/// 1 where `depth` is positive at the center of an element, else 0.
fn crisp(mesh: &HexMesh, depth: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    mesh.centers().iter().map(|x| if depth(*x) > 0.0 { 1.0 } else { 0.0 }).collect()
}

fn shaped(mesh: &HexMesh, density: &[f64], part: &Part) -> Shape {
    UncutSolid::of(mesh, density, &Shaping::default()).unwrap().shape(part).unwrap()
}
