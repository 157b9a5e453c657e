//! The threads that a study computes with.

use rayon::{ThreadPool, ThreadPoolBuilder};

use topopt_case::finding::{Finding, InputError};

/// So many threads; all of the machine's if no number is given.
///
/// # Errors
/// A finding if they cannot be started.
pub fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, InputError> {
    ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().map_err(|error| {
        let finding = Finding::new(format!("cannot start the threads: {error}"));
        finding.remedy("give a smaller number to `solver.threads`").into()
    })
}
