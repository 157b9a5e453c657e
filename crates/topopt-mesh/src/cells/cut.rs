//! Cells cut into hexahedra, one for each corner, so that neighbors of any shape conform.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;

use super::middles::Middles;
use super::slivers::{self, Moved};
use super::{Cell, Cells, NO_NODE, Shape, repeated};
use crate::components::{find, join};
use crate::hexahedron;
use crate::quality;
use crate::sets::Face;

/// Hexahedra in the place of cells.
///
/// A cell becomes one hexahedron for each corner, of that corner and the middles of the edges, the
/// faces and the cell there: four of a tetrahedron, six of a wedge, eight of a hexahedron. So every
/// face is cut by its own nodes alone, and neighbors conform. At the apex of a pyramid four edges
/// meet, and no hexahedron fits: the space there is filled by eight [pyramids](hexahedron::pyramid)
/// with a common apex on its eight faces, beside the four hexahedra at the base.
///
/// Parts of hexahedra and wedges alone stay as they are, with the corners of their cells: cells
/// belong to one part where they share nodes. [Kept](Cells::keep_collapsed) pyramids count as these.
///
/// The middles of edges are the nodes that cells of second order have there, so that curved faces
/// keep their shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// Coordinates of the given nodes and of those that were added, `[n_nodes][3]`. A given node
    /// that is in no hexahedron stays.
    pub coordinates: Vec<[f64; 3]>,
    /// The hexahedra, `[n_hexes][8]`, in the order of their cells.
    pub hexes: Vec<[u32; 8]>,
    /// The tetrahedra that are kept in place of hexahedra, `[n_cells][10]`, in the order of
    /// [`crate::tetrahedron`]; see [`Cut::keeping_tetrahedra`].
    pub tetrahedra: Vec<[u32; 10]>,
    /// Number of cells that got straight edges, because curved ones would have inverted them.
    pub n_straightened: usize,
    /// Corners of nearly flat tetrahedra that were moved.
    pub moved: Moved,
    /// First element of every cell, then the number of elements, `[n_cells + 1]`.
    pub(super) first: Vec<u32>,
    pub(super) is_cut: Vec<bool>,
}

/// Why cells cannot become hexahedra.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutError {
    /// A node twice in a cell.
    Repeated {
        /// The first such cell.
        cell: usize,
        /// The node.
        node: u32,
        /// Number of such cells.
        count: usize,
    },
    /// More nodes or hexahedra than 32 bits can number.
    TooLarge(usize),
}

/// Below this scaled Jacobian of one of its hexahedra a curved cell is made straight.
const LEAST_CURVED: f64 = 0.1;

impl Cut {
    /// Converts `cells` between nodes at `coordinates`, `[n_given][3]`, to hexahedra.
    ///
    /// # Errors
    /// [`CutError`].
    pub fn of(cells: &Cells, coordinates: Vec<[f64; 3]>) -> Result<Self, CutError> {
        check(cells)?;
        let is_cut = must_be_cut(cells, coordinates.len());
        let first = first_hexes(cells, &is_cut)?;
        if !is_cut.contains(&true) {
            let hexes = cells.par_iter().map(|cell| uncut(&cell)).collect();
            return Ok(Self::new(coordinates, hexes, Moved::default(), first, is_cut));
        }

        let n_given = coordinates.len();
        let middles = Middles::of(cells, &is_cut, n_given).map_err(CutError::TooLarge)?;
        let hexes: Vec<[u32; 8]> = (cells.par_iter().zip(&is_cut).enumerate())
            .flat_map_iter(|(number, (cell, cut))| {
                if *cut { children(number, &cell, &middles) } else { vec![uncut(&cell)] }
            })
            .collect();

        let mut coordinates = coordinates;
        let moved = slivers::relax(cells, &mut coordinates);
        let mut cut = Self::new(coordinates, hexes, moved, first, is_cut);
        cut.place(cells, &middles, n_given);
        Ok(cut)
    }

