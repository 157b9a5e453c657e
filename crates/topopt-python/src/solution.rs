//! Fields and numbers of a solve.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use topopt_mesh::HexMesh;
use topopt_study::solved::{Field, Fields};

use crate::arrays::field;
use crate::mesh::Mesh;

/// Arrays by name.
pub type Arrays = BTreeMap<String, Py<PyAny>>;

/// Text of the numbers, and mesh with fields.
pub type Found = (String, Option<(HexMesh, Fields)>);

/// A solved part, or a verified design.
#[pyclass(frozen, module = "topopt3d")]
pub struct Solution {
    pub mesh: Py<Mesh>,
    pub points: Arrays,
    pub cells: Arrays,
    /// Numbers as JSON.
    #[pyo3(get)]
    json: String,
}

impl Solution {
    /// Takes what was found.
    ///
    /// # Errors
    /// An error of NumPy.
    pub fn of(py: Python, (json, found): Found) -> PyResult<Self> {
        let Some((mesh, fields)) = found else {
            return Err(PyRuntimeError::new_err("a solve in memory has returned no fields"));
        };
        let all = |fields: Vec<Field>| {
            let arrays =
                fields.into_iter().map(|it| Ok((it.name, field(py, it.values, it.components)?)));
            arrays.collect::<PyResult<Arrays>>()
        };
        Ok(Self {
            mesh: Py::new(py, Mesh::of(py, Arc::new(mesh), Vec::new())?)?,
            points: all(fields.points)?,
            cells: all(fields.cells)?,
            json,
        })
    }
}

#[pymethods]
impl Solution {
    /// The mesh.
    #[getter]
    fn mesh(&self, py: Python) -> Py<Mesh> {
        self.mesh.clone_ref(py)
    }

    /// Arrays of the nodes by name.
    #[getter]
    fn point_data(&self, py: Python) -> Arrays {
        clone(py, &self.points)
    }

    /// Arrays of the elements by name.
    #[getter]
    fn cell_data(&self, py: Python) -> Arrays {
        clone(py, &self.cells)
    }
}

/// Returns other references to `arrays`.
pub fn clone(py: Python, arrays: &Arrays) -> Arrays {
    arrays.iter().map(|(name, array)| (name.clone(), array.clone_ref(py))).collect()
}
