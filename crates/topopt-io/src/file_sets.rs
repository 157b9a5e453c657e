//! `FileSets`: the sets of a file, by its nodes, cells and faces.

use std::collections::{BTreeMap, BTreeSet};

/// Named sets of a file, before cells are cut into elements.
#[derive(Default)]
pub(crate) struct FileSets {
    /// Node sets, as positions in the list of nodes.
    pub nodes: BTreeMap<String, Vec<u32>>,
    /// Names of node sets with data per node, such as a force each: a cut adds no nodes to them.
    pub as_listed: BTreeSet<String>,
    /// Face sets, as faces of kept cells.
    pub faces: BTreeMap<String, Vec<CellFace>>,
    /// Faces of kept cells by the numbers of the surfaces that they are on.
    pub numbered: BTreeMap<u32, Vec<CellFace>>,
    /// Element sets, as positions in the list of elements of the file.
    pub elements: BTreeMap<String, Vec<u32>>,
}

/// A face of a cell that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CellFace {
    /// Number of the cell among the kept ones.
    pub cell: u32,
    /// Positions of the corners, in the form of [`Face::key`].
    pub key: [u32; 4],
}
