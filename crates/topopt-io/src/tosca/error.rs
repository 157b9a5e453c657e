//! `Fault`: errors in a parameter file of Tosca.

use crate::read_error;

/// Error in a parameter file of Tosca.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Something else than a parameter file.
    #[error(
        "not a parameter file of Tosca: expected a command such as FEM_INPUT, found {0}; give the \
         file that Tosca runs"
    )]
    NotTosca(String),
    /// A command without an end.
    #[error("{0} has no END_; end it before the next command")]
    Open(String),
    /// Something else where an item should be.
    #[error("{command}: expected {expected}, found {found}; correct the line")]
    Malformed {
        /// The command.
        command: String,
        /// Expected text.
        expected: String,
        /// Text found.
        found: String,
    },
    /// An item that a command needs.
    #[error("{command} has no {item}; add {expected}")]
    Missing {
        /// The command.
        command: String,
        /// Name of the item.
        item: &'static str,
        /// Words of it.
        expected: &'static str,
    },
    /// No model.
    #[error("no FEM_INPUT names a model; add `FEM_INPUT`, `FILE = NAME.inp` and `END_`")]
    NoModel,
    /// A model without mesh and loads.
    #[error(
        "the model {name} is {kind}; give the deck of Abaqus, Ansys, Nastran or OptiStruct that \
         Tosca optimizes"
    )]
    NoDeck {
        /// Name of the model.
        name: String,
        /// Kind of file that its extension says.
        kind: &'static str,
    },
    /// A model that is not with the file.
    #[error(
        "the model {0} is neither in the folder of this file nor below it; copy it there, and give its \
         name alone"
    )]
    ModelElsewhere(String),
    /// A model that cannot be read.
    #[error("cannot read the model {name}: {cause}; put it beside this file")]
    ModelUnread {
        /// Name of the model.
        name: String,
        /// Cause of the operating system.
        cause: String,
    },
    /// No optimization of a topology.
    #[error(
        "no OPTIMIZE has a DV_TOPO: only optimizations of the topology are read; give the model itself \
         for its mesh and loads"
    )]
    NoTopology,
    /// A name that nothing has.
    #[error("{command}: there is no {kind} `{name}`; define it, or correct the name")]
    Unknown {
        /// The command that names it.
        command: String,
        /// Kind of what is missing, such as `DRESP`.
        kind: String,
        /// The name.
        name: String,
    },
}

impl read_error::FormatFault for Fault {}
