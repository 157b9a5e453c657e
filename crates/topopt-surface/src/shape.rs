//! `Shape`: the surface of a solid with what it is worth.

use serde::{Deserialize, Serialize};
use topopt_mesh::{HexMesh, Places};

use crate::shells::Crumbs;
use crate::{Part, Roughness, Topology, TriangleSurface, Widths};

/// The closed surface of a solid, cut with that of its part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shape {
    /// The surface.
    pub surface: TriangleSurface,
    /// Pairs of its triangles that cross each other.
    pub crossings: Vec<[u32; 2]>,
    /// Pieces, cavities and handles of the same design before its surface was faired.
    pub level_set: Topology,
    /// Pieces smaller than an element, which were left out.
    pub crumbs: Crumbs,
    /// Width of an element.
    pub width: f64,
}

impl Shape {
    /// Measures the roughness beside the surface of the `part`.
    pub fn roughness(&self, part: &Part) -> Roughness {
        self.surface.roughness(part.surface(), self.width)
    }

    /// Widths of the members, and of the gaps between them, as they are met along the surface
    /// beside the elements of `mesh` that are not `ignored`, `[n_elements]` or empty; none without
    /// any.
    pub fn widths(&self, mesh: &HexMesh, ignored: &[bool]) -> [Option<Widths>; 2] {
        self.surface.widths(|places| are_ignored(mesh, ignored, places))
    }

    /// Shares of the surface beside members and gaps narrower than `least`, and beside members wider
    /// than `most`; see [`Shape::widths`].
    pub fn beyond(
        &self,
        mesh: &HexMesh,
        ignored: &[bool],
        (least, most): ([f64; 2], f64),
    ) -> [f64; 3] {
        self.surface.beyond((least, most), |places| are_ignored(mesh, ignored, places))
    }
}

/// Whether each of `places` lies in an element that is `ignored`, `[n_elements]` or empty.
fn are_ignored(mesh: &HexMesh, ignored: &[bool], places: &[[f64; 3]]) -> Vec<bool> {
    if !ignored.contains(&true) {
        return vec![false; places.len()];
    }
    Places::of(mesh, places).elements().map(|element| ignored[element as usize]).collect()
}
