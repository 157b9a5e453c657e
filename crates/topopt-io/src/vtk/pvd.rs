//! Time series: a list of files and their times (`.pvd`).

use std::io::Write;
use std::path::Path;

use super::xml::escape;
use crate::atomic::{self, WriteError};

/// Writes a series to `path`, whole or not at all. `files`: time and name, relative to `path`.
///
/// # Errors
/// [`WriteError`] with the operating system's cause.
pub fn write(path: &Path, files: &[(f64, String)]) -> Result<(), WriteError> {
    atomic::write(path, |out| {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(out, "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">")?;
        writeln!(out, "<Collection>")?;
        for (time, file) in files {
            let file = escape(file);
            writeln!(out, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{file}\"/>")?;
        }
        writeln!(out, "</Collection>\n</VTKFile>")
    })
}
