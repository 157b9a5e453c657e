//! The linear system of a part, on a thread that holds it.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use topopt_case::config::Config;
use topopt_case::interrupt::Interrupt;
use topopt_case::of_physics;
use topopt_study::analysis::Request;
use topopt_study::failure::Failure;
use topopt_study::linear_system::{Call, Calls, Opened};
use topopt_study::studied::Studied;

use crate::arrays::frozen;
use crate::attended::STACK;
use crate::errors::failed;
use crate::solution::{Arrays, clone};

/// Operator K, preconditioner and right-hand sides of a part, for vectors `[n_nodes][n]` in the
/// order of the mesh.
#[pyclass(frozen, module = "topopt3d")]
pub struct System {
    calls: Mutex<Sender<(Call, Sender<Vec<f64>>)>>,
    /// Number of entries of a vector.
    #[pyo3(get)]
    size: usize,
    /// Unknowns per node.
    #[pyo3(get)]
    unknowns: usize,
    loads: Arrays,
}

impl System {
    /// Opens the system of a case on a thread of its own, which ends with the last reference.
    ///
    /// # Errors
    /// Input that cannot be solved, a device that fails.
    pub fn open(py: Python, config: Config, request: Request) -> PyResult<Self> {
        let (calls, of_calls) = channel();
        let (opened, of_opened) = channel();
        let (ended, of_ended) = channel();
        let ends = (opened, of_calls);
        Builder::new().stack_size(STACK).spawn(move || {
            let done = of_physics!(config.physics.kind, serve(&config, &request, ends));
            let _ = ended.send(done); // to a caller that has its system
        })?;
        let opened = py.detach(move || {
            let opened = of_opened.recv();
            opened.map_err(|_| of_ended.recv().ok().and_then(Result::err))
        });
        let Opened { unknowns, loads } = opened.map_err(|failure| match failure {
            Some(failure) => failed(&failure),
            None => PyRuntimeError::new_err("this is a bug of topopt"),
        })?;
        let size = loads.first().map_or(0, |(_, load)| load.len());
        let loads = loads.into_iter();
        let loads = loads.map(|(name, load)| (name, frozen(py, load).into_any().unbind()));
        Ok(Self { calls: Mutex::new(calls), size, unknowns, loads: loads.collect() })
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        vector: &PyReadonlyArray1<f64>,
        of: fn(Vec<f64>) -> Call,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = vector.as_slice()?.to_vec();
        if values.len() != self.size {
            let text =
                format!("the vector has {} entries, and the system {}", values.len(), self.size);
            return Err(PyValueError::new_err(text));
        }
        let found = py.detach(|| {
            let (answer, of_answer) = channel();
            self.calls.lock().ok()?.send((of(values), answer)).ok()?;
            of_answer.recv().ok()
        });
        let found = found.ok_or_else(|| PyRuntimeError::new_err("the device has failed"))?;
        Ok(PyArray1::from_vec(py, found))
    }
}

#[pymethods]
impl System {
    /// Right-hand side of each load case by its name, `[n_nodes n]`, 0 at held components.
    #[getter]
    fn loads(&self, py: Python) -> Arrays {
        clone(py, &self.loads)
    }

    /// Applies K to a vector, `[n_nodes n]`.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        vector: PyReadonlyArray1<f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.call(py, &vector, Call::Operator)
    }

    /// Applies the preconditioner to a vector, `[n_nodes n]`.
    fn precondition<'py>(
        &self,
        py: Python<'py>,
        vector: PyReadonlyArray1<f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.call(py, &vector, Call::Preconditioner)
    }
}

fn serve<K: Studied<N>, const N: usize>(
    config: &Config,
    request: &Request,
    ends: (Sender<Opened>, Calls),
) -> Result<(), Failure> {
    K::serve(config, request, &Interrupt::new(), ends)
}
