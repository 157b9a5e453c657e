//! Options of an analysis, and the folder that it writes to.

use std::path::{Path, PathBuf};
use std::{fs, io};

use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::meshing::Gmsh;
use topopt_io::atomic;
use topopt_mesh::HexMesh;

use crate::output_folder::{self, Earlier, refused};
use crate::result_files::{CHECKPOINTS, SNAPSHOTS, checkpoints};
use crate::results::remove_analysis;

/// Options of an analysis besides its case.
#[derive(Debug, Clone)]
pub struct Request {
    /// Results, or a file with densities, to solve in place of the full part.
    pub design: Option<PathBuf>,
    /// Densities to solve in place of the full part, `[n_elements]` in the user's numbering.
    pub density: Option<Vec<f64>>,
    /// Mesh in place of that of the case.
    pub mesh: Option<HexMesh>,
    /// Treatment of an analysis that is in the output folder already; none for an analysis that
    /// writes no files and returns its fields.
    pub files: Option<Earlier>,
    /// A table of the stresses at the Gauss points, to be written.
    pub gauss: Option<PathBuf>,
    /// Makes meshes of geometries.
    pub gmsh: Gmsh,
}

impl Request {
    /// Looks at everything that can be refused before the solve.
    pub(super) fn check(&self, config: &Config) -> Result<(), Finding> {
        let is_of_design = self.design.is_some() || self.density.is_some();
        if is_of_design && !config.candidates.is_empty() {
            let finding = Finding::new("a design with [[candidates]] is of several materials");
            return Err(finding.remedy("`topopt verify RESULT` solves it with each in its place"));
        }
        let Some(earlier) = self.files else { return self.check_in_memory(config) };
        if earlier == Earlier::Continue && config.transient.is_none() {
            let finding =
                Finding::new("`--resume` goes on with steps in time: there is no [transient]");
            return Err(finding.remedy("leave it out; `--overwrite` replaces results"));
        }
        output_folder::check_analysis(config, self.design.as_deref(), earlier)?;
        let Some(path) = &self.gauss else { return Ok(()) };
        output_folder::check_file(path, &["csv"], &[])?;
        if path.exists() && earlier == Earlier::Keep {
            return Err(Finding::new(format!("{} already exists", path.display()))
                .remedy("`--overwrite` replaces it"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(Finding::new(format!("there is no folder for {}", path.display()))
                .remedy("give a file in an existing folder"));
        }
        Ok(())
    }

    /// Treatment of earlier results, by which steps in time write theirs.
    pub(crate) fn earlier(&self) -> Earlier {
        self.files.unwrap_or(Earlier::Keep)
    }

    /// Refuses steps in time, which write each step as it is done.
    fn check_in_memory(&self, config: &Config) -> Result<(), Finding> {
        let Some(_) = &config.transient else { return Ok(()) };
        let finding = Finding::new("an analysis in time writes its steps to files");
        Err(finding.remedy("`topopt solve` takes the steps of this case"))
    }
}

/// Makes the folder, or removes the earlier analysis from it; of a resumed one only the results
/// after step `last`. Returns the lock that keeps others away.
pub(crate) fn made_ready(
    config: &Config,
    request: &Request,
    last: Option<usize>,
) -> Result<Option<fs::File>, Finding> {
    let directory = &config.output_directory();
    let display = directory.display();
    fs::create_dir_all(directory).map_err(|cause| {
        refused(format!("cannot create the output directory {display}: {cause}"))
    })?;

    // With the lock held, since something may have come since the first look.
    let lock = output_folder::lock(directory)?;
    output_folder::check_analysis(config, request.design.as_deref(), request.earlier())?;
    remove_earlier(directory, last).map_err(|cause| {
        refused(format!("cannot remove the earlier analysis in {display}: {cause}"))
    })?;
    Ok(lock)
}

fn remove_earlier(directory: &Path, last: Option<usize>) -> io::Result<()> {
    for folder in ["", CHECKPOINTS, SNAPSHOTS] {
        atomic::remove_leftovers(&directory.join(folder))?;
    }
    checkpoints(directory).remove_after(last.unwrap_or(0))?;
    remove_analysis(directory, last)
}
