//! What can be wrong with an Ansys archive.

use crate::read_error;

/// What is wrong with an Ansys archive. Nodes and elements are named by their numbers in the file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A block that must be there.
    #[error(
        "the file has no {0}: it is not an Ansys archive, or its format is unblocked; write it with \
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
        /// What should stand here.
        expected: &'static str,
        /// What does.
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
        /// What is counted.
        what: &'static str,
        /// The count.
        announced: u64,
        /// What there is, or could be at most.
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
    /// Elements that are neither hexahedra nor known to be none of the structure.
    #[error(
        "the mesh holds {count} elements of type {name} ({shape}), the first is element {element}; \
         only hexahedra can be used ({SUPPORTED}). {remedy}"
    )]
    NotHexahedra {
        /// Name of the type.
        name: String,
        /// What such elements are, plural.
        shape: &'static str,
        /// How many.
        count: usize,
        /// The first of them.
        element: u32,
        /// What to do.
        remedy: &'static str,
    },
    /// Degenerate bricks that are no wedges.
    #[error(
        "{count} of {total} {name} elements are degenerate bricks ({shapes}): elements {}. Only \
         hexahedra and wedges can be used: mesh with MSHAPE,0,3D and MSHKEY,1, in Workbench by sweep \
         or MultiZone",
        first_of(elements, *count)
    )]
    Degenerate {
        /// Name of the type of the first one.
        name: String,
        /// How many.
        count: usize,
        /// Number of bricks.
        total: usize,
        /// How many of which shape.
        shapes: String,
        /// The first of them.
        elements: Vec<u32>,
    },
    /// A brick with too few or too many nodes.
    #[error(
        "element {element} of type {name} has {n_nodes} nodes, where {name} has {needed}; the file \
         is damaged: write it again with `CDWRITE,DB,part,cdb`"
    )]
    NodeCount {
        /// The element.
        element: u32,
        /// Name of its type.
        name: String,
        /// How many nodes it has.
        n_nodes: usize,
        /// How many it must have.
        needed: &'static str,
    },
    /// No volume elements at all.
    #[error(
        "the mesh has no hexahedra ({SUPPORTED}); mesh the volume, and select its elements before \
         CDWRITE"
    )]
    NoHexahedra,
}

impl From<Fault> for read_error::Fault {
    fn from(fault: Fault) -> Self {
        Self::of_format(fault)
    }
}

const SUPPORTED: &str = "SOLID185, SOLID45, or SOLID186 and SOLID95 by their corners";

fn first_of(elements: &[u32], count: usize) -> String {
    let list: Vec<_> = elements.iter().map(u32::to_string).collect();
    let more = if count > elements.len() { ", ..." } else { "" };
    list.join(", ") + more
}
