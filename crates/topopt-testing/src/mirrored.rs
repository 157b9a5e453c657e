//! Meshes that mirror themselves.

use topopt_mesh::cells::Shape;
use topopt_mesh::{HexMesh, Sets};

/// Order of the nodes of the image of a hexahedron, and of a tetrahedron of ten nodes.
const HEXAHEDRON: [usize; 8] = [1, 0, 3, 2, 5, 4, 7, 6];
const TETRAHEDRON: [usize; 10] = [1, 0, 2, 3, 4, 6, 5, 8, 7, 9];

/// A mesh with its image in the plane across `axis` through its highest nodes, which both share.
pub fn mirrored(mesh: &HexMesh, axis: usize) -> HexMesh {
    let (n, at) = (mesh.n_nodes() as u32, mesh.bounding_box().max[axis]);
    let mut coordinates = mesh.coordinates().to_vec();
    let mut image = Vec::new();
    for (node, x) in (0..n).zip(mesh.coordinates()) {
        let is_shared = (x[axis] - at).abs() < 1e-9;
        image.push(if is_shared { node } else { coordinates.len() as u32 });
        if !is_shared {
            coordinates
                .push(std::array::from_fn(|i| if i == axis { 2.0 * at - x[i] } else { x[i] }));
        }
    }

    let image = |node: u32| image[node as usize];
    if mesh.shape() == Shape::Tetrahedron {
        let there = mesh.tetrahedra().iter().map(|nodes| TETRAHEDRON.map(|a| image(nodes[a])));
        let all = mesh.tetrahedra().iter().copied().chain(there).collect();
        return HexMesh::of_tetrahedra(coordinates, all, Sets::default()).unwrap();
    }
    let there = mesh.hexes().iter().map(|nodes| HEXAHEDRON.map(|a| image(nodes[a])));
    let all = mesh.hexes().iter().copied().chain(there).collect();
    HexMesh::new(coordinates, all, Sets::default()).unwrap()
}
