//! From the nodes, cells and sets of a file to a checked mesh: what the readers share.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use topopt_mesh::cells::{Cells, NO_NODE};
use topopt_mesh::{Face, HexMesh, MeshError};

use crate::deck::Deck;
use crate::read_error::{Fault, Located, Parsed, ReadError};

/// A mesh from a file, with the numbers that the file gives to its nodes and elements.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedMesh {
    /// The mesh.
    pub mesh: HexMesh,
    /// Tags of the nodes in the file, `[n_nodes]`, ascending. Nodes that a [cut] adds have the
    /// numbers behind the largest one.
    ///
    /// [cut]: topopt_mesh::cells::Cut
    pub node_tags: Vec<u64>,
    /// Tags of the elements in the file, `[n_elements]`, ascending. All hexahedra that a cell was
    /// cut into have its tag.
    pub element_tags: Vec<u64>,
    /// Notes on content that was left out or changed, a sentence each.
    pub notes: Vec<String>,
    /// Remarks on the file that bear on no result, a sentence each.
    pub remarks: Vec<String>,
    /// The cells of the file, if any of them was cut.
    pub uncut: Option<UncutCells>,
    /// Faces of elements by the number of the face of the geometry that they are on; nothing unless
    /// the mesh was made of one.
    pub faces: BTreeMap<u32, Vec<Face>>,
    /// Materials, supports and loads of the file; nothing unless it is a solver's deck.
    pub deck: Deck,
}

impl ImportedMesh {
    /// Sums the volumes of `elements`, where one that is listed twice counts once.
    pub fn volume_of(&self, elements: impl IntoIterator<Item = u32>) -> f64 {
        let elements: BTreeSet<u32> = elements.into_iter().collect();
        elements.into_iter().map(|element| self.mesh.volume(element as usize)).sum()
    }
}

/// The solid cells of a file as they were before some of them were cut into hexahedra.
#[derive(Debug, Clone, PartialEq)]
pub struct UncutCells {
    /// Coordinates of the nodes of the file, `[n_file_nodes][3]`.
    pub coordinates: Vec<[f64; 3]>,
    /// The node of the mesh at each of them, `[n_file_nodes]`; [`NO_NODE`] where no element uses it.
    pub nodes: Vec<u32>,
    /// The cells, each once, by these nodes.
    pub cells: Cells,
    /// Their tags in the file, `[n_cells]`, ascending.
    pub tags: Vec<u64>,
    /// The cell of every element of the mesh, `[n_elements]`.
    pub of_elements: Vec<u32>,
}

impl UncutCells {
    /// Returns nodal `values`, `[n_nodes]`, at the nodes of the file, `[n_file_nodes]`; NaN where
    /// no element uses a node.
    pub fn at_nodes(&self, values: &[f64]) -> Vec<f64> {
        let value = |&node: &u32| if node == NO_NODE { f64::NAN } else { values[node as usize] };
        self.nodes.iter().map(value).collect()
    }

    /// Returns the sum of element `values`, `[n_elements]`, over each cell, `[n_cells]`.
    pub fn sums(&self, values: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.cells.len()];
        for (&cell, value) in self.of_elements.iter().zip(values) {
            sums[cell as usize] += value;
        }
        sums
    }

    /// Returns the mean of element `values` over each cell, `[n_cells]`, weighted with the
    /// elements' `volumes`; both `[n_elements]`.
    pub fn means(&self, values: &[f64], volumes: &[f64]) -> Vec<f64> {
        let sums = self.sums(values.iter().zip(volumes).map(|(value, volume)| value * volume));
        let volumes = self.sums(volumes.iter().copied());
        sums.iter().zip(volumes).map(|(sum, volume)| sum / volume).collect()
    }
}

