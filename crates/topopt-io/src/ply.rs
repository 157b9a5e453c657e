//! Triangles with all digits in a binary file (`.ply`, Stanford polygon format), out and in again.
//!
//! trimesh 5.2, meshio 5.3, MeshLab (pymeshlab 2025.7), VTK 9.7 and Blender 5.0 read what is written
//! here. VTK and Blender round the coordinates to single precision; the others keep all digits.

use std::io::{self, Write};
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

/// Vertices, `[n_vertices][3]`, and triangles, `[n_triangles][3]`.
pub type Triangles = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// Reads triangles from `path` as [`write()`] leaves them there.
///
/// # Errors
/// The operating system's cause, and a file that [`write()`] has not written.
pub fn read(path: &Path) -> io::Result<Triangles> {
    let bytes = std::fs::read(path)?;
    parsed(&bytes)
        .ok_or_else(|| io::Error::other("no PLY file of triangles that topopt has written"))
}

fn parsed(bytes: &[u8]) -> Option<Triangles> {
    const END: &[u8] = b"end_header\n";
    let start = bytes.windows(END.len()).take(LONGEST_HEADER).position(|w| w == END)? + END.len();
    let text = std::str::from_utf8(&bytes[..start]).ok()?;
    let count = |name: &str| -> Option<usize> {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    };
    let (n_vertices, n_triangles) = (count("element vertex")?, count("element face")?);
    let rest = &bytes[start..];
    let ends = [n_vertices.checked_mul(24)?, n_triangles.checked_mul(13)?];
    if text != header(n_vertices, n_triangles) || rest.len() != ends[0].checked_add(ends[1])? {
        return None;
    }

    let (vertices, triangles) = rest.split_at(ends[0]);
    let number = |bytes: &[u8]| bytes.try_into().map(f64::from_le_bytes).unwrap_or(f64::NAN);
    let vertices = vertices.chunks_exact(24).map(|x| [&x[..8], &x[8..16], &x[16..]].map(number));
    let vertices: Vec<[f64; 3]> = vertices.collect();
    let vertex = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).unwrap_or(u32::MAX);
    let triangles = triangles.chunks_exact(13).map(|t| [&t[1..5], &t[5..9], &t[9..]].map(vertex));
    let triangles: Vec<[u32; 3]> = triangles.collect();
    let is_valid = vertices.as_flattened().iter().all(|x| x.is_finite())
        && triangles.as_flattened().iter().all(|&vertex| (vertex as usize) < n_vertices);
    is_valid.then_some((vertices, triangles))
}

/// Bytes in which the header ends.
const LONGEST_HEADER: usize = 1000;

/// The names of types are those of the first description of the format: `uint32` is newer, and not
/// every reader knows it.
fn header(n_vertices: usize, n_triangles: usize) -> String {
    format!(
        "ply\nformat binary_little_endian 1.0\ncomment written by topopt\n\
         element vertex {n_vertices}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {n_triangles}\nproperty list uchar uint vertex_indices\nend_header\n"
    )
}
