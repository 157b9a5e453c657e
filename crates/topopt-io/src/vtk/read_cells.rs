//! Cell types of VTK by number, and the solids among the cells.

use topopt_mesh::cells::{self, NO_NODE, Shape};
use topopt_mesh::hexahedron;

use super::read_error::Fault;

/// The cells of a file.
#[derive(Default)]
pub(super) struct Cells {
    /// Numbers of the solid cells, ascending.
    pub numbers: Vec<u64>,
    /// The solid cells, by points.
    pub solids: cells::Cells,
    /// Number of cells of third or higher order, read by their corners.
    pub high_order: usize,
    /// Number of wedges with nodes in the order of older versions of VTK.
    pub old_wedges: usize,
    /// Cells that are not of the volume.
    pub left_out: usize,
}

/// Use that the reader makes of a cell type.
enum Kind {
    /// A shape with its number of points (0: any number), corners first, then middles of edges.
    Solid(Shape, usize),
    /// A hexahedron with the corners in the order of a grid.
    Voxel,
    /// Vertices, lines, surfaces.
    NoVolume,
    /// Cells that cannot be cut into hexahedra, in words.
    Other(&'static str),
}

/// From VTK's table of cell types (vtkCellType.h).
fn kind_of(number: i64) -> Kind {
    use Shape::{Hexahedron, Pyramid, Tetrahedron, Wedge};
    match number {
        10 => Kind::Solid(Tetrahedron, 4),
        12 => Kind::Solid(Hexahedron, 8),
        13 => Kind::Solid(Wedge, 6),
        14 => Kind::Solid(Pyramid, 5),
        24 => Kind::Solid(Tetrahedron, 10),
        25 => Kind::Solid(Hexahedron, 20),
        26 => Kind::Solid(Wedge, 15),
        27 => Kind::Solid(Pyramid, 13),
        29 => Kind::Solid(Hexahedron, 27),
        31 => Kind::Solid(Wedge, 12),
        32 => Kind::Solid(Wedge, 18),
        33 => Kind::Solid(Hexahedron, 24),
        37 => Kind::Solid(Pyramid, 19),
        71 | 78 => Kind::Solid(Tetrahedron, 0),
        72 | 79 => Kind::Solid(Hexahedron, 0),
        73 | 80 => Kind::Solid(Wedge, 0),
        74 | 81 => Kind::Solid(Pyramid, 0),

        11 => Kind::Voxel,
        0..=9 | 21..=23 | 28 | 30 | 34..=36 | 68..=70 | 75..=77 => Kind::NoVolume,
        15 | 16 => Kind::Other("prisms over pentagons or hexagons"),
        42 => Kind::Other("polyhedra"),
        _ => Kind::Other("cells of an unknown type"),
    }
}

/// Corners of a voxel in the order of the hexahedron.
const VOXEL: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// Corners and middles of edges of a wedge in the order of older versions of VTK, which meshio
/// writes: the first triangle runs counter-clockwise seen from outside, in newer ones clockwise.
const OLD_WEDGE: [usize; 15] = [0, 2, 1, 3, 5, 4, 8, 7, 6, 11, 10, 9, 12, 14, 13];

/// Whether the `corners` of a wedge among `points` are in the older order.
fn is_old_wedge(corners: &[u32], points: &[[f64; 3]]) -> bool {
    let corners: [usize; 6] = std::array::from_fn(|a| corners[a] as usize);
    hexahedron::volume(&hexahedron::of_wedge(corners.map(|node| points[node]))) < 0.0
}

/// Number of leading points of a cell that are corners and middles of edges, in VTK's order;
/// corners alone where the middles are not known.
fn known_points(shape: Shape, n_points: usize) -> usize {
    let (corners, middles) = (shape.n_corners(), shape.edges().len());
    // Those of 24 points (no middles of two faces) begin like those of 20; those of 12 have no
    // middles of the edges between the triangles.
    let is_second = match shape {
        Shape::Tetrahedron => matches!(n_points, 10),
        Shape::Pyramid => matches!(n_points, 13 | 14 | 19),
        Shape::Wedge => matches!(n_points, 15 | 18),
        Shape::Hexahedron => matches!(n_points, 20 | 24 | 27),
    };
    match (shape, n_points) {
        (Shape::Wedge, 12) => 12,
        _ if is_second => corners + middles,
        _ => corners,
    }
}

/// A point that a cell names, among `n_points`.
fn node(point: i64, n_points: usize, cell: u64) -> Result<u32, crate::Fault> {
    let number = u64::try_from(point).ok().filter(|number| *number < n_points as u64);
    // A negative number is not a point, and neither is the largest one.
    let node = u64::try_from(point).unwrap_or(u64::MAX);
    number.map(|number| number as u32).ok_or(crate::Fault::MissingNode { element: cell, node })
}

impl Cells {
    /// The cells of `types`, `[n_cells]`, whose points end at `offsets`, `[n_cells]`, in
    /// `connectivity`, `[last offset]`, among `points`, `[n_points][3]`.
    pub fn of(
        types: &[i64],
        offsets: &[i64],
        connectivity: &[i64],
        points: &[[f64; 3]],
    ) -> Result<Self, crate::Fault> {
        let mut cells = Self::default();
        cells.solids.keep_collapsed();
        let mut other: Option<(&str, usize, u64)> = None;
        let (mut start, mut nodes) = (0, Vec::new());
        for ((cell, &kind), &end) in (0..).zip(types).zip(offsets) {
            let wrong = Fault::CellPoints { cell, kind, found: end.saturating_sub(start) };
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let numbers = range.and_then(|(start, end)| connectivity.get(start..end));
            let Some(numbers) = numbers else { return Err(wrong.into()) };
            start = end;

            let shape = match kind_of(kind) {
                Kind::NoVolume => {
                    cells.left_out += 1;
                    continue;
                }
                Kind::Other(words) => {
                    other.get_or_insert((words, 0, cell)).1 += 1;
                    continue;
                }
                Kind::Voxel if numbers.len() == 8 => Shape::Hexahedron,
                Kind::Solid(shape, n) if numbers.len() == n => shape,
                Kind::Solid(shape, 0) if numbers.len() >= shape.n_corners() => shape,
                _ => return Err(wrong.into()),
            };
            let is_voxel = matches!(kind_of(kind), Kind::Voxel);

            nodes.clear();
            for i in 0..known_points(shape, numbers.len()) {
                let point = numbers[if is_voxel { VOXEL[i] } else { i }];
                nodes.push(node(point, points.len(), cell)?);
            }
            if shape == Shape::Wedge && is_old_wedge(&nodes, points) {
                nodes = OLD_WEDGE[..nodes.len()].iter().map(|&a| nodes[a]).collect();
                cells.old_wedges += 1;
            }
            cells.add(shape, cell, &mut nodes, numbers.len());
        }

        match other {
            Some((shape, count, cell)) => Err(Fault::NoSolid { shape, count, cell }.into()),
            None if cells.solids.is_empty() => Err(Fault::NoSolids.into()),
            None => Ok(cells),
        }
    }

    /// Returns the notes on cells that were not read as they are.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.high_order > 0 {
            notes.push(format!(
                "{} cells of third or higher order were read by their corners",
                self.high_order
            ));
        }
        if self.old_wedges > 0 {
            notes.push(format!(
                "wedges with their nodes in the order of older versions of VTK: {}",
                self.old_wedges
            ));
        }
        if self.left_out > 0 {
            notes.push(format!("{} cells that are not volumes were left out", self.left_out));
        }
        notes
    }

    /// Adds a solid cell of `n_points`; `nodes` are its corners and the middles of its edges.
    fn add(&mut self, shape: Shape, number: u64, nodes: &mut Vec<u32>, n_points: usize) {
        let corners = shape.n_corners();
        if nodes.len() > corners {
            nodes.resize(corners + shape.edges().len(), NO_NODE);
        } else if n_points > corners {
            self.high_order += 1;
        }
        self.solids.push(shape, &nodes[..corners], &nodes[corners..]);
        self.numbers.push(number);
    }
}
