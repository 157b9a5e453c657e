//! `FileSets`: the sets of a file, by its nodes, cells and faces.

use std::collections::{BTreeMap, BTreeSet};

/// Named sets by what a file names.
#[derive(Default)]
pub(crate) struct FileSets {
    /// Positions of nodes.
    pub nodes: BTreeMap<String, Vec<u32>>,
    /// Names of node sets that hold nodes as they are listed, such as nodes with a force each: a
    /// cut adds none to them.
    pub as_listed: BTreeSet<String>,
    /// Faces of cells.
    pub faces: BTreeMap<String, Vec<CellFace>>,
    /// Given elements.
    pub elements: BTreeMap<String, Vec<u32>>,
}

/// A face of a cell that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CellFace {
    /// The cell's number among those that are kept.
    pub cell: u32,
    /// Positions of the corners, in the form of [`Face::key`].
    pub key: [u32; 4],
}
