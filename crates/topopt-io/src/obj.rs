//! Triangles as text (`.obj`, Wavefront).

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
        for [x, y, z] in vertices {
            writeln!(file, "v {x} {y} {z}")?;
        }
        for triangle in triangles {
            let [a, b, c] = triangle.map(|vertex| u64::from(vertex) + 1);
            writeln!(file, "f {a} {b} {c}")?;
        }
        Ok(())
    })
}
