//! `Part`: the body that a design lies in, by its exact surface.

use topopt_mesh::{HexMesh, surface, tetrahedra};

use crate::TriangleSurface;
use crate::body::Body;

/// The body that a design lies in.
pub struct Part {
    body: Body,
    surface: TriangleSurface,
}

impl Part {
    /// The part within a closed `surface`, as of its CAD geometry; none if that is open.
    pub fn within(surface: TriangleSurface) -> Option<Self> {
        Some(Self { body: Body::of(&surface)?, surface })
    }

    /// The part within the boundary of `mesh`; none if its elements lie in each other.
    pub fn of_mesh(mesh: &HexMesh) -> Option<Self> {
        let faces = surface::boundary_faces(mesh).into_iter();
        let triangles = faces.flat_map(|face| tetrahedra::of_face(mesh, face)).collect();
        let all = TriangleSurface::new(mesh.coordinates().to_vec(), Vec::new());
        Self::within(TriangleSurface { triangles, ..all }.compact())
    }

    /// Returns the surface of the part.
    pub fn surface(&self) -> &TriangleSurface {
        &self.surface
    }

    /// The surface of what lies within `skin` and the part; none if the library gives up.
    pub(crate) fn cut(&self, skin: &TriangleSurface) -> Option<TriangleSurface> {
        if skin.triangles.is_empty() {
            return Some(TriangleSurface::default());
        }
        self.body.intersection(&Body::of(skin)?)
    }
}
