//! The solid elements of a file, for what is to be seen on their surface.

use std::path::Path;

use topopt_case::finding::Finding;
use topopt_io::vtk::vtu;
use topopt_mesh::HexMesh;

use super::nodal_means::at_nodes;

/// The solid elements of a file.
pub(super) struct Solid {
    pub mesh: HexMesh,
    is_solid: Vec<bool>,
    /// Scalars of the elements.
    pub data: Vec<Vec<f64>>,
}

impl Solid {
    /// Reads the elements whose value in the array `name` is at least `least`, with the arrays
    /// `names`.
    pub fn read(path: &Path, names: &[&str], (name, least): (&str, f64)) -> Result<Self, Finding> {
        let (file, mut data) = vtu::read_with_cell_data(path, &[names, &[name]].concat())
            .map_err(|error| Finding::new(error.to_string()))?;
        let solid = data.pop().unwrap_or_default();
        let is_solid = solid.iter().map(|&solid| solid >= least).collect();
        Ok(Self { mesh: file.mesh, is_solid, data })
    }

    /// Values of the elements at the nodes: the mean of the solid elements around a node, or of the
    /// nodes next to it where it has none; 0 far from the solid.
    pub fn at_nodes<const C: usize>(&self, values: &[[f64; C]]) -> Vec<[f64; C]> {
        at_nodes(&self.mesh, values, &self.is_solid)
    }
}

/// Returns the `arrays` of all load cases, or a finding if one is missing.
pub(super) fn whole<T>(arrays: Vec<Option<T>>, path: &Path, what: &str) -> Result<Vec<T>, Finding> {
    let all: Option<Vec<T>> = arrays.into_iter().collect();
    all.ok_or_else(|| Finding::new(format!("{} lacks {what} of a load case", path.display())))
}
