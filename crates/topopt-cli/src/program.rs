//! The process around a command: memory settings, signals, exit status, standard error.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use topopt_case::interrupt::Interrupt;
use topopt_study::failure::Failure;

use crate::connection;
use crate::render::{Drawing, render};

/// Exit status of a program that has panicked.
const PANICKED: u8 = 101;

/// Exit status of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Environment variable from which the C library takes settings.
#[cfg(target_os = "linux")]
const TUNABLES: &str = "GLIBC_TUNABLES";

/// Setting of the C library: ask for huge pages. With 16 million elements and 16 cores the steps
/// before the first iteration took 11 s in place of 16.
#[cfg(target_os = "linux")]
const HUGE_PAGES: &str = "glibc.malloc.hugetlb=1";

/// Setting for a limited address space: ask for huge pages, but keep no arena for each thread, which would
/// take what was counted for something else: a report of 2000 elements needs 154 MB in place of 400.
#[cfg(target_os = "linux")]
const LIMITED: &str = "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1";

/// Makes a panic of any thread say that it is a bug, and end the program. Programs are built such
/// that panics are not caught, which makes them a sixth smaller.
pub fn end_at_panics() {
    std::panic::set_hook(Box::new(|panic| {
        say(&format!("topopt: this is a bug: {panic}\n"));
        connection::abort(PANICKED);
        end(PANICKED);
    }));
}

/// Restarts the program with memory settings of the C library, which it reads from the environment
/// alone. Continues without a restart where that fails or the user has settings of their own.
pub fn begin_with_memory_settings() {
    #[cfg(target_os = "linux")]
    if std::env::var_os(TUNABLES).is_none() {
        use std::os::unix::process::CommandExt;

        use topopt_case::free_memory;

        let mut args = std::env::args_os();
        if let (Some(name), Some(program)) = (args.next(), this_program()) {
            let mut again = std::process::Command::new(program);
            let settings = if free_memory::is_limited() { LIMITED } else { HUGE_PAGES };
            let _ = again.arg0(name).args(args).env(TUNABLES, settings).exec();
        }
    }
}

/// Path by which this program starts again: as it was started, where that is a path, since a Python
/// finds its packages by it.
pub fn this_program() -> Option<PathBuf> {
    let named = std::env::args_os().next().map(PathBuf::from);
    let is_path = |named: &PathBuf| named.components().count() > 1 && named.is_file();
    named.filter(is_path).or_else(|| std::env::current_exe().ok())
}

/// Does `work`, says why it fails, if it does, and returns the exit status.
pub fn status(work: impl FnOnce() -> Result<(), Failure>) -> u8 {
    match work() {
        Ok(()) => 0,
        Err(failure) => tell(&failure),
    }
}

/// Reports why the program ends, and returns its exit status.
pub fn tell(failure: &Failure) -> u8 {
    if let Failure::Rank(ended) = failure {
        say(&ended.said);
    }
    let drawing = if std::io::stderr().is_terminal() { Drawing::Terminal } else { Drawing::Plain };
    say(&render(&failure.findings(), drawing));
    failure.exit_status()
}

/// Listens to signals from here on, and says so to the user if it `answers`. A file that outgrows
/// the limit of the shell is an error of the write, not the end of the program.
pub fn handle_signals(interrupt: &'static Interrupt, answers: bool) {
    if let Err(error) = ctrlc::set_handler(move || interrupted(interrupt, answers)) {
        say(&format!("topopt: cannot handle interruptions: {error}\n"));
    }
    #[cfg(unix)]
    if let Err(error) =
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default())
    {
        say(&format!("topopt: cannot handle the file size limit: {error}\n"));
    }
}

/// Ends the program at a signal, at once if nothing has to be finished first.
fn interrupted(interrupt: &Interrupt, answers: bool) {
    let ends = interrupt.signal();
    if answers {
        say(match ends {
            true => "topopt: interrupted\n",
            false => {
                "topopt: interrupted; finishing the current step first. Interrupt again to end at once\n"
            }
        });
    }
    if ends {
        end(INTERRUPTED);
    }
}

/// Ends the program with that exit status, without leaving files under way.
pub fn end(status: u8) -> ! {
    topopt_io::atomic::abandon();
    std::process::exit(status.into());
}

/// Writes to standard error, where somebody may read it.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
