//! `Fault`: errors in an Ansys archive.

use crate::read_error;

/// Error in an Ansys archive. Nodes and elements are named by their numbers in the file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A block that must be there.
    #[error(
        "the file has no {0}: it is not an Ansys archive, or not a whole one; write it with \
         `CDWRITE,DB,part,cdb`"
    )]
    MissingBlock(&'static str),
    /// The end of the file inside a block.
    #[error("the file ends inside {0}: it is truncated; write or copy it again")]
    Truncated(&'static str),
    /// Something else where a value should be.
    #[error(
        "{block}: expected {expected}, found {found}; the file is damaged or was edited by hand: \
         write it again with `CDWRITE,DB,part,cdb`"
    )]
    Malformed {
        /// The block or the command.
        block: &'static str,
        /// Expected text.
        expected: &'static str,
        /// Text found.
        found: String,
    },
    /// A block of another length than it says.
    #[error(
        "{block} announces {announced} {what} and holds {found}: the file is damaged or was edited \
         by hand; write it again with `CDWRITE,DB,part,cdb`"
    )]
    Count {
        /// The block.
        block: &'static str,
        /// Name of the items counted.
        what: &'static str,
        /// The count.
        announced: u64,
        /// Number of items in the block.
        found: usize,
    },
    /// An element with a type that no ET command defines.
    #[error(
        "element {element} is of type {kind}, which no ET command defines; write the file again \
         with `CDWRITE,DB,part,cdb`, which also writes the element types"
    )]
    UndefinedType {
        /// The element.
        element: u32,
        /// The number of its type in the file.
        kind: u32,
    },
    /// A solid element with a number of nodes that it cannot have.
    #[error(
        "element {element} of type {name} has {n_nodes} nodes, which no {name} has; the file \
         is damaged: write it again with `CDWRITE,DB,part,cdb`"
    )]
    NodeCount {
        /// The element.
        element: u32,
        /// Name of its type.
        name: String,
        /// Number of nodes in the file.
        n_nodes: usize,
    },
    /// Nodes in another coordinate system.
    #[error(
        "N gives a node in another coordinate system than the global Cartesian one (CSYS); write the \
         file with `CDWRITE,DB,part,cdb`, which writes all nodes in that one"
    )]
    ActiveSystem,
    /// A command that makes or changes the mesh.
    #[error(
        "{0} makes or changes the mesh, which is read as the file has it; write the mesh itself with \
         `CDWRITE,DB,part,cdb`"
    )]
    MeshCommand(String),
    /// No volume elements at all.
    #[error(
        "the mesh has no solid elements, such as SOLID185, SOLID186 or SOLID187 (it has: {0}); mesh \
         the volume, and select its elements before CDWRITE"
    )]
    NoSolids(String),
}

impl read_error::FormatFault for Fault {}
