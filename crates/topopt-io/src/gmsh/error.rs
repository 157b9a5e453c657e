//! `Fault`: errors in a Gmsh file.

use topopt_mesh::numbers::place;

use crate::read_error;

/// Error in a Gmsh file. Nodes and elements are named by their tags in the file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
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
        /// Name of the items counted.
        what: &'static str,
        /// The count.
        announced: u64,
        /// Bytes from here to the end of the file.
        left: u64,
    },
    /// Something else where a value should be.
    #[error(
        "section ${section}: expected {expected}, found {found}; \
         the file is damaged or was edited by hand: write it again with Gmsh"
    )]
    Malformed {
        /// The section.
        section: String,
        /// Expected text.
        expected: &'static str,
        /// Text found.
        found: String,
    },
    /// Elements before the nodes that they name.
    #[error(
        "section $Elements comes before section $Nodes; write the mesh again with Gmsh, which \
         puts the nodes first"
    )]
    ElementsFirst,
    /// A section that may stand once.
    #[error("a second section ${0}; write the mesh again with Gmsh, or delete one of the two")]
    RepeatedSection(String),
    /// A section that must be there.
    #[error("the file has no section ${0}; mesh the model with `gmsh -3 -format msh41`")]
    MissingSection(&'static str),
    /// A type number that is not in the table.
    #[error(
        "element {element} has Gmsh type {number}, which is not supported; \
         mesh with first or second order elements (Mesh.ElementOrder = 1)"
    )]
    ElementType {
        /// The element.
        element: u64,
        /// Gmsh type of the element.
        number: i64,
    },
    /// No volume elements at all.
    #[error(
        "the mesh has no solid elements; mesh the volume (`gmsh -3`) and, if there are physical \
         groups, put it into a physical volume: Gmsh saves only elements in a group"
    )]
    NoSolids,
    /// Elements with a Jacobian that is not positive.
    #[error(
        "element {element} at {} is inverted or flat, in {volume}: Jacobian determinant \
         {determinant:.3e} ({count} such element(s) in all); check the order of its nodes, or mesh \
         the volume with smaller elements and without Mesh.OptimizeNetgen",
        place(*center)
    )]
    Inverted {
        /// The first such element.
        element: u64,
        /// Center of the element.
        center: [f64; 3],
        /// The volume that it is in.
        volume: String,
        /// The smallest determinant over its Gauss points.
        determinant: f64,
        /// Number of such elements.
        count: usize,
    },
    /// A physical surface that does not lie on the solid elements.
    #[error(
        "{shape} {element} of physical surface `{group}` is not a face of a solid element ({count} \
         such in all). Make the volumes conforming (Coherence, or BooleanFragments), or remove the \
         surface from the physical group"
    )]
    NoFace {
        /// `quadrilateral` or `triangle`.
        shape: &'static str,
        /// The first of them.
        element: u64,
        /// Physical surface of the element.
        group: String,
        /// Number of such elements.
        count: usize,
    },
}

impl read_error::FormatFault for Fault {}
