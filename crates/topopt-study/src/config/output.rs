//! The keys of `[output]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The results.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Folder of the results; `results/` and the name of the case file when left out. Relative to
    /// the working directory.
    pub directory: Option<PathBuf>,
    /// Write the design every so many iterations; 0 writes the last one only.
    pub snapshot_every: usize,
    /// Write a checkpoint, from which `topopt run --resume` goes on, every so many iterations; 0
    /// only when interrupted. When left out, as often as takes no more than 2 % of the time, and
    /// at the end.
    pub checkpoint_every: Option<usize>,
    /// Spacing of the uniform grid (design.vti), a length; one element width when left out, 0 for
    /// no such file.
    #[schemars(extend("minimum" = 0))]
    pub vti_spacing: Option<f64>,
    /// Compression of the VTK files.
    pub compression: Compression,
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
            compression: Compression::Zlib,
        }
    }
}
