//! `Solid`: the one shape of a design that is exported, pictured and verified.

use serde::{Deserialize, Serialize};
use topopt_mesh::HexMesh;

/// The solid of a design: what lies within its skin and the part.
#[derive(Debug, Clone)]
pub struct Solid<'a> {
    pub(crate) mesh: &'a HexMesh,
    pub(crate) filled: Filled,
}

/// Part of a mesh that a solid fills, to be kept beside the mesh.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Filled {
    /// Share of every element's volume, `[n_elements]`.
    pub(crate) shares: Vec<f64>,
    pub(crate) threshold: f64,
    pub(crate) volume: f64,
    pub(crate) width: f64,
}

impl<'a> Solid<'a> {
    /// The solid that was `filled` of `mesh`; none if that is another mesh.
    pub fn restored(mesh: &'a HexMesh, filled: Filled) -> Option<Self> {
        (filled.shares.len() == mesh.n_elements()).then_some(Self { mesh, filled })
    }

    /// Returns what it fills.
    pub fn filled(&self) -> &Filled {
        &self.filled
    }

    /// Returns the mesh around the solid.
    pub fn mesh(&self) -> &'a HexMesh {
        self.mesh
    }

    /// Returns the density at which the surface lies.
    pub fn threshold(&self) -> f64 {
        self.filled.threshold
    }

    /// Returns the volume inside the surface, within the mesh.
    pub fn volume(&self) -> f64 {
        self.filled.volume
    }

    /// Returns the width of an element: the edge of a cube of the mean volume.
    pub fn width(&self) -> f64 {
        self.filled.width
    }

    /// Whether the solid is neither empty nor the whole mesh, so that its surface cuts elements.
    pub fn is_cut(&self) -> bool {
        let shares = &self.filled.shares;
        shares.iter().any(|share| *share > 0.0) && shares.iter().any(|share| *share < 1.0)
    }

    /// Returns the share of every element's volume that is solid, `[n_elements]`.
    pub fn shares(&self) -> &[f64] {
        &self.filled.shares
    }
}
