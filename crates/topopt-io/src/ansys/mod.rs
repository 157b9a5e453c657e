//! Ansys archives (`.cdb`) as CDWRITE writes them, in blocked format.
//!
//! What is read:
//! - SOLID185 and SOLID45 become the mesh; SOLID186 and SOLID95 by their eight corners. Bricks with
//!   K=L and O=P, or collapsed so elsewhere, are wedges.
//! - Node components become node sets, element components element sets.
//! - Zero displacements at nodes (D) become the node sets `D_UX`, `D_UY`, `D_UZ` and `D_ALL`, for
//!   supports that fix x, y, z or all three. Forces at nodes (F) become a node set for every
//!   different force, `F_1` and so on; a note tells the force, which the case file then gives as
//!   the force on each node of the set.
//! - Materials (EX, NUXY or PRXY, DENS) are told in notes: they belong in the case file.
//! - Nodes and elements are numbered in the order of their numbers in the file, and sets stand in
//!   that order; none stands twice.
//!
//! Left out with a note: surface, contact, target, mass and MESH200 elements, pressures, couplings
//! and constraint equations, displacements other than zero, and conditions in rotated nodal
//! coordinate systems.
//!
//! What is refused: degenerate bricks other than wedges, other element types, files in unblocked
//! format, and everything that contradicts itself.

mod archive;
mod blocks;
mod carried;
mod commands;
mod conditions;
mod element_type;
mod error;
mod field;
mod import;
mod lines;
mod unblocked;

use std::path::Path;

use crate::import::{Cutting, ImportedMesh};
use crate::read_error::ReadError;

pub use archive::{Archive, Element, ElementType, FacePressure, NodalValue, Property, Ranges};
pub use error::Fault;

/// Reads an archive as a mesh.
///
/// # Errors
/// [`ReadError`] with the place in the file, the fault and the remedy.
pub fn read(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    let archive = read_archive(path)?;
    import::import(archive, cutting).map_err(|fault| {
        let fault = Box::new(fault);
        ReadError { path: path.into(), place: None, fault }
    })
}

/// Reads what stands in an archive, elements of every type and shape.
///
/// # Errors
/// [`ReadError`] with the place in the file, the fault and the remedy.
pub fn read_archive(path: &Path) -> Result<Archive, ReadError> {
    crate::import::read(path, commands::parse)
}
