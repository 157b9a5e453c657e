//! `RunDirectory`: the results folder of a run that has ended, opened for reading.

use std::path::{Path, PathBuf};

use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};

use crate::output_folder;
use crate::result_files::{CASE, DESIGN, HISTORY, SUMMARY, is_written_by_us, resume_command};
use crate::summary::Summary;

const FOLDER: &str = "give the folder that `topopt run` prints at the end";

/// Returns the remedy for a file in place of a results folder, which running a case makes.
fn of_file(path: &Path) -> String {
    let is_case = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    match is_case {
        true => format!("{FOLDER}; `topopt run {}` makes it", path.display()),
        false => FOLDER.into(),
    }
}

/// The results folder of a run that has ended with a design, converged or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Opens the results in the folder `path`.
    ///
    /// # Errors
    /// A finding if it holds no results, or the run has not ended or not come to a design.
    pub fn open(path: &Path) -> Result<Self, Finding> {
        let (has, display) = (|name: &str| path.join(name).is_file(), path.display());
        if !has(HISTORY) || !is_written_by_us(&path.join(CASE)) {
            let (why, remedy) = match path.metadata() {
                Ok(there) if there.is_file() => ("it is a file".into(), of_file(path)),
                Ok(_) => (format!("it lacks {HISTORY} or {CASE}"), FOLDER.into()),
                Err(_) => ("there is no such folder".into(), FOLDER.into()),
            };
            let message = format!("{display} is not a results folder: {why}");
            return Err(Finding::new(message).remedy(remedy));
        }

        // Before the files are checked: a run under way has not written all of them.
        if output_folder::is_in_use(path) {
            return Err(Finding::new(format!("a run is writing to {display}"))
                .remedy("wait until it ends, or interrupt it"));
        }

        let missing = [SUMMARY, DESIGN].into_iter().find(|name| !has(name));
        missing.map_or(Ok(Self { path: path.into() }), |name| {
            let message = format!("the run in {display} has written no {name}");
            let command = resume_command(path);
            Err(Finding::new(message)
                .remedy(format!("wait until it ends, or resume with: {command}")))
        })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The design evaluated last, in the mesh file's numbering: `density` and `strain_energy` of
    /// the elements, `displacement` (and `displacement_CASE` of further load cases) of the nodes.
    pub fn design(&self) -> PathBuf {
        self.path.join(DESIGN)
    }

    /// Path of the table of iterations, history.csv.
    pub fn history(&self) -> PathBuf {
        self.path.join(HISTORY)
    }

    /// The case with the settings of the run.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn config(&self) -> Result<Config, InputError> {
        Config::load(&self.path.join(CASE), &[])
    }

    /// Reads summary.json.
    ///
    /// # Errors
    /// A finding if it cannot be read.
    pub fn summary(&self) -> Result<Summary, Finding> {
        Summary::read(&self.path)
    }
}
