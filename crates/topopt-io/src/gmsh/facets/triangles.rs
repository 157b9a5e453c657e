//! Edges, volume and area of triangles.

use rayon::prelude::*;
use topopt_mesh::hexahedron::determinant;
use topopt_mesh::vector::{cross, difference, length};

/// Closed surface of a geometry.
#[derive(Debug, Clone, PartialEq)]
pub struct Triangulation {
    /// Coordinates, `[n_vertices][3]`.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles, counter-clockwise from outside, `[n_triangles][3]`.
    pub triangles: Vec<[u32; 3]>,
}

/// A facet at an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// The ends, increasing.
    pub edge: [u32; 2],
    /// The facet.
    pub facet: u32,
    /// Whether the facet runs from the smaller end to the larger.
    pub is_forward: bool,
}

/// The sides of all facets, by edge.
pub(super) fn sides(triangles: &[[u32; 3]]) -> Vec<Side> {
    let mut sides: Vec<Side> = triangles.par_iter().enumerate().flat_map_iter(of_facet).collect();
    sides.par_sort_unstable();
    sides
}

fn of_facet((facet, &[a, b, c]): (usize, &[u32; 3])) -> [Side; 3] {
    [[a, b], [b, c], [c, a]].map(|[from, to]| Side {
        edge: [from.min(to), from.max(to)],
        facet: facet as u32,
        is_forward: from < to,
    })
}

/// The facets at every edge.
pub(super) fn by_edge(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|one, other| one.edge == other.edge)
}

/// Edges with an odd number of facets.
pub(super) fn open(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = sides(triangles);
    by_edge(&sides).filter(|at| at.len() % 2 == 1).map(|at| at[0].edge).collect()
}

/// The volume that closed `triangles` enclose, by the divergence theorem.
pub(in crate::gmsh) fn volume(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> f64 {
    // From a vertex and not from the origin, which may be far away.
    let origin = triangles.first().map_or([0.0; 3], |t| vertices[t[0] as usize]);
    let of = |triangle: &[u32; 3]| {
        determinant(&triangle.map(|vertex| difference(vertices[vertex as usize], origin)))
    };
    triangles.iter().map(of).sum::<f64>() / 6.0
}

/// The area of `triangles`.
pub(in crate::gmsh) fn area(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> f64 {
    let of = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
        0.5 * length(cross(difference(b, a), difference(c, a)))
    };
    triangles.iter().map(of).sum()
}