    fn new(
        coordinates: Vec<[f64; 3]>,
        hexes: Vec<[u32; 8]>,
        moved: Moved,
        first: Vec<u32>,
        is_cut: Vec<bool>,
    ) -> Self {
        let (tetrahedra, n_straightened) = (Vec::new(), 0);
        Self { coordinates, hexes, tetrahedra, n_straightened, moved, first, is_cut }
    }

    /// Number of cells that were cut.
    pub fn n_cut(&self) -> usize {
        self.is_cut.iter().filter(|cut| **cut).count()
    }

    /// Whether a cell was cut.
    pub fn is_cut(&self, cell: usize) -> bool {
        self.is_cut[cell]
    }

    /// The hexahedra of a cell, or the tetrahedron that it is.
    pub fn elements_of(&self, cell: usize) -> Range<u32> {
        self.first[cell]..self.first[cell + 1]
    }

    /// Places the new nodes, and makes curved cells straight that would be inverted or nearly flat.
    fn place(&mut self, cells: &Cells, middles: &Middles, n_given: usize) {
        let mut curved: Vec<usize> = (0..cells.len())
            .filter(|&cell| self.is_cut[cell] && !cells.get(cell).middles.is_empty())
            .collect();
        let x = &mut self.coordinates;
        x.resize(middles.n_nodes, [0.0; 3]);
        middles.place_edges(n_given, x);
        middles.place_faces_and_cells(cells, !curved.is_empty(), x);

        // Straight edges change the neighbors too. Each cell is made straight once, so that this ends.
        loop {
            let is_poor = |cell: &usize| self.least_jacobian(*cell) < LEAST_CURVED;
            let (poor, rest): (Vec<usize>, Vec<usize>) =
                curved.par_iter().partition(|c| is_poor(c));
            curved = rest;
            let x = &mut self.coordinates;
            let straighten = |cell: usize| middles.straighten(&cells.get(cell), x);
            let n_changed = poor.into_iter().map(straighten).filter(|changed| *changed).count();
            if n_changed == 0 {
                return;
            }
            self.n_straightened += n_changed;
            middles.place_faces_and_cells(cells, true, &mut self.coordinates);
        }
    }

    /// The smallest scaled Jacobian of the hexahedra of a cell.
    fn least_jacobian(&self, cell: usize) -> f64 {
        let hexes =
            &self.hexes[self.elements_of(cell).start as usize..][..self.elements_of(cell).len()];
        let jacobian = |hex: &[u32; 8]| {
            let x = hex.map(|node| self.coordinates[node as usize]);
            quality::element_scaled_jacobian(hex, &x)
        };
        hexes.iter().map(jacobian).fold(f64::INFINITY, f64::min)
    }

    /// Adds to the nodes that are `chosen`, `[n_nodes]`, those in the middle of edges, faces and
    /// cells whose corners are all chosen; of tetrahedra that are kept, on boundary faces alone.
    pub fn add_middles(&self, cells: &Cells, chosen: &mut [bool]) {
        if !self.tetrahedra.is_empty() {
            return self.add_middles_of_faces(chosen);
        }
        let marks: Vec<AtomicBool> = chosen.par_iter().map(|&c| AtomicBool::new(c)).collect();
        let is_chosen = |node: u32| chosen[node as usize];
        cells.par_iter().enumerate().filter(|(cell, _)| self.is_cut[*cell]).for_each(
            |(e, cell)| {
                let chosen: Vec<bool> = cell.corners.iter().map(|&node| is_chosen(node)).collect();
                let mark = |node: u32| marks[node as usize].store(true, Ordering::Relaxed);
                let all = |corners: &[usize]| corners.iter().all(|&corner| chosen[corner]);
                if chosen.iter().filter(|chosen| **chosen).count() < 2 {
                    return;
                }

                let faces = cell.shape.faces();
                let first = self.first[e] as usize;
                for (a, corner) in cell.shape.corners().iter().enumerate() {
                    let hex = &self.hexes[first + a];
                    for (end, local) in corner.to.into_iter().zip(EDGE_MIDDLES) {
                        if all(&[a, end]) {
                            mark(hex[local]);
                        }
                    }
                    for (face, local) in corner.faces.into_iter().zip(FACE_MIDDLES) {
                        if all(faces[face]) {
                            mark(hex[local]);
                        }
                    }
                }
                if chosen.iter().all(|chosen| *chosen) {
                    let hexes = &self.hexes[first..self.first[e + 1] as usize];
                    hexes.as_flattened().iter().for_each(|&node| mark(node));
                }
            },
        );
        chosen.par_iter_mut().zip(&marks).for_each(|(c, mark)| *c = mark.load(Ordering::Relaxed));
    }

