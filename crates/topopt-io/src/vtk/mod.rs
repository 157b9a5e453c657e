//! VTK XML files for ParaView: unstructured grids (`.vtu`), images (`.vti`), time series (`.pvd`).
//!
//! Arrays are appended raw with 64-bit headers, by default compressed with zlib in blocks. Files
//! are written as streams: besides the caller's slices only a few blocks are held in memory.

mod appended;
mod array;
pub mod pvd;
pub mod vti;
pub mod vtu;
mod xml;

pub use array::{Array, Values};

/// How the arrays of a file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Not at all.
    None,
    /// zlib, in blocks that are compressed in parallel.
    #[default]
    Zlib,
}
