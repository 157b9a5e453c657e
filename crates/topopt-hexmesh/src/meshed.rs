//! A finished mesh.

use topopt_mesh::Face;

use crate::report::Report;

/// Mesh of hexahedra, and its skin.
#[derive(Debug, Clone, PartialEq)]
pub struct Meshed {
    /// Nodes, `[n_nodes][3]`.
    pub points: Vec<[f64; 3]>,
    /// Nodes of the hexahedra in the order of VTK, `[n_hexes][8]`.
    pub hexes: Vec<[u32; 8]>,
    /// Body that each hexahedron is of, `[n_hexes]`.
    pub bodies: Vec<u32>,
    /// Faces of the skin, and those between two bodies, of one of these.
    pub faces: Vec<NumberedFace>,
    /// Quality, and what was kept.
    pub report: Report,
}

/// Face of a hexahedron on the skin or between two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedFace {
    /// Element and local face.
    pub face: Face,
    /// Number of the face of the part that it lies on.
    pub number: u32,
}
