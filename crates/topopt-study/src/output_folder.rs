//! The folder that a run or an analysis writes to: what may be written over, and by whom.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use topopt_case::config::Config;
use topopt_case::finding::Finding;

use crate::result_files::{
    ANALYSIS, ANALYSIS_FIELDS, ANALYSIS_PAGE, ANALYSIS_SERIES, CASE, CHECKPOINTS, DESIGN,
    DESIGN_IN_PIECES, GRID, HISTORY, PART, PIECES, REPORT, SERIES, SNAPSHOTS, SUMMARY, SURFACE,
    TRANSIENT, UNCUT, VERIFIED, VERIFIED_DESIGN, checkpoints, is_written_by_us,
};

/// Treatment of the results of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// Keep the results: another run is refused.
    Keep,
    /// Replace the results, on request.
    Replace,
    /// Resume the run from them.
    Continue,
}

/// Names of the files that runs, what follows them and analyses write.
const FILES: [&str; 18] = [
    CASE,
    HISTORY,
    SUMMARY,
    DESIGN,
    PART,
    SURFACE,
    UNCUT,
    DESIGN_IN_PIECES,
    SERIES,
    GRID,
    VERIFIED,
    VERIFIED_DESIGN,
    REPORT,
    ANALYSIS,
    ANALYSIS_FIELDS,
    ANALYSIS_PAGE,
    TRANSIENT,
    ANALYSIS_SERIES,
];

/// Whether `directory` holds a design or a checkpoint of an earlier run; one that has come to
/// neither has left nothing to lose.
pub fn holds_results(directory: &Path) -> bool {
    directory.join(DESIGN).exists() || checkpoints(directory).are_there()
}

/// Whether a run of `config` may write to its folder, found out without leaving anything behind:
/// the folder, or the nearest one that exists, can be written to; it holds nothing that is not of a
/// run of ours, and results of an earlier one only as `earlier` says; no file of the results is an
/// input.
///
/// # Errors
/// A finding if it may not.
pub fn check(config: &Config, start_from: Option<&Path>, earlier: Earlier) -> Result<(), Finding> {
    let directory = &config.output_directory();
    let there: Vec<PathBuf> = outputs(directory);
    if let Some(path) = FILES.map(|name| directory.join(name)).iter().find(|path| path.is_dir()) {
        return Err(refused(format!("cannot write {}: it is a folder", path.display())));
    }
    let folders = [CHECKPOINTS, SNAPSHOTS, PIECES].map(|name| directory.join(name));
    if let Some(path) = folders.iter().find(|path| path.is_symlink()) {
        return Err(refused(format!("{} is a link, which is not followed", path.display())));
    }

    // What is there is ours, or stays.
    let case = directory.join(CASE);
    if let Some(path) = there.first()
        && !is_written_by_us(&case)
    {
        let path = if case.exists() { &case } else { path };
        let message = format!("{} already exists and does not belong to a run", path.display());
        return Err(refused(message));
    }
    let inputs = config.inputs().into_iter().chain(start_from.map(Path::to_owned));
    let inputs: Vec<PathBuf> = inputs.filter_map(|path| path.canonicalize().ok()).collect();
    let is_input = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| inputs.contains(&path));
    if let Some(path) = there.iter().filter(|path| **path != case).find(is_input) {
        return Err(refused(format!("{} is both an input and a result", path.display())));
    }
    if earlier == Earlier::Keep {
        keep(directory)?;
    }

    let existing = directory.ancestors().find(|folder| folder.exists());
    // A file without a name leaves nothing behind.
    tempfile::tempfile_in(existing.unwrap_or(Path::new("."))).map(drop).map_err(|cause| {
        refused(format!("cannot write to the output directory {}: {cause}", directory.display()))
    })
}

/// Whether an analysis of `config` may write to its folder: as [`check`] says, and never among what
/// a run has written, as both keep their case there.
///
/// # Errors
/// A finding if it may not.
pub fn check_analysis(
    config: &Config,
    design: Option<&Path>,
    earlier: Earlier,
) -> Result<(), Finding> {
    let directory = &config.output_directory();
    if directory.join(HISTORY).exists() && is_written_by_us(&directory.join(CASE)) {
        let message = format!("{} holds the results of a run", directory.display());
        return Err(Finding::new(message).remedy("choose another folder with `--output DIR`"));
    }
    check(config, design, earlier)
}

/// Refuses a `directory` with results.
fn keep(directory: &Path) -> Result<(), Finding> {
    let display = directory.display();
    if directory.join(ANALYSIS).exists() {
        let finding = Finding::new(format!("{display} holds an analysis"));
        return Err(finding.remedy("`--overwrite` replaces it, `--output DIR` writes elsewhere"));
    }
    if holds_results(directory) {
        let finding = Finding::new(format!("{display} holds the results of a run"));
        return Err(finding.remedy(
            "`--resume` continues that run, `--overwrite` replaces its results, \
             `--output DIR` writes elsewhere",
        ));
    }
    Ok(())
}

/// The files in `directory` that have names of results, links that lead nowhere among them.
fn outputs(directory: &Path) -> Vec<PathBuf> {
    let mut there: Vec<PathBuf> = FILES.map(|name| directory.join(name)).into();
    for (folder, start, end) in [
        (SNAPSHOTS, "design_", ".vtu"),
        (SNAPSHOTS, "analysis_", ".vtu"),
        (PIECES, "piece_", ".vtu"),
        (CHECKPOINTS, "iteration_", ".ckpt"),
    ] {
        let entries = fs::read_dir(directory.join(folder)).into_iter().flatten().flatten();
        there.extend(entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(end)
        }));
    }
    there.retain(|path| path.symlink_metadata().is_ok());
    there
}

/// A folder that another run writes to is refused; else it is ours as long as the result lives. The
/// operating system takes the lock of a run that is dead. Where it has none for folders, there is
/// none.
///
/// # Errors
/// A finding if another run has it.
pub(crate) fn lock(directory: &Path) -> Result<Option<File>, Finding> {
    let Ok(folder) = File::open(directory) else { return Ok(None) };
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            Err(refused(format!("another run is writing to {}", directory.display())))
        }
    }
}

/// Whether a run is writing to `directory`.
pub fn is_in_use(directory: &Path) -> bool {
    let locked = File::open(directory).map(|folder| folder.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

/// `message`, with the remedy of another folder.
pub(crate) fn refused(message: String) -> Finding {
    Finding::new(message).remedy("choose another folder with `output.directory` or `--output DIR`")
}

/// Refuses to write `path` over one of the `inputs`, or without one of the `extensions`.
///
/// # Errors
/// A finding that names the path.
pub fn check_file(path: &Path, extensions: &[&str], inputs: &[&Path]) -> Result<(), Finding> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if !extensions.contains(&extension.as_str()) {
        let all = extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(", ");
        return Err(Finding::new(format!("cannot write the format of {}", path.display()))
            .remedy(format!("give a file name that ends with {all}")));
    }
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let is_input = |input: &&Path| input.canonicalize().is_ok_and(|input| input == target);
    match inputs.iter().copied().find(is_input) {
        Some(_) => Err(Finding::new(format!("{} is an input", path.display()))
            .remedy("choose another file to write")),
        None => Ok(()),
    }
}
