//! Triangles for printing (`.stl`, binary).

use std::io::{self, Write};
use std::path::Path;

use topopt_mesh::vector::{cross, difference, length};

use crate::atomic::{self, WriteError};

/// Writes triangles to `path`, whole or not at all. The format holds single precision and no
/// connectivity: readers put triangles together by equal coordinates, so that different vertices
/// must stay different.
///
/// `vertices` `[n_vertices][3]`; `triangles` `[n_triangles][3]`, counter-clockwise from outside.
///
/// # Errors
/// [`WriteError`]: the operating system's cause, vertices that single precision cannot tell apart,
/// or more than 4294967295 triangles.
pub fn write(path: &Path, vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        let vertices: Vec<[f32; 3]> = vertices.iter().map(|x| x.map(|x| x as f32)).collect();
        check_distinct(&vertices)?;
        let count = u32::try_from(triangles.len()).map_err(io::Error::other)?;
        let mut header = [b' '; 80];
        header[..HEADER.len()].copy_from_slice(HEADER);
        file.write_all(&header)?;
        file.write_all(&count.to_le_bytes())?;
        for triangle in triangles {
            let corners = triangle.map(|vertex| vertices[vertex as usize]);
            let [normal, a, b, c] = [normal(&corners), corners[0], corners[1], corners[2]];
            for value in [normal, a, b, c].as_flattened() {
                file.write_all(&value.to_le_bytes())?;
            }
            file.write_all(&[0; 2])?;
        }
        Ok(())
    })
}

/// Must not begin with `solid`, which marks text.
const HEADER: &[u8] = b"binary STL by topopt";

fn check_distinct(vertices: &[[f32; 3]]) -> io::Result<()> {
    // 0.0 and -0.0 are one coordinate to a reader.
    let mut bits: Vec<_> = vertices.iter().map(|x| x.map(|x| (x + 0.0).to_bits())).collect();
    bits.sort_unstable();
    match bits.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(io::Error::other(format!(
            "vertices near {:?} are one in single precision, the precision of this format; write \
             .3mf, .obj or .vtp, or move the part nearer to the origin",
            pair[0].map(f32::from_bits)
        ))),
    }
}

/// Unit normal, 0 for a triangle without area.
fn normal(corners: &[[f32; 3]; 3]) -> [f32; 3] {
    let [a, b, c] = corners.map(|x| x.map(f64::from));
    let normal = cross(difference(b, a), difference(c, a));
    let length = length(normal);
    normal.map(|x| if length > 0.0 { (x / length) as f32 } else { 0.0 })
}
