//! How processes that share files find each other before they can send messages.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use topopt_io::atomic::{self, WriteError};

use topopt_case::finding::Finding;

use crate::computer::GroupName;

/// Time between checks for the file.
const LOOK: Duration = Duration::from_millis(20);
/// Time after which a process gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A file in which the first process leaves the name of the group of all.
#[derive(Debug)]
pub(super) struct Rendezvous(PathBuf);

impl Rendezvous {
    /// In a folder that is there for these processes only.
    pub fn in_folder(folder: &Path) -> Self {
        Self(folder.join("group"))
    }

    /// Beside the folder of the results, by the name of the job.
    pub fn of_job(results: &Path, job: &str) -> Self {
        let folder = results.parent().unwrap_or(Path::new(""));
        let name = results.file_name().unwrap_or_default().to_string_lossy();
        Self(folder.join(format!(".{name}-ranks-{job}")))
    }

    /// Leaves the name of the group for the others.
    pub fn leave(&self, id: &GroupName) -> Result<(), WriteError> {
        atomic::write(&self.0, |file| file.write_all(id))
    }

    /// The name of the group, as soon as the first process has left it.
    ///
    /// # Errors
    /// A finding if it does not within `patience`.
    pub fn find(&self, patience: Duration) -> Result<GroupName, Finding> {
        let start = Instant::now();
        loop {
            // It appears whole or not at all.
            if let Some(id) = fs::read(&self.0).ok().and_then(|bytes| bytes.try_into().ok()) {
                return Ok(id);
            }
            if start.elapsed() > patience {
                let (file, seconds) = (self.0.display(), patience.as_secs());
                let finding =
                    Finding::new(format!("rank 0 has not left {file} within {seconds} s"));
                let remedy = "all ranks need the same file system, and start at the same time";
                return Err(finding.remedy(remedy));
            }
            thread::sleep(LOOK);
        }
    }

    /// Takes the file away, once all processes have read it.
    pub fn remove(&self) {
        // Where it is gone already, or has to stay, nothing is lost.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_process_leaves_the_others_find() {
        let folder = tempfile::tempdir().unwrap();
        let meeting = Rendezvous::in_folder(folder.path());
        let id = std::array::from_fn(|i| i as u8);
        thread::scope(|scope| {
            let other = scope.spawn(|| meeting.find(PATIENCE).unwrap());
            meeting.leave(&id).unwrap();
            assert_eq!(other.join().unwrap(), id);
        });
        meeting.remove();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn who_waits_in_vain_says_for_what() {
        let meeting = Rendezvous::of_job(Path::new("no/such/out"), "77-0");
        let finding = meeting.find(Duration::ZERO).unwrap_err();
        assert_eq!(finding.message, "rank 0 has not left no/such/.out-ranks-77-0 within 0 s");
    }
}
