//! `Fault`: errors in a `.vtu` or `.vtk` file.

use crate::read_error;

/// Error in a `.vtu` or `.vtk` file. Points and cells are named by their numbers in the file, from
/// 0, as ParaView shows them.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No bytes, or blanks only.
    #[error("the file is empty; {SAVE}")]
    EmptyFile,
    /// Something else than a VTK XML file.
    #[error("not a VTK XML file: it does not begin with <VTKFile>; {SAVE}")]
    NotVtk,
    /// Something else than a legacy file.
    #[error("not a legacy VTK file: it does not begin with `# vtk DataFile Version`; {SAVE}")]
    NotLegacy,
    /// Something else where a word or a number of a legacy file should be.
    #[error("expected {expected}, found {found}; the file is damaged: write it again")]
    Unexpected {
        /// Expected text.
        expected: &'static str,
        /// Text found.
        found: String,
    },
    /// Another kind of data.
    #[error("the file holds VTK data of type `{0}` and not an UnstructuredGrid; {SAVE}")]
    Kind(String),
    /// Message of the XML parser.
    #[error("the XML is damaged ({0}); write the file again")]
    Xml(String),
    /// The end of the file too early.
    #[error("the file ends too early: it is truncated; write or copy it again")]
    Truncated,
    /// An attribute that is missing or makes no sense.
    #[error(
        "<{element}> has {found} for the attribute {attribute}, which cannot be used: the file is \
         damaged; write it again"
    )]
    Attribute {
        /// The XML element.
        element: String,
        /// The attribute.
        attribute: &'static str,
        /// Text found.
        found: String,
    },
    /// A compressor that is not one of VTK.
    #[error(
        "the data are compressed by {0}, which is not read; save them again with zlib or without \
         compression (in ParaView: Save Data > Compressor Type)"
    )]
    Compressor(String),
    /// A set with what is not in the grid.
    #[error("the set `{name}` has {member}, and the grid has {n} {what}, which count from 0")]
    NotInGrid {
        /// The set.
        name: String,
        /// Number in the set.
        member: u64,
        /// Number of points or cells.
        n: usize,
        /// `points` or `cells`.
        what: &'static str,
    },
    /// More than one piece, or none.
    #[error(
        "the file holds {0} pieces where one is needed; join them (in ParaView: Merge Blocks with \
         Merge Points) and save again"
    )]
    Pieces(usize),
    /// An array that must be there.
    #[error("the file has no array `{0}`; write it again")]
    MissingArray(&'static str),
    /// A section that must be in a legacy file.
    #[error("the file has no section {0}: it is truncated or holds no mesh; write it again")]
    MissingSection(&'static str),
    /// A scalar array of the cells that the caller needs.
    #[error(
        "the file has no scalar cell array `{name}` (it has: {}); give a file that holds \
         one, such as design.vtu of a run",
        if present.is_empty() { "none" } else { present }
    )]
    MissingCellData {
        /// The array.
        name: String,
        /// The scalar arrays that are there.
        present: String,
    },
    /// An array of another length than the counts of points and cells say.
    #[error(
        "array `{array}` has {} where {expected} are needed; the file is damaged: write it again",
        counted(*found, unit)
    )]
    Length {
        /// The array.
        array: String,
        /// Length of the array.
        found: u64,
        /// The length it should have.
        expected: u128,
        /// `bytes`, `numbers` or `entries`.
        unit: &'static str,
    },
    /// The bytes of an array make no sense.
    #[error("array `{array}`: {what}; the file is damaged: write it again")]
    Data {
        /// The array.
        array: String,
        /// Description of the error.
        what: String,
    },
    /// More cells than the points that are there can make.
    #[error(
        "NumberOfCells is {cells}, which is inconsistent with {points} points and {corners} in \
         all cells together: the file is damaged; write it again"
    )]
    TooManyCells {
        /// `NumberOfCells`.
        cells: u64,
        /// `NumberOfPoints`.
        points: u64,
        /// Points of all cells together.
        corners: u128,
    },
    /// A cell that does not fit its type.
    #[error(
        "cell {cell} has {found} points, which does not match its VTK type {kind}: the file is \
         damaged; write it again"
    )]
    CellPoints {
        /// The cell.
        cell: u64,
        /// VTK type of the cell.
        kind: i64,
        /// Number of points of the cell.
        found: i64,
    },
    /// No volume cells at all.
    #[error("the file has no solid cells (tetrahedra, pyramids, wedges or hexahedra); {SAVE}")]
    NoSolids,
    /// Volume cells that cannot be used.
    #[error(
        "the mesh holds {shape} ({count}, the first is cell {cell}): only tetrahedra, pyramids, \
         wedges and hexahedra can be used; split them (in ParaView: Tetrahedralize) and save again"
    )]
    NoSolid {
        /// The shape, plural.
        shape: &'static str,
        /// Number of such cells.
        count: usize,
        /// The first of them.
        cell: u64,
    },
}

impl read_error::FormatFault for Fault {}

/// `1 entry`, `2 entries`.
fn counted(count: u64, unit: &str) -> String {
    let one = match unit {
        "entries" => "entry",
        other => other.trim_end_matches('s'),
    };
    format!("{count} {}", if count == 1 { one } else { unit })
}

/// How to get a file that can be read.
const SAVE: &str = "save the mesh as an unstructured grid, .vtu (in ParaView: Save Data > VTK \
                    UnstructuredGrid Files)";
