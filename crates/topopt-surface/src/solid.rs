//! `Solid`: the one shape of a design that is exported, pictured and verified.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_mesh::HexMesh;

use crate::Field;
use crate::cut::Cut;
use crate::threshold::Volumes;

/// The solid of a design: what lies within its skin and the part.
#[derive(Debug, Clone)]
pub struct Solid<'a> {
    pub(crate) mesh: &'a HexMesh,
    pub(crate) filled: Filled,
}

/// Part of a mesh that a solid fills, to be kept beside the mesh.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Filled {
    /// Distances from the skin, positive inside, on the tetrahedra of the mesh.
    pub(crate) field: Field,
    pub(crate) level: f64,
    pub(crate) threshold: f64,
    pub(crate) volume: f64,
    pub(crate) width: f64,
}

impl<'a> Solid<'a> {
    /// The solid that was `filled` of `mesh`; none if that is another mesh.
    pub fn restored(mesh: &'a HexMesh, filled: Filled) -> Option<Self> {
        filled.field.is_on(mesh).then_some(Self { mesh, filled })
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
        let [least, most] = self.filled.field.range();
        least < self.filled.level && self.filled.level <= most
    }

    /// Share of every element's volume that is solid, `[n_elements]`.
    pub fn shares(&self) -> Vec<f64> {
        let volumes = Volumes::of(self.mesh);
        let cut = Cut { mesh: self.mesh, field: &self.filled.field, threshold: self.filled.level };
        let share = |element: usize| volumes.inside(&cut, element) / volumes.of_element(element);
        (0..self.mesh.n_elements()).into_par_iter().map(share).collect()
    }
}
