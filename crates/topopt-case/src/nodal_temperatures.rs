//! Temperatures of a thermal case, on its own mesh.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use topopt_io::vtk::{Section, vtu};
use topopt_mesh::{HexMesh, Places};

use crate::finding::Finding;

/// Temperatures at the nodes of a mesh of the part.
#[derive(Debug)]
pub struct NodalTemperatures {
    /// The mesh.
    pub mesh: HexMesh,
    /// Temperatures, `[n_nodes]`.
    pub values: Vec<f64>,
}

/// Temperatures of thermal cases that have been solved, by the paths of these and names of arrays.
pub type SolvedTemperatures = BTreeMap<(PathBuf, String), Arc<NodalTemperatures>>;

impl NodalTemperatures {
    /// Reads the mesh and the temperatures of a `.vtu` file.
    ///
    /// # Errors
    /// A finding for a file that cannot be read, or has no such array.
    pub(crate) fn read(path: &Path, array: &str) -> Result<Self, Finding> {
        let failed = |error: topopt_io::ReadError| Finding::new(error.to_string());
        let (file, _) = vtu::read_with_cell_data(path, &[]).map_err(failed)?;
        let found = vtu::read_arrays::<1>(path, Section::Points, &[array]).map_err(failed)?;
        let values = found.into_iter().next().flatten().unwrap_or_default().into_flattened();
        if values.len() != file.mesh.n_nodes() {
            let message = format!("{} has no `{array}` at its nodes", path.display());
            let remedy = "name the analysis.vtu that `topopt solve` writes for a thermal case";
            return Err(Finding::new(message).remedy(remedy));
        }
        Ok(Self { mesh: file.mesh, values })
    }

    /// The temperatures at the nodes of another mesh of the part.
    pub(crate) fn on(&self, mesh: &HexMesh) -> Vec<f64> {
        if self.mesh.coordinates() == mesh.coordinates() {
            return self.values.clone();
        }
        let values: Vec<[f64; 1]> = self.values.iter().map(|&value| [value]).collect();
        Places::of(&self.mesh, mesh.coordinates()).values(&values).into_flattened()
    }
}
