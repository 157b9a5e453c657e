//! Named arrays of numbers, as bytes on demand.

use std::io;
use std::ops::Range;

use topopt_mesh::HexMesh;
use topopt_mesh::cells::{Cells, Shape};

/// A data array of points or cells.
#[derive(Debug, Clone, Copy)]
pub struct Array<'a> {
    /// Name, as shown in ParaView.
    pub name: &'a str,
    /// Numbers of a point or cell: 1 for a scalar, 3 for a vector.
    pub components: usize,
    /// The numbers, `[points or cells][components]`.
    pub values: Values<'a>,
}

/// Entities to which the values of an array belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The points.
    Points,
    /// The cells.
    Cells,
}

/// Numbers of an array. NaN is written as it is.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// 64-bit floating point.
    F64(&'a [f64]),
    /// 32-bit floating point.
    F32(&'a [f32]),
    /// 64-bit integers.
    I64(&'a [i64]),
    /// 32-bit unsigned integers.
    U32(&'a [u32]),
    /// Bytes.
    U8(&'a [u8]),
}

/// An array that gives its bytes by ranges of values, so that it need not exist as a whole.
pub(super) struct Column<'a> {
    pub name: &'a str,
    pub components: usize,
    /// VTK's name of the type, such as `Float64`.
    pub kind: &'static str,
    /// Bytes of a value.
    pub width: usize,
    /// Number of values.
    pub len: usize,
    /// Appends the little-endian bytes of a range of values.
    pub encode: Box<Encode<'a>>,
}

type Encode<'a> = dyn Fn(Range<usize>, &mut Vec<u8>) + Sync + 'a;

impl<'a> Column<'a> {
    /// The values of some of its points or cells, by their numbers.
    pub fn of(self, numbers: &'a [u32]) -> Self {
        let Self { name, components, kind, width, encode, .. } = self;
        let of = move |i: usize| numbers[i / components] as usize * components + i % components;
        let encode = move |range: Range<usize>, bytes: &mut Vec<u8>| {
            range.map(of).for_each(|value| encode(value..value + 1, bytes));
        };
        let len = components * numbers.len();
        Self { name, components, kind, width, len, encode: Box::new(encode) }
    }
}

/// A column of `len` values, each computed by its index.
macro_rules! column {
    ($name:expr, $components:expr, $kind:literal, $type:ty, $len:expr, $value:expr) => {{
        let value = $value;
        Column {
            name: $name,
            components: $components,
            kind: $kind,
            width: size_of::<$type>(),
            len: $len,
            encode: Box::new(move |range: Range<usize>, bytes: &mut Vec<u8>| {
                for index in range {
                    let value: $type = value(index);
                    bytes.extend_from_slice(&value.to_le_bytes());
                }
            }),
        }
    }};
}

impl<'a> Array<'a> {
    fn column(&self, count: usize) -> io::Result<Column<'a>> {
        let Self { name, components, values } = *self;
        let column = match values {
            Values::F64(v) => column!(name, components, "Float64", f64, v.len(), |i| v[i]),
            Values::F32(v) => column!(name, components, "Float32", f32, v.len(), |i| v[i]),
            Values::I64(v) => column!(name, components, "Int64", i64, v.len(), |i| v[i]),
            Values::U32(v) => column!(name, components, "UInt32", u32, v.len(), |i| v[i]),
            Values::U8(v) => column!(name, components, "UInt8", u8, v.len(), |i| v[i]),
        };
        if column.len == components * count && components > 0 {
            return Ok(column);
        }
        Err(io::Error::other(format!(
            "array `{name}` has {} values, but {count} points or cells of {components} \
             component(s) need {}",
            column.len,
            components * count
        )))
    }
}

/// All arrays as columns, after checking that they have values for `count` points or cells.
pub(super) fn columns<'a>(arrays: &[Array<'a>], count: usize) -> io::Result<Vec<Column<'a>>> {
    arrays.iter().map(|array| array.column(count)).collect()
}

/// Coordinates of points.
pub(super) fn points(points: &[[f64; 3]]) -> Column<'_> {
    let values = points.as_flattened();
    column!("Points", 3, "Float64", f64, values.len(), |i| values[i])
}

