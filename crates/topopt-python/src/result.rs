//! The result of a run.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError as Wrong};
use topopt_case::interrupt::Interrupt;
use topopt_case::of_physics;
use topopt_mesh::HexMesh;
use topopt_study::design_file::DesignFile;
use topopt_study::failure::Failure;
use topopt_study::part_file;
use topopt_study::studied::Studied;
use topopt_study::summary::Summary;
use topopt_study::thread_pool::thread_pool;
use topopt_study::verification::{Optimized, Request};
use topopt_surface::{Quality, Shaping};

use crate::arrays::{field, frozen, frozen_rows};
use crate::attended::attended;
use crate::case::{Found, none};
use crate::errors::{failed, refused};
use crate::mesh::Mesh;
use crate::run::Keeper;
use crate::solution::{Arrays, Solution, clone};

/// The last design of a run, and the history of its iterations.
#[pyclass(frozen, module = "topopt3d")]
pub struct Result {
    config: Config,
    summary: Summary,
    /// Folder of the results, if they were written.
    #[pyo3(get)]
    directory: Option<PathBuf>,
    is_in_memory: bool,
    has_own: bool,
    mesh: Py<Mesh>,
    history: Py<PyDict>,
    points: Arrays,
    cells: Arrays,
}

impl Result {
    /// Takes what a run has left.
    ///
    /// # Errors
    /// An error of NumPy.
    pub fn of(
        py: Python,
        config: Config,
        keeper: Keeper,
        (directory, is_in_memory, has_own): (Option<PathBuf>, bool, bool),
    ) -> PyResult<Self> {
        let Keeper {
            columns,
            rows,
            mesh: Some(mesh),
            last: Some(last),
            summary: Some(summary),
            ..
        } = keeper
        else {
            return Err(PyRuntimeError::new_err("the run has ended before its first design"));
        };
        let history = PyDict::new(py);
        for (k, name) in columns.into_iter().enumerate() {
            let column = rows.iter().map(|row| row[k]).collect();
            history.set_item(name, frozen(py, column))?;
        }

        let n_nodes = mesh.n_nodes();
        let nodal = last.nodal.into_iter().map(|(name, values)| {
            let components = values.len() / n_nodes;
            Ok((name, field(py, values, components)?))
        });
        let mut cells = Arrays::new();
        cells.insert("density".into(), field(py, last.density, 1)?);
        cells.insert("strain_energy".into(), field(py, last.energy, 1)?);
        for (name, values) in last.fluxes {
            cells.insert(name, field(py, values, 3)?);
        }
        Ok(Self {
            config,
            summary,
            directory,
            is_in_memory,
            has_own,
            history: history.unbind(),
            points: nodal.collect::<PyResult<_>>()?,
            cells,
            mesh: Py::new(py, Mesh::of(py, Arc::new(mesh), Vec::new())?)?,
        })
    }

    /// Copies the design for the library.
    fn design(&self, py: Python) -> PyResult<DesignFile> {
        let values = |array: &Py<PyAny>| -> PyResult<Vec<f64>> {
            Ok(array.bind(py).cast::<PyArrayDyn<f64>>()?.to_vec()?)
        };
        let of_nodes = |(name, array): (&String, _)| Ok((name.clone(), values(array)?));
        let nodal = self.points.iter().map(of_nodes);
        let mesh = HexMesh::clone(&self.mesh.get().mesh);
        let nodal = nodal.collect::<PyResult<Vec<_>>>()?;
        Ok(DesignFile::in_memory(mesh, values(&self.cells["density"])?, nodal))
    }
}

#[pymethods]
impl Result {
    /// The mesh.
    #[getter]
    fn mesh(&self, py: Python) -> Py<Mesh> {
        self.mesh.clone_ref(py)
    }

    /// Columns of the history by name, `[n_iterations]` each.
    #[getter]
    fn history(&self, py: Python) -> Py<PyDict> {
        self.history.clone_ref(py)
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

    /// Numbers of the run as JSON.
    #[getter]
    fn json(&self) -> PyResult<String> {
        let text = serde_json::to_string(&self.summary);
        text.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Solves the design again as the solid that is exported.
    #[pyo3(signature = (threshold))]
    fn verify(&self, py: Python, threshold: Option<f64>) -> PyResult<Solution> {
        if self.has_own {
            let finding = Finding::new("a run with responses of Python cannot be verified");
            return Err(refused(finding.remedy("solve the density of `result.density`")));
        }
        let mesh = self.is_in_memory.then(|| HexMesh::clone(&self.mesh.get().mesh));
        let (file, summary) = (self.design(py)?, self.summary.clone());
        let optimized = Optimized { summary, file, mesh, folder: None };
        let request = Request { threshold, ..Request::default() };
        let config = &self.config;
        let work = |_, interrupt: &Interrupt| {
            of_physics!(config.physics.kind, verified(&optimized, config, &request, interrupt))
        };
        let (json, found) = attended(py, work, none)?.map_err(|failure| failed(&failure))?;
        Solution::of(py, json, found)
    }

    /// Computes the surface of the design: vertices, `[n_vertices][3]`, and triangles,
    /// `[n_triangles][3]`.
    #[pyo3(signature = (threshold, quality, decimate))]
    #[expect(clippy::type_complexity)]
    fn surface(
        &self,
        py: Python,
        threshold: Option<f64>,
        quality: &str,
        decimate: Option<f64>,
    ) -> PyResult<(Py<PyArray2<f64>>, Py<PyArray2<u32>>)> {
        let quality = match quality {
            "draft" => Quality::Draft,
            "print" => Quality::Print,
            "show" => Quality::Show,
            _ => return Err(PyValueError::new_err("quality is \"draft\", \"print\" or \"show\"")),
        };
        let shaping = Shaping { threshold, quality, decimation: decimate };
        let design = self.design(py)?;
        let folder = self.directory.as_deref();
        let work = |_, _: &Interrupt| {
            let solid = design.solid(&shaping)?;
            design.check(&solid, threshold)?;
            let (part, _) = part_file::read(folder, &design.mesh)?;
            solid.shape(&part).map_err(|error| Finding::new(error.to_string()))
        };
        let surface = attended(py, work, none)?.map_err(refused)?.surface;
        let vertices = surface.vertices().as_flattened().to_vec();
        let triangles = surface.triangles().as_flattened().to_vec();
        let vertices = frozen_rows(py, vertices, 3)?.unbind();
        Ok((vertices, frozen_rows(py, triangles, 3)?.unbind()))
    }
}

fn verified<K: Studied<N>, const N: usize>(
    optimized: &Optimized,
    config: &Config,
    request: &Request,
    interrupt: &Interrupt,
) -> std::result::Result<Found, Failure> {
    let verify = || K::verify(optimized, config, request, interrupt);
    let mut found = thread_pool(config.solver.threads).map_err(Wrong::from)?.install(verify)?;
    let fields = std::mem::take(&mut found.fields);
    let json = serde_json::to_string(&found).map_err(std::io::Error::from)?;
    Ok((json, Some((optimized.file.mesh.clone(), fields))))
}
