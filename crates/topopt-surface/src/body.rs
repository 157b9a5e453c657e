//! Closed surfaces as bodies of the library `manifold`.

use manifold_rust::manifold::Manifold;
use manifold_rust::types::{BooleanEngine, Error, MeshGLP};

use crate::TriangleSurface;
use crate::half_edges::imported;

type Mesh = MeshGLP<f64, u32>;

/// A body between closed surfaces.
pub(crate) struct Body {
    pub manifold: Manifold,
    /// Number that its triangles keep in an intersection.
    number: u32,
    /// Whether bodies touch each other in it: then the library needs its engine of rational
    /// numbers.
    pub touches: bool,
}

impl Body {
    /// The body in `surface`; none if that is not closed, or turned inside out. Bodies that touch
    /// each other in vertices and edges are allowed.
    pub fn of(surface: &TriangleSurface) -> Option<Self> {
        let number = Manifold::reserve_ids(1);
        let (manifold, touches) = match imported(surface, number) {
            Some(manifold) => (manifold, false),
            None => imported_by_library(surface, number),
        };
        let is_body = manifold.status() == Error::NoError && surface.volume() > 0.0;
        is_body.then_some(Self { manifold, number, touches })
    }

    /// The surface of what both have; its vertices lie `on_boundary` where they are of `self`. None
    /// if the library gives up.
    pub fn intersection(&self, other: &Self) -> Option<TriangleSurface> {
        // Where a skin touches itself somewhere, rational numbers would keep that, and fold faces
        // of the part that lie in planes: 3367 crossings on a bracket, and three times the time.
        let engine = match self.touches || other.touches {
            true => BooleanEngine::Robust,
            false => BooleanEngine::Exact,
        };
        let common = self.manifold.intersection_with_engine(&other.manifold, engine);
        if common.status() != Error::NoError {
            return None;
        }
        let mesh: Mesh = common.get_mesh_glp(-1);
        let mut surface = of_mesh(&mesh);
        for (run, _) in
            mesh.run_original_id.iter().enumerate().filter(|(_, id)| **id == self.number)
        {
            let corners = mesh.run_index[run] as usize..mesh.run_index[run + 1] as usize;
            for &vertex in &surface.triangles.as_flattened()[corners] {
                surface.on_boundary[vertex as usize] = true;
            }
        }
        Some(surface)
    }
}

/// The body that the library makes of a surface, and whether bodies touch each other in it.
fn imported_by_library(surface: &TriangleSurface, number: u32) -> (Manifold, bool) {
    let mesh = Mesh {
        num_prop: 3,
        vert_properties: surface.vertices.as_flattened().to_vec(),
        tri_verts: surface.triangles.as_flattened().to_vec(),
        run_original_id: vec![number],
        ..Mesh::default()
    };
    let strict = Manifold::from_mesh_glp(&mesh);
    let touches = strict.status() != Error::NoError;
    (if touches { Manifold::from_mesh_glp_robust(&mesh) } else { strict }, touches)
}

impl TriangleSurface {
    /// The surface without edges and triangles that a `tolerance` (length) does not tell apart.
    pub fn simplified(&self, tolerance: f64) -> Self {
        let Some(body) = Body::of(self) else { return self.clone() };
        surface(&body.manifold.simplify(tolerance))
    }
}

/// The surface of a body of the library.
pub(crate) fn surface(body: &Manifold) -> TriangleSurface {
    of_mesh(&body.get_mesh_glp(-1))
}

fn of_mesh(mesh: &Mesh) -> TriangleSurface {
    let vertices = mesh.vert_properties.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect();
    let triangles = mesh.tri_verts.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    TriangleSurface::new(vertices, triangles)
}
