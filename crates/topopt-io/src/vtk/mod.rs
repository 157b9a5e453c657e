//! VTK XML files for ParaView: unstructured grids (`.vtu`), also in pieces (`.pvtu`), surfaces
//! (`.vtp`), images (`.vti`), time series (`.pvd`).
//!
//! In the files written, arrays are appended raw with 64-bit headers, by default compressed with
//! zlib in blocks. Files are written as streams: besides the caller's slices only a few blocks are
//! held in memory. Unstructured grids are also read, see [`vtu::read`], and so
//! are those of legacy files (`.vtk`), see [`legacy::read`].

mod appended;
mod array;
mod decompress;
pub mod grid;
mod kind;
pub mod legacy;
mod legacy_stream;
pub mod pvd;
pub mod pvtu;
mod read;
mod read_cells;
mod read_error;
mod read_values;
mod read_xml;
pub mod vti;
pub mod vtp;
pub mod vtu;
mod xml;

pub use array::{Array, MeshCells, Section, Values};
pub use read_error::Fault;

/// Compression of the arrays of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// No compression.
    None,
    /// zlib, in blocks that are compressed in parallel.
    #[default]
    Zlib,
}
