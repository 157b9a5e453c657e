//! A scalar field on the nodes and the element centers of a mesh.

use serde::{Deserialize, Serialize};
use topopt_mesh::HexMesh;

/// Values at nodes and element centers, linear on the tetrahedra between them. All are finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    nodes: Vec<f64>,
    centers: Vec<f64>,
}

/// Reason for which values do not make a [`Field`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// A list with another length than the nodes or elements.
    #[error("{found} values for {expected} nodes or elements; use the values of this mesh")]
    Length {
        /// Length of the list.
        found: usize,
        /// Number of nodes or elements.
        expected: usize,
    },
    /// A value that is NaN or infinite.
    #[error("value {index} is {value}, not a finite number; compute the design again")]
    NotFinite {
        /// The first such node or element, from 0.
        index: usize,
        /// Value of the node or element.
        value: f64,
    },
    /// More nodes and elements than 32-bit numbers can name.
    #[error("{0} nodes and elements together; 4294967295 is the most")]
    TooLarge(usize),
}

impl Field {
    /// The field with `nodes`, `[n_nodes]`, and `centers`, `[n_elements]`, of `mesh`.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn new(mesh: &HexMesh, nodes: Vec<f64>, centers: Vec<f64>) -> Result<Self, FieldError> {
        for (values, expected) in [(&centers, mesh.n_elements()), (&nodes, mesh.n_nodes())] {
            if values.len() != expected {
                return Err(FieldError::Length { found: values.len(), expected });
            }
            if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                return Err(FieldError::NotFinite { index, value: values[index] });
            }
        }
        match nodes.len() + centers.len() {
            n if n > u32::MAX as usize => Err(FieldError::TooLarge(n)),
            _ => Ok(Self { nodes, centers }),
        }
    }

    /// Whether there are as many values as `mesh` has nodes and elements.
    pub(crate) fn is_on(&self, mesh: &HexMesh) -> bool {
        [self.nodes.len(), self.centers.len()] == [mesh.n_nodes(), mesh.n_elements()]
    }

    /// Smallest and largest value.
    pub fn range(&self) -> [f64; 2] {
        let values = self.nodes.iter().chain(&self.centers);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &value| {
            [low.min(value), high.max(value)]
        })
    }

    /// Value at a vertex of the tetrahedra: a node, or n_nodes + element for a center.
    pub(crate) fn at(&self, vertex: u32) -> f64 {
        let vertex = vertex as usize;
        match vertex.checked_sub(self.nodes.len()) {
            None => self.nodes[vertex],
            Some(element) => self.centers[element],
        }
    }
}
