//! Mesh files for the tests.

use std::path::Path;

use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};
use topopt_mesh::HexMesh;
use topopt_mesh::generate::{Benchmark, Resolution};

/// `mesh` section of [`crate::CASE`], to be replaced by [`FROM_FILE`].
pub const GENERATED: &str = "generator = \"cantilever\"\nelements = 250";
/// The mesh in part.msh.
pub const FROM_FILE: &str = "file = \"part.msh\"";

/// One hexahedron of edge 1, in version 2.2, with the node sets `fixed` (x = 0) and `load`.
pub const CUBE: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
    $PhysicalNames\n2\n0 1 \"fixed\"\n0 2 \"load\"\n$EndPhysicalNames\n\
    $Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n\
    $Elements\n6\n1 5 2 3 1 1 2 3 4 5 6 7 8\n\
    2 15 2 1 1 1\n3 15 2 1 1 4\n4 15 2 1 1 5\n5 15 2 1 1 8\n6 15 2 2 1 7\n$EndElements\n";

/// The cantilever of about 250 elements, bent and sheared so that no two elements are alike.
pub fn distorted() -> HexMesh {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
    let bend = |&[x, y, z]: &[f64; 3]| {
        [x + 0.2 * (0.7 * y).sin(), 1.1 * y + 0.02 * x * z, z + 0.15 * (0.9 * x + y).cos()]
    };
    let coordinates = mesh.coordinates().iter().map(bend).collect();
    HexMesh::new(coordinates, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap()
}

/// Writes `mesh` to `path`.
pub fn write(path: &Path, mesh: &HexMesh) {
    let format = GmshFormat { version: Version::V4_1, encoding: Encoding::Ascii };
    gmsh::write(path, mesh, format).unwrap();
}
