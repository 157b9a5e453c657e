//! Cells whose corners run the wrong way round, as a mirrored mesh or another convention leaves them.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{Cell, Cells, Shape};
use crate::hexahedron;
use crate::vector::difference;

/// The corners of the mirror image by those of a shape, in the order in which it is right-handed.
fn mirrored(shape: Shape) -> &'static [usize] {
    match shape {
        Shape::Tetrahedron => &[1, 0, 2, 3],
        Shape::Pyramid => &[0, 3, 2, 1, 4],
        Shape::Wedge => &[3, 4, 5, 0, 1, 2],
        Shape::Hexahedron => &[4, 5, 6, 7, 0, 1, 2, 3],
    }
}

impl Cells {
    /// Counts the corners of left-handed cells the other way round. Returns the cells whose corners
    /// were reordered, ascending.
    ///
    /// A cell is left-handed if its mirror image is a sound one that fits its neighbors: two cells
    /// run through a common face in opposite directions. One that is inverted because a node lies
    /// beyond a face does not fit, and stays.
    pub fn turn_left_handed(&mut self, coordinates: &[[f64; 3]]) -> Vec<usize> {
        let is_left_handed = |cell: &usize| self.get(*cell).is_left_handed(coordinates);
        let mut turned: Vec<usize> =
            (0..self.len()).into_par_iter().filter(is_left_handed).collect();
        if turned.is_empty() {
            return turned;
        }
        turned.iter().for_each(|&cell| self.turn(cell));
        let misfits = self.misfits(&turned);
        misfits.iter().for_each(|&cell| self.turn(cell));
        turned.retain(|cell| misfits.binary_search(cell).is_err());
        turned
    }

    /// Counts the corners of a cell the other way round; twice is once around.
    fn turn(&mut self, number: usize) {
        let Cell { shape, corners, middles } = self.get(number);
        let order = mirrored(shape);
        let middle = |&[a, b]: &[usize; 2]| {
            let (a, b) = (order[a], order[b]);
            let edge = shape.edges().iter().position(|edge| *edge == [a, b] || *edge == [b, a]);
            middles[edge.unwrap_or_default()]
        };
        let middles: Vec<u32> = match middles {
            [] => Vec::new(),
            _ => shape.edges().iter().map(middle).collect(),
        };
        let corners: Vec<u32> = order.iter().map(|&a| corners[a]).collect();
        let end = self.ends[number];
        let start = end - corners.len() - middles.len();
        self.nodes[start..end].copy_from_slice(&[corners, middles].concat());
    }

    /// Returns the `turned` cells, ascending, that run through a face in a neighbor's direction.
    fn misfits(&self, turned: &[usize]) -> Vec<usize> {
        let mut faces: HashMap<[u32; 4], Vec<(usize, bool)>> = HashMap::new();
        for &cell in turned {
            self.get(cell)
                .directed_faces()
                .for_each(|(key, _)| drop(faces.insert(key, Vec::new())));
        }
        for (number, cell) in self.iter().enumerate() {
            for (key, direction) in cell.directed_faces() {
                if let Some(there) = faces.get_mut(&key) {
                    there.push((number, direction));
                }
            }
        }
        let is_misfit = |cell: &usize| {
            self.get(*cell).directed_faces().any(|(key, direction)| {
                faces[&key].iter().any(|(other, theirs)| other != cell && *theirs == direction)
            })
        };
        turned.iter().copied().filter(is_misfit).collect()
    }
}

