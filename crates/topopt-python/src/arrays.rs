//! NumPy arrays that own values of Rust, and cannot be written to.

use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Gives `values` to an array, which keeps them alive.
pub fn frozen<'py, T: Element>(py: Python<'py>, values: Vec<T>) -> Bound<'py, PyArray1<T>> {
    let array = PyArray1::from_vec(py, values);
    array.readwrite().make_nonwriteable();
    array
}

/// Gives `values`, `[n][columns]`, to an array.
///
/// # Errors
/// An error of NumPy.
pub fn frozen_rows<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let rows = values.len() / columns.max(1);
    frozen(py, values).reshape([rows, columns])
}

/// Gives the values of a field to an array: `[n]`, or `[n][components]`.
///
/// # Errors
/// An error of NumPy.
pub fn field(py: Python, values: Vec<f64>, components: usize) -> PyResult<Py<PyAny>> {
    Ok(match components {
        1 => frozen(py, values).into_any().unbind(),
        _ => frozen_rows(py, values, components)?.into_any().unbind(),
    })
}

/// Refuses numbers that are not finite; `named` says what they are.
///
/// # Errors
/// `ValueError` with the first of them.
pub fn finite(values: &[f64], named: &str) -> PyResult<()> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(k) => Err(PyValueError::new_err(format!("{named}: value {k} is {}", values[k]))),
        None => Ok(()),
    }
}
