//! The solid cells of a mesh file, of any [`Shape`] and of first or second order, and how they
//! become hexahedra: see [`Cut`].

mod cut;
mod handedness;
mod middles;
mod quadratic;
mod shape;
mod slivers;
mod unique;

use rayon::prelude::*;

use crate::hexahedron::{self, distinct};
use crate::quality;
use crate::sets::Face;

pub use cut::{Cut, CutError};
pub use shape::Shape;
pub use slivers::Moved;

/// Solid cells by the numbers of their nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells {
    shapes: Vec<Shape>,
    /// End of each cell in `nodes`, `[n_cells]`.
    ends: Vec<usize>,
    /// Corners of a cell, then the nodes in the middles of its edges if it has any.
    nodes: Vec<u32>,
    /// Pyramids that were given as hexahedra, ascending.
    collapsed: Vec<usize>,
    /// Whether those stay hexahedra.
    keeps_collapsed: bool,
}

/// One of the [`Cells`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell<'a> {
    /// Shape of the cell.
    pub shape: Shape,
    /// Nodes at the corners, `[n_corners]`.
    pub corners: &'a [u32],
    /// The nodes in the middles of its [edges](Shape::edges), [`NO_NODE`] where there is none;
    /// empty for a cell of first order.
    pub middles: &'a [u32],
}

/// No node in the middle of an edge.
pub const NO_NODE: u32 = u32::MAX;

impl Cells {
    /// Adds a cell. A hexahedron whose corners stand twice becomes the wedge, the pyramid or the
    /// tetrahedron that it is.
    ///
    /// `corners`: as many as the shape has; `middles`: one for every edge of the shape, or none.
    pub fn push(&mut self, shape: Shape, corners: &[u32], middles: &[u32]) {
        debug_assert_eq!(corners.len(), shape.n_corners());
        debug_assert!(middles.is_empty() || middles.len() == shape.edges().len());
        if let Ok(hex) = <[u32; 8]>::try_from(corners)
            && let Some((shape, locals)) = degenerate(&hex)
        {
            let corners: Vec<u32> = locals.iter().map(|&a| hex[a]).collect();
            let middles = middles_of(shape, &corners, &hex, middles);
            if shape == Shape::Pyramid {
                self.collapsed.push(self.len());
            }
            return self.add(shape, &corners, &middles);
        }
        self.add(shape, corners, middles);
    }

    fn add(&mut self, shape: Shape, corners: &[u32], middles: &[u32]) {
        self.shapes.push(shape);
        self.nodes.extend_from_slice(corners);
        // A corner in the place of a middle says that there is none, and so does an edge without.
        let middle = |node: &u32| if corners.contains(node) { NO_NODE } else { *node };
        if middles.iter().any(|node| middle(node) != NO_NODE) {
            self.nodes.extend(middles.iter().map(middle));
        }
        self.ends.push(self.nodes.len());
    }

    /// Makes room for so many more cells with so many nodes each.
    pub fn reserve(&mut self, n_cells: usize, n_nodes: usize) {
        self.shapes.reserve_exact(n_cells);
        self.ends.reserve_exact(n_cells);
        self.nodes.reserve_exact(n_cells.saturating_mul(n_nodes));
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// A cell.
    pub fn get(&self, cell: usize) -> Cell<'_> {
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        let nodes = &self.nodes[start..self.ends[cell]];
        let shape = self.shapes[cell];
        let (corners, middles) = nodes.split_at(shape.n_corners());
        Cell { shape, corners, middles }
    }

    /// The shapes, `[n_cells]`.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Keeps pyramids that were given as hexahedra as they are: a mesh that was cut and written has them.
    pub fn keep_collapsed(&mut self) {
        self.keeps_collapsed = true;
    }

    /// Whether the cell must be cut: a tetrahedron, and a pyramid unless it is
    /// [kept](Cells::keep_collapsed) as the hexahedron that it was given as.
    pub fn must_be_cut(&self, cell: usize) -> bool {
        match self.shapes[cell] {
            Shape::Tetrahedron => true,
            Shape::Pyramid => !self.keeps_collapsed || self.collapsed.binary_search(&cell).is_err(),
            Shape::Wedge | Shape::Hexahedron => false,
        }
    }

