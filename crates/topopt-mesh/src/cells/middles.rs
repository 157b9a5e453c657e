//! `Middles`: the nodes that a cut adds in the middle of edges, faces and cells.

use rayon::prelude::*;

use super::unique::{Unique, edge};
use super::{Cell, Cells, NO_NODE, Shape};

/// Edges, faces and cells that are cut, with the node in the middle of each.
pub(super) struct Middles {
    edges: Unique<2>,
    /// Node in the middle per edge: one of the file, or a new one.
    of_edges: Vec<u32>,
    faces: Unique<4>,
    first_face: u32,
    /// Number of each cell among those that are cut, `[n_cells]`; [`NO_NODE`] for the others.
    numbers: Vec<u32>,
    first_cell: u32,
    /// Number of each pyramid among the pyramids, `[n_cells]`; [`NO_NODE`] for the others.
    rings: Vec<u32>,
    first_ring: u32,
    /// Number of all nodes; those of the file come first.
    pub n_nodes: usize,
}

impl Middles {
    /// Numbers the middles of those `cells` that `is_cut`, `[n_cells]`, after `n_given` nodes.
    ///
    /// # Errors
    /// The number of nodes, if it does not fit into 32 bits.
    pub fn of(cells: &Cells, is_cut: &[bool], n_given: usize) -> Result<Self, usize> {
        let chosen = || cells.par_iter().zip(is_cut).filter(|(_, cut)| **cut).map(|(cell, _)| cell);
        let edges = Unique::of(n_given, edges_of(cells, is_cut));
        let faces = chosen()
            .flat_map_iter(|cell| cell.shape.faces().iter().map(move |face| cell.face_key(face)));
        let faces = Unique::of(n_given, faces.collect());

        let (of_edges, mut n_nodes) = edge_nodes(cells, is_cut, &edges, n_given);
        let mut place = |count: usize| {
            let first = n_nodes;
            n_nodes += count;
            first as u32
        };
        let first_face = place(faces.keys().len());
        let (numbers, count) = numbered(is_cut.iter().copied());
        let first_cell = place(count);
        let pyramids = cells.shapes().iter().zip(is_cut);
        let (rings, count) =
            numbered(pyramids.map(|(shape, cut)| *cut && *shape == Shape::Pyramid));
        let first_ring = place(count);

        let made = Self {
            edges,
            of_edges,
            faces,
            first_face,
            numbers,
            first_cell,
            rings,
            first_ring,
            n_nodes,
        };
        if n_nodes >= NO_NODE as usize { Err(n_nodes) } else { Ok(made) }
    }

    /// Numbers the middles of the edges of all `cells`, after `n_given` nodes, and no others.
    ///
    /// # Errors
    /// The number of nodes, if it does not fit into 32 bits.
    pub fn of_edges(cells: &Cells, n_given: usize) -> Result<Self, usize> {
        let all = vec![true; cells.len()];
        let edges = Unique::of(n_given, edges_of(cells, &all));
        let (of_edges, n_nodes) = edge_nodes(cells, &all, &edges, n_given);
        let next = n_nodes.min(NO_NODE as usize) as u32;
        let made = Self {
            edges,
            of_edges,
            faces: Unique::of(0, Vec::new()),
            first_face: next,
            numbers: Vec::new(),
            first_cell: next,
            rings: Vec::new(),
            first_ring: next,
            n_nodes,
        };
        if n_nodes >= NO_NODE as usize { Err(n_nodes) } else { Ok(made) }
    }

    /// Node in the middle of the edge between two corners.
    pub fn of_edge(&self, a: u32, b: u32) -> u32 {
        self.edges.number(edge(a, b)).map_or(NO_NODE, |number| self.of_edges[number])
    }

    /// The node in the middle of a face of `cell`.
    pub fn of_face(&self, cell: &Cell, face: usize) -> u32 {
        let key = cell.face_key(cell.shape.faces()[face]);
        self.faces.number(key).map_or(NO_NODE, |number| self.first_face + number as u32)
    }

    /// The node in the middle of a cell.
    pub fn of_cell(&self, cell: usize) -> u32 {
        self.first_cell + self.numbers[cell]
    }

    /// The node in the middle of the upper part of a pyramid.
    pub fn of_ring(&self, pyramid: usize) -> u32 {
        self.first_ring + self.rings[pyramid]
    }

    /// Moves the middles of the edges of `cell` onto straight edges, in `x`; true if one was off.
    pub fn straighten(&self, cell: &Cell, x: &mut [[f64; 3]]) -> bool {
        let mut changed = false;
        for &[a, b] in cell.shape.edges() {
            let [a, b] = [a, b].map(|a| cell.corners[a]);
            let (node, middle) = (self.of_edge(a, b), mean(&[a, b].map(|a| x[a as usize])));
            changed |= x[node as usize] != middle;
            x[node as usize] = middle;
        }
        changed
    }

    /// Places the new nodes in the middle of straight edges, in `x`, `[n_nodes][3]`; nodes of the
    /// file stay.
    pub fn place_edges(&self, n_given: usize, x: &mut [[f64; 3]]) {
        for (&[a, b], &node) in self.edges.keys().iter().zip(&self.of_edges) {
            if node as usize >= n_given {
                x[node as usize] = mean(&[x[a as usize], x[b as usize]]);
            }
        }
    }

