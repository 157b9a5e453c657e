//! Ranks that are processes which this one starts and looks after.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::launched::{LOCAL_RANK, RANK, RANKS, RENDEZVOUS};

/// Time between checks of the children.
const LOOK: Duration = Duration::from_millis(20);
/// Time that children get to end when asked to.
const PATIENCE: Duration = Duration::from_secs(3);
/// Time to wait for the end of a child's standard error, which a grandchild may keep open.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes of a child's standard error that are kept.
const KEPT: u64 = 1 << 20;

/// A process that ended before its work was done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("rank {rank} was ended by {how}")]
pub struct EndedChild {
    /// Rank of the process.
    pub rank: usize,
    /// Exit status, where the process ended by itself.
    pub status: Option<u8>,
    /// How it ended, for people.
    pub how: String,
    /// Text on its standard error; empty for the first rank, which writes to ours.
    pub said: String,
}

/// Runs `size` processes that share the work, and waits for them. `command` makes the one of a
/// rank, which gets what `Launched` reads; processes meet in a folder of their own. The first one
/// that fails ends all. They are signaled once when `is_interrupted`, and may finish their step.
///
/// The standard input of a process ends when this one does. The first one has our standard output
/// and error, the others are silent.
///
/// # Errors
/// Why a process could not be started.
pub fn supervise(
    size: usize,
    mut command: impl FnMut(usize) -> Command,
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<Result<(), EndedChild>> {
    let folder = tempfile::Builder::new().prefix("topopt-ranks-").tempdir()?;
    let mut children = Children(Vec::with_capacity(size));

    for rank in 0..size {
        let mut command = command(rank);
        for (name, value) in [(RANK, rank), (RANKS, size), (LOCAL_RANK, rank)] {
            command.env(name, value.to_string());
        }
        command.env(RENDEZVOUS, folder.path());
        children.0.push(start(command, rank)?);
    }

    let mut is_signaled = false;
    loop {
        if let Some(ended) = children.look()? {
            return Ok(ended.map_or(Ok(()), Err));
        }
        if !is_signaled && is_interrupted() {
            is_signaled = true;
            children.ask_to_end();
        }
        thread::sleep(LOOK);
    }
}

/// Processes by rank. All that are left are ended with this.
struct Children(Vec<Running>);

struct Running {
    child: Child,
    /// Receives the text of its standard error once that is closed.
    said: Option<Receiver<String>>,
    has_ended: bool,
}

/// Starts the process of a rank, in a group of its own: a terminal then interrupts this process
/// alone, which passes it on once.
fn start(mut command: Command, rank: usize) -> io::Result<Running> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped());
    if rank > 0 {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let said = child.stderr.take().map(|stderr| {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut said = Vec::new();
            let mut stderr = stderr.take(KEPT);
            // What cannot be read was not said.
            let _ = stderr.read_to_end(&mut said);
            let _ = sender.send(String::from_utf8_lossy(&said).into_owned());
            let _ = io::copy(&mut stderr.into_inner(), &mut io::sink());
        });
        receiver
    });
    Ok(Running { child, said, has_ended: false })
}

impl Children {
    /// Polls all children: none while they run well, else the first that failed, if any did.
    fn look(&mut self) -> io::Result<Option<Option<EndedChild>>> {
        for (rank, running) in self.0.iter_mut().enumerate().filter(|(_, child)| !child.has_ended) {
            let Some(status) = running.child.try_wait()? else { continue };
            running.has_ended = true;
            if !status.success() {
                let said = running.said.take().map(|said| said.recv_timeout(LAST_WORDS));
                let said = said.and_then(Result::ok).unwrap_or_default();
                let (status, how) = (status.code().map(|code| code as u8), how(status));
                return Ok(Some(Some(EndedChild { rank, status, how, said })));
            }
        }
        Ok(self.0.iter().all(|child| child.has_ended).then_some(None))
    }

    /// Asks all processes to finish their step and end.
    fn ask_to_end(&mut self) {
        for running in self.0.iter_mut().filter(|child| !child.has_ended) {
            ask_to_end(&mut running.child);
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.ask_to_end();
        let asked = Instant::now();
        for running in self.0.iter_mut().filter(|child| !child.has_ended) {
            while matches!(running.child.try_wait(), Ok(None)) && asked.elapsed() < PATIENCE {
                thread::sleep(LOOK);
            }
            // It may just have ended by itself.
            let _ = running.child.kill().and_then(|()| running.child.wait());
        }
    }
}

fn ask_to_end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    #[cfg(not(unix))]
    let _ = child.kill();
}

/// How a process ended, for people.
fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    format!("exit status {}", status.code().unwrap_or(1))
}

#[cfg(all(test, unix))]
mod tests;
