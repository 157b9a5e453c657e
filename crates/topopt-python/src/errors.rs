//! Errors as exceptions, with findings as the program shows them.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use topopt_case::finding::{self, InputError as Wrong};
use topopt_cli::render::{Drawing, render};
use topopt_study::failure::Failure;

create_exception!(
    topopt3d,
    TopoptError,
    PyException,
    "A computation that failed; `findings` says why and what to do."
);
create_exception!(topopt3d, InputError, TopoptError, "Input that cannot be computed.");

/// One thing that is wrong or doubtful, or a note.
#[pyclass(frozen, get_all, module = "topopt3d")]
pub struct Finding {
    /// `error`, `warning` or `note`.
    kind: &'static str,
    /// Description, in one sentence.
    message: String,
    /// Advice.
    remedy: Option<String>,
    /// Name of the text that it is about.
    file: Option<String>,
    /// Line of that text, from 1.
    line: Option<usize>,
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> String {
        format!("Finding({}: {})", self.kind, self.message)
    }

    fn __str__(&self) -> String {
        let remedy = self.remedy.as_ref().map(|remedy| format!("; {remedy}"));
        format!("{}: {}{}", self.kind, self.message, remedy.unwrap_or_default())
    }
}

impl Finding {
    /// Takes a sentence of a `kind`.
    pub fn said(kind: &'static str, message: String) -> Self {
        Self { kind, message, remedy: None, file: None, line: None }
    }
}

impl From<&finding::Finding> for Finding {
    fn from(found: &finding::Finding) -> Self {
        let place = found.place.as_ref();
        let line = place.map(|place| {
            let before = place.text.content.get(..place.span.start).unwrap_or_default();
            before.matches('\n').count() + 1
        });
        Self {
            kind: "error",
            message: found.message.clone(),
            remedy: found.remedy.clone(),
            file: place.map(|place| place.text.name.clone()),
            line,
        }
    }
}

/// Converts the findings of wrong input to an exception.
pub fn wrong(error: &Wrong) -> PyErr {
    raised(true, error.findings())
}

/// Converts a failure to an exception.
pub fn failed(failure: &Failure) -> PyErr {
    raised(matches!(failure, Failure::Input(_)), &failure.findings())
}

/// Converts a finding to an exception.
pub fn refused(finding: finding::Finding) -> PyErr {
    raised(true, &[finding])
}

fn raised(is_input: bool, findings: &[finding::Finding]) -> PyErr {
    let text = render(findings, Drawing::Plain);
    let error = match is_input {
        true => InputError::new_err(text),
        false => TopoptError::new_err(text),
    };
    Python::attach(|py| {
        let listed: Vec<Finding> = findings.iter().map(Finding::from).collect();
        match error.value(py).setattr("findings", listed) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}
