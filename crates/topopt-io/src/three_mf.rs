//! Triangles for printing, with their unit (`.3mf`, 3D Manufacturing Format).

use std::io;
use std::path::Path;

use threemf::model::{
    Build, Item, Model, Object, Resources, Triangle, Triangles, Vertex, Vertices,
};
use threemf::{Mesh, model};

use crate::atomic::{self, WriteError};

/// The unit of the coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 1e-3 m
    Millimeter,
    /// 1e-2 m
    Centimeter,
    /// 0.0254 m
    Inch,
    /// 0.3048 m
    Foot,
    /// 1 m
    Meter,
}

/// Writes triangles as one object to `path`, whole or not at all.
///
/// `vertices`: \[n_vertices\]\[3\]; `triangles`: \[n_triangles\]\[3\], counter-clockwise seen from
/// outside.
///
/// # Errors
/// [`WriteError`] with the operating system's cause.
pub fn write(
    path: &Path,
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    unit: Unit,
) -> Result<(), WriteError> {
    let vertex = vertices.iter().map(|&[x, y, z]| Vertex { x, y, z }).collect();
    let triangle = |triangle: &[u32; 3]| {
        let [v1, v2, v3] = triangle.map(|vertex| vertex as usize);
        Triangle { v1, v2, v3 }
    };
    let triangle = triangles.iter().map(triangle).collect();
    let mesh = Mesh { vertices: Vertices { vertex }, triangles: Triangles { triangle } };
    let object = Object { id: 1, mesh: Some(mesh), ..Object::default() };
    let item = Item { objectid: 1, transform: None, partnumber: None };
    let model = Model {
        resources: Resources { object: vec![object], ..Resources::default() },
        build: Build { item: vec![item] },
        unit: unit.into(),
        ..Model::default()
    };
    atomic::write(path, |file| threemf::write(file, model).map_err(io::Error::other))
}

impl From<Unit> for model::Unit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Millimeter => Self::Millimeter,
            Unit::Centimeter => Self::Centimeter,
            Unit::Inch => Self::Inch,
            Unit::Foot => Self::Foot,
            Unit::Meter => Self::Meter,
        }
    }
}
