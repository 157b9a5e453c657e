//! Triangles for viewers and slides (`.glb`, binary glTF 2.0).
//!
//! The Khronos group's validator (2.0.0-dev.3.10) finds nothing in what is written here, not even a
//! hint; trimesh 5.2, VTK 9.7, Blender 5.0 and pygltflib 1.16 read it. VTK places the part in
//! single precision, which damages one that is far from the origin.

use std::f64::consts::FRAC_1_SQRT_2;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use topopt_mesh::BoundingBox;
use topopt_mesh::shading::Shading;
use topopt_mesh::vector::difference;

use crate::atomic::{self, WriteError};

/// Writes triangles to `path`, whole or not at all, as one part of gray metal. It has a normal per
/// vertex; vertices are split at edges of more than 30 degrees, which stay sharp.
///
/// The format holds meters, with y upwards, and single precision. The coordinates in the file are
/// those from the center of the part, in the unit of the caller and with z upwards; the part's
/// node scales, turns and moves them.
///
/// `vertices` `[n_vertices][3]`; `triangles` `[n_triangles][3]`, counter-clockwise from outside;
/// `meters`: length of the unit of the coordinates in meters, > 0.
///
/// # Errors
/// [`WriteError`]: the operating system's cause, no triangles, a part too large for single
/// precision, or a file of more than 4 GiB.
pub fn write(
    path: &Path,
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    meters: f64,
) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        let part = Part::of(vertices, triangles)?;
        let mut text = serde_json::to_string(&part.document(meters))?;
        while !text.len().is_multiple_of(4) {
            text.push(' ');
        }
        let binary = part.views()[3];
        let total = u32::try_from(12 + 8 + text.len() + 8 + binary).map_err(|_| too_many())?;

        file.write_all(b"glTF")?;
        for number in [2, total, text.len() as u32, JSON] {
            file.write_all(&number.to_le_bytes())?;
        }
        file.write_all(text.as_bytes())?;
        for number in [binary as u32, BINARY] {
            file.write_all(&number.to_le_bytes())?;
        }
        part.write_binary(file)
    })
}

/// Types of the two chunks of a file.
const JSON: u32 = u32::from_le_bytes(*b"JSON");
const BINARY: u32 = u32::from_le_bytes(*b"BIN\0");

/// Numbers of OpenGL by which the format names types and uses of arrays.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Geometry in a file: positions and the triangles between them.
struct Part {
    /// Origin of the positions.
    center: [f64; 3],
    /// `[n][3]`
    positions: Vec<[f32; 3]>,
    /// The box around the positions.
    bounds: BoundingBox,
    shading: Shading,
}

impl Part {
    fn of(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> io::Result<Self> {
        if triangles.is_empty() {
            return Err(io::Error::other(
                "the surface has no triangles, and this format cannot hold an empty one",
            ));
        }
        // Corners are counted by 32 bits; this many triangles would not fit into the file.
        if triangles.len() > u32::MAX as usize / 12 {
            return Err(too_many());
        }

        let shading = Shading::of(vertices, triangles);
        let drawn = || shading.sources.iter().map(|&source| vertices[source as usize]);
        let BoundingBox { min, max } = BoundingBox::of(drawn());
        let center = std::array::from_fn(|i| 0.5 * min[i] + 0.5 * max[i]);
        let relative = |x| difference(x, center).map(|x| x as f32);
        let positions: Vec<[f32; 3]> = drawn().map(relative).collect();
        if !positions.as_flattened().iter().all(|x| x.is_finite()) {
            return Err(io::Error::other(
                "the part is larger than the single precision of this format can hold; write \
                 .ply, .obj or .vtp",
            ));
        }

        let bounds = BoundingBox::of(positions.iter().map(|x| x.map(f64::from)));
        Ok(Self { center, positions, bounds, shading })
    }

    /// Returns the starts of positions, normals and triangles in the binary chunk, and its length.
    fn views(&self) -> [usize; 4] {
        let vertices = size_of_val(&self.positions[..]);
        let triangles = size_of_val(&self.shading.triangles[..]);
        [0, vertices, 2 * vertices, 2 * vertices + triangles]
    }

    fn write_binary(&self, out: &mut impl Write) -> io::Result<()> {
        for value in self.positions.as_flattened().iter().chain(self.shading.normals.as_flattened())
        {
            out.write_all(&value.to_le_bytes())?;
        }
        for vertex in self.shading.triangles.as_flattened() {
            out.write_all(&vertex.to_le_bytes())?;
        }
        Ok(())
    }

    /// The description of the binary chunk and of the scene. `meters`: as in [`write`].
    fn document(&self, meters: f64) -> Value {
        let views = self.views();
        let view = |i: usize, target: u32| {
            let length = views[i + 1] - views[i];
            json!({"buffer": 0, "byteOffset": views[i], "byteLength": length, "target": target})
        };

        let n = self.positions.len();
        json!({
            "asset": {"version": "2.0", "generator": "topopt"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [self.node(meters)],
            "meshes": [{"name": NAME, "primitives": [{
                "attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2, "material": 0,
            }]}],
            "materials": [material()],
            "accessors": [
                {"bufferView": 0, "componentType": FLOAT, "count": n, "type": "VEC3",
                 "min": self.bounds.min, "max": self.bounds.max},
                {"bufferView": 1, "componentType": FLOAT, "count": n, "type": "VEC3"},
                {"bufferView": 2, "componentType": UNSIGNED_INT,
                 "count": 3 * self.shading.triangles.len(), "type": "SCALAR"},
            ],
            "bufferViews": [
                view(0, ARRAY_BUFFER), view(1, ARRAY_BUFFER), view(2, ELEMENT_ARRAY_BUFFER),
            ],
            "buffers": [{"byteLength": views[3]}],
        })
    }

    /// Takes (x, y, z) from the center to meters with y upwards: a quarter turn about x.
    fn node(&self, meters: f64) -> Value {
        let [x, y, z] = self.center.map(|x| meters * x);
        json!({
            "name": NAME, "mesh": 0,
            "scale": [meters, meters, meters],
            "rotation": [-FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2],
            "translation": [x, z, -y],
        })
    }
}

const NAME: &str = "part";

/// Gray metal; a full metal is almost black in viewers with nothing to mirror in it.
fn material() -> Value {
    json!({
        "name": "metal",
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.7, 0.71, 0.72, 1.0], "metallicFactor": 0.25, "roughnessFactor": 0.5,
        },
        "doubleSided": true,
    })
}

fn too_many() -> io::Error {
    io::Error::other(
        "the surface has more triangles than the 4 GiB of this format can hold; write .ply or \
         .vtp, or decimate the surface",
    )
}
