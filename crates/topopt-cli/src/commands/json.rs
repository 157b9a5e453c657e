//! JSON on the standard output.

use std::io::Write;

use serde::Serialize;
use topopt_study::failure::Failure;

/// Prints a value as JSON with indents, and ends the line.
pub(super) fn print(value: &impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