    /// The faces of elements that make up the face of a cell with these corners, three or four
    /// different ones in any order; none if it has no such face.
    pub fn faces_of(&self, number: usize, cell: &Cell, corners: &[u32]) -> Vec<Face> {
        let first = self.first[number];
        if !self.tetrahedra.is_empty() {
            let wanted = Face::key_of(corners);
            let faces = (0..).zip(cell.shape.faces());
            let found = faces.filter(|(_, face)| cell.face_key(face) == wanted);
            return found.map(|(local, _)| Face { element: first, local }).collect();
        }
        if !self.is_cut[number] {
            let wanted = Face::key_of(corners);
            let hex = self.hexes[first as usize];
            let faces = (0..).zip(hexahedron::FACES);
            let wanted = faces.filter(|(_, face)| Face::key(face.map(|a| hex[a])) == wanted);
            return wanted.map(|(local, _)| Face { element: first, local }).collect();
        }

        let faces = cell.shape.faces();
        let is_wanted = |face: &&[usize]| {
            face.len() == corners.len() && face.iter().all(|&a| corners.contains(&cell.corners[a]))
        };
        let Some(wanted) = faces.iter().position(is_wanted) else { return Vec::new() };

        let at_corner = |(a, corner): (usize, &super::shape::Corner)| {
            let at = corner.faces.iter().position(|face| *face == wanted)?;
            Some(Face { element: first + a as u32, local: CHILD_FACES[at] })
        };
        let mut found: Vec<Face> =
            cell.shape.corners().iter().enumerate().filter_map(at_corner).collect();
        // The apex of a pyramid has a pyramid of its own on every side.
        if cell.shape == Shape::Pyramid && wanted > 0 {
            found.push(Face { element: first + 3 + wanted as u32, local: BASE });
        }
        found
    }
}

/// The positions in the hexahedron at a corner of the middles of the edges to b, c and d, of the
/// faces between b and c, b and d, c and d, and of the cell.
const EDGE_MIDDLES: [usize; 3] = [1, 3, 4];
const FACE_MIDDLES: [usize; 3] = [2, 5, 7];
const CELL_MIDDLE: usize = 6;

/// The local faces of that hexahedron in the faces between b and c, b and d, c and d; rows of
/// [`hexahedron::FACES`].
const CHILD_FACES: [u8; 3] = [4, 2, 0];

/// The base of a pyramid as a hexahedron.
const BASE: u8 = 4;

/// A cell that is not cut.
fn uncut(cell: &Cell) -> [u32; 8] {
    match *cell.corners {
        [p, q, r, s, apex] => hexahedron::of_pyramid([p, q, r, s], apex),
        [a, b, c, d, e, f] => hexahedron::of_wedge([a, b, c, d, e, f]),
        _ => std::array::from_fn(|a| cell.corners[a]),
    }
}

