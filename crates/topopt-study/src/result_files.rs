//! File names of the results of a run and of an analysis.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use topopt_io::checkpoint::Checkpoints;
use topopt_io::vtk::Compression;
use topopt_io::{WriteError, atomic};

use topopt_case::config::{self, Config};

pub use topopt_case::written_case::{CASE, HISTORY, is_written_by_us};

/// Settings and outcome of the run; see [`crate::summary::Summary`].
pub const SUMMARY: &str = "summary.json";
/// The design evaluated last, on the mesh.
pub const DESIGN: &str = "design.vtu";
/// The design on the elements of a mesh file as they were before they were cut.
pub const UNCUT: &str = "design_uncut.vtu";
/// Surface of the part as its geometry has it.
pub const PART: &str = "part.ply";
/// Surface of the design, for the commands that need it; see [`crate::built_shape`].
pub(crate) const SURFACE: &str = "surface.bin";
/// The design in pieces.
pub const DESIGN_IN_PIECES: &str = "design.pvtu";
/// Folder of the pieces.
pub const PIECES: &str = "pieces";
/// Findings of `topopt verify`; see [`crate::verification::Verification`].
pub const VERIFIED: &str = "verify.json";
/// The design of solid and void elements that it has solved.
pub const VERIFIED_DESIGN: &str = "verify.vtu";
/// Page that `topopt report` writes.
pub const REPORT: &str = "report.html";
/// Findings of `topopt solve`; see [`crate::analysis::Analysis`].
pub const ANALYSIS: &str = "analysis.json";
/// Fields of `topopt solve`, on the mesh.
pub const ANALYSIS_FIELDS: &str = "analysis.vtu";
/// Page of an analysis.
pub const ANALYSIS_PAGE: &str = "analysis.html";
/// Table of an analysis in time, a row per step.
pub const TRANSIENT: &str = "transient.csv";
/// Series of snapshots of an analysis in time, for ParaView.
pub const ANALYSIS_SERIES: &str = "analysis.pvd";

/// The series of snapshots, for ParaView.
pub const SERIES: &str = "design.pvd";
/// The design on a uniform grid.
pub const GRID: &str = "design.vti";
/// Folder of the snapshots.
pub const SNAPSHOTS: &str = "snapshots";
/// Folder of the checkpoints among the results.
pub const CHECKPOINTS: &str = "checkpoints";

/// How the VTK files of a case are compressed.
pub(crate) fn compression(config: &Config) -> Compression {
    match config.output.compression {
        config::Compression::Zlib => Compression::Zlib,
        config::Compression::None => Compression::None,
    }
}

/// The checkpoints among the results in `directory`.
pub fn checkpoints(directory: &Path) -> Checkpoints {
    Checkpoints::new(directory.join(CHECKPOINTS))
}

/// The command that resumes the run in `directory`, for a Unix shell.
pub fn resume_command(directory: &Path) -> String {
    let path = directory.join(CASE).display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%".contains(c);
    let path = if path.chars().all(is_plain) {
        path
    } else if path.chars().any(char::is_control) {
        "CASE".into() // what a terminal takes for a command of its own is not printed
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    format!("topopt run {path} --resume")
}

/// Writes `value` as JSON to `path`.
///
/// # Errors
/// A file that cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        writeln!(file)
    })
}
