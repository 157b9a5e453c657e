//! What can be wrong with a mesh file.

use std::fmt;
use std::path::PathBuf;

use topopt_mesh::MeshError;

/// A mesh file that could not be read: which, where in it, why, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{problem}", path.display(), At(*place))]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Where in the file, if the problem has one place.
    pub place: Option<Place>,
    /// What is wrong.
    pub problem: Box<Problem>,
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

/// What is wrong with a mesh file. Nodes and elements are named by their tags in the file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The operating system refused.
    #[error("cannot read the file: {0}")]
    Io(std::io::Error),
    /// A file name extension that no reader knows.
    #[error(
        "cannot tell the format from the extension; supported are: .msh (Gmsh 2.2 and 4.1). \
         Gmsh converts others: `gmsh FILE -save -format msh41 -o NEW.msh`"
    )]
    Extension,
    /// No bytes, or blanks only.
    #[error("the file is empty; mesh the model again with `gmsh -3 -format msh41`")]
    EmptyFile,
    /// Something else than a Gmsh mesh.
    #[error(
        "not a Gmsh mesh: it does not begin with $MeshFormat; \
         write one with `gmsh -3 -format msh41`"
    )]
    NotMsh,
    /// A version of the format that is not read.
    #[error(
        "version {0} of the .msh format is not supported, only 2.2 and 4.1; \
         convert it with `gmsh OLD.msh -save -format msh41 -o NEW.msh`"
    )]
    Version(String),
    /// Binary file of a machine with the other byte order.
    #[error(
        "a big-endian binary file; convert it to text where it was written: \
         `gmsh OLD.msh -save -format msh41 -o NEW.msh`"
    )]
    BigEndian,
    /// Binary file with numbers of an unknown width.
    #[error("a binary file with data size {0}, where 8 is needed; write it with a 64-bit Gmsh")]
    DataSize(i64),
    /// A mesh cut into partitions.
    #[error(
        "the mesh is partitioned; mesh the model again without partitions \
         (no -part option, Mesh.NbPartitions = 0)"
    )]
    Partitioned,
    /// The end of the file inside a section.
    #[error(
        "the file ends inside section ${0}, before $End{0}: it is truncated; write or copy it again"
    )]
    Truncated(String),
    /// A count that the rest of the file cannot hold.
    #[error(
        "section ${section} announces {announced} {what}, more than the {left} bytes left can \
         hold: the file is truncated or the count is wrong; write or copy it again"
    )]
    Count {
        /// The section.
        section: String,
        /// What is counted.
        what: &'static str,
        /// The count.
        announced: u64,
        /// Bytes from here to the end of the file.
        left: usize,
    },
    /// Something else where a value should be.
    #[error(
        "section ${section}: expected {expected}, found {found}; \
         the file is damaged or was edited by hand: write it again with Gmsh"
    )]
    Malformed {
        /// The section.
        section: String,
        /// What should stand here.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A section that may stand once.
    #[error("a second section ${0}; write the mesh again with Gmsh, or delete one of the two")]
    RepeatedSection(String),
    /// A section that must be there.
    #[error("the file has no section ${0}; mesh the model with `gmsh -3 -format msh41`")]
    MissingSection(&'static str),
    /// A type number that is not in the table.
    #[error(
        "element {element} is of Gmsh type {number}, which is not read; \
         mesh with first or second order elements (Mesh.ElementOrder = 1)"
    )]
    ElementType {
        /// The element.
        element: u64,
        /// Its type.
        number: i64,
    },
    /// No volume elements at all.
    #[error(
        "the mesh has no hexahedra; mesh the volume (`gmsh -3`) and, if there are physical \
         groups, put it into a physical volume: Gmsh saves only what is in a group"
    )]
    NoHexahedra,
    /// Tetrahedra, prisms or pyramids.
    #[error(
        "the mesh holds {count} {shape}, the first is element {element}{}; only hexahedra can be \
         used. Mesh with transfinite volumes or recombined extrusion, or cut all into hexahedra \
         by Mesh.SubdivisionAlgorithm = 2",
        in_group(group)
    )]
    NotHexahedra {
        /// The shape, plural.
        shape: &'static str,
        /// How many.
        count: usize,
        /// The first of them.
        element: u64,
        /// Its physical volume.
        group: Option<String>,
    },
    /// A physical surface that does not lie on the hexahedra.
    #[error(
        "{shape} {element} of physical surface `{group}` is no face of a hexahedron ({count} such \
         in all). Make the volumes conforming (Coherence, or BooleanFragments), or take the \
         surface out of the physical group"
    )]
    NoFace {
        /// `quadrilateral` or `triangle`.
        shape: &'static str,
        /// The first of them.
        element: u64,
        /// Its physical surface.
        group: String,
        /// How many.
        count: usize,
    },
    /// The same node tag twice.
    #[error("node {0} is defined twice; renumber the mesh with `gmsh FILE -save -o NEW.msh`")]
    DuplicateNode(u64),
    /// The same element tag for different elements.
    #[error("element {0} is defined twice; renumber the mesh with `gmsh FILE -save -o NEW.msh`")]
    DuplicateElement(u64),
    /// An element with a node that is not in the file.
    #[error("element {element} names node {node}, which is not in $Nodes; write the file again")]
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
        /// Its coordinates.
        coordinates: [f64; 3],
    },
    /// A degenerate hexahedron.
    #[error(
        "element {element} names node {node} twice (a degenerate hexahedron, such as a wedge \
         written as one); mesh the volume with true hexahedra"
    )]
    RepeatedNode {
        /// The element.
        element: u64,
        /// The node.
        node: u64,
    },
    /// A hexahedron with a Jacobian that is not positive.
    #[error(
        "element {element} is inverted or flat: Jacobian determinant {determinant:.3e} ({count} \
         such element(s) in all); check the order of its nodes, or mesh the volume with better \
         shaped hexahedra"
    )]
    Inverted {
        /// The first such element.
        element: u64,
        /// The smallest determinant over its Gauss points.
        determinant: f64,
        /// How many elements are so.
        count: usize,
    },
    /// Any other reason that the mesh is not valid.
    #[error(transparent)]
    Mesh(MeshError),
}

fn in_group(group: &Option<String>) -> String {
    group.as_ref().map(|name| format!(" of physical volume `{name}`")).unwrap_or_default()
}

/// A problem and its place, before the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub place: Option<Place>,
    pub problem: Box<Problem>,
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self { place: None, problem: Box::new(problem) }
    }
}

pub(super) type Parsed<T> = Result<T, Fault>;
