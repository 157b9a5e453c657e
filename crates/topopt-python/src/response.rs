//! Responses that are functions of Python.

use std::sync::{Arc, Mutex};

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use topopt_case::responses::own::Role;
use topopt_design::{HostFunction, HostValue};
use topopt_linalg::BackendError;

use crate::arrays::{field, finite, frozen};

/// Exception of a function, to be raised when the run has ended by it.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// A function of density and states, which returns value, derivatives by the density, and
/// derivatives by the state of each load case.
pub struct PyFunction {
    pub function: Py<PyAny>,
    /// Unknowns per node.
    pub unknowns: usize,
    pub raised: Raised,
}

impl HostFunction for PyFunction {
    fn evaluate(&self, density: &[f64], states: &[Vec<f64>]) -> Result<HostValue, BackendError> {
        Python::attach(|py| self.call(py, density, states))
            .map_err(|error| kept(&self.raised, "a response", error))
    }
}

/// Keeps an exception of a function of Python, and returns it as that of a device.
pub fn kept(raised: &Raised, operation: &str, error: PyErr) -> BackendError {
    let message = error.to_string();
    if let Ok(mut raised) = raised.lock() {
        *raised = Some(error);
    }
    BackendError { device: "Python".into(), operation: operation.into(), message }
}

impl PyFunction {
    fn call(&self, py: Python, density: &[f64], states: &[Vec<f64>]) -> PyResult<HostValue> {
        let of_case = |state: &Vec<f64>| field(py, state.clone(), self.unknowns);
        let given = states.iter().map(of_case).collect::<PyResult<Vec<_>>>()?;
        let found = self.function.call1(py, (frozen(py, density.to_vec()), given))?;

        let (value, by_density, by_states): (
            f64,
            PyReadonlyArray1<f64>,
            Vec<PyReadonlyArray1<f64>>,
        ) = found.extract(py)?;
        let by_density = by_density.as_slice()?.to_vec();
        let by_states = by_states.iter().map(|slope| Ok(slope.as_slice()?.to_vec()));
        let by_states = by_states.collect::<PyResult<Vec<_>>>()?;

        let fits = by_density.len() == density.len()
            && by_states.len() == states.len()
            && by_states.iter().zip(states).all(|(a, b)| a.is_empty() || a.len() == b.len());
        finite(&[value], "a response")?;
        finite(&by_density, "derivatives of a response by the density")?;
        let mut slopes = by_states.iter();
        slopes.try_for_each(|slope| finite(slope, "derivatives of a response by a state"))?;
        match fits {
            true => Ok(HostValue { value, by_density, by_states }),
            false => Err(PyValueError::new_err(
                "the derivatives have other sizes than density and states",
            )),
        }
    }
}

/// Reads the part of a response: a goal with its limit.
///
/// # Errors
/// Another goal, or a limit where there is none.
pub fn role(goal: &str, limit: Option<f64>) -> PyResult<Role> {
    match (goal, limit) {
        ("minimize", None) => Ok(Role::Minimized),
        ("maximize", None) => Ok(Role::Maximized),
        (_, Some(limit)) if !limit.is_finite() => {
            Err(PyValueError::new_err(format!("a limit is a finite number, and not {limit}")))
        }
        ("at_most", Some(limit)) => Ok(Role::AtMost(limit)),
        ("at_least", Some(limit)) => Ok(Role::AtLeast(limit)),
        _ => Err(PyValueError::new_err(
            "a response is minimized or maximized, or has a limit as `at_most` or `at_least`",
        )),
    }
}
