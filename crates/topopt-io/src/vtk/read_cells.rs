//! Cell types of VTK by number, and the hexahedra among the cells.

use std::collections::BTreeMap;

use topopt_mesh::hexahedron;

use super::read_error::Fault;

/// The cells of a file.
#[derive(Default)]
pub(super) struct Cells {
    /// Number of the cell and its corners.
    pub hexes: Vec<(u64, [u64; 8])>,
    /// Hexahedra that were read by their corners: points each, and how many.
    pub high_order: BTreeMap<i64, usize>,
    /// Cells that are not of the volume.
    pub left_out: usize,
}

/// What a cell type is.
enum Shape {
    /// With so many points (0: any number from 8 on), the corners first.
    Hexahedron(i64),
    /// A hexahedron with the corners in the order of a grid.
    Voxel,
    /// A wedge, read as a degenerate hexahedron.
    Wedge,
    /// Vertices, lines, surfaces.
    NoVolume,
    OtherVolume(&'static str),
}

/// From VTK's table of cell types (vtkCellType.h).
fn shape_of(kind: i64) -> Shape {
    match kind {
        12 => Shape::Hexahedron(8),
        25 => Shape::Hexahedron(20),
        29 => Shape::Hexahedron(27),
        33 => Shape::Hexahedron(24),
        72 | 79 => Shape::Hexahedron(0),
        11 => Shape::Voxel,
        0..=9 | 21..=23 | 28 | 30 | 34..=36 | 68..=70 | 75..=77 => Shape::NoVolume,
        10 | 24 | 71 | 78 => Shape::OtherVolume("tetrahedra"),
        13 => Shape::Wedge,
        26 | 31 | 32 | 73 | 80 => Shape::OtherVolume("quadratic wedges"),
        14 | 27 | 37 | 74 | 81 => Shape::OtherVolume("pyramids"),
        15 | 16 => Shape::OtherVolume("prisms"),
        42 => Shape::OtherVolume("polyhedra"),
        _ => Shape::OtherVolume("cells of another type"),
    }
}

impl Shape {
    /// The corners of a cell with these points; none if their number is not that of the shape.
    fn corners(&self, points: &[i64]) -> Option<[i64; 8]> {
        match self {
            Shape::Hexahedron(0) if points.len() >= 8 => Some(std::array::from_fn(|a| points[a])),
            Shape::Hexahedron(n) if points.len() as i64 == *n => {
                Some(std::array::from_fn(|a| points[a]))
            }
            Shape::Voxel if points.len() == 8 => Some(VOXEL.map(|a| points[a])),
            Shape::Wedge if points.len() == 6 => {
                Some(hexahedron::of_wedge(std::array::from_fn(|a| points[a])))
            }
            _ => None,
        }
    }
}

/// Corners of a voxel in the order of the hexahedron.
const VOXEL: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

impl Cells {
    /// The cells of `types`, `[n_cells]`, whose points end at `offsets`, `[n_cells]`, in
    /// `connectivity`, `[last offset]`.
    pub fn of(types: &[i64], offsets: &[i64], connectivity: &[i64]) -> Result<Self, Fault> {
        let mut cells = Self::default();
        let mut others = BTreeMap::<&str, (usize, u64)>::new();
        let mut start = 0;
        for ((cell, &kind), &end) in (0..).zip(types).zip(offsets) {
            let wrong = Fault::CellPoints { cell, kind, found: end.saturating_sub(start) };
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let points = range.and_then(|(start, end)| connectivity.get(start..end));
            let Some(points) = points else { return Err(wrong) };
            start = end;

            let corners = match shape_of(kind) {
                Shape::NoVolume => {
                    cells.left_out += 1;
                    continue;
                }
                Shape::OtherVolume(shape) => {
                    others.entry(shape).or_insert((0, cell)).0 += 1;
                    continue;
                }
                shape => shape.corners(points).ok_or(wrong)?,
            };
            if points.len() > 8 {
                *cells.high_order.entry(points.len() as i64).or_default() += 1;
            }
            // A negative number is not a point, and neither is the largest one.
            let point = |point: i64| u64::try_from(point).unwrap_or(u64::MAX);
            cells.hexes.push((cell, corners.map(point)));
        }

        // The first cell in the file is named, whatever the order of the shapes.
        match others.into_iter().min_by_key(|(_, (_, cell))| *cell) {
            Some((shape, (count, cell))) => {
                Err(Fault::NotHexahedra { shape: shape.into(), count, cell })
            }
            None if cells.hexes.is_empty() => Err(Fault::NoHexahedra),
            None => Ok(cells),
        }
    }
}
