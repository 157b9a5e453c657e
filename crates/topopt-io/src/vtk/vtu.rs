//! Unstructured grids of hexahedra or tetrahedra (`.vtu`).

use std::io::{self, Seek, Write};
use std::path::Path;

use topopt_mesh::cells::Cells;

use super::Compression;
use super::array::{self, Array, Column, Corners, MeshCells, Section};
use super::read;
use super::xml::XmlFile;
use crate::atomic::{self, WriteError};
use crate::import::{self, Cutting, ImportedMesh};
use crate::read_error::{Parsed, ReadError};

/// Writes the elements of a mesh with data to `path`, whole or not at all.
///
/// `points`: `[n_points][3]`; `cells`: a mesh, or hexahedra, `[n_cells][8]`, in VTK's order. Wedges
/// are hexahedra with nodes that stand twice, for VTK too.
///
/// # Errors
/// [`WriteError`]: the operating system's cause, or an array whose length does not fit.
pub fn write<'a>(
    path: &Path,
    points: &[[f64; 3]],
    cells: impl Into<MeshCells<'a>>,
    point_data: &[Array],
    cell_data: &[Array],
    compression: Compression,
) -> Result<(), WriteError> {
    let (cells, data) = (cells.into(), [point_data, cell_data]);
    write_grid(path, points, (cells.len(), cells.columns()), data, compression)
}

/// Writes cells of any shape by their corners, with data, to `path`, whole or not at all.
///
/// `points`: `[n_points][3]`.
///
/// # Errors
/// As [`write()`].
pub fn write_cells(
    path: &Path,
    points: &[[f64; 3]],
    cells: &Cells,
    point_data: &[Array],
    cell_data: &[Array],
    compression: Compression,
) -> Result<(), WriteError> {
    let corners = Corners::of(cells);
    let (cells, data) = ((cells.len(), corners.columns()), [point_data, cell_data]);
    write_grid(path, points, cells, data, compression)
}

fn write_grid(
    path: &Path,
    points: &[[f64; 3]],
    (n_cells, cells): (usize, [Column; 3]),
    data: [&[Array]; 2],
    compression: Compression,
) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        let sizes = [points.len(), n_cells];
        let data = columns(data, sizes)?;
        write_to(file, Grid { sizes, points: array::points(points), cells, data }, compression)
    })
}

/// Reads a mesh; every layout of the numbers that VTK writes.
///
/// - Tetrahedra, pyramids, wedges, hexahedra and voxels of any order become the mesh, cut into
///   hexahedra where they must be and `cutting` allows it. Vertices, lines and surfaces are left
///   out, other volume cells refused.
/// - The nodes of a wedge may run as in older versions of VTK: the sign of the volume shows it.
/// - A `.vtu` file knows no sets. Integer arrays with one component and values 0 or 1 become sets
///   of their names: arrays of cells element sets, arrays of points node sets, with the members
///   marked by 1.
/// - Points and cells are numbered from 0 as in ParaView.
///
/// # Errors
/// [`ReadError`] with the line of the XML, the fault and the remedy.
pub fn read(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    let parse = |bytes: &[u8]| read::parse(bytes, &[], cutting);
    Ok(import::read(path, parse)?.0)
}

/// Reads a mesh as [`read`] does, and the scalar arrays `names` of its cells, each
/// `[n_elements]` in the order of the mesh: all hexahedra of a cell that was cut have its value. A
/// file of tetrahedra alone, as results on tetrahedra are, is not cut.
///
/// # Errors
/// As [`read`]; an array that the file does not have.
pub fn read_with_cell_data(
    path: &Path,
    names: &[&str],
) -> Result<(ImportedMesh, Vec<Vec<f64>>), ReadError> {
    read_with_cell_data_as(path, names, Cutting::KeepOrCut)
}

/// Reads as [`read_with_cell_data`] does, with cells cut only if `cutting` allows it.
///
/// # Errors
/// As [`read_with_cell_data`].
pub fn read_with_cell_data_as(
    path: &Path,
    names: &[&str],
    cutting: Cutting,
) -> Result<(ImportedMesh, Vec<Vec<f64>>), ReadError> {
    import::read(path, |bytes| read::parse(bytes, names, cutting))
}

/// Arrays of a file by their names; nothing for one that it does not have.
pub type Further = Vec<Option<Vec<f64>>>;

/// Reads as [`read_with_cell_data`] does, and of the same file the `further` scalar arrays of points
/// or cells, as [`read_arrays`] does.
///
/// # Errors
/// As these.
pub fn read_with_further(
    path: &Path,
    names: &[&str],
    further: &[(Section, &str)],
) -> Result<(ImportedMesh, Vec<Vec<f64>>, Further), ReadError> {
    import::read(path, |bytes| {
        let (mesh, data) = read::parse(bytes, names, Cutting::KeepOrCut)?;
        let array = |(section, name): &(Section, &str)| {
            let found = read::arrays::<1>(bytes, *section, &[name])?.remove(0);
            Ok(found.map(Vec::into_flattened))
        };
        Ok((mesh, data, further.iter().map(array).collect::<Parsed<_>>()?))
    })
}

/// Reads the arrays `names` of points or cells with C components, `[n][C]` each in the order of the
/// file, which is that of the mesh where every cell is a hexahedron and every point a corner of
/// one; nothing for an array that the file does not have.
///
/// # Errors
/// [`ReadError`] for a file that cannot be read, or values that are not numbers.
pub fn read_arrays<const C: usize>(
    path: &Path,
    section: Section,
    names: &[&str],
) -> Result<Vec<Option<Vec<[f64; C]>>>, ReadError> {
    import::read(path, |bytes| read::arrays(bytes, section, names))
}

/// Unstructured grid with its data, as it stands in a file.
pub(super) struct Grid<'a> {
    /// Points and cells.
    pub sizes: [usize; 2],
    pub points: Column<'a>,
    /// Connectivity, offsets and types.
    pub cells: [Column<'a>; 3],
    /// Data of the points and of the cells.
    pub data: [Vec<Column<'a>>; 2],
}

/// The data of points and of cells; their numbers are known.
pub(super) fn columns<'a>(
    [of_points, of_cells]: [&[Array<'a>]; 2],
    [n_points, n_cells]: [usize; 2],
) -> io::Result<[Vec<Column<'a>>; 2]> {
    Ok([array::columns(of_points, n_points)?, array::columns(of_cells, n_cells)?])
}

pub(super) fn write_to(
    file: &mut (impl Write + Seek),
    grid: Grid,
    compression: Compression,
) -> io::Result<()> {
    let Grid { sizes: [n_points, n_cells], points, cells, data: [of_points, of_cells] } = grid;
    let mut xml = XmlFile::begin(file, "UnstructuredGrid", compression)?;
    xml.line("<UnstructuredGrid>")?;
    xml.line(&format!("<Piece NumberOfPoints=\"{n_points}\" NumberOfCells=\"{n_cells}\">"))?;
    xml.section("PointData", of_points)?;
    xml.section("CellData", of_cells)?;
    xml.section("Points", [points])?;
    xml.section("Cells", cells)?;
    xml.line("</Piece>")?;
    xml.end("UnstructuredGrid")
}
