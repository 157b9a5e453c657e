//! Triangles with all digits in a binary file (`.ply`, Stanford polygon format).
//!
//! trimesh 5.2, meshio 5.3, MeshLab (pymeshlab 2025.7), VTK 9.7 and Blender 5.0 read what is written
//! here. VTK and Blender round the coordinates to single precision; the others keep all digits.

use std::io::Write;
use std::path::Path;

use crate::atomic::{self, WriteError};

/// Writes triangles to `path`, whole or not at all. The coordinates keep all their digits.
///
/// `vertices` `[n_vertices][3]`; `triangles` `[n_triangles][3]`, counter-clockwise from outside.
///
/// # Errors
/// [`WriteError`] with the operating system's cause.
pub fn write(path: &Path, vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        file.write_all(header(vertices.len(), triangles.len()).as_bytes())?;
        for coordinate in vertices.as_flattened() {
            file.write_all(&coordinate.to_le_bytes())?;
        }
        for triangle in triangles {
            file.write_all(&[3])?;
            for vertex in triangle {
                file.write_all(&vertex.to_le_bytes())?;
            }
        }
        Ok(())
    })
}

/// The names of types are those of the first description of the format: `uint32` is newer, and not
/// every reader knows it.
fn header(n_vertices: usize, n_triangles: usize) -> String {
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment written by topopt\n\
         element vertex {n_vertices}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {n_triangles}\nproperty list uchar uint vertex_indices\nend_header\n"
    )
}
