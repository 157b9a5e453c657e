//! Connection of this process with others that a launcher has started, where the program has MPI.

#[cfg(feature = "mpi")]
mod mpi;

use topopt_case::finding::Finding;
use topopt_study::ranks::Connection;
use topopt_study::ranks::launched::{Launched, Launcher};

/// Connects this process with the others. Those that this program has started itself have a GPU
/// each and need no connection.
pub(crate) fn join(launched: &Launched) -> Result<Option<Box<dyn Connection>>, Finding> {
    match launched.launcher {
        Launcher::Topopt(_) => Ok(None),
        #[cfg(feature = "mpi")]
        _ => Ok(Some(Box::new(mpi::Mpi::join(launched)?))),
        #[cfg(not(feature = "mpi"))]
        _ => Ok(None),
    }
}

/// Ends this process, which has failed and reported why, and those connected with it.
pub fn abort(status: u8) {
    #[cfg(feature = "mpi")]
    mpi::abort(status);
    #[cfg(not(feature = "mpi"))]
    let _ = status;
}
