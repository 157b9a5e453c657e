//! Tetrahedra that are kept, with a node in the middle of every edge.

use rayon::prelude::*;

use super::middles::Middles;
use super::slivers::Moved;
use super::{Cells, Cut, CutError, NO_NODE, Shape};
use crate::hexahedron::determinant;
use crate::tetrahedron::{self, CENTER, N_NODES, TetrahedronNodes, jacobian};

/// A curved tetrahedron is made straight whose determinant at an integration point is less than
/// this share of that at its center when straight: its stiffness would grow as the inverse of that.
const LEAST_SHARE: f64 = 1e-2;

impl Cut {
    /// Keeps `cells`, which are all tetrahedra, as tetrahedra of ten nodes, and cuts none; see
    /// [`Cut::tetrahedra`]. The middles of edges are the nodes that cells of second order have
    /// there, so that curved faces keep their shape, and new ones where there are none.
    ///
    /// # Errors
    /// [`CutError`].
    pub fn keeping_tetrahedra(
        cells: &Cells,
        mut coordinates: Vec<[f64; 3]>,
    ) -> Result<Self, CutError> {
        debug_assert!(cells.shapes().iter().all(|shape| *shape == Shape::Tetrahedron));
        super::cut::check(cells)?;
        let n_given = coordinates.len();
        let middles = Middles::of_edges(cells, n_given).map_err(CutError::TooLarge)?;
        coordinates.resize(middles.n_nodes, [0.0; 3]);
        middles.place_edges(n_given, &mut coordinates);

        let nodes = |cell: super::Cell| -> [u32; N_NODES] {
            let mut nodes = [NO_NODE; N_NODES];
            nodes[..4].copy_from_slice(cell.corners);
            for (node, &[a, b]) in nodes[4..].iter_mut().zip(cell.shape.edges()) {
                *node = middles.of_edge(cell.corners[a], cell.corners[b]);
            }
            nodes
        };
        let tetrahedra: Vec<[u32; N_NODES]> = cells.par_iter().map(nodes).collect();
        let n_straightened = straighten(cells, &middles, &tetrahedra, &mut coordinates);
        Ok(Self {
            coordinates,
            hexes: Vec::new(),
            tetrahedra,
            n_straightened,
            moved: Moved::default(),
            first: (0..=cells.len() as u32).collect(),
            is_cut: vec![false; cells.len()],
        })
    }

    /// Adds to the nodes that are `chosen`, `[n_nodes]`, the middles of the edges of those boundary
    /// faces whose three corners are chosen. Edges with both ends chosen are not enough: in a thin
    /// part a third of them lie inside.
    pub(super) fn add_middles_of_faces(&self, chosen: &mut [bool]) {
        let faces = self
            .tetrahedra
            .par_iter()
            .flat_map_iter(|nodes| tetrahedron::FACES.iter().map(|face| face.map(|a| nodes[a])));
        let is_chosen = |face: &[u32; 6]| face[..3].iter().all(|&node| chosen[node as usize]);
        let mut faces: Vec<([u32; 3], [u32; 6])> = faces
            .filter(is_chosen)
            .map(|face| (sorted([face[0], face[1], face[2]]), face))
            .collect();
        faces.par_sort_unstable();
        for face in faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1) {
            face[0].1.iter().for_each(|&node| chosen[node as usize] = true);
        }
    }
}

fn sorted(mut corners: [u32; 3]) -> [u32; 3] {
    corners.sort_unstable();
    corners
}

/// Makes curved tetrahedra straight that are inverted or nearly so, and counts them. Straight edges
/// change the neighbors too. Each is made straight once, so that this ends.
fn straighten(
    cells: &Cells,
    middles: &Middles,
    tetrahedra: &[[u32; N_NODES]],
    x: &mut [[f64; 3]],
) -> usize {
    let mut curved: Vec<usize> =
        (0..cells.len()).filter(|&cell| !cells.get(cell).middles.is_empty()).collect();
    let mut n_straightened = 0;
    loop {
        let of = |cell: usize| tetrahedra[cell].map(|node| x[node as usize]);
        let (poor, rest): (Vec<usize>, Vec<usize>) =
            curved.par_iter().partition(|cell| is_poor(&of(**cell)));
        curved = rest;
        let straighten = |cell: usize| middles.straighten(&cells.get(cell), x);
        let n_changed = poor.into_iter().map(straighten).filter(|changed| *changed).count();
        if n_changed == 0 {
            return n_straightened;
        }
        n_straightened += n_changed;
    }
}

