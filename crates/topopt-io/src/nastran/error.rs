//! `Fault`: errors in a Nastran deck.

use crate::read_error;

/// Error in a Nastran deck. Grids and elements are named by their numbers in the file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// No bytes, or comments only.
    #[error("the file is empty; export the model again as Nastran bulk data")]
    EmptyFile,
    /// Something else than a deck.
    #[error(
        "not a Nastran deck: it has no bulk data entry such as GRID or CHEXA; export the model \
         again as Nastran bulk data"
    )]
    NotNastran,
    /// A deck of another program.
    #[error(
        "not a Nastran deck: {0} is a keyword of Abaqus and CalculiX; give the file the extension \
         .inp"
    )]
    Abaqus(String),
    /// Something else where a value should be.
    #[error("{entry}, {}: expected {expected}, found {found}; correct the entry", place(*field))]
    Malformed {
        /// The entry.
        entry: String,
        /// Number of the field, from 1, the name of the entry; marks of continuations do not count.
        field: usize,
        /// Expected text.
        expected: &'static str,
        /// Text found.
        found: String,
    },
    /// More fields in free format than a line may have.
    #[error("the line has more than 10 fields between commas; continue the entry in a second line")]
    LongLine,
    /// A continuation whose mark is not that of the line before it.
    #[error(
        "the line begins with the continuation mark {found}, and the line before it ends with \
         {expected}; put the lines of an entry one after the other"
    )]
    Continuation {
        /// The mark at the end of the line before.
        expected: String,
        /// The mark at the beginning of the line.
        found: String,
    },
    /// A continuation with nothing before it.
    #[error(
        "the line continues an entry, and there is none before it; restore the first line of the \
         entry"
    )]
    NothingToContinue,
    /// A fault in a file that the deck includes.
    #[error("in the included file `{file}`, line {line}: {fault}")]
    Included {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// Error in the included file.
        fault: Box<read_error::Fault>,
    },
    /// INCLUDE of a file that lies elsewhere.
    #[error(
        "INCLUDE names `{0}`, which is not in the folder of the deck or below it; copy the file \
         there and name it relative to the deck"
    )]
    IncludeElsewhere(String),
    /// INCLUDE of a file that cannot be read.
    #[error("INCLUDE: cannot read `{file}`: {cause}; check its name and its permissions")]
    IncludeUnread {
        /// The file.
        file: String,
        /// Cause that the operating system gives.
        cause: String,
    },
    /// INCLUDE of a file for the second time.
    #[error("INCLUDE names `{0}`, which was read before; include each file once")]
    IncludedTwice(String),
    /// Files that include files that include files, and so on.
    #[error("INCLUDE: files include each other more than {0} deep; join some of them")]
    TooDeep(usize),
    /// More than one part.
    #[error(
        "the deck has superelements or parts (BEGIN SUPER or a second BEGIN); export a model \
         without them"
    )]
    Parts,
    /// A grid or a coordinate system that is not in the deck.
    #[error(
        "{user} uses the {what} {number}, which is not in the deck; export the deck again with all \
         {what}s"
    )]
    Missing {
        /// User of the grid or system: `grid 5`.
        user: String,
        /// `grid` or `coordinate system`.
        what: &'static str,
        /// Number of the grid or system.
        number: u64,
    },
    /// A coordinate system twice.
    #[error("the coordinate system {0} is defined twice; remove one of them")]
    TwoSystems(u64),
    /// Coordinate systems that need each other.
    #[error(
        "the coordinate system {0} is defined by itself, or through more than {1} others; define \
         it by points in the basic system"
    )]
    EndlessSystem(u64, usize),
    /// A coordinate system whose points do not span a plane.
    #[error(
        "the three points that define the coordinate system {0} are on a line or are not finite; \
         correct them"
    )]
    FlatSystem(u64),
    /// Points of an optimization that are to give a direction.
    #[error("{entry}: {points} are at one place and give no direction; correct them")]
    NoDirection {
        /// The entry: `DRAW of DTPL 1`.
        entry: String,
        /// The points: `anchor and first point`.
        points: &'static str,
    },
    /// A second point that is not there.
    #[error("{0} needs a second point; give a grid, or x, y and z, in its second line")]
    NoSecondPoint(String),
    /// No volume elements at all.
    #[error(
        "the deck has no solid elements (it has: {}); write a mesh of CHEXA, CPENTA, CTETRA or \
         CPYRAM",
        if others.is_empty() { "no elements" } else { others }
    )]
    NoSolids {
        /// Other elements.
        others: String,
    },
    /// A face that an element does not have.
    #[error(
        "PLOAD4 names a face of element {element} by {grids}, and the element has no such face; \
         correct its fields 8 and 9, G1 and G3 or G4"
    )]
    NoFace {
        /// The element.
        element: u64,
        /// The grids: `grid 1`, or `grids 1 and 2`.
        grids: String,
    },
}

impl read_error::FormatFault for Fault {}

/// Describes the place of a field, by the fields 1 to 10 of each line of short fields.
fn place(field: usize) -> String {
    match field.checked_sub(2).map(|data| (data / 8, data % 8 + 2)) {
        None | Some((0, _)) => format!("field {field}"),
        Some((line, field)) => format!("field {field} of continuation {line}"),
    }
}