/// Permission to cut the cells of a file into hexahedra.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutting {
    /// Tetrahedra, pyramids and what touches them are cut into hexahedra.
    Allowed,
    /// Tetrahedra are kept, with a node in the middle of every edge, where there are no other
    /// cells; else cells are cut as [`Cutting::Allowed`].
    KeepOrCut,
    /// Tetrahedra are kept where there are no other cells; else a file is refused as by
    /// [`Cutting::Refused`].
    KeepOrRefuse,
    /// A file with tetrahedra or pyramids is refused.
    Refused,
}

impl Cutting {
    /// Whether tetrahedra are kept where there are no other cells.
    pub(crate) fn keeps_tetrahedra(self) -> bool {
        matches!(self, Self::KeepOrCut | Self::KeepOrRefuse)
    }

    /// Whether a file is refused whose cells would have to be cut.
    pub(crate) fn refuses(self) -> bool {
        matches!(self, Self::KeepOrRefuse | Self::Refused)
    }
}

/// Reads the file at `path` with `parse`, and adds its name to what goes wrong.
pub(crate) fn read<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Parsed<T>) -> Result<T, ReadError> {
    named(path, std::fs::read(path).map_err(io).and_then(|bytes| parse(&bytes)))
}

/// Reads a file without holding all of it in memory: `parse` takes it and its length in bytes.
pub(crate) fn stream<T>(
    path: &Path,
    parse: impl FnOnce(&mut File, u64) -> Parsed<T>,
) -> Result<T, ReadError> {
    let open = || -> std::io::Result<_> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    };
    named(path, open().map_err(io).and_then(|(mut file, length)| parse(&mut file, length)))
}

/// Adds the name of the file at `path` to what goes wrong.
pub(crate) fn named<T>(path: &Path, parsed: Parsed<T>) -> Result<T, ReadError> {
    parsed.map_err(|Located { place, fault }| ReadError { path: path.into(), place, fault })
}

fn io(cause: std::io::Error) -> Located {
    Fault::Io(cause).into()
}

/// The coordinates of node `node`, which must be finite.
pub(crate) fn finite(node: u64, coordinates: [f64; 3]) -> Result<[f64; 3], Fault> {
    match coordinates.iter().all(|x| x.is_finite()) {
        true => Ok(coordinates),
        false => Err(Fault::NotFinite { node, coordinates }),
    }
}

/// The nodes of a file, in the order of their tags.
#[derive(Default)]
pub(crate) struct Nodes {
    pub tags: Vec<u64>,
    pub coordinates: Vec<[f64; 3]>,
}

impl Nodes {
    /// Brings the nodes into the order of their tags; none may stand twice.
    pub fn new(mut tags: Vec<u64>, mut coordinates: Vec<[f64; 3]>) -> Result<Self, Fault> {
        if tags.len() >= NO_NODE as usize {
            return Err(Fault::Mesh(MeshError::TooLarge(tags.len())));
        }
        if !tags.is_sorted() {
            let mut order: Vec<usize> = (0..tags.len()).collect();
            order.sort_by_key(|&i| tags[i]);
            tags = order.iter().map(|&i| tags[i]).collect();
            coordinates = order.iter().map(|&i| coordinates[i]).collect();
        }
        match tags.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Fault::DuplicateNode(pair[0])),
            None => Ok(Self { tags, coordinates }),
        }
    }

    /// Returns the position of the node `tag` among the nodes, if it is there.
    pub fn find(&self, tag: u64) -> Option<u32> {
        position(&self.tags, tag).map(|at| at as u32)
    }

    /// Returns the position of the node `tag`, which `element` names, among the nodes.
    pub fn position(&self, element: u64, tag: u64) -> Result<u32, Fault> {
        self.find(tag).ok_or(Fault::MissingNode { element, node: tag })
    }
}

/// Returns the position of `tag` in the ascending `tags`; at once if they have no gaps.
pub(crate) fn position(tags: &[u64], tag: u64) -> Option<usize> {
    let guess = tag.checked_sub(*tags.first()?)? as usize;
    if tags.get(guess) == Some(&tag) { Some(guess) } else { tags.binary_search(&tag).ok() }
}
