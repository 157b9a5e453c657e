//! What can be wrong with a Nastran deck.

use crate::read_error;

/// What is wrong with a Nastran deck. Grids and elements are named by their numbers in the file.
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
    /// Something else where a value should be.
    #[error("{entry}, field {field}: expected {expected}, found {found}; correct the entry")]
    Malformed {
        /// The entry.
        entry: String,
        /// Its field, from 1: the name of the entry.
        field: usize,
        /// What should stand there.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// More fields in free format than a line may have.
    #[error("the line has more than 10 fields between commas; continue the entry in a second line")]
    LongLine,
    /// A continuation whose mark is not that of the line before it.
    #[error(
        "the line continues {found}, and the line before it goes on with {expected}; bring the \
         lines of the entry together"
    )]
    Continuation {
        /// The mark at the end of the line before.
        expected: String,
        /// The mark at the beginning of the line.
        found: String,
    },
    /// A continuation with nothing before it.
    #[error("the line continues an entry, and there is none before it; restore the first line")]
    NothingToContinue,
    /// A fault in a file that the deck includes.
    #[error("in the included file `{file}`, line {line}: {fault}")]
    Included {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
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
        /// What the operating system says.
        cause: String,
    },
    /// INCLUDE of a file for the second time.
    #[error("INCLUDE names `{0}`, which was read before; include every file once")]
    IncludedTwice(String),
    /// Files that include files that include files, and so on.
    #[error("INCLUDE: files include each other more than {0} deep; join some of them")]
    TooDeep(usize),
    /// More than one part.
    #[error("the deck has superelements or parts (a second BEGIN); write one without them")]
    Parts,
    /// A coordinate system that is not in the deck.
    #[error("{user} uses the coordinate system {system}, which is not in the deck; write it too")]
    NoSystem {
        /// What uses it: `grid 5`.
        user: String,
        /// The system.
        system: u64,
    },
    /// A grid that is not in the deck.
    #[error("{user} uses the grid {grid}, which is not in the deck; write it too")]
    NoGrid {
        /// What uses it: `coordinate system 5`.
        user: String,
        /// The grid.
        grid: u64,
    },
    /// A coordinate system twice.
    #[error("the coordinate system {0} is defined twice; remove one of them")]
    TwoSystems(u64),
    /// Coordinate systems that need each other.
    #[error(
        "the coordinate system {0} needs itself, or stands on more than {1} others; define it by \
         points in the basic system"
    )]
    EndlessSystem(u64, usize),
    /// A coordinate system whose points do not span a plane.
    #[error(
        "the three points of the coordinate system {0} are on a line or are not finite; correct \
         them"
    )]
    FlatSystem(u64),
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
        "PLOAD4 names a face of element {element} by the grids {grids}, and the element has no \
         such face; correct G1 and G3 or G4"
    )]
    NoFace {
        /// The element.
        element: u64,
        /// The grids.
        grids: String,
    },
}

impl From<Fault> for read_error::Fault {
    fn from(fault: Fault) -> Self {
        Self::of_format(fault)
    }
}
