//! The case file among results, which topopt itself has written.

use std::fs;
use std::path::{Path, PathBuf};

/// File name of the case with all settings in force; see [`crate::config::Config::to_toml`].
pub const CASE: &str = "case.toml";
/// File name of the table with a row per iteration.
pub const HISTORY: &str = "history.csv";
/// First line of [`CASE`]: it distinguishes the file from one that the user wrote.
pub const CASE_MARK: &str =
    "# Written by topopt: the case of the results beside, all settings in force.";

/// Returns the folder of results that the case file `path` lies among, if it does.
pub fn results_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let among_results = path.file_name()? == CASE && folder.join(HISTORY).is_file();
    (among_results && is_written_by_us(path)).then(|| folder.into())
}

/// Whether `path` is a case file written among results.
pub fn is_written_by_us(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.starts_with(CASE_MARK.as_bytes()))
}
