//! `ReadError` and `Fault`: errors in a mesh file, whatever its format.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use topopt_mesh::MeshError;
use topopt_mesh::numbers::place;

use crate::quote::printable;

/// A mesh file that could not be read: which, where in it, why, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{}", path.display(), At(*place), printable(&fault.to_string()))]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Place in the file, if the fault has one place.
    pub place: Option<Place>,
    /// Cause of the error.
    pub fault: Box<Fault>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, from 1.
    Line(usize),
    /// Byte of a binary file, from 0.
    Byte(usize),
}

/// Prefix of a message: the place and a colon, or nothing.
struct At(Option<Place>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(Place::Line(line)) => write!(f, "line {line}: "),
            Some(Place::Byte(byte)) => write!(f, "byte {byte}: "),
        }
    }
}

/// Error in a mesh file. Nodes and elements are named by their tags in the file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The operating system refused.
    #[error("cannot read the file: {0}; check its name and its permissions")]
    Io(std::io::Error),
    /// A file name extension that no reader knows.
    #[error(
        "unknown file extension; supported are: {0}. Gmsh converts others: \
         `gmsh FILE -save -format msh41 -o NEW.msh`"
    )]
    Extension(String),
    /// A fault of one format: the `Fault` of its module.
    #[error(transparent)]
    Format(Box<dyn Error + Send + Sync>),
    /// Node tag that occurs twice.
    #[error("node {0} is defined twice; renumber the mesh in the program that made it")]
    DuplicateNode(u64),
    /// Element tag that different elements have.
    #[error("element {0} is defined twice; renumber the mesh in the program that made it")]
    DuplicateElement(u64),
    /// An element with a node that is not in the file.
    #[error(
        "element {element} names node {node}, which is not in the file; write the file again, \
         with all nodes"
    )]
    MissingNode {
        /// The element.
        element: u64,
        /// The node.
        node: u64,
    },
    /// NaN or infinity.
    #[error(
        "node {node} has a coordinate that is not a finite number: {coordinates:?}; \
         correct the model and mesh it again"
    )]
    NotFinite {
        /// The node.
        node: u64,
        /// Coordinates of the node.
        coordinates: [f64; 3],
    },
    /// An element with a corner twice that is no element of another shape.
    #[error(
        "element {element} uses node {node} twice and is not a wedge, a pyramid or a tetrahedron \
         either ({count} such element(s) in all): it is damaged; correct its nodes or mesh again"
    )]
    RepeatedNode {
        /// The first such element.
        element: u64,
        /// The node.
        node: u64,
        /// Number of such elements.
        count: usize,
    },
    /// A node in the middles of two edges.
    #[error(
        "element {element} has node {node} in the middle of an edge, and the node is in the middle \
         of another edge too; correct the nodes of the element or mesh again"
    )]
    SharedMiddle {
        /// The second element, or the only one.
        element: u64,
        /// The node.
        node: u64,
    },
    /// Elements that would have to be cut, where that is not wanted.
    #[error(
        "the mesh holds {}, the first is element {element}, and `mesh.cut` is false: remove that \
         key to cut them into hexahedra, or mesh with hexahedra",
        list(shapes)
    )]
    CutRefused {
        /// Shapes, plural, and how many elements have them.
        shapes: Vec<(&'static str, usize)>,
        /// The first of the elements.
        element: u64,
    },
    /// An element with a Jacobian that is not positive.
    #[error(
        "element {element} at {} is inverted or flat: Jacobian determinant {determinant:.3e} \
         ({count} such element(s) in all); check the order of its nodes, or mesh the volume with \
         better shaped elements",
        place(*center)
    )]
    Inverted {
        /// The first such element.
        element: u64,
        /// Center of the element.
        center: [f64; 3],
        /// The smallest determinant over its Gauss points.
        determinant: f64,
        /// Number of such elements.
        count: usize,
    },
    /// Any other reason that the mesh is not valid.
    #[error(transparent)]
    Mesh(MeshError),
}

/// Fault of one format, which becomes a [`Fault`], so that this file names none of them.
pub trait FormatFault: Error + Send + Sync + 'static {}

impl<F: FormatFault> From<F> for Fault {
    fn from(fault: F) -> Self {
        Self::Format(Box::new(fault))
    }
}

impl Fault {
    /// Converts an error of a mesh to one with the file's tags for nodes and elements.
    pub(crate) fn by_tags(error: MeshError, node_tags: &[u64], element_tags: &[u64]) -> Self {
        let node_tag = |node: u32| node_tags[node as usize];
        let element_tag = |element: u32| element_tags[element as usize];
        match error {
            MeshError::NotFinite { node, coordinates } => {
                Self::NotFinite { node: node_tag(node), coordinates }
            }
            MeshError::RepeatedNode { element, node, count } => {
                Self::RepeatedNode { element: element_tag(element), node: node_tag(node), count }
            }
            MeshError::Inverted { element, center, determinant, count } => {
                Self::Inverted { element: element_tag(element), center, determinant, count }
            }
            other => Self::Mesh(other),
        }
    }

    /// The fault as that of a format, if it is one.
    pub fn format<F: Error + 'static>(&self) -> Option<&F> {
        match self {
            Self::Format(fault) => fault.downcast_ref(),
            _ => None,
        }
    }
}

/// Counts for people: `4 tetrahedra, 2 pyramids and 1 wedges`.
pub(crate) fn list(shapes: &[(&'static str, usize)]) -> String {
    let counts: Vec<String> =
        shapes.iter().map(|(shape, count)| format!("{count} {shape}")).collect();
    match counts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => counts.concat(),
    }
}

/// A fault and its place, before the file's name is known.
#[derive(Debug)]
pub(crate) struct Located {
    pub place: Option<Place>,
    pub fault: Box<Fault>,
}

impl Located {
    /// A fault at a place.
    pub fn at(place: Place, fault: impl Into<Fault>) -> Self {
        Self { place: Some(place), fault: Box::new(fault.into()) }
    }

    /// A fault at a line of a text.
    pub fn at_line(line: usize, fault: impl Into<Fault>) -> Self {
        Self::at(Place::Line(line), fault)
    }
}

impl<P: Into<Fault>> From<P> for Located {
    fn from(fault: P) -> Self {
        Self { place: None, fault: Box::new(fault.into()) }
    }
}

pub(crate) type Parsed<T> = Result<T, Located>;