/// Connectivity and offsets of triangles.
pub(super) fn triangles(triangles: &[[u32; 3]]) -> [Column<'_>; 2] {
    let nodes = triangles.as_flattened();
    [
        column!("connectivity", 1, "Int64", i64, nodes.len(), |i| i64::from(nodes[i])),
        column!("offsets", 1, "Int64", i64, triangles.len(), |i: usize| 3 * (i as i64 + 1)),
    ]
}

/// VTK's number of the type of a linear cell.
const fn kind(shape: Shape) -> u8 {
    match shape {
        Shape::Tetrahedron => 10,
        Shape::Hexahedron => 12,
        Shape::Wedge => 13,
        Shape::Pyramid => 14,
    }
}

/// Nodes, ends and types of cells, written by their corners.
pub(super) struct Corners {
    nodes: Vec<u32>,
    ends: Vec<usize>,
    kinds: Vec<u8>,
}

impl Corners {
    pub fn of(cells: &Cells) -> Self {
        let mut end = 0;
        let mut next = |shape: &Shape| {
            end += shape.n_corners();
            end
        };
        Self {
            ends: cells.shapes().iter().map(&mut next).collect(),
            nodes: cells.iter().flat_map(|cell| cell.corners.iter().copied()).collect(),
            kinds: cells.shapes().iter().map(|shape| kind(*shape)).collect(),
        }
    }

    /// Connectivity, offsets and types.
    pub fn columns(&self) -> [Column<'_>; 3] {
        let Self { nodes, ends, kinds } = self;
        [
            column!("connectivity", 1, "Int64", i64, nodes.len(), |i| i64::from(nodes[i])),
            column!("offsets", 1, "Int64", i64, ends.len(), |i| ends[i] as i64),
            column!("types", 1, "UInt8", u8, kinds.len(), |i| kinds[i]),
        ]
    }
}

/// The elements of a mesh: hexahedra, or tetrahedra of ten nodes, in VTK's order.
#[derive(Debug, Clone, Copy)]
pub struct MeshCells<'a> {
    /// Nodes of all elements one after the other.
    nodes: &'a [u32],
    per_cell: usize,
    kind: u8,
}

/// VTK's number of the quadratic tetrahedron.
const QUADRATIC_TETRAHEDRON: u8 = 24;

impl<'a> From<&'a [[u32; 8]]> for MeshCells<'a> {
    fn from(hexes: &'a [[u32; 8]]) -> Self {
        Self { nodes: hexes.as_flattened(), per_cell: 8, kind: kind(Shape::Hexahedron) }
    }
}

impl<'a> From<&'a Vec<[u32; 8]>> for MeshCells<'a> {
    fn from(hexes: &'a Vec<[u32; 8]>) -> Self {
        hexes.as_slice().into()
    }
}

impl<'a> From<&'a HexMesh> for MeshCells<'a> {
    fn from(mesh: &'a HexMesh) -> Self {
        let kind = match mesh.shape() {
            Shape::Tetrahedron => QUADRATIC_TETRAHEDRON,
            shape => kind(shape),
        };
        Self { nodes: mesh.connectivity(), per_cell: mesh.nodes_per_element(), kind }
    }
}

impl<'a> MeshCells<'a> {
    /// Number of cells.
    pub(super) fn len(self) -> usize {
        self.nodes.len() / self.per_cell
    }

    /// A range of cells.
    pub(super) fn range(self, cells: Range<usize>) -> Self {
        let n = self.per_cell;
        Self { nodes: &self.nodes[n * cells.start..n * cells.end], ..self }
    }

    /// These cells by nodes of other numbers, as many.
    pub(super) fn with<'b>(self, nodes: &'b [u32]) -> MeshCells<'b> {
        MeshCells { nodes, per_cell: self.per_cell, kind: self.kind }
    }

    /// Nodes of all cells one after the other.
    pub(super) fn nodes(self) -> &'a [u32] {
        self.nodes
    }

    /// Connectivity, offsets and types.
    pub(super) fn columns(self) -> [Column<'a>; 3] {
        let Self { nodes, per_cell, kind } = self;
        let (n, per_cell) = (self.len(), per_cell as i64);
        [
            column!("connectivity", 1, "Int64", i64, nodes.len(), |i| i64::from(nodes[i])),
            column!("offsets", 1, "Int64", i64, n, move |i: usize| per_cell * (i as i64 + 1)),
            column!("types", 1, "UInt8", u8, n, move |_| kind),
        ]
    }
}
