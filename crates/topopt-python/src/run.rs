//! A run whose designs go to a callback.

use std::ops::ControlFlow;
use std::sync::mpsc::{Sender, channel};

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use topopt_case::config::{Config, FilterKind, Method};
use topopt_case::responses::posed::Posed;
use topopt_design::{ObserverError, Settings};
use topopt_io::WriteError;
use topopt_mesh::HexMesh;
use topopt_study::history;
use topopt_study::observer::{Evaluated, Fields, StudyObserver, Wanted};
use topopt_study::summary::{RunSummary, Summary};

use crate::arrays::frozen;

/// The largest sharpness of a projection: beyond, slopes far from the threshold round to 0.
const MAX_SHARPNESS: f64 = 256.0;

/// A design that was evaluated, and the place of the answer.
pub struct Event {
    pub iteration: usize,
    pub density: Vec<f64>,
    pub values: Vec<(String, f64)>,
    pub answer: Sender<Answer>,
}

/// Answer of a callback.
pub enum Answer {
    /// The run ends.
    End,
    /// The run goes on, with other settings if there are any.
    GoOn(Option<Settings>),
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
    /// Calls `callback` with the design of a run of `config`; `False` ends the run, and a
    /// dictionary changes settings.
    ///
    /// # Errors
    /// The exception of the callback, settings that the run does not have.
    pub fn answer(self, py: Python, config: &Config, callback: &Py<PyAny>) -> PyResult<()> {
        let values = PyDict::new(py);
        self.values.iter().try_for_each(|(name, value)| values.set_item(name, value))?;
        let design = Design {
            iteration: self.iteration,
            density: frozen(py, self.density).unbind(),
            values: values.unbind(),
        };
        let answer = callback.call1(py, (design,))?;
        let answer = answer.bind(py);
        let answer = match answer.cast::<PyDict>() {
            Ok(settings) => Answer::GoOn(Some(changed(config, settings)?)),
            Err(_) if answer.is_none() || answer.is_truthy()? => Answer::GoOn(None),
            Err(_) => Answer::End,
        };
        let _ = self.answer.send(answer); // to a run that may have ended
        Ok(())
    }
}

/// Says why a setting cannot have a value, if it cannot: the ranges are those of the case file.
fn out_of_range(config: &Config, key: &str, value: f64) -> Option<&'static str> {
    let is_fixed = |method: &Method| matches!(method, Method::Simpl | Method::OcAnderson);
    match key {
        _ if !(value > 0.0 && value.is_finite()) => Some("settings are finite and above 0"),
        "penalty" if value < 1.0 => Some("penalties are at least 1"),
        "volume_fraction" | "move_limit" if value > 1.0 => Some("it is at most 1"),
        "sharpness" if value > MAX_SHARPNESS => Some("it is at most 256"),
        "move_limit" if config.methods().iter().any(is_fixed) => {
            Some("the case has a method without move limits")
        }
        _ => None,
    }
}

/// Reads settings that a callback changes.
fn changed(config: &Config, given: &Bound<PyDict>) -> PyResult<Settings> {
    let mut settings = Settings::default();
    for (key, value) in given {
        let (key, value): (String, f64) = (key.extract()?, value.extract()?);
        let wrong = |why: &str| Err(PyValueError::new_err(format!("`{key}` = {value}: {why}")));
        if let Some(why) = out_of_range(config, &key, value) {
            return wrong(why);
        }

        let place = match key.as_str() {
            "penalty" => &mut settings.penalty,
            "filter_radius" if config.filter.get_ref().kind == FilterKind::None => {
                return wrong("the case has no filter; set `filter.kind`");
            }
            "filter_radius" => &mut settings.filter_radius,
            "sharpness" if config.projection.is_none() => {
                return wrong("the case has no [projection]; give one with its own `sharpness`");
            }
            "sharpness" => &mut settings.sharpness,
            "move_limit" => &mut settings.move_limit,
            "volume_fraction" => {
                let Some(limit) = &config.design.volume_fraction else {
                    return wrong("the case has no `design.volume_fraction`; give it one");
                };
                settings.excess = Some(value / limit.get_ref());
                continue;
            }
            _ => {
                let keys = "volume_fraction, filter_radius, penalty, sharpness and move_limit";
                return wrong(&format!("a callback may change {keys}"));
            }
        };
        *place = Some(value);
    }
    Ok(settings)
}

/// Keeps what a run leaves, and sends each design where there is a callback.
pub struct Keeper {
    /// Place of the designs, where the run is watched.
    events: Option<Sender<Event>>,
    /// Settings that the callback has asked for.
    change: Option<Settings>,
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
            change: None,
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

        let (send, answer) = channel();
        let event = Event {
            iteration: design.report.iteration,
            density: density.to_vec(),
            values: self.columns.iter().cloned().zip(row).collect(),
            answer: send,
        };
        let _ = events.send(event);
        // No answer: the callback has raised an exception.
        let Ok(Answer::GoOn(change)) = answer.recv() else { return Ok(ControlFlow::Break(())) };
        self.change = change;
        Ok(ControlFlow::Continue(()))
    }

    fn change(&mut self) -> Option<Settings> {
        self.change.take()
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
