//! Unstructured grids of hexahedra (`.vtu`).

use std::io::{self, Seek, Write};
use std::path::Path;

use super::Compression;
use super::array::{self, Array};
use super::xml::XmlFile;
use crate::atomic::{self, WriteError};

/// Writes hexahedra with data to `path`, whole or not at all.
///
/// `points`: \[n_points\]\[3\]; `hexes`: \[n_cells\]\[8\], in the order of the VTK hexahedron.
///
/// # Errors
/// [`WriteError`]: the operating system's cause, or an array whose length does not fit.
pub fn write(
    path: &Path,
    points: &[[f64; 3]],
    hexes: &[[u32; 8]],
    point_data: &[Array],
    cell_data: &[Array],
    compression: Compression,
) -> Result<(), WriteError> {
    atomic::write(path, |file| write_to(file, points, hexes, [point_data, cell_data], compression))
}

fn write_to(
    file: &mut (impl Write + Seek),
    points: &[[f64; 3]],
    hexes: &[[u32; 8]],
    [point_data, cell_data]: [&[Array]; 2],
    compression: Compression,
) -> io::Result<()> {
    let point_columns = array::columns(point_data, points.len())?;
    let cell_columns = array::columns(cell_data, hexes.len())?;
    let mut xml = XmlFile::begin(file, "UnstructuredGrid", compression)?;
    xml.line("<UnstructuredGrid>")?;
    xml.line(&format!(
        "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">",
        points.len(),
        hexes.len()
    ))?;
    xml.section("PointData", point_columns)?;
    xml.section("CellData", cell_columns)?;
    xml.section("Points", [array::points(points)])?;
    xml.section("Cells", array::cells(hexes))?;
    xml.line("</Piece>")?;
    xml.end("UnstructuredGrid")
}
