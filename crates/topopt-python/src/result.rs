//! The result of a run.

use std::path::{Path, PathBuf};

use numpy::{PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::interrupt::Interrupt;
use topopt_case::of_physics;
use topopt_mesh::HexMesh;
use topopt_study::built_shape::BuiltShape;
use topopt_study::design_file::{DesignFile, MATERIAL};
use topopt_study::failure::Failure;
use topopt_study::part_file::PartFile;
use topopt_study::solved::{Field, Fields};
use topopt_study::studied::Studied;
use topopt_study::summary::Summary;
use topopt_study::thread_pool::thread_pool;
use topopt_study::verification::{Optimized, Request};
use topopt_surface::{Quality, Shaping, TriangleSurface};

use crate::arrays::{frozen, frozen_rows};
use crate::attended::{attended, none};
use crate::errors::{failed, refused};
use crate::run::Keeper;
use crate::solution::{Found, Solution};

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
    history: Py<PyDict>,
    design: Py<Solution>,
    solid_depth: Option<Vec<f64>>,
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

        let (n_nodes, solid_depth) = (mesh.n_nodes(), last.solid_depth);
        let of = |components, (name, values)| Field { name, components, values };
        let points = last.nodal.into_iter().map(|(name, u)| of(u.len() / n_nodes, (name, u)));
        let mut cells = vec![of(1, ("density".into(), last.density))];
        cells.push(of(1, ("strain_energy".into(), last.energy)));
        let numbers = |material: Vec<u8>| material.into_iter().map(f64::from).collect();
        cells.extend(last.material.map(|own| of(1, (MATERIAL.into(), numbers(own)))));
        cells.extend(last.fluxes.into_iter().map(|flux| of(3, flux)));
        let fields = Fields { points: points.collect(), cells };
        let json = serde_json::to_string(&summary);
        let json = json.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let design = Py::new(py, Solution::of(py, (json, Some((mesh, fields))))?)?;
        let history = history.unbind();
        Ok(Self { config, summary, directory, is_in_memory, has_own, history, design, solid_depth })
    }

    /// Copies the design for the library.
    fn file(&self, py: Python) -> PyResult<DesignFile> {
        let design = self.design.get();
        let values = |array: &Py<PyAny>| -> PyResult<Vec<f64>> {
            Ok(array.bind(py).cast::<PyArrayDyn<f64>>()?.to_vec()?)
        };
        let of_nodes = |(name, array): (&String, _)| Ok((name.clone(), values(array)?));
        let nodal = design.points.iter().map(of_nodes).collect::<PyResult<Vec<_>>>()?;
        let material = design.cells.get(MATERIAL).map(values).transpose()?.unwrap_or_default();
        let material = material.into_iter().map(|number| number as u8).collect();
        let (density, depth) = (values(&design.cells["density"])?, self.solid_depth.clone());
        let design = (density, material);
        Ok(DesignFile::in_memory(self.mesh(), design, nodal, depth).made_by(&self.config))
    }

    fn mesh(&self) -> HexMesh {
        HexMesh::clone(&self.design.get().mesh.get().mesh)
    }
}

#[pymethods]
impl Result {
    /// Mesh, fields and numbers of the last design.
    #[getter]
    fn design(&self, py: Python) -> Py<Solution> {
        self.design.clone_ref(py)
    }

    /// Columns of the history by name, `[n_iterations]` each.
    #[getter]
    fn history(&self, py: Python) -> Py<PyDict> {
        self.history.clone_ref(py)
    }

    /// Solves the design again as the solid that is exported.
    #[pyo3(signature = (threshold))]
    fn verify(&self, py: Python, threshold: Option<f64>) -> PyResult<Solution> {
        if self.has_own {
            let finding =
                Finding::new("a run with responses or loads of Python cannot be verified");
            return Err(refused(finding.remedy("solve the density of `result.density`")));
        }
        let mesh = self.is_in_memory.then(|| self.mesh());
        let (file, summary) = (self.file(py)?, self.summary.clone());
        let optimized = Optimized { summary, file, mesh, folder: None };
        let request = Request { threshold, ..Request::default() };
        let config = &self.config;
        let work = |_, interrupt: &Interrupt| {
            of_physics!(config.physics.kind, verified(&optimized, config, &request, interrupt))
        };
        let found = attended(py, work, none)?.map_err(|failure| failed(&failure))?;
        Solution::of(py, found)
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
        let design = self.file(py)?;
        let folder = self.directory.as_deref();
        let work = |_, _: &_| surface_of(&design, &shaping, folder);
        let surface = attended(py, work, none)?.map_err(refused)?;
        let vertices = surface.vertices().as_flattened().to_vec();
        let triangles = surface.triangles().as_flattened().to_vec();
        let vertices = frozen_rows(py, vertices, 3)?.unbind();
        Ok((vertices, frozen_rows(py, triangles, 3)?.unbind()))
    }
}

/// Makes the surface of a design, which ends at that of the geometry where its folder has one.
fn surface_of(
    design: &DesignFile,
    shaping: &Shaping,
    folder: Option<&Path>,
) -> std::result::Result<TriangleSurface, Finding> {
    let part = PartFile::read(folder, &design.mesh)?;
    let built = BuiltShape::of(design, &part, shaping)?;
    design.check(&built.solid, shaping.threshold)?;
    Ok(built.shape.surface)
}

fn verified<K: Studied<N>, const N: usize>(
    optimized: &Optimized,
    config: &Config,
    request: &Request,
    interrupt: &Interrupt,
) -> std::result::Result<Found, Failure> {
    let verify = || K::verify(optimized, config, request, interrupt);
    let mut found = thread_pool(config.solver.threads)?.install(verify)?;
    let fields = std::mem::take(&mut found.fields);
    let json = serde_json::to_string(&found).map_err(std::io::Error::from)?;
    Ok((json, Some((optimized.file.mesh.clone(), fields))))
}