impl Cell<'_> {
    /// Whether its straight shape is inverted, and that of its mirror image sound.
    fn is_left_handed(&self, coordinates: &[[f64; 3]]) -> bool {
        let x = |a: usize| coordinates[self.corners[a] as usize];
        let spat = self.shape.corners()[0].to.map(|b| difference(x(b), x(0)));
        // A look at one corner is enough for nearly all.
        if hexahedron::determinant(&spat) >= 0.0 {
            return false;
        }
        let order = mirrored(self.shape);
        let corners: Vec<u32> = order.iter().map(|&a| self.corners[a]).collect();
        let image = Cell { corners: &corners, ..*self };
        self.scaled_jacobian(coordinates) < 0.0 && image.scaled_jacobian(coordinates) > 0.0
    }

    /// The faces by their keys, and in which of two directions they run seen from outside.
    fn directed_faces(&self) -> impl Iterator<Item = ([u32; 4], bool)> + '_ {
        self.shape.faces().iter().map(|face| {
            let n = face.len();
            let node = |i: usize| self.corners[face[i % n]];
            let first = (0..n).min_by_key(|&i| node(i)).unwrap_or_default();
            (self.face_key(face), node(first + 1) < node(first + n - 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two unit cubes side by side along x, the corners of the second one as `order` says.
    fn cubes(order: [usize; 8]) -> (Cells, Vec<[f64; 3]>) {
        let node = |i: usize, j: usize, k: usize| (i + 3 * (j + 2 * k)) as u32;
        let cube = |i| {
            [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
                .map(|[a, b, c]| node(i + a, b, c))
        };
        let mut cells = Cells::default();
        cells.push(Shape::Hexahedron, &cube(0), &[]);
        cells.push(Shape::Hexahedron, &order.map(|a| cube(1)[a]), &[]);
        (cells, (0..12).map(|n| [n % 3, n / 3 % 2, n / 6].map(|i| i as f64)).collect())
    }

    #[test]
    fn left_handed_cells_are_turned() {
        let (right, x) = cubes([0, 1, 2, 3, 4, 5, 6, 7]);
        let mut cells = right.clone();
        assert_eq!(cells.turn_left_handed(&x), []);
        assert_eq!(cells, right);
        for left in [[4, 5, 6, 7, 0, 1, 2, 3], [0, 3, 2, 1, 4, 7, 6, 5]] {
            let (mut cells, x) = cubes(left);
            assert_eq!(cells.turn_left_handed(&x), [1]);
            assert!(cells.iter().all(|cell| cell.scaled_jacobian(&x) == 1.0));
        }
        // All of a mirrored mesh.
        let (mut cells, mut x) = cubes([0, 1, 2, 3, 4, 5, 6, 7]);
        x.iter_mut().for_each(|x| x[0] = -x[0]);
        assert_eq!(cells.turn_left_handed(&x), [0, 1]);
        assert!(cells.iter().all(|cell| cell.scaled_jacobian(&x) == 1.0));
    }

    #[test]
    fn middles_go_with_their_edges() {
        for shape in Shape::ALL {
            let corners: Vec<u32> = (0..shape.n_corners() as u32).collect();
            let middle = |&[a, b]: &[usize; 2]| 100 * (a + b) as u32 + (a * b) as u32;
            let middles: Vec<u32> = shape.edges().iter().map(middle).collect();
            let mut cells = Cells::default();
            cells.push(shape, &corners, &middles);
            let before = cells.clone();
            cells.turn(0);
            let Cell { corners, middles, .. } = cells.get(0);
            for (&[a, b], found) in shape.edges().iter().zip(middles) {
                assert_eq!(*found, middle(&[corners[a] as usize, corners[b] as usize]));
            }
            cells.turn(0);
            assert_eq!(cells, before);
        }
    }

    /// The fourth corner of a tetrahedron between two others lies beyond its base.
    #[test]
    fn an_inverted_cell_stays() {
        let x = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0.1, 0.1, -0.2], [0.3, 0.3, -1.0]];
        let mut cells = Cells::default();
        cells.push(Shape::Tetrahedron, &[0, 1, 2, 3], &[]);
        cells.push(Shape::Tetrahedron, &[0, 2, 1, 4], &[]);
        let before = cells.clone();
        assert_eq!(cells.turn_left_handed(&x), []);
        assert_eq!(cells, before);
    }
}