/// Whether a curved tetrahedron is inverted or nearly so at an integration point.
fn is_poor(x: &TetrahedronNodes) -> bool {
    let [a, b, c, d, ..] = *x;
    let straight = determinant(&jacobian(&tetrahedron::straight([a, b, c, d]), CENTER));
    tetrahedron::least_determinant(x) < LEAST_SHARE * straight
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HexMesh, Sets};

    /// Two tetrahedra on both sides of the triangle 1 2 3.
    fn pair(middles: [&[u32]; 2]) -> (Cells, Vec<[f64; 3]>) {
        let mut cells = Cells::default();
        cells.push(Shape::Tetrahedron, &[0, 1, 2, 3], middles[0]);
        cells.push(Shape::Tetrahedron, &[1, 2, 3, 4], middles[1]);
        let x = vec![[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 1.]];
        (cells, x)
    }

    #[test]
    fn middles_are_inserted_once_per_edge() {
        let (cells, x) = pair([&[], &[]]);
        let cut = Cut::keeping_tetrahedra(&cells, x).unwrap();
        // Nine edges in all.
        assert_eq!((cut.coordinates.len(), cut.tetrahedra.len(), cut.n_cut()), (5 + 9, 2, 0));
        let mesh =
            HexMesh::of_tetrahedra(cut.coordinates, cut.tetrahedra, Sets::default()).unwrap();
        let volume: f64 = mesh.volumes().iter().sum();
        assert!((volume - 0.5).abs() < 1e-15, "{volume}");
        assert_eq!(crate::surface::boundary_faces(&mesh).len(), 6);
    }

    #[test]
    fn middles_join_a_set_by_boundary_faces_alone() {
        let (cells, x) = pair([&[], &[]]);
        let cut = Cut::keeping_tetrahedra(&cells, x).unwrap();
        let grown = |members: &[u32]| {
            let mut chosen = vec![false; cut.coordinates.len()];
            members.iter().for_each(|&node| chosen[node as usize] = true);
            cut.add_middles(&cells, &mut chosen);
            chosen.iter().filter(|chosen| **chosen).count()
        };
        assert_eq!(grown(&[0, 1, 2]), 6);
        // The face between the two, an edge, and all but the first corner.
        assert_eq!([grown(&[1, 2, 3]), grown(&[0, 1]), grown(&[1, 2, 3, 4])], [3, 2, 4 + 6]);
    }

    #[test]
    fn curved_edges_stay_unless_they_turn_a_point_over() {
        for (shift, n_straightened) in [(0.05, 0), (0.9, 1)] {
            let (cells, mut x) = pair([&[5, 6, 7, 8, 9, 10], &[6, 10, 9, 11, 12, 13]]);
            let ends = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
            x.extend(ends.map(|[a, b]| tetrahedron::midpoint(x[a], x[b])));
            let ends = [[1, 4], [2, 4], [3, 4]];
            x.extend(ends.map(|[a, b]| tetrahedron::midpoint(x[a], x[b])));
            x[5][2] += shift;
            let (cells, x) = (renumbered(&cells), x);
            let cut = Cut::keeping_tetrahedra(&cells, x.clone()).unwrap();
            assert_eq!(cut.n_straightened, n_straightened);
            assert_eq!(cut.coordinates[5] == x[5], n_straightened == 0);
            HexMesh::of_tetrahedra(cut.coordinates, cut.tetrahedra, Sets::default()).unwrap();
        }
    }

    /// The second cell by its own edges: 12, 23, 31, 14, 24, 34.
    fn renumbered(cells: &Cells) -> Cells {
        let mut again = Cells::default();
        again.push(Shape::Tetrahedron, cells.get(0).corners, cells.get(0).middles);
        again.push(Shape::Tetrahedron, &[1, 2, 3, 4], &[6, 10, 9, 11, 12, 13]);
        again
    }
}