    /// All cells.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        (0..self.len()).map(|cell| self.get(cell))
    }

    /// All cells, by several threads.
    pub fn par_iter(&self) -> impl IndexedParallelIterator<Item = Cell<'_>> {
        (0..self.len()).into_par_iter().map(|cell| self.get(cell))
    }

    /// The `chosen` cells, in that order.
    pub fn select(&self, chosen: impl Iterator<Item = usize>) -> Self {
        let mut selected = Self { keeps_collapsed: self.keeps_collapsed, ..Self::default() };
        for cell in chosen {
            if self.collapsed.binary_search(&cell).is_ok() {
                selected.collapsed.push(selected.len());
            }
            let Cell { shape, corners, middles } = self.get(cell);
            selected.add(shape, corners, middles);
        }
        selected
    }
}

impl Cell<'_> {
    /// Returns the key of all cells with the same corners: increasing, then [`NO_NODE`].
    pub fn key(&self) -> [u32; 8] {
        let mut key = [NO_NODE; 8];
        key[..self.corners.len()].copy_from_slice(self.corners);
        key.sort_unstable();
        key
    }

    /// A [face](Shape::faces), the same from both sides: see [`Face::key`].
    pub fn face_key(&self, face: &[usize]) -> [u32; 4] {
        let at = |i: usize| self.corners[face[i.min(face.len() - 1)]];
        Face::key([at(0), at(1), at(2), at(3)])
    }

    /// Returns the scaled Jacobian of the straight cell, given the nodes' `coordinates`,
    /// `[n_nodes][3]`: 1 for the regular shape, not positive if it is flat or inverted.
    pub fn scaled_jacobian(&self, coordinates: &[[f64; 3]]) -> f64 {
        let mut x = [[0.0; 3]; 8];
        for (x, &node) in x.iter_mut().zip(self.corners) {
            *x = coordinates[node as usize];
        }
        let [a, b, c, d, e, f, ..] = x;
        match self.shape {
            Shape::Tetrahedron => quality::tetrahedron_scaled_jacobian(&[a, b, c, d]),
            Shape::Pyramid => quality::pyramid_scaled_jacobian(&[a, b, c, d, e]),
            Shape::Wedge => quality::wedge_scaled_jacobian(&[a, b, c, d, e, f]),
            Shape::Hexahedron => quality::scaled_jacobian(&x),
        }
    }
}

/// The shape of a hexahedron with corners that stand twice, and its corners by their positions:
/// one face collapsed to an edge or to a point, and of the latter the opposite one to a triangle.
/// None for a hexahedron, and for what is no cell.
fn degenerate(hex: &[u32; 8]) -> Option<(Shape, Vec<usize>)> {
    if let Some(corners) = hexahedron::wedge(hex) {
        // As it stands, if it is written as usual: its hexahedron is then the same.
        let usual = [0, 1, 2, 4, 5, 6];
        let is_usual = hexahedron::of_wedge(usual.map(|a| hex[a])) == *hex;
        return Some((Shape::Wedge, if is_usual { usual } else { corners }.to_vec()));
    }
    if let Some(corners) = hexahedron::pyramid(hex) {
        return Some((Shape::Pyramid, corners.to_vec()));
    }
    let (base, apex) = hexahedron::collapsed_face(hex)?;
    let nodes = base.map(|a| hex[a]);
    let triangle: Vec<usize> =
        (0..4).filter(|&i| !nodes[..i].contains(&nodes[i])).map(|i| base[i]).collect();
    let is_edge = (0..4).any(|i| nodes[i] == nodes[(i + 1) % 4]);
    (triangle.len() == 3 && is_edge && !nodes.contains(&hex[apex]))
        .then(|| (Shape::Tetrahedron, [&triangle[..], &[apex]].concat()))
}

/// The middles of the edges of the cell with `corners` that the hexahedron `hex` is.
fn middles_of(shape: Shape, corners: &[u32], hex: &[u32; 8], middles: &[u32]) -> Vec<u32> {
    if middles.is_empty() {
        return Vec::new();
    }
    let ends = shape.edges().iter().map(|&[a, b]| unique::edge(corners[a], corners[b]));
    ends.map(|ends| middle_between(ends, hex, middles)).collect()
}

