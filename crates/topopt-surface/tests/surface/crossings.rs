//! Triangles that cross, touch or lie on each other.

use topopt_mesh::vector::{difference, length};

use super::*;

/// The crossings of triangles of `vertices`, also moved far away and scaled down.
fn crossings(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let of = |scale: f64, shift: f64| {
        let moved = vertices.iter().map(|x| x.map(|x| scale * x + shift)).collect();
        TriangleSurface::new(moved, triangles.to_vec()).crossings()
    };
    let found = of(1.0, 0.0);
    assert_eq!(found, of(1.0, 1024.0));
    assert_eq!(found, of(2.0_f64.powi(-30), 0.0));
    found
}

const A: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

#[test]
fn triangles_without_a_common_vertex() {
    let with =
        |other: [[f64; 3]; 3]| !crossings(&[A, other].concat(), &[[0, 1, 2], [3, 4, 5]]).is_empty();
    // Through it, through its edge, past it.
    assert!(with([[0.25, 0.25, -1.0], [0.25, 0.25, 1.0], [2.0, 2.0, 0.5]]));
    assert!(with([[0.5, -0.5, -0.5], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5]]));
    assert!(!with([[0.75, 0.75, -1.0], [0.75, 0.75, 1.0], [2.0, 2.0, 0.5]]));
    // A tip that touches, and one that stops a hair above.
    assert!(with([[0.25, 0.25, 0.0], [0.25, 0.25, 1.0], [1.0, 1.0, 1.0]]));
    assert!(!with([[0.25, 0.25, 1e-3], [0.25, 0.25, 1.0], [1.0, 1.0, 1.0]]));
    // In its plane: inside, around, across, beside, and above.
    assert!(with([[0.125, 0.125, 0.0], [0.25, 0.125, 0.0], [0.125, 0.25, 0.0]]));
    assert!(with([[-1.0, -1.0, 0.0], [4.0, -1.0, 0.0], [-1.0, 4.0, 0.0]]));
    assert!(with([[0.5, -1.0, 0.0], [0.625, -1.0, 0.0], [0.5, 2.0, 0.0]]));
    assert!(!with([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0], [1.0, 2.0, 0.0]]));
    assert!(!with([[0.25, 0.25, 1.0], [0.5, 0.25, 1.0], [0.25, 0.5, 1.0]]));
}

#[test]
fn triangles_with_a_common_vertex_or_edge() {
    let vertex = |b: [f64; 3], c: [f64; 3]| {
        !crossings(&[A.to_vec(), vec![b, c]].concat(), &[[0, 1, 2], [0, 3, 4]]).is_empty()
    };
    assert!(vertex([0.25, 0.25, -0.5], [0.25, 0.25, 0.5]));
    assert!(vertex([0.25, 0.5, 0.0], [0.5, 0.25, 0.0]));
    assert!(!vertex([-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]));
    assert!(!vertex([0.25, 0.25, 0.5], [0.5, 0.25, 0.5]));

    // Over the edge from (0, 0, 0) to (1, 0, 0): on the other side, upwards, folded back.
    let edge = |c: [f64; 3]| {
        !crossings(&[A.to_vec(), vec![c]].concat(), &[[0, 1, 2], [1, 0, 3]]).is_empty()
    };
    assert!(!edge([0.5, -1.0, 0.0]));
    assert!(!edge([0.5, 0.0, 1.0]));
    assert!(!edge([0.5, 0.5, 1e-3]));
    assert!(edge([0.5, 0.5, 0.0]));
}

#[test]
fn two_balls_that_overlap_cross_along_a_circle() {
    let [mesh, _] = meshes(16);
    let part = Part::of_mesh(&mesh).unwrap();
    let ball = |shift: f64| {
        let depth = |x: [f64; 3]| 0.3 - length(difference(x, [0.5 + shift, 0.5, 0.5]));
        shaped(&mesh, &shares(&mesh, depth), &part).surface
    };
    let [one, other] = [-0.15, 0.15].map(ball);
    assert!(one.crossings().is_empty() && other.crossings().is_empty());
    let shift = one.vertices().len() as u32;
    let moved = other.triangles().iter().map(|t| t.map(|vertex| vertex + shift));
    let both = TriangleSurface::new(
        [one.vertices(), other.vertices()].concat(),
        one.triangles().iter().copied().chain(moved).collect(),
    );
    // The circle lies in the plane x = 0.5, its radius is the root of 0.3^2 - 0.15^2.
    let crossings = both.crossings();
    assert!(crossings.len() > 50, "{}", crossings.len());
    for triangle in crossings.as_flattened() {
        for vertex in both.triangles()[*triangle as usize] {
            let [x, y, z] = both.vertices()[vertex as usize];
            let radius = (y - 0.5).hypot(z - 0.5);
            assert!((x - 0.5).abs() < 0.1 && (radius - 0.26).abs() < 0.1, "{x} {radius}");
        }
    }
}
