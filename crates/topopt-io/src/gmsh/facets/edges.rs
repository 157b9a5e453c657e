//! Edges of facets.

use rayon::prelude::*;

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
    let of_facet = |(facet, &[a, b, c]): (usize, &[u32; 3])| {
        [[a, b], [b, c], [c, a]].map(|[from, to]| Side {
            edge: [from.min(to), from.max(to)],
            facet: facet as u32,
            is_forward: from < to,
        })
    };
    let mut sides: Vec<Side> = triangles.par_iter().enumerate().flat_map_iter(of_facet).collect();
    sides.par_sort_unstable();
    sides
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
