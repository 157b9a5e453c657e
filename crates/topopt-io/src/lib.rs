//! Formats at the edge: Gmsh and VTK in and out; Ansys and Abaqus meshes in; CSV, and surfaces as
//! STL, 3MF and OBJ out; checkpoints.
//!
//! This crate knows no physics and no configuration. Readers return meshes that are checked, with
//! the numbers of the user's file; writers leave whole files or none ([`atomic`]).

pub mod abaqus;
pub mod ansys;
pub mod atomic;
pub mod checkpoint;
pub mod csv;
mod elements;
pub mod gmsh;
mod import;
pub mod obj;
mod quote;
mod read_error;
pub mod stl;
pub mod three_mf;
pub mod vtk;

use std::path::Path;

pub use atomic::WriteError;
pub use import::ImportedMesh;
pub use read_error::{Fault, Place, ReadError};

/// Reads a mesh file; the extension tells the format. Today these are `.msh` (Gmsh), `.cdb`
/// (Ansys), `.inp` (Abaqus, CalculiX) and `.vtu` (VTK).
///
/// # Errors
/// [`ReadError`]: the extension is not supported, or what the reader of the format says.
pub fn read_mesh(path: &Path) -> Result<ImportedMesh, ReadError> {
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("msh") => gmsh::read(path),
        Some(extension) if extension.eq_ignore_ascii_case("cdb") => ansys::read(path),
        Some(extension) if extension.eq_ignore_ascii_case("inp") => abaqus::read(path),
        Some(extension) if extension.eq_ignore_ascii_case("vtu") => vtk::vtu::read(path),
        _ => Err(ReadError { path: path.into(), place: None, fault: Fault::Extension.into() }),
    }
}
