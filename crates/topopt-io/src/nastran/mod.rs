//! Nastran bulk data (`.bdf`, `.dat`, `.nas`) and OptiStruct decks (`.fem`).
//!
//! What is read:
//! - GRID (also in rectangular, cylindrical and spherical systems: CORD1x, CORD2x; GRDSET). CHEXA,
//!   CPENTA, CTETRA and CPYRAM (CPYRA) become the mesh; nodes in the middles of edges may be left out.
//!   Shells, beams, masses and the like are left out.
//! - The elements of a property become the set `property_7`, those of a SET (OptiStruct) `set_7`,
//!   and so do grids.
//! - PSOLID and MAT1, MAT9, MAT11, MAT4 and MAT5 say what the property sets are made of.
//! - SPC, SPC1, SPCADD and the held components of GRID: the set `spc_1_123` is held in x, y and z
//!   by set 1, `spc_1_2_-0.1` is moved by -0.1 in y, `ps_123` is held by the grids themselves.
//! - FORCE, FORCE1, FORCE2: `force_4_1`, `force_4_2` and so on for the different forces of set 4, on
//!   each node. PLOAD4:
//!   `pload4_4_2.5` is under the pressure 2.5, `pload4_4_traction_1` under a force per area in a
//!   fixed direction. GRAV, RFORCE. LOAD combines them with factors.
//! - RBE2 and RBE3: `rbe2_9`, `rbe3_9` are the coupled nodes. Forces and moments on the grid in
//!   their middle are spread over them, and an RBE2 whose grid is held holds them.
//! - SUBCASE with SPC, LOAD and LABEL or SUBTITLE. A load case is called as its subcase, or
//!   `subcase_1`, or, where no subcase selects loads, `load_4`.
//! - TEMPERATURE(LOAD) with TEMP and TEMPD, where materials have a thermal expansion:
//!   the set `temp_5_80.0` has the temperature 80.
//! - INCLUDE of files in the folder of the deck or below it.
//!
//! - SOL 153: temperatures (SPC, SPC1), SLOAD, QHBDY and QVOL.
//! - DTPL of OptiStruct: the design space, and its demands MEMBSIZ, PATRN, DRAW with STAMP, and
//!   EXTR. DRESP1, DCONSTR, DCONADD, DESGLB, DESSUB, DESOBJ and WEIGHT: the objective and the
//!   limits in use.
//!
//! Small fields (8 columns), wide fields (16, `*`) and fields between commas, with continuations by
//! marks or blanks. Every other entry and line of case control stands in `tables` as one without a
//! bearing on a linear static result, or is lost: see [`crate::deck::Deck::lost`]. So are elements
//! that are no solids.
//!
//! What the entries mean is taken from the MSC Nastran Quick Reference Guide and the Altair
//! OptiStruct Reference Guide.

mod conditions;
mod control;
mod coordinates;
mod couplings;
mod deck;
mod demands;
mod design;
mod design_data;
mod design_space;
mod entries;
mod error;
mod field;
mod heat;
mod import;
mod lines;
mod loads;
mod materials;
mod measured;
mod model;
mod nodal;
mod optimization;
mod origin;
mod pressures;
mod read;
mod responses;
mod supports;
mod tables;
mod temperatures;

use std::path::Path;

pub use error::Fault;

use crate::import::{Cutting, ImportedMesh, read as read_file};
use crate::read_error::ReadError;

/// Reads a deck. Units are those of the deck.
///
/// # Errors
/// [`ReadError`] with the line, the fault and the remedy.
pub fn read(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    read_file(path, |bytes| import::import(read::read(path, bytes)?, cutting))
}
