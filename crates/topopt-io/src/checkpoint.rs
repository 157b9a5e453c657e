//! Checkpoints to resume from, however the program ended: a header and arrays of doubles in one
//! file with a checksum, the newest two in a folder.
//!
//! A file is the line [`MAGIC`], the length of the header (u64), the header (JSON), the arrays
//! (f64) and the CRC-32 of all that (u32); numbers are little-endian.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::atomic::{self, WriteError};

/// A state that was read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The iteration it was written in.
    pub iteration: usize,
    /// Content that the writer gave besides the arrays.
    pub content: Value,
    /// The arrays with their names, in the order in which they were written.
    pub arrays: Vec<(String, Vec<f64>)>,
}

/// A checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct CheckpointError {
    /// The file.
    pub path: PathBuf,
    /// Cause of the error.
    pub fault: CheckpointFault,
}

/// Error in a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointFault {
    /// The operating system cannot read it.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The checksum is not that of the content.
    #[error("damaged or cut short")]
    Damaged,
    /// Whole, but not of this version of the format.
    #[error("written in a format that this version of the program does not know")]
    Format,
}

/// The checkpoints in a folder, `iteration_NNNN.ckpt`.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Header<C> {
    iteration: usize,
    /// Name and length of each.
    arrays: Vec<(String, usize)>,
    content: C,
}

/// First line of a checkpoint, with the version of the format.
pub const MAGIC: &str = "topopt checkpoint 1\n";
/// Number of checkpoints kept: one may be damaged.
const KEPT: usize = 2;

impl Checkpoints {
    /// Returns the checkpoints in `folder`, which is made when there is something to write.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Writes a checkpoint, whole or not at all and synced to the disk, and then removes all but
    /// the two latest.
    ///
    /// # Errors
    /// [`WriteError`] with the cause; the earlier checkpoints are as they were.
    pub fn write(
        &self,
        iteration: usize,
        content: &impl Serialize,
        arrays: &[(&str, &[f64])],
    ) -> Result<(), WriteError> {
        let fault = |cause| WriteError::new(&self.folder, cause);
        fs::create_dir_all(&self.folder).map_err(fault)?;
        let lengths = arrays.iter().map(|(name, values)| ((*name).into(), values.len())).collect();
        let header = Header { iteration, arrays: lengths, content };
        let path = self.folder.join(format!("iteration_{iteration:04}.ckpt"));
        atomic::write(&path, |file| write_checked(file, &header, arrays))?;
        let files = self.files().map_err(fault)?;
        files.iter().skip(KEPT).try_for_each(|(_, path)| fs::remove_file(path)).map_err(fault)
    }

    /// The newest that can be used, and why newer ones cannot.
    pub fn newest(&self) -> (Option<Checkpoint>, Vec<CheckpointError>) {
        let mut skipped = Vec::new();
        for (_, path) in self.files().unwrap_or_default() {
            match read(&path) {
                Ok(checkpoint) => return (Some(checkpoint), skipped),
                Err(fault) => skipped.push(CheckpointError { path, fault }),
            }
        }
        (None, skipped)
    }

    /// Whether there is any.
    pub fn are_there(&self) -> bool {
        self.files().is_ok_and(|files| !files.is_empty())
    }

    /// Removes those of iterations after `iteration`.
    ///
    /// # Errors
    /// The operating system's.
    pub fn remove_after(&self, iteration: usize) -> io::Result<()> {
        let files = self.files()?;
        files.iter().filter(|(n, _)| *n > iteration).try_for_each(|(_, path)| fs::remove_file(path))
    }

    /// Iterations and paths, the latest first; none if there is no folder.
    fn files(&self) -> io::Result<Vec<(usize, PathBuf)>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let number = name.strip_prefix("iteration_").and_then(|n| n.strip_suffix(".ckpt"));
            files.extend(number.and_then(|n| n.parse().ok()).map(|n| (n, path.clone())));
        }
        files.sort_by(|a: &(usize, _), b| b.cmp(a));
        Ok(files)
    }
}

/// Reads one checkpoint.
///
/// # Errors
/// [`CheckpointFault`].
pub fn read(path: &Path) -> Result<Checkpoint, CheckpointFault> {
    let bytes = fs::read(path)?;
    let (checked, sum) = bytes.split_last_chunk::<4>().ok_or(CheckpointFault::Damaged)?;
    if crc32fast::hash(checked) != u32::from_le_bytes(*sum) {
        return Err(CheckpointFault::Damaged);
    }
    parse(checked).ok_or(CheckpointFault::Format)
}

fn parse(bytes: &[u8]) -> Option<Checkpoint> {
    let rest = bytes.strip_prefix(MAGIC.as_bytes())?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (header, rest) =
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let header: Header<Value> = serde_json::from_slice(header).ok()?;
    let (mut values, []) = rest.as_chunks::<8>() else { return None };
    let mut arrays = Vec::new();
    for (name, length) in header.arrays {
        let (array, others) = values.split_at_checked(length)?;
        arrays.push((name, array.iter().map(|value| f64::from_le_bytes(*value)).collect()));
        values = others;
    }
    let Header { iteration, content, .. } = header;
    values.is_empty().then_some(Checkpoint { iteration, content, arrays })
}

fn write_checked(
    file: &mut impl Write,
    header: &Header<impl Serialize>,
    arrays: &[(&str, &[f64])],
) -> io::Result<()> {
    let mut sum = Hasher::new();
    let mut write = |bytes: &[u8]| {
        sum.update(bytes);
        file.write_all(bytes)
    };
    let header = serde_json::to_vec(header)?;
    write(MAGIC.as_bytes())?;
    write(&(header.len() as u64).to_le_bytes())?;
    write(&header)?;
    for values in arrays.iter().flat_map(|(_, values)| values.chunks(1 << 12)) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        write(&bytes)?;
    }
    file.write_all(&sum.finalize().to_le_bytes())
}
