//! Meshes from files and arrays.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use topopt_case::finding::Finding;
use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};
use topopt_io::vtk::grid::Grid;
use topopt_io::{Cutting, ImportedMesh};
use topopt_mesh::HexMesh;

use crate::arrays::{frozen, frozen_rows};
use crate::errors::refused;

/// Mesh of hexahedra of eight nodes, or of tetrahedra of ten, with named sets.
#[pyclass(frozen, module = "topopt3d")]
pub struct Mesh {
    pub mesh: Arc<HexMesh>,
    /// Notes on what was left out or changed, a sentence each.
    #[pyo3(get)]
    notes: Vec<String>,
    points: Py<PyArray2<f64>>,
    cells: Py<PyArray2<u32>>,
}

impl Mesh {
    /// Takes a mesh with the notes on its origin.
    pub fn of(py: Python, mesh: Arc<HexMesh>, notes: Vec<String>) -> PyResult<Self> {
        let points = mesh.coordinates().as_flattened().to_vec();
        let cells = mesh.connectivity().to_vec();
        Ok(Self {
            points: frozen_rows(py, points, 3)?.unbind(),
            cells: frozen_rows(py, cells, mesh.nodes_per_element())?.unbind(),
            notes,
            mesh,
        })
    }

    fn imported(py: Python, imported: ImportedMesh) -> PyResult<Self> {
        let ImportedMesh { mesh, mut notes, remarks, deck, .. } = imported;
        notes.extend(remarks);
        let lost = deck.lost.into_iter().map(|lost| format!("not carried over: {lost}"));
        notes.extend(lost);
        Self::of(py, Arc::new(mesh), notes)
    }
}

#[pymethods]
impl Mesh {
    /// Imports cells given as VTK has them, with sets of points and cells by numbers from 0.
    #[new]
    fn new(
        py: Python,
        points: PyReadonlyArray2<f64>,
        types: PyReadonlyArray1<i64>,
        offsets: PyReadonlyArray1<i64>,
        connectivity: PyReadonlyArray1<i64>,
        point_sets: BTreeMap<String, Vec<u64>>,
        cell_sets: BTreeMap<String, Vec<u64>>,
    ) -> PyResult<Self> {
        let coordinates = points.as_slice()?.as_chunks::<3>();
        if points.as_array().ncols() != 3 {
            return Err(PyValueError::new_err("points has three columns: x, y and z"));
        }
        let grid = Grid {
            points: coordinates.0.to_vec(),
            types: types.as_slice()?.to_vec(),
            offsets: offsets.as_slice()?.to_vec(),
            connectivity: connectivity.as_slice()?.to_vec(),
            point_sets,
            cell_sets,
        };
        let imported = py.detach(|| grid.import(Cutting::KeepOrCut));
        Self::imported(py, imported.map_err(|fault| refused(Finding::new(fault.to_string())))?)
    }

    /// Reads a mesh file; its extension chooses the format.
    #[staticmethod]
    fn read(py: Python, path: PathBuf) -> PyResult<Self> {
        let imported = py.detach(|| topopt_io::read_mesh_as(&path, Cutting::KeepOrCut));
        Self::imported(py, imported.map_err(|error| refused(Finding::new(error.to_string())))?)
    }

    /// Writes the mesh with its sets as a file of Gmsh (`.msh`, version 4.1).
    fn write(&self, py: Python, path: PathBuf) -> PyResult<()> {
        let format = GmshFormat { version: Version::V4_1, encoding: Encoding::Binary };
        let written = py.detach(|| gmsh::write(&path, &self.mesh, format));
        written.map_err(|error| refused(Finding::new(error.to_string())))
    }

    /// Coordinates of the nodes, `[n_nodes][3]`.
    #[getter]
    fn points(&self, py: Python) -> Py<PyArray2<f64>> {
        self.points.clone_ref(py)
    }

    /// Nodes of the elements, `[n_elements][8]`, or `[n_elements][10]` of tetrahedra.
    #[getter]
    fn cells(&self, py: Python) -> Py<PyArray2<u32>> {
        self.cells.clone_ref(py)
    }

    /// Node sets by name.
    #[getter]
    fn point_sets(&self, py: Python) -> BTreeMap<String, Py<PyArray1<u32>>> {
        by_name(py, &self.mesh.sets().nodes)
    }

    /// Element sets by name.
    #[getter]
    fn cell_sets(&self, py: Python) -> BTreeMap<String, Py<PyArray1<u32>>> {
        by_name(py, &self.mesh.sets().elements)
    }

    /// Face sets by name: element and local face, `[n][2]`.
    #[getter]
    fn face_sets(&self, py: Python) -> PyResult<BTreeMap<String, Py<PyArray2<u32>>>> {
        let faces = self.mesh.sets().faces.iter().map(|(name, faces)| {
            let rows =
                faces.iter().flat_map(|face| [face.element, u32::from(face.local)]).collect();
            Ok((name.clone(), frozen_rows(py, rows, 2)?.unbind()))
        });
        faces.collect()
    }

    fn __repr__(&self) -> String {
        let (nodes, elements) = (self.mesh.n_nodes(), self.mesh.n_elements());
        format!("<topopt3d.Mesh of {elements} elements and {nodes} nodes>")
    }
}

fn by_name(py: Python, sets: &BTreeMap<String, Vec<u32>>) -> BTreeMap<String, Py<PyArray1<u32>>> {
    sets.iter().map(|(name, set)| (name.clone(), frozen(py, set.clone()).unbind())).collect()
}
