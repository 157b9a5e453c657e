//! `FacetFault`: errors in an STL file.

use topopt_mesh::numbers::{place, shown};

/// Why facets bound no body.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FacetFault {
    /// Neither text nor binary of this format.
    #[error("it is no STL file: {0}")]
    NotStl(String),
    /// Text that stops making sense.
    #[error("line {line}: expected {expected}, found {found}")]
    Malformed {
        /// From 1.
        line: usize,
        /// Expected text.
        expected: &'static str,
        /// Text found.
        found: String,
    },
    /// A file without facets.
    #[error("it has no facets")]
    Empty,
    /// A coordinate that is no place.
    #[error("facet {facet} has the coordinate {value}, which is no place in space")]
    NotFinite {
        /// From 1.
        facet: usize,
        /// The coordinate.
        value: f64,
    },
    /// A part without thickness.
    #[error("all facets lie in one plane: the extent is {}", extent.map(shown).join(" x "))]
    Flat {
        /// Extent in x, y and z.
        extent: [f64; 3],
    },
    /// Edges with a facet on one side alone.
    #[error(
        "the facets do not close: {count} edges have no neighbor, the first from {} to {}",
        place(edge[0]), place(edge[1])
    )]
    Open {
        /// Number of open edges.
        count: usize,
        /// The ends of the first.
        edge: [[f64; 3]; 2],
    },
    /// Facets that cannot be turned so that all neighbors agree.
    #[error("the facets at {} have no inside and outside", place(*at))]
    Twisted {
        /// The middle of an edge between such facets.
        at: [f64; 3],
    },
    /// A closed surface in another that is turned as that one.
    #[error(
        "the closed surface at {} lies within another and is turned as a body, not as a cavity",
        place(*at)
    )]
    Nested {
        /// A place on the inner one.
        at: [f64; 3],
    },
    /// Closed surfaces that enclose nothing.
    #[error("the facets enclose no volume")]
    NoVolume,
}
