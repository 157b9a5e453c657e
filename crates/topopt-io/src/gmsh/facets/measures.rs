//! Volume and area of triangles.

use topopt_mesh::hexahedron::determinant;
use topopt_mesh::vector::{cross, difference, length};

/// The volume that closed `triangles` enclose, by the divergence theorem.
pub(super) fn volume(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> f64 {
    // From a vertex and not from the origin, which may be far away.
    let origin = triangles.first().map_or([0.0; 3], |t| vertices[t[0] as usize]);
    let of = |triangle: &[u32; 3]| {
        determinant(&triangle.map(|vertex| difference(vertices[vertex as usize], origin)))
    };
    triangles.iter().map(of).sum::<f64>() / 6.0
}

/// The area of `triangles`.
pub(super) fn area(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> f64 {
    let of = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
        0.5 * length(cross(difference(b, a), difference(c, a)))
    };
    triangles.iter().map(of).sum()
}
