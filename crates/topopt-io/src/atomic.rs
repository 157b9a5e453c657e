//! Files that appear whole or not at all.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why: what the operating system says, or what the format cannot hold.
    pub cause: io::Error,
}

impl WriteError {
    pub(crate) fn new(path: &Path, cause: io::Error) -> Self {
        Self { path: path.into(), cause }
    }
}

/// Writes the file `path` by `body`, through a temporary file in the same directory that is
/// flushed, synced and renamed. On an error an older file of that name stays as it was, and
/// nothing else is left behind.
///
/// # Errors
/// [`WriteError`] with the cause.
pub fn write(
    path: &Path,
    body: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), WriteError> {
    write_and_rename(path, body).map_err(|cause| WriteError::new(path, cause))
}

/// Removes from `folder`, if there is one, what a program that was killed has left of files under
/// way.
///
/// # Errors
/// The operating system's.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(SUFFIX) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn write_and_rename(
    path: &Path,
    body: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    // A rename would put a file in place of a device.
    if fs::symlink_metadata(path).is_ok_and(|there| is_special(there.file_type())) {
        return Err(io::Error::other("it is a device or a pipe, and no file"));
    }
    let temporary = Temporary::beside(path)?;
    let file = File::options().read(true).write(true).create_new(true).open(&temporary.0)?;
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    body(&mut writer)?;
    writer.flush()?;
    writer.get_ref().sync_all()?;
    drop(writer);
    fs::rename(&temporary.0, path)
}

fn is_special(kind: fs::FileType) -> bool {
    !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
}

/// Removes the files under way, for a program that ends at once. Whoever begins another one waits
/// for ever.
pub fn abandon() {
    let under_way = UNDER_WAY.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    under_way.iter().for_each(|path| drop(fs::remove_file(path)));
    std::mem::forget(under_way);
}

/// Temporary files of this program.
static UNDER_WAY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes the file when dropped; after a rename there is none.
struct Temporary(PathBuf);

impl Temporary {
    fn beside(path: &Path) -> io::Result<Self> {
        let temporary = temporary_path(path)?;
        UNDER_WAY.lock().unwrap_or_else(|p| p.into_inner()).insert(temporary.clone());
        Ok(Self(temporary))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        UNDER_WAY.lock().unwrap_or_else(|p| p.into_inner()).remove(&self.0);
    }
}

/// End of the names of temporary files.
const SUFFIX: &str = ".topopt-part";

/// `.NAME.PROCESS-COUNT.topopt-part` beside `path`.
fn temporary_path(path: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::Error::other("the path does not name a file"));
    };
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    temporary.push(format!(".{}-{count}{SUFFIX}", std::process::id()));
    Ok(path.with_file_name(temporary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_a_file_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("design.vtu");
        for text in ["one", "two"] {
            write(&path, |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_error_keeps_the_old_file_and_names_the_new_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("design.vtu");
        fs::write(&path, "old").unwrap();
        let error = write(&path, |file| {
            file.write_all(b"half of the")?;
            Err(io::Error::from_raw_os_error(28))
        })
        .unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("cannot write "), "{message}");
        assert!(message.contains("design.vtu: No space left on device"), "{message}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn leftovers_are_removed_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("design.vtu");
        let names = [temporary_path(&path).unwrap(), path.with_file_name(".mine.part"), path];
        names.iter().for_each(|name| fs::write(name, "half").unwrap());
        remove_leftovers(directory.path()).unwrap();
        assert_eq!(names.map(|name| name.exists()), [false, true, true]);
        remove_leftovers(&directory.path().join("none")).unwrap();
    }

    #[test]
    fn a_missing_directory_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = write(&directory.path().join("none/design.vtu"), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("none/design.vtu: No such file"), "{error}");
    }
}
