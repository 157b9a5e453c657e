//! Temperatures of a thermal case, on its own mesh.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use topopt_io::vtk::{Section, vtu};
use topopt_mesh::numbers::place;
use topopt_mesh::{BoundingBox, HexMesh, Places};

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

    /// The temperatures at the nodes of another `mesh` of the part, `[n_nodes]`; those that are not
    /// `needed` may lie anywhere.
    ///
    /// # Errors
    /// A finding if needed nodes lie outside this mesh by more than the [`COARSE`] part of an
    /// element.
    pub(crate) fn on(&self, mesh: &HexMesh, needed: &[bool]) -> Result<Vec<f64>, Finding> {
        if self.mesh.coordinates() == mesh.coordinates() {
            return Ok(self.values.clone());
        }
        let values: Vec<[f64; 1]> = self.values.iter().map(|&value| [value]).collect();
        let places = Places::of(&self.mesh, mesh.coordinates());
        let distances = places.distances(mesh.coordinates());
        let outside = |n: &usize| needed[*n] && distances[*n] > COARSE;
        let outside: Vec<usize> = (0..needed.len()).filter(outside).collect();
        let farthest =
            outside.iter().copied().max_by(|a, b| distances[*a].total_cmp(&distances[*b]));
        let Some(farthest) = farthest else { return Ok(places.values(&values).into_flattened()) };

        let n_needed = needed.iter().filter(|needed| **needed).count();
        let at = place(mesh.coordinates()[farthest]);
        let message = format!(
            "the mesh of these temperatures is not that of the part: {} of {n_needed} nodes lie outside \
             it, that at {at} the farthest",
            outside.len()
        );
        let BoundingBox { min, max } = BoundingBox::of(self.mesh.coordinates().iter().copied());
        Err(Finding::new(message).remedy(format!(
            "temperatures are known from {} to {}: give those of the same part, in the same place and unit \
             of length, or name the nodes or elements that have them as `set`",
            place(min),
            place(max)
        )))
    }
}

/// Part of the diagonal of an element that a node may lie outside it: as far as a coarse mesh cuts
/// bulges of the part short.
const COARSE: f64 = 0.5;