/// The hexahedra of a cell that is cut: one at each corner of three edges, in the order of the
/// corners; of a pyramid then four on its sides and four below them.
fn children(number: usize, cell: &Cell, middles: &Middles) -> Vec<[u32; 8]> {
    let edges = cell.shape.edges().iter();
    let edges = edges.map(|&[a, b]| middles.of_edge(cell.corners[a], cell.corners[b]));
    let faces = (0..cell.shape.faces().len()).map(|face| middles.of_face(cell, face));
    let (edges, faces): (Vec<u32>, Vec<u32>) = (edges.collect(), faces.collect());
    let center = middles.of_cell(number);

    let mut hexes = Vec::with_capacity(n_hexes(cell.shape));
    for (a, corner) in cell.shape.corners().iter().enumerate() {
        let mut hex = [cell.corners[a]; 8];
        hex[CELL_MIDDLE] = center;
        for i in 0..3 {
            hex[EDGE_MIDDLES[i]] = edges[corner.edges[i]];
            hex[FACE_MIDDLES[i]] = faces[corner.faces[i]];
        }
        hexes.push(hex);
    }

    if cell.shape == Shape::Pyramid {
        let (apex, ring) = (cell.corners[4], middles.of_ring(number));
        // Steep edges are the last four; side i lies between those of corners i and i + 1.
        let (steep, side) = (|i: usize| edges[4 + i % 4], |i: usize| faces[1 + i % 4]);
        let bases = (0..4)
            .map(|i| [apex, steep(i + 1), side(i), steep(i)])
            .chain((0..4).map(|i| [center, side(i + 3), steep(i), side(i)]));
        hexes.extend(bases.map(|base| hexahedron::of_pyramid(base, ring)));
    }
    hexes
}

pub(super) fn check(cells: &Cells) -> Result<(), CutError> {
    let bad = |(number, cell): (usize, Cell)| repeated(&cell).map(|node| (number, node));
    let bad: Vec<(usize, u32)> = cells.par_iter().enumerate().filter_map(bad).collect();
    match bad.first() {
        Some(&(cell, node)) => Err(CutError::Repeated { cell, node, count: bad.len() }),
        None => Ok(()),
    }
}

/// For every cell whether it is in one part with one that [must be cut](Cells::must_be_cut), `[n_cells]`.
fn must_be_cut(cells: &Cells, n_nodes: usize) -> Vec<bool> {
    let is_other: Vec<bool> =
        (0..cells.len()).into_par_iter().map(|cell| cells.must_be_cut(cell)).collect();
    if !is_other.contains(&true) || !is_other.contains(&false) {
        return is_other;
    }

    let parent: Vec<AtomicU32> = (0..n_nodes as u32).into_par_iter().map(AtomicU32::new).collect();
    cells.par_iter().for_each(|cell| {
        cell.corners[1..].iter().for_each(|&node| join(&parent, cell.corners[0], node));
    });
    let marks: Vec<AtomicBool> = (0..n_nodes).into_par_iter().map(|_| false.into()).collect();
    let mark = |cell: &Cell| &marks[find(&parent, cell.corners[0]) as usize];
    let others = cells.par_iter().zip(&is_other).filter(|(_, is_other)| **is_other);
    others.for_each(|(cell, _)| mark(&cell).store(true, Ordering::Relaxed));
    cells.par_iter().map(|cell| mark(&cell).load(Ordering::Relaxed)).collect()
}

/// Returns the first hexahedron of every cell, then the number of hexahedra, `[n_cells + 1]`.
fn first_hexes(cells: &Cells, is_cut: &[bool]) -> Result<Vec<u32>, CutError> {
    let mut first = Vec::with_capacity(cells.len() + 1);
    let mut sum = 0;
    for (shape, cut) in cells.shapes().iter().zip(is_cut) {
        first.push(sum as u32);
        sum += if *cut { n_hexes(*shape) } else { 1 };
    }
    first.push(sum as u32);
    if sum >= NO_NODE as usize { Err(CutError::TooLarge(sum)) } else { Ok(first) }
}

/// Number of hexahedra of a cell that is cut.
fn n_hexes(shape: Shape) -> usize {
    if shape == Shape::Pyramid { 12 } else { shape.n_corners() }
}
