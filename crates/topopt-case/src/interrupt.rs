//! How a signal ends the program.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Request to end the program, and whether the work under way listens to it.
#[derive(Debug, Default)]
pub struct Interrupt {
    requested: AtomicBool,
    listeners: AtomicUsize,
}

/// Guard of work that responds to an interruption itself and finishes something first.
#[derive(Debug)]
pub struct Listening<'a>(&'a Interrupt);

impl Interrupt {
    /// None so far.
    pub const fn new() -> Self {
        Self { requested: AtomicBool::new(false), listeners: AtomicUsize::new(0) }
    }

    /// Takes a signal. Returns whether the program has to end at once: nobody listens, or this is
    /// the second one.
    pub fn signal(&self) -> bool {
        self.requested.swap(true, Ordering::SeqCst) || self.listeners.load(Ordering::SeqCst) == 0
    }

    /// Whether there was a signal.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// Set by the first signal.
    pub fn flag(&self) -> &AtomicBool {
        &self.requested
    }

    /// Returns a guard; as long as it lives, a first signal does not end the program at once.
    pub fn listen(&self) -> Listening<'_> {
        self.listeners.fetch_add(1, Ordering::SeqCst);
        Listening(self)
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.listeners.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_signal_waits_only_for_who_listens() {
        let interrupt = Interrupt::new();
        let listening = interrupt.listen();
        assert!(!interrupt.signal() && interrupt.is_requested());
        assert!(interrupt.signal(), "the second one ends at once");
        drop(listening);
        assert!(Interrupt::new().signal(), "nobody listens");
    }
}
