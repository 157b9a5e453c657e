//! Ansys archives (`.cdb`) as CDWRITE writes them, blocked or not.
//!
//! What is read:
//! - Solid elements of four to 20 nodes, whatever their physics, become the mesh; bricks with nodes
//!   that stand twice are the wedges, pyramids and tetrahedra that they look like. MESH200 with the
//!   shape of a solid is read if there is no other solid.
//! - Node components become node sets, element components element sets.
//! - Displacements at nodes (D) become the node sets `D_UX`, `D_UY`, `D_UZ` and `D_ALL`, or
//!   `D_UX_0.5` if they are not zero. Forces at nodes (F) become a node set for every different
//!   force, `F_1` and so on; a note gives the force. Many different forces become one set, `F`.
//!   Pressures (SFE, SF) become face sets, `SFE_1` and so on. What these, ACEL, OMEGA and the
//!   materials say becomes the [`Deck`](crate::deck::Deck).
//! - Solids that conduct heat (SOLID70, 87, 90, 278, 279, 291) make a deck of heat: D,TEMP, F,HEAT,
//!   SFE,HFLUX, SFE,CONV and BFE,HGEN.
//! - Commands are followed in their order: later ones replace, add (DCUM, FCUM, SFCUM) or delete.
//!   NSEL, ESEL, CMSEL, CM and parameters that are numbers are followed.
//! - Nodes and elements are numbered in the order of their numbers in the file, and sets stand in
//!   that order; none stands twice.
//!
//! Every command is read, or stands in `tables` as one without a bearing on a linear static result,
//! or is lost: see [`crate::deck::Deck::lost`]. So are elements that are no solids.
//!
//! Decks of Workbench (`.dat`) and others named `.inp` are recognized by their content.
//!
//! What is refused: files without solid elements, commands that make or change a mesh, and
//! everything that contradicts itself.

mod anisotropic;
mod archive;
mod blocks;
mod carried;
mod chosen;
mod commands;
mod conditions;
mod cumulation;
mod element_type;
mod error;
mod faces;
mod field;
mod given;
mod import;
mod lines;
mod materials;
mod rigid;
mod springs;
mod tables;
mod temperatures;
mod turned;
mod unblocked;

use std::io::Read;
use std::path::Path;

use crate::import::{Cutting, ImportedMesh};
use crate::read_error::ReadError;

pub use archive::{
    Anisotropic, Archive, CornerValues, Element, ElementType, FaceLabel, Held, Property, Ranges,
    Rigid, Surface, Temperatures,
};
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

/// Whether a file whose extension several programs use is one of Ansys: one of its first lines is a
/// command that no other deck has.
pub(crate) fn is_by_content(path: &Path) -> bool {
    let is_shared = path.extension().is_some_and(|extension| {
        ["dat", "inp"].iter().any(|shared| extension.eq_ignore_ascii_case(shared))
    });
    let mut bytes = Vec::new();
    let beginning =
        std::fs::File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    is_shared && beginning.is_ok() && commands::are_of_ansys(&bytes)
}

/// Bytes at the beginning of a file by which its format is recognized.
const BEGINNING: u64 = 64 << 10;

/// Reads what stands in an archive, elements of every type and shape.
///
/// # Errors
/// [`ReadError`] with the place in the file, the fault and the remedy.
pub fn read_archive(path: &Path) -> Result<Archive, ReadError> {
    crate::import::read(path, commands::parse)
}
