//! Images: data on the cells of a uniform grid (`.vti`).

use std::path::Path;

use topopt_mesh::UniformGrid;

use super::Compression;
use super::array::{self, Array};
use super::xml::XmlFile;
use crate::atomic::{self, WriteError};

/// Writes data on the cells of `grid`, in the grid's order, to `path`, whole or not at all.
///
/// # Errors
/// [`WriteError`]: the operating system's cause, or an array whose length does not fit.
pub fn write(
    path: &Path,
    grid: &UniformGrid,
    cell_data: &[Array],
    compression: Compression,
) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        let columns = array::columns(cell_data, grid.n_cells())?;
        let [nx, ny, nz] = grid.cells;
        let extent = format!("0 {nx} 0 {ny} 0 {nz}");
        let ([x, y, z], h) = (grid.origin, grid.spacing);
        let mut xml = XmlFile::begin(file, "ImageData", compression)?;
        xml.line(&format!(
            "<ImageData WholeExtent=\"{extent}\" Origin=\"{x:?} {y:?} {z:?}\" \
             Spacing=\"{h:?} {h:?} {h:?}\">"
        ))?;
        xml.line(&format!("<Piece Extent=\"{extent}\">"))?;
        xml.section("CellData", columns)?;
        xml.line("</Piece>")?;
        xml.end("ImageData")
    })
}
