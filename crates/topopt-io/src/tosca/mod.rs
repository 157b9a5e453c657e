//! Parameter files of Tosca Structure (`.par`): a model, and the optimization of its topology.
//!
//! - FEM_INPUT names the deck of the model, in the folder of the file or below it, whose reader
//!   makes mesh, materials, supports and loads.
//! - Commands that OPTIMIZE names become the [`DeckDesign`]: DV_TOPO with the design space,
//!   DVCON_TOPO with FROZEN elements and the demands MIN_MEMBER, MAX_MEMBER, CAST, OVERHANG, MILLING
//!   and LINK_TOPO, DRESP by OBJ_FUNC and CONSTRAINT; of OPT_PARAM the radius of the filter and
//!   AUTO_FROZEN.
//! - GROUP_DEF makes groups of groups, elements or nodes, CS_DEF systems of coordinates. Groups are
//!   sets of the model, whose names may have the assembly and the instance before them.
//!
//! Words are compared without regard to case, `!` begins a comment, and END_ ends a command. All
//! else that a file says is lost. The commands are those of the Tosca Structure 2024 Commands
//! Reference Guide.
//!
//! [`DeckDesign`]: crate::deck_design::DeckDesign

mod commands;
mod demands;
mod design;
mod error;
mod groups;
mod known;
mod reader;
mod responses;

use std::path::{Path, PathBuf};

pub use error::Fault;

use crate::gmsh::is_geometry;
use crate::import::{ImportedMesh, named, read as read_file};
use crate::included::{DeckFolder, Refusal};
use crate::read_error::{Located, Parsed, ReadError};
use commands::{Command, commands};

/// Extension of parameter files.
pub(crate) const EXTENSION: &str = "par";

/// Reads a parameter file, and its model by `read_model`, if the extension of the model `is_mesh`.
///
/// # Errors
/// [`ReadError`] with the line, the fault and the remedy, in the file or in the model.
pub fn read(
    path: &Path,
    is_mesh: fn(&Path) -> bool,
    read_model: impl FnOnce(&Path) -> Result<ImportedMesh, ReadError>,
) -> Result<ImportedMesh, ReadError> {
    let (commands, model) = read_file(path, |bytes| {
        let commands = commands(&String::from_utf8_lossy(bytes))?;
        let model = model(path, is_mesh, &commands)?;
        Ok((commands, model))
    })?;
    named(path, design::added(&commands, read_model(&model)?))
}

/// Path of the one model.
fn model(path: &Path, is_mesh: fn(&Path) -> bool, commands: &[Command]) -> Parsed<PathBuf> {
    let mut files = commands.iter().filter(|command| command.word == "FEM_INPUT");
    let input = files.next().ok_or(Fault::NoModel)?;
    let file = input.needed("FILE", "the file of the model")?;
    let name = file.values.join(", ");
    if let Some(kind) = no_deck(Path::new(&name), is_mesh) {
        return Err(Located::at_line(file.line, Fault::NoDeck { name, kind }));
    }

    let folder = DeckFolder::of(path);
    folder.find(folder.path(), &name).map_err(|refusal| {
        let fault = match refusal {
            Refusal::Elsewhere => Fault::ModelElsewhere(name),
            Refusal::Unread(cause) => Fault::ModelUnread { name, cause },
        };
        Located::at_line(file.line, fault)
    })
}

/// Kind of a model that is no deck, by its extension; none of one that may be a deck.
fn no_deck(model: &Path, is_mesh: fn(&Path) -> bool) -> Option<&'static str> {
    // A parameter file as its own model would be read without end.
    if model.extension().is_some_and(|it| it.eq_ignore_ascii_case(EXTENSION)) {
        Some("itself a parameter file")
    } else if is_geometry(model) {
        Some("a geometry, which has no mesh, supports and loads")
    } else {
        (!is_mesh(model)).then_some("no mesh, by its extension")
    }
}