/// Returns the smallest middle of the edges of `hex` between `ends`: several may fall together. An
/// end of the edge is none.
fn middle_between(ends: [u32; 2], hex: &[u32; 8], middles: &[u32]) -> u32 {
    let edges = Shape::Hexahedron.edges().iter().zip(middles);
    let same = edges.filter(|([a, b], _)| unique::edge(hex[*a], hex[*b]) == ends);
    let middles = same.map(|(_, &middle)| middle).filter(|node| !ends.contains(node));
    middles.min().unwrap_or(NO_NODE)
}

/// A corner that stands twice in a cell.
fn repeated(cell: &Cell) -> Option<u32> {
    let corners = cell.corners;
    let is_distinct = distinct(corners).count() == corners.len();
    let twice = |&a: &usize| corners[..a].contains(&corners[a]);
    if is_distinct { None } else { (0..corners.len()).find(twice).map(|a| corners[a]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pyramids_are_cut_unless_they_were_given_as_hexahedra() {
        let mut cells = Cells::default();
        cells.push(Shape::Hexahedron, &[1, 2, 3, 3, 5, 6, 7, 7], &[]);
        cells.push(Shape::Hexahedron, &[1, 2, 3, 4, 5, 5, 5, 5], &[]);
        cells.push(Shape::Pyramid, &[1, 2, 3, 4, 6], &[]);
        cells.push(Shape::Hexahedron, &[1, 2, 3, 3, 5, 5, 5, 5], &[]);
        cells.keep_collapsed();
        let cut =
            |cells: &Cells| (0..cells.len()).map(|c| cells.must_be_cut(c)).collect::<Vec<_>>();
        assert_eq!(cut(&cells), [false, false, true, true]);
        assert_eq!(cut(&cells.select([2, 1, 3].into_iter())), [true, false, true]);
    }

    fn pushed(corners: [u32; 8], middles: &[u32]) -> Cells {
        let mut cells = Cells::default();
        cells.push(Shape::Hexahedron, &corners, middles);
        cells
    }

    #[test]
    fn degenerate_hexahedra_are_what_they_are() {
        for (corners, shape, expected) in [
            ([1, 2, 3, 4, 5, 6, 7, 8], Shape::Hexahedron, &[1, 2, 3, 4, 5, 6, 7, 8][..]),
            ([1, 2, 3, 3, 5, 6, 7, 7], Shape::Wedge, &[1, 2, 3, 5, 6, 7]),
            ([1, 2, 3, 4, 5, 5, 5, 5], Shape::Pyramid, &[1, 2, 3, 4, 5]),
            ([1, 2, 3, 3, 5, 5, 5, 5], Shape::Tetrahedron, &[1, 2, 3, 5]),
            ([1, 1, 3, 4, 5, 5, 5, 5], Shape::Tetrahedron, &[1, 3, 4, 5]),
        ] {
            let cells = pushed(corners, &[]);
            let mut found = cells.get(0).corners.to_vec();
            assert_eq!(cells.get(0).shape, shape);
            assert_eq!(repeated(&cells.get(0)), None);
            found.sort_unstable();
            assert_eq!(found, expected);
        }
        // The top collapsed to a corner of the bottom, and two opposite corners joined.
        assert_eq!(repeated(&pushed([1, 2, 3, 4, 1, 1, 1, 1], &[]).get(0)), Some(1));
        assert_eq!(repeated(&pushed([1, 2, 1, 4, 5, 5, 5, 5], &[]).get(0)), Some(1));
    }

    #[test]
    fn their_middles_go_with_their_edges() {
        // A tetrahedron of SOLID186: corners I J K K M M M M, and its middles.
        let corners = [1, 2, 3, 3, 5, 5, 5, 5];
        let middles = [12, 23, 3, 31, 5, 5, 5, 5, 15, 25, 35, 35];
        let cells = pushed(corners, &middles);
        let Cell { corners, middles, .. } = cells.get(0);
        for (&[a, b], &middle) in Shape::Tetrahedron.edges().iter().zip(middles) {
            let [a, b] = unique::edge(corners[a], corners[b]);
            assert!(middle == 10 * a + b || middle == 10 * b + a, "{a} {b} {middle}");
        }
        assert_eq!(middles.len(), 6);

        // All middles dropped: of first order.
        assert_eq!(pushed([1, 2, 3, 4, 5, 6, 7, 8], &[NO_NODE; 12]).get(0).middles, []);
    }
}
