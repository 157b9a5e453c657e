//! A program that ends with this one, with all that it has started.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// A program in a group of its own. On Unix a watcher ends the group when this program is gone, by
/// whatever signal: that of a terminal or a batch system reaches us alone, and a second one, or one
/// that cannot be handled, leaves no time to end what was started.
pub(super) struct Supervised {
    child: Child,
    #[cfg(unix)]
    watcher: Option<Child>,
}

/// Waits until the pipe ends that this program holds, then ends the group and removes the folder.
#[cfg(unix)]
const WATCH: &str = "read -r group; read -r end; kill -KILL -\"$group\"; rm -rf -- \"$1\"";

impl Supervised {
    /// Starts a program that works in a temporary `folder`, which goes with it where this program
    /// is ended. Where there is no shell nothing watches.
    ///
    /// # Errors
    /// A program that cannot be started.
    #[cfg(unix)]
    pub fn spawn(mut command: Command, folder: &Path) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        use std::process::Stdio;

        let mut watch = Command::new("/bin/sh");
        watch.args(["-c", WATCH, "sh"]).arg(folder).process_group(0);
        watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Before the program, so that nothing is left where this one is ended between the two.
        let watcher = watch.spawn().ok();
        let child = command.process_group(0).spawn();
        let mut supervised = match child {
            Ok(child) => Self { child, watcher },
            Err(cause) => {
                watcher.into_iter().for_each(end_watcher);
                return Err(cause);
            }
        };
        supervised.tell_watcher();
        Ok(supervised)
    }

    /// Starts a program.
    ///
    /// # Errors
    /// A program that cannot be started.
    #[cfg(not(unix))]
    pub fn spawn(mut command: Command, _: &Path) -> io::Result<Self> {
        Ok(Self { child: command.spawn()? })
    }

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

    /// Sends the process group to the watcher; a watcher that has ended watches nothing.
    #[cfg(unix)]
    fn tell_watcher(&mut self) {
        use std::io::Write;

        let pipe = self.watcher.as_mut().and_then(|watcher| watcher.stdin.as_mut());
        let written = pipe.map(|pipe| writeln!(pipe, "{}", self.child.id()));
        if !matches!(written, Some(Ok(()))) {
            self.watcher.take().into_iter().for_each(end_watcher);
        }
    }
}

#[cfg(unix)]
impl Drop for Supervised {
    fn drop(&mut self) {
        self.watcher.take().into_iter().for_each(end_watcher);
    }
}

/// Ends a watcher before its pipe does.
#[cfg(unix)]
fn end_watcher(mut watcher: Child) {
    let _ = watcher.kill().and_then(|()| watcher.wait());
}
