//! Maps that are functions of Python: transforms of the density, and forces that follow it.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use topopt_design::{HostMap, Pullback};
use topopt_linalg::BackendError;

use crate::arrays::{field, finite, frozen};
use crate::response::{Raised, kept};

/// Function of the density, which returns values and the function that takes derivatives by the
/// values back to derivatives by the density.
pub struct PyMap {
    pub function: Py<PyAny>,
    pub gives: Gives,
    pub raised: Raised,
}

/// Values that a map gives.
#[derive(Clone, Copy)]
pub enum Gives {
    /// A density from 0 to 1, `[n_elements]`.
    Density,
    /// Forces on all nodes, `[n_nodes][n]`, with this n.
    Forces(usize),
}

impl HostMap for PyMap {
    fn evaluate(&self, x: &[f64]) -> Result<(Vec<f64>, Pullback), BackendError> {
        let called = Python::attach(|py| self.call(py, x));
        let (values, back) = called.map_err(|error| kept(&self.raised, self.name(), error))?;
        let (raised, name, gives) = (self.raised.clone(), self.name(), self.gives);
        let pullback = move |slope: &[f64]| {
            let found = Python::attach(|py| pulled(py, &back, gives.field(py, slope)?));
            found.map_err(|error| kept(&raised, name, error))
        };
        Ok((values, Box::new(pullback)))
    }
}

impl PyMap {
    fn name(&self) -> &'static str {
        match self.gives {
            Gives::Density => "a transform",
            Gives::Forces(_) => "forces",
        }
    }

    fn call(&self, py: Python, x: &[f64]) -> PyResult<(Vec<f64>, Py<PyAny>)> {
        let found = self.function.call1(py, (frozen(py, x.to_vec()),))?;
        let (values, back): (PyReadonlyArray1<f64>, Py<PyAny>) = found.extract(py)?;
        let values = values.as_slice()?.to_vec();
        self.gives.check(&values)?;
        Ok((values, back))
    }
}

/// Takes derivatives back by the function `back`.
fn pulled(py: Python, back: &Py<PyAny>, slope: Py<PyAny>) -> PyResult<Vec<f64>> {
    let found = back.call1(py, (slope,))?;
    let found: PyReadonlyArray1<f64> = found.extract(py)?;
    let found = found.as_slice()?.to_vec();
    finite(&found, "derivatives by the density")?;
    Ok(found)
}

impl Gives {
    fn field(self, py: Python, values: &[f64]) -> PyResult<Py<PyAny>> {
        let components = match self {
            Self::Density => 1,
            Self::Forces(unknowns) => unknowns,
        };
        field(py, values.to_vec(), components)
    }

    fn check(self, values: &[f64]) -> PyResult<()> {
        match self {
            Self::Density => match values.iter().position(|y| !(0.0..=1.0).contains(y)) {
                Some(e) => Err(PyValueError::new_err(format!(
                    "a transform gives densities from 0 to 1, and not {} in element {e}",
                    values[e]
                ))),
                None => Ok(()),
            },
            Self::Forces(_) => finite(values, "forces"),
        }
    }
}
