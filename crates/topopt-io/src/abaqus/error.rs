//! `Fault`: errors in an Abaqus file.

use crate::read_error;

/// Error in an Abaqus file. Nodes and elements are named by their numbers in the file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No bytes, or comments only.
    #[error("the file is empty; write the mesh again as an input file (.inp)")]
    EmptyFile,
    /// Something else than an input file.
    #[error(
        "not an Abaqus input file: it does not begin with a keyword line such as *HEADING or \
         *NODE; write the mesh again as an input file (.inp)"
    )]
    NotInp,
    /// Something else where a value should be.
    #[error("*{keyword}: expected {expected}, found {found}; correct the line")]
    Malformed {
        /// The keyword.
        keyword: String,
        /// Expected text.
        expected: &'static str,
        /// Text found.
        found: String,
    },
    /// A keyword without a parameter that it needs.
    #[error("*{keyword} has no parameter {parameter}; write *{keyword}, {parameter}=...")]
    MissingParameter {
        /// The keyword.
        keyword: String,
        /// The parameter.
        parameter: &'static str,
    },
    /// A second file that cannot be read.
    #[error(
        "the model continues in the file `{file}`, which is not read: {cause}; put the file into the \
         folder of the deck, or insert its content here"
    )]
    Include {
        /// The file.
        file: String,
        /// Why.
        cause: String,
    },
    /// More than one part, or one that is moved.
    #[error(
        "{0}; only a single part with one instance is read: write the model as a flat input file (in \
         Abaqus/CAE: Model > Edit Attributes > Do not use parts and assemblies in input files)"
    )]
    Assembly(&'static str),
    /// A keyword that changes or makes nodes or elements.
    #[error(
        "{0} creates or changes nodes or elements and is not supported; write all nodes and elements explicitly, \
         as Abaqus/CAE, CalculiX GraphiX and Gmsh do"
    )]
    Generator(String),
    /// An element with too few or too many nodes.
    #[error(
        "element {element} of type {kind} has {found} nodes where {expected} are needed; correct \
         the line, or write the file again if it is truncated"
    )]
    ElementNodes {
        /// The element.
        element: u64,
        /// Type of the element.
        kind: String,
        /// Nodes of the type.
        expected: usize,
        /// Nodes that stand there.
        found: usize,
    },
    /// No volume elements at all.
    #[error(
        "the file has no solid elements; write a mesh of elements such as C3D4, C3D6, C3D8, C3D10 or \
         C3D20"
    )]
    NoSolids,
    /// Solid elements that cannot be used.
    #[error(
        "the mesh holds {count} elements of type {kind}, the first is element {element}; of solid \
         elements C3D4, C3D5, C3D6, C3D8, C3D10, C3D15, C3D20 and their variants can be used: \
         remove the others, or mesh again"
    )]
    OtherSolids {
        /// The type.
        kind: String,
        /// Number of such elements.
        count: usize,
        /// The first of them.
        element: u64,
    },
    /// A surface names a face that its element does not have.
    #[error(
        "surface `{surface}` names face S{number} of element {element}, which has {n_faces} faces; \
         correct the line"
    )]
    NoFace {
        /// The surface.
        surface: String,
        /// The face.
        number: usize,
        /// The element.
        element: u64,
        /// Number of faces of the element.
        n_faces: usize,
    },
    /// A set that was not defined before.
    #[error("*{keyword} names the set `{name}`, which is not defined; define it before this line")]
    UnknownSet {
        /// The keyword.
        keyword: String,
        /// The name.
        name: String,
    },
    /// A set entry that is not in the file.
    #[error("`{set}` names {kind} {tag}, which is not in the file; write the complete file again")]
    MissingMember {
        /// The set, surface or condition.
        set: String,
        /// `node` or `element`.
        kind: &'static str,
        /// The entry.
        tag: u64,
    },
    /// A surface whose faces are not named.
    #[error(
        "surface `{surface}` has the face {found}, where S1 to S6 are read; name the faces of \
         its elements"
    )]
    SurfaceFace {
        /// The surface.
        surface: String,
        /// Text in place of the face.
        found: String,
    },
}

impl read_error::FormatFault for Fault {}
