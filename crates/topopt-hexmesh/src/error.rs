//! Reasons why a surface cannot be meshed.

use thiserror::Error;
use topopt_mesh::numbers::place;

/// Reason why a surface cannot be taken, or no mesh of hexahedra was found.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum HexmeshError {
    /// A coordinate that is no finite number.
    #[error("vertex {0} of the surface has a coordinate that is not finite")]
    NotFinite(usize),
    /// A triangle with a vertex that there is not, or with the same one twice.
    #[error("triangle {0} of the surface names a vertex twice, or one that there is not")]
    BadTriangle(usize),
    /// Lists of different lengths.
    #[error("the surface has {triangles} triangles and {faces} face numbers")]
    FaceNumbers {
        /// Number of triangles.
        triangles: usize,
        /// Number of face numbers.
        faces: usize,
    },
    /// An edge without exactly two triangles.
    #[error(
        "the surface is open or meets itself: {triangles} triangles share the edge from {} to \
         {}",
        place(*from), place(*to)
    )]
    Edge {
        /// Triangles at the edge.
        triangles: usize,
        /// Start of the edge.
        from: [f64; 3],
        /// End of the edge.
        to: [f64; 3],
    },
    /// Neighbors, one of them turned inward.
    #[error(
        "triangles at the edge from {} to {} are turned against each other",
        place(*from), place(*to)
    )]
    Turned {
        /// Start of the edge.
        from: [f64; 3],
        /// End of the edge.
        to: [f64; 3],
    },
    /// A triangle that has the same on both sides.
    #[error("triangle {0} of the surface bounds no body")]
    NoBoundary(usize),
    /// Bodies with an edge in common and no face.
    #[error(
        "bodies touch each other along the edge from {} to {} alone, and share no face there",
        place(*from), place(*to)
    )]
    TouchAtEdge {
        /// The bodies.
        bodies: [u32; 2],
        /// Start of the edge.
        from: [f64; 3],
        /// End of the edge.
        to: [f64; 3],
    },
    /// Bodies with a vertex in common and no face.
    #[error("bodies touch each other at {} alone, and share no face there", place(*at))]
    TouchAtPoint {
        /// The bodies.
        bodies: [u32; 2],
        /// The place.
        at: [f64; 3],
    },
    /// Bodies that lie on each other with faces of their own.
    #[error("bodies touch each other at {} with a face of each, and do not share it", place(*at))]
    TouchUnshared {
        /// The bodies.
        bodies: [u32; 2],
        /// The place.
        at: [f64; 3],
    },
    /// Bodies that overlap: one is partly within another.
    #[error("bodies overlap at {}", place(*at))]
    Overlap {
        /// The bodies.
        bodies: [u32; 2],
        /// The place.
        at: [f64; 3],
    },
    /// A surface around nothing, or turned inward.
    #[error("the surface encloses no volume, or points inward")]
    Empty,
    /// A size that makes no grid.
    #[error(
        "elements of size {size} need a grid of {cells:.1e} cells, and at most {most:.1e} have room"
    )]
    TooFine {
        /// Edge of an element.
        size: f64,
        /// Cells of the grid.
        cells: f64,
        /// Most cells.
        most: f64,
    },
    /// A size that is not positive.
    #[error("elements have a positive size, not {0}")]
    BadSize(f64),
    /// All attempts failed; the fault of the best one.
    #[error("no valid mesh of hexahedra of size {size} was found: {fault}")]
    NoMesh {
        /// Edge of an element.
        size: f64,
        /// Fault of the last attempt.
        fault: String,
    },
}

impl HexmeshError {
    /// Returns the two bodies that do not go together, if that is the reason.
    pub fn bodies(&self) -> Option<[u32; 2]> {
        match *self {
            Self::TouchAtEdge { bodies, .. }
            | Self::TouchAtPoint { bodies, .. }
            | Self::TouchUnshared { bodies, .. }
            | Self::Overlap { bodies, .. } => Some(bodies),
            _ => None,
        }
    }
}
