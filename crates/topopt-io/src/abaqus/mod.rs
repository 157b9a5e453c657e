//! Abaqus and CalculiX input files (`.inp`).
//!
//! What is read:
//! - Solid elements of four to 27 nodes become the mesh. Shells, beams, masses and springs are left
//!   out. If an element set names such elements, their nodes become a node set of the same name: so
//!   come the surfaces of a file that Gmsh wrote.
//! - *NSET and *ELSET, also those of *NODE and *ELEMENT, become sets; internal ones only serve
//!   other keywords. *SURFACE becomes a face set, with TYPE=NODE a node set.
//! - *BOUNDARY and *CLOAD become node sets, by which a case can name them as supports and loads:
//!   `boundary_1_3` is held in the directions 1 to 3 (ENCASTRE and PINNED too), `boundary_2_2`
//!   in 2 alone, `displacement_2_2_-0.1` is moved by -0.1 in 2, `cload_2_-10.0` is loaded by -10 in
//!   2, each node; in a deck of several steps their names come before displacements and loads. If there are more than 32
//!   different forces in a direction, all loaded nodes are `cload`, and the forces stand beside it. *DLOAD on faces
//!   becomes a face set such as `dload_5.0`.
//! - What these, *DSLOAD, *COUPLING, *RIGID BODY, *SPRING, *MATERIAL and *SOLID SECTION say becomes the
//!   [`Deck`](crate::deck::Deck), at the end of each step; of *HEAT TRANSFER what *CFLUX, *DFLUX and *FILM say.
//! - *INCLUDE and INPUT= name files in the folder of the deck.
//! - A single *PART with one *INSTANCE, moved or not. A set of the part whose name the assembly has
//!   as well is called `INSTANCE.NAME`. Nodes of the assembly are reference points.
//!
//! Names are compared without regard to case. Nodes and elements are numbered in the order of their
//! numbers in the file; sets ascend, and nothing stands in them twice.
//!
//! What is refused: other solid elements, more parts or instances, keywords that generate nodes or
//! elements, and everything that contradicts itself. Other keywords and parameters are lost (`known.rs`).

mod carried;
mod carried_loads;
mod carried_ties;
mod conditions;
mod deck;
mod definitions;
mod element_type;
mod elements;
mod error;
mod given;
mod held;
mod import;
mod include;
mod known;
mod laws;
mod lines;
mod mesh_lines;
mod nodal;
mod sets;
mod systems;
mod temperatures;

use std::path::Path;

pub use error::Fault;

use crate::import::{Cutting, ImportedMesh};
use crate::read_error::ReadError;

/// Reads an input file.
///
/// # Errors
/// [`ReadError`] with the line, the fault and the remedy.
pub fn read(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    let text = include::Text::read(path)?;
    let imported = deck::read(&text).and_then(|deck| import::import(deck, cutting));
    imported.map_err(|located| text.explained(located, path))
}
