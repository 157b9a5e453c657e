//! Gmsh meshes (`.msh`), versions 2.2 and 4.1, text and binary, with physical groups.
//!
//! What is read:
//! - Solid elements become the mesh; those of third and higher order are read by their corners.
//! - Physical volumes become element sets, physical surfaces face sets, physical curves and points
//!   node sets. A group without a name is called `physical_volume_7`, `physical_surface_7`,
//!   `physical_curve_7` or `physical_point_7` by its tag; a named group without entities becomes
//!   an empty set.
//! - Nodes and elements are numbered in the order of their tags. Nodes and faces of a set stand
//!   in the order of the file, elements in ascending order; none stands twice.
//! - A quadrilateral inside the mesh belongs to the element from which it points outwards.
//!
//! [`mesh`] runs Gmsh itself, as a program, on a geometry.
//!
//! What is refused: faces of a physical surface that are no face of a solid element (a support or
//! load would be lost in silence), partitioned meshes, other versions, and everything that
//! contradicts itself.

mod attempts;
mod boundary;
mod cursor;
mod element_shape;
mod error;
mod faces;
mod facets;
mod finer;
mod geometry;
mod import;
mod meshed;
mod meshing_error;
mod program;
mod raw;
mod records;
mod sections;
mod source;
mod supervised;
mod triangulation;
mod trust;
mod version_2;
mod version_4;
mod write;

use std::path::Path;

use crate::import::{Cutting, ImportedMesh};
use crate::read_error::ReadError;

use cursor::Cursor;
use import::Surfaces;

pub use boundary::{Boundary, Skin, boundary, has_commands};
pub use error::Fault;
pub use faces::{Form, PartFace, PartFaces, bodies, clean, faces};
pub use facets::{FacetFault, Triangulation};
pub use finer::FinerBox;
pub use meshed::{mesh, note_on_number};
pub use meshing_error::MeshingError;
pub(crate) use program::GEOMETRIES;
pub use program::{ElementSize, Hexes, Meshing, is_geometry};
pub use triangulation::triangulate;
pub use trust::Harm;
pub use write::{Encoding, GmshFormat, Version, write};

/// Reads a `.msh` file.
///
/// # Errors
/// [`ReadError`] with the place in the file, the fault and the remedy.
pub fn read(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    read_as(path, cutting, Surfaces::Unnamed)
}

/// Reads a `.msh` file, and its surfaces as `surfaces` says.
fn read_as(path: &Path, cutting: Cutting, surfaces: Surfaces) -> Result<ImportedMesh, ReadError> {
    crate::import::stream(path, |file, length| {
        let raw = sections::parse(Cursor::new(file, length))?;
        Ok(import::import(raw, cutting, surfaces)?)
    })
}
