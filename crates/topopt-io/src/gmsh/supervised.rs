//! A temporary folder and programs in it that end with this one, with all that they have started.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use tempfile::TempDir;

/// A temporary folder in which programs run, each in a group of its own. On Unix a watcher ends the
/// group and removes the folder when this program is gone, by whatever signal: that of a terminal
/// or a batch system reaches us alone, and a second one, or one that cannot be handled, leaves no
/// time to end what was started.
pub(super) struct Workplace {
    // Goes first: nothing is left where this program is ended between the two.
    folder: TempDir,
    watcher: Watcher,
}

impl Workplace {
    /// Makes a folder, watched where there is a shell.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir()?;
        let watcher = Watcher::of(folder.path());
        Ok(Self { folder, watcher })
    }

    /// Folder of the programs.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a program, one at a time.
    ///
    /// # Errors
    /// A program that cannot be started.
    pub fn spawn(&self, mut command: Command) -> io::Result<Supervised<'_>> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        self.watcher.watch(&child.id().to_string());
        Ok(Supervised { child, watcher: &self.watcher })
    }
}

/// A program that runs in a [`Workplace`].
pub(super) struct Supervised<'a> {
    child: Child,
    watcher: &'a Watcher,
}

impl Supervised<'_> {
    /// How the program has ended, if it has.
    ///
    /// # Errors
    /// The operating system's.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Ends the program, and on Unix what it has started. It may just have ended by itself, which
    /// is no error, and what it has started may still be there.
    pub fn end(&mut self) {
        #[cfg(unix)]
        if let Some(group) =
            i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

impl Drop for Supervised<'_> {
    /// The system may give the number of the group to another one from here on.
    fn drop(&mut self) {
        self.watcher.watch("");
    }
}

/// A shell that waits for the end of this program.
struct Watcher(#[cfg(unix)] Option<Child>);

#[cfg(unix)]
impl Watcher {
    /// Reads groups until the pipe ends that this program holds, then ends the last one, and
    /// removes the folder.
    const SCRIPT: &str = "while read -r line; do group=$line; done
        [ -z \"$group\" ] || kill -KILL -\"$group\"; rm -rf -- \"$1\"";

    fn of(folder: &Path) -> Self {
        use std::os::unix::process::CommandExt;
        use std::process::Stdio;

        let mut watch = Command::new("/bin/sh");
        watch.args(["-c", Self::SCRIPT, "sh"]).arg(folder).process_group(0);
        watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(watch.spawn().ok())
    }

    /// Sends a process group, or that there is none; a watcher that has ended watches nothing.
    fn watch(&self, group: &str) {
        use std::io::Write;

        let pipe = self.0.as_ref().and_then(|watcher| watcher.stdin.as_ref());
        let _ = pipe.map(|mut pipe| writeln!(pipe, "{group}"));
    }
}

#[cfg(unix)]
impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.0.as_mut().map(|watcher| watcher.kill().and_then(|()| watcher.wait()));
    }
}

#[cfg(not(unix))]
impl Watcher {
    fn of(_: &Path) -> Self {
        Self()
    }

    fn watch(&self, _: &str) {}
}
