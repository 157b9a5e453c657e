//! A run whose designs go to a callback.

use std::ops::ControlFlow;
use std::sync::mpsc::{Sender, channel};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use topopt_case::responses::posed::Posed;
use topopt_design::ObserverError;
use topopt_io::WriteError;
use topopt_mesh::HexMesh;
use topopt_study::history;
use topopt_study::observer::{Evaluated, Fields, StudyObserver, Wanted};
use topopt_study::summary::{RunSummary, Summary};

use crate::arrays::frozen;

/// A design that was evaluated, and the place of the answer whether the run goes on.
pub struct Event {
    pub iteration: usize,
    pub density: Vec<f64>,
    pub values: Vec<(String, f64)>,
    pub goes_on: Sender<bool>,
}

/// Design as a callback sees it.
#[pyclass(frozen, module = "topopt3d")]
pub struct Design {
    /// Iteration, from 1.
    #[pyo3(get)]
    iteration: usize,
    density: Py<PyArray1<f64>>,
    values: Py<PyDict>,
}

#[pymethods]
impl Design {
    /// Density of each element, `[n_elements]`.
    #[getter]
    fn density(&self, py: Python) -> Py<PyArray1<f64>> {
        self.density.clone_ref(py)
    }

    /// Numbers of the iteration by the names of the history's columns.
    #[getter]
    fn values(&self, py: Python) -> Py<PyDict> {
        self.values.clone_ref(py)
    }
}

impl Event {
    /// Calls `callback` with the design; `False` ends the run.
    ///
    /// # Errors
    /// The exception of the callback.
    pub fn answer(self, py: Python, callback: &Py<PyAny>) -> PyResult<()> {
        let values = PyDict::new(py);
        self.values.iter().try_for_each(|(name, value)| values.set_item(name, value))?;
        let design = Design {
            iteration: self.iteration,
            density: frozen(py, self.density).unbind(),
            values: values.unbind(),
        };
        let answer = callback.call1(py, (design,))?;
        let goes_on = answer.is_none(py) || answer.is_truthy(py)?;
        let _ = self.goes_on.send(goes_on); // to a run that may have ended
        Ok(())
    }
}

/// Keeps what a run leaves, and sends each design where there is a callback.
pub struct Keeper {
    /// Place of the designs, where the run is watched.
    events: Option<Sender<Event>>,
    posed: Posed,
    pub columns: Vec<String>,
    /// `[n_iterations][n_columns]`.
    pub rows: Vec<Vec<f64>>,
    pub mesh: Option<HexMesh>,
    pub last: Option<Fields>,
    pub summary: Option<Summary>,
}

impl Keeper {
    /// A keeper of one run, which sends designs where there is somebody to take them.
    pub fn new(events: Option<Sender<Event>>) -> Self {
        Self {
            events,
            posed: Posed::default(),
            columns: Vec::new(),
            rows: Vec::new(),
            mesh: None,
            last: None,
            summary: None,
        }
    }

    /// Says that no design follows.
    pub fn close(self) -> Self {
        Self { events: None, ..self }
    }
}

impl StudyObserver for Keeper {
    fn start(&mut self, run: &RunSummary) {
        self.posed = run.posed.clone();
        self.columns = history::columns(run.posed);
        self.mesh = Some(run.mesh.clone());
    }

    fn wanted(&self, _: usize) -> Wanted {
        if self.events.is_some() { Wanted::Density } else { Wanted::Numbers }
    }

    fn evaluated(&mut self, design: &Evaluated) -> Result<ControlFlow<()>, ObserverError> {
        let row = history::row(&self.posed, design.report, design.since.elapsed());
        self.rows.push(row.clone());
        let (Some(events), Some(density)) = (&self.events, design.density) else {
            return Ok(ControlFlow::Continue(()));
        };

        let (goes_on, answer) = channel();
        let event = Event {
            iteration: design.report.iteration,
            density: density.to_vec(),
            values: self.columns.iter().cloned().zip(row).collect(),
            goes_on,
        };
        let _ = events.send(event);
        // No answer: the callback has raised an exception.
        Ok(match answer.recv() {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) | Err(_) => ControlFlow::Break(()),
        })
    }

    fn last(&mut self, _: usize, fields: &Fields) -> Result<(), ObserverError> {
        self.last = Some(fields.clone());
        Ok(())
    }

    fn end(&mut self, run: &RunSummary) -> Result<(), WriteError> {
        self.summary = Some(run.record.clone());
        Ok(())
    }
}
