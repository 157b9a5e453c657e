//! Results of an analysis, for its page.

use std::path::Path;

use serde_json::Value;

use crate::commands::pages::wording::Units;

/// Pages of more load cases show so many of them.
const MOST_PICTURED: usize = 5;

/// Results of an analysis and the paths of its fields.
pub struct Results<'a> {
    pub folder: &'a Path,
    /// The file with the fields.
    pub path: &'a Path,
    /// The numbers, those of all load cases, and the names of these.
    pub found: &'a Value,
    pub all: &'a [Value],
    pub names: &'a [&'a str],
    pub units: &'a Units,
    /// Density at which the surface of the pictures lies.
    pub threshold: f64,
}

impl Results<'_> {
    /// The load cases that have pictures.
    pub fn pictured(&self) -> &[&str] {
        &self.names[..self.names.len().min(MOST_PICTURED)]
    }

    /// A sentence about the load cases that have none.
    pub fn left_out(&self) -> Option<String> {
        let (shown, n) = (self.pictured().len(), self.names.len());
        (shown < n).then(|| format!("The pictures show the first {shown} of {n} load cases."))
    }
}
