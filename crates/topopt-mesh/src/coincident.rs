//! Nodes in the same place, as left by parts that were not merged.

use rayon::prelude::*;

use crate::{CellList, HexMesh};

/// Nodes this near, as a share of the longest edge of the bounding box, are in the same place.
const RELATIVE_DISTANCE: f64 = 1e-9;

/// Pairs of nodes of `mesh` in the same place, each pair and all of them increasing.
pub fn coincident_nodes(mesh: &HexMesh) -> Vec<[u32; 2]> {
    let distance = same_place(mesh);
    let near = CellList::new(mesh.coordinates(), distance);
    let nodes = (0..mesh.n_nodes() as u32).into_par_iter();
    let pairs = nodes.fold(Vec::new, |mut pairs, node| {
        let x = mesh.coordinates()[node as usize];
        near.for_each_within(x, |other, _| pairs.extend((other > node).then_some([node, other])));
        pairs
    });
    let mut pairs: Vec<[u32; 2]> = pairs.flatten().collect();
    pairs.par_sort_unstable();
    pairs
}

/// The distance (length) up to which nodes of `mesh` are in the same place.
pub(crate) fn same_place(mesh: &HexMesh) -> f64 {
    RELATIVE_DISTANCE * mesh.bounding_box().extent().into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Benchmark, Resolution};
    use crate::{Sets, hexahedron};

    #[test]
    fn the_nodes_between_cubes_that_only_touch() {
        let cube = |x: f64| hexahedron::NODES.map(|n| [x + n[0], n[1] * (1.0 + 1e-10 * x), n[2]]);
        let coordinates = [cube(0.0), cube(2.0), cube(9.0)].concat();
        let hexes = [0, 8, 16].map(|first| std::array::from_fn(|a| first + a as u32)).to_vec();
        let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
        assert_eq!(coincident_nodes(&mesh), [[1, 8], [2, 11], [5, 12], [6, 15]]);
    }

    #[test]
    fn none_in_a_mesh_that_is_one_piece() {
        let mesh = Benchmark::Michell.generate(Resolution::Elements(2000)).unwrap();
        assert!(coincident_nodes(&mesh).is_empty());
    }
}
