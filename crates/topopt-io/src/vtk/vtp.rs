//! Surfaces of triangles (`.vtp`).

use std::path::Path;

use super::Compression;
use super::array::{self, Array};
use super::xml::XmlFile;
use crate::atomic::{self, WriteError};

/// Writes triangles with data of their points to `path`, whole or not at all.
///
/// `points`: `[n_points][3]`; `triangles`: `[n_triangles][3]`.
///
/// # Errors
/// [`WriteError`]: the operating system's cause, or an array whose length does not fit.
pub fn write(
    path: &Path,
    points: &[[f64; 3]],
    triangles: &[[u32; 3]],
    point_data: &[Array],
    compression: Compression,
) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        let columns = array::columns(point_data, points.len())?;
        let mut xml = XmlFile::begin(file, "PolyData", compression)?;
        xml.line("<PolyData>")?;
        xml.line(&format!(
            "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{}\">",
            points.len(),
            triangles.len()
        ))?;
        xml.section("PointData", columns)?;
        xml.section("Points", [array::points(points)])?;
        xml.section("Polys", array::triangles(triangles))?;
        xml.line("</Piece>")?;
        xml.end("PolyData")
    })
}
