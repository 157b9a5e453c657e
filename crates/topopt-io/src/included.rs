//! Files that a deck includes: plain files in the folder of the deck or below it. A deck of a
//! stranger reads nothing else, and does not learn what exists elsewhere.

use std::path::{Component, Path, PathBuf};

/// Why a file is not included.
pub(crate) enum Refusal {
    /// File that is neither in the folder of the deck nor below it.
    Elsewhere,
    /// File that cannot be read, with the operating system's cause.
    Unread(String),
}

/// The folder of a deck.
pub(crate) struct DeckFolder(PathBuf);

impl DeckFolder {
    /// The folder of the deck at `path`.
    pub fn of(path: &Path) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        Self(path.parent().map_or_else(PathBuf::new, Path::to_path_buf))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path, without links, and the bytes of the file `name`, relative to the folder `from`.
    pub fn read(&self, from: &Path, name: &str) -> Result<(PathBuf, Vec<u8>), Refusal> {
        let path = self.find(from, name)?;
        let bytes = std::fs::read(&path).map_err(unread)?;
        Ok((path, bytes))
    }

    /// The path, without links, of the file `name`, relative to the folder `from`.
    pub fn find(&self, from: &Path, name: &str) -> Result<PathBuf, Refusal> {
        // The name alone decides first: the message about a file elsewhere must not depend on
        // whether the file exists.
        if self.leaves(from, name) {
            return Err(Refusal::Elsewhere);
        }
        let path = from.join(name).canonicalize().map_err(unread)?;
        if !path.starts_with(&self.0) {
            return Err(Refusal::Elsewhere);
        }
        // Opening a pipe would wait for whoever writes into it.
        if !path.is_file() {
            return Err(Refusal::Unread("it is not a file".into()));
        }
        Ok(path)
    }

    /// Whether the name of a file, from a folder on, leads out of the folder of the deck.
    fn leaves(&self, from: &Path, name: &str) -> bool {
        let below = from.strip_prefix(&self.0);
        let mut depth = below.map_or(0, |below| below.components().count());
        for part in Path::new(name).components() {
            match part {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir if depth > 0 => depth -= 1,
                _ => return true,
            }
        }
        false
    }
}

fn unread(cause: std::io::Error) -> Refusal {
    Refusal::Unread(cause.to_string())
}
