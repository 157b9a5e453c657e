//! The surface of a geometry in triangles.

use std::fs;
use std::sync::atomic::AtomicBool;

use topopt_io::gmsh::{MeshingError, Triangulation, triangulate};
use topopt_io::stl;

use super::Geometry;

/// A script of bodies that the stand-in answers with the facets in `part.stl`.
const BODIES: &str = "# OpenCASCADE\ncp $here/part.stl \"$mesh\"\ncat \"$settings\" > $here/asked";

const VERTICES: [[f64; 3]; 4] = [[0.0; 3], [1.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 2.0]];
const TRIANGLES: [[u32; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

fn triangulated(
    script: &str,
    triangles: &[[u32; 3]],
) -> Result<Option<Triangulation>, MeshingError> {
    let geometry = Geometry::new(script);
    stl::write(&geometry.folder.path().join("part.stl"), &VERTICES, triangles).unwrap();
    let part = triangulate(&geometry.path, &geometry.meshing, &AtomicBool::new(false));
    let asked = fs::read_to_string(geometry.folder.path().join("asked")).unwrap_or_default();
    assert_eq!(asked.contains("Mesh.MeshSizeFromCurvature = 72;"), script == BODIES, "{asked}");
    part
}

#[test]
fn bodies_are_triangulated_by_their_curvature() {
    let part = triangulated(BODIES, &TRIANGLES).unwrap().unwrap();
    assert_eq!((part.vertices.len(), part.triangles.len()), (4, 4));
    let corner = |vertex: u32| part.vertices[vertex as usize];
    let volume: f64 = part.triangles.iter().map(|t| volume(t.map(corner))).sum();
    assert!((volume - 0.25).abs() < 1e-12, "{volume}");
}

/// Volume of the tetrahedron over a triangle and the origin.
fn volume([a, b, c]: [[f64; 3]; 3]) -> f64 {
    let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
    (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6.0
}

#[test]
fn scripts_that_describe_a_mesh_have_no_other_surface() {
    assert_eq!(triangulated("cp $here/part.stl \"$mesh\"", &TRIANGLES).unwrap(), None);
}

#[test]
fn an_open_surface_is_refused() {
    let error = triangulated(BODIES, &TRIANGLES[..3]).unwrap_err();
    assert!(matches!(error, MeshingError::Facets { .. }), "{error}");
}
