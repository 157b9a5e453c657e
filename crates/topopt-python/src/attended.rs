//! Work on a thread of its own, while the calling thread answers events and signals.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use topopt_case::interrupt::Interrupt;

/// Time between looks for signals: a person takes it for at once.
const LOOK: Duration = Duration::from_millis(50);
/// Stack of the thread, as large as that of a program.
pub const STACK: usize = 8 << 20;

/// Does `work`, which may send events, and gives each to `answer` on the calling thread. A signal
/// such as Ctrl-C, or an error of an answer, interrupts the work, and is what is raised.
///
/// # Errors
/// The exception of a signal or an answer, and that of a panic.
pub fn attended<T: Send, E: Send>(
    py: Python,
    work: impl FnOnce(Sender<E>, &Interrupt) -> T + Send,
    mut answer: impl FnMut(Python, E) -> PyResult<()> + Send,
) -> PyResult<T> {
    let interrupt = &Interrupt::new();
    let (send, events) = channel();
    py.detach(move || {
        scope(|scope| {
            let thread = Builder::new().stack_size(STACK);
            let thread = thread.spawn_scoped(scope, move || work(send, interrupt))?;
            let mut raised = None;
            loop {
                let looked = match events.recv_timeout(LOOK) {
                    Ok(event) => Python::attach(|py| answer(py, event)),
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = looked {
                    interrupt.signal();
                    raised.get_or_insert(error);
                }
            }
            let done =
                thread.join().map_err(|_| PyRuntimeError::new_err("this is a bug of topopt"))?;
            raised.map_or(Ok(done), Err)
        })
    })
}

/// Answers no events.
///
/// # Errors
/// None.
pub fn none(_: Python, (): ()) -> PyResult<()> {
    Ok(())
}
