//! The keys of `[output]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// The results.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Folder of the results; by default `results/` and the name of the case file. Relative to
    /// the working directory.
    #[serde(serialize_with = "as_text")]
    pub directory: Option<PathBuf>,
    /// Interval in iterations at which the design is written; 0 writes only the last one.
    pub snapshot_every: usize,
    /// Interval in iterations of checkpoints, from which `topopt run --resume` continues; 0
    /// writes one only when interrupted. By default as often as takes at most 2 % of the time, and
    /// at the end. Of `topopt solve` with `[transient]` an interval in steps; none by default.
    pub checkpoint_every: Option<usize>,
    /// Spacing of the uniform grid (design.vti), a length; by default one element width, 0 for
    /// no such file.
    #[schemars(extend("minimum" = 0))]
    pub vti_spacing: Option<f64>,
    /// Pieces in which the design is also written, as `design.pvtu`: processes of ParaView read
    /// them side by side. 0 for no such files.
    pub pieces: usize,
    /// Whether the design is also written on the elements of a mesh file that were cut into
    /// hexahedra, as `design_uncut.vtu`.
    pub uncut: bool,
    /// Compression of the VTK files.
    pub compression: Compression,
}

/// Serializes a path as text, with a mark for what is none: an argument of the command line may be any bytes.
fn as_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// A compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Zlib.
    Zlib,
    /// None: larger files, written faster.
    None,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            directory: None,
            snapshot_every: 0,
            checkpoint_every: None,
            vti_spacing: None,
            pieces: 0,
            uncut: false,
            compression: Compression::Zlib,
        }
    }
}