    /// Places the nodes of faces and cells at the center by shape functions of second order: the
    /// mean of the corners, plus the weighted offsets of the middles of edges from straight edges.
    pub fn place_faces_and_cells(&self, cells: &Cells, is_curved: bool, x: &mut [[f64; 3]]) {
        let (known, placed) = x.split_at_mut(self.first_face as usize);
        let (of_faces, placed) = placed.split_at_mut(self.faces.keys().len());
        of_faces.par_iter_mut().zip(self.faces.keys()).for_each(|(x, key)| {
            let corners = if key[3] == NO_NODE { &key[..3] } else { &key[..] };
            let weight = if corners.len() == 3 { 4.0 / 9.0 } else { 0.5 };
            let pairs = (0..corners.len()).flat_map(|i| (0..i).map(move |j| [j, i]));
            let edges = pairs.filter(|_| is_curved).map(|pair| (pair.map(|a| corners[a]), weight));
            *x = self.middle(corners, edges, known);
        });

        let (of_cells, of_rings) =
            placed.split_at_mut((self.first_ring - self.first_cell) as usize);
        for (number, cell) in self.numbers.iter().zip(cells.iter()) {
            let Some(x) = of_cells.get_mut(*number as usize) else { continue };
            let edge = |(at, edge): (usize, &[usize; 2])| {
                (edge.map(|a| cell.corners[a]), edge_weight(cell.shape, at))
            };
            let edges = cell.shape.edges().iter().enumerate().filter(|_| is_curved).map(edge);
            *x = self.middle(cell.corners, edges, known);
        }

        // Last, as the ring of a pyramid lies between the middles of its steep edges and sides.
        for (ring, cell) in self.rings.iter().zip(cells.iter()) {
            let Some(x) = of_rings.get_mut(*ring as usize) else { continue };
            let edges = (0..4).map(|a| self.of_edge(cell.corners[a], cell.corners[4]));
            let edges = edges.map(|node| known[node as usize]);
            let faces = (1..5).map(|face| self.of_face(&cell, face) - self.first_face);
            let faces = faces.map(|face| of_faces[face as usize]);
            *x = mean(&edges.chain(faces).collect::<Vec<_>>());
        }
    }

    /// The mean of `corners`, plus the weighted offsets of the middles of `edges` from straight
    /// ones.
    fn middle(
        &self,
        corners: &[u32],
        edges: impl Iterator<Item = ([u32; 2], f64)>,
        x: &[[f64; 3]],
    ) -> [f64; 3] {
        let at = |node: u32| x[node as usize];
        let mut sum = [0.0; 3];
        for &corner in corners {
            (0..3).for_each(|i| sum[i] += at(corner)[i]);
        }
        let mut middle = sum.map(|sum| sum / corners.len() as f64);
        for ([a, b], weight) in edges {
            // The diagonals of a quadrilateral come too, and have no node.
            let node = self.of_edge(a, b);
            if node != NO_NODE {
                let straight = mean(&[at(a), at(b)]);
                (0..3).for_each(|i| middle[i] += weight * (at(node)[i] - straight[i]));
            }
        }
        middle
    }
}

/// Weight of an edge's middle in the center of a cell: its shape function of second order there.
/// The rational one of a pyramid has the value of tetrahedron and hexahedron.
fn edge_weight(shape: Shape, edge: usize) -> f64 {
    match shape {
        Shape::Wedge if edge < 6 => 2.0 / 9.0,
        Shape::Wedge => 1.0 / 3.0,
        _ => 0.25,
    }
}

/// The edges of the `chosen` cells, `[n_cells]`, some several times.
fn edges_of(cells: &Cells, chosen: &[bool]) -> Vec<[u32; 2]> {
    let chosen = cells.par_iter().zip(chosen).filter(|(_, chosen)| **chosen);
    let edges = chosen.flat_map_iter(|(Cell { shape, corners, .. }, _)| {
        shape.edges().iter().map(move |&[a, b]| edge(corners[a], corners[b]))
    });
    edges.collect()
}

/// The node of every edge, and the number of nodes with the new ones. Where cells give an edge
/// different middles, the smallest number counts.
fn edge_nodes(
    cells: &Cells,
    is_cut: &[bool],
    edges: &Unique<2>,
    n_given: usize,
) -> (Vec<u32>, usize) {
    let mut nodes = vec![NO_NODE; edges.keys().len()];
    for (cell, _) in cells.iter().zip(is_cut).filter(|(_, cut)| **cut) {
        for (&[a, b], &middle) in cell.shape.edges().iter().zip(cell.middles) {
            if let Some(number) = edges.number(edge(cell.corners[a], cell.corners[b])) {
                nodes[number] = nodes[number].min(middle);
            }
        }
    }

    let mut n_nodes = n_given;
    for node in nodes.iter_mut().filter(|node| **node == NO_NODE) {
        *node = n_nodes.min(NO_NODE as usize) as u32;
        n_nodes += 1;
    }
    (nodes, n_nodes)
}

/// Numbers the chosen entries from 0, and counts them; the others get [`NO_NODE`].
fn numbered(chosen: impl Iterator<Item = bool>) -> (Vec<u32>, usize) {
    let mut count = 0;
    let numbers = chosen.map(|chosen| {
        count += u32::from(chosen);
        if chosen { count - 1 } else { NO_NODE }
    });
    (numbers.collect(), count as usize)
}

fn mean(points: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|i| points.iter().map(|x| x[i]).sum::<f64>() / points.len() as f64)
}
