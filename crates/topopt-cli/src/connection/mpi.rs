//! Ranks that are processes and reach each other by MPI.

use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mpi::datatype::PartitionMut;
use mpi::environment::{Threading, Universe, initialize_with_threading};
use mpi::request::{WaitGuard, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives, Destination, Root, Source};
use topopt_case::finding::Finding;
use topopt_linalg::{BackendError, Communicator, Parcel};
use topopt_study::ranks::Connection;
use topopt_study::ranks::launched::Launched;

/// Most numbers that a collective call gathers at once: MPI counts in 32 bits, and memory is for
/// better things.
const AT_ONCE: usize = 1 << 22;

/// Time between checks of a rank that waits for the others.
const LOOK: Duration = Duration::from_millis(5);

/// This process as one of those that `mpirun` or `srun` has started.
///
/// A rank that cannot continue ends all: [`Communicator::fail`] and [`abort`] do not return.
pub(super) struct Mpi {
    rank: usize,
    size: usize,
    /// MPI ends when this is dropped, which waits for all ranks: [`Connection::leave`] alone does so.
    universe: ManuallyDrop<Universe>,
    /// Calls come from any thread, one at a time.
    turn: Mutex<()>,
}

impl Mpi {
    /// Joins the ranks that `launched` speaks of.
    ///
    /// # Errors
    /// A finding if MPI knows of others, or allows no threads.
    pub fn join(launched: &Launched) -> Result<Self, Finding> {
        let Some((universe, threading)) = initialize_with_threading(Threading::Serialized) else {
            return Err(Finding::new("MPI has been started before in this process"));
        };
        let universe = ManuallyDrop::new(universe);
        if threading < Threading::Serialized {
            let finding = Finding::new("this MPI cannot be called from several threads");
            return Err(finding.remedy("use an MPI with MPI_THREAD_SERIALIZED"));
        }
        let world = SimpleCommunicator::world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        if (rank, size) != (launched.rank, launched.size) {
            let (variable, launched) = (launched.size_variable(), launched.size);
            let message = format!("{variable} says {launched} processes, but MPI knows of {size}");
            let finding = Finding::new(message);
            let remedy = "start with the launcher of the MPI that this program was built with; \
                          with srun perhaps by --mpi=pmix";
            return Err(finding.remedy(remedy));
        }
        Ok(Self { rank, size, universe, turn: Mutex::new(()) })
    }

    /// All ranks, as long as it is this thread's turn.
    fn world(&self) -> (SimpleCommunicator, MutexGuard<'_, ()>) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        (SimpleCommunicator::world(), turn)
    }

    /// Combines the values of all ranks in their order.
    fn combine(&self, values: &mut [f64], combined: impl Fn(f64, f64) -> f64) {
        let (world, _turn) = self.world();
        for values in values.chunks_mut((AT_ONCE / self.size).max(1)) {
            let mut all = vec![0.0; values.len() * self.size];
            world.all_gather_into(&*values, &mut all[..]);
            let (first, others) = all.split_at(values.len());
            values.copy_from_slice(first);
            for of_rank in others.chunks(first.len()) {
                values.iter_mut().zip(of_rank).for_each(|(a, b)| *a = combined(*a, *b));
            }
        }
    }
}

/// Ends all ranks at once, where MPI has been started and not ended.
pub(super) fn abort(status: u8) {
    if mpi::environment::is_initialized() && !mpi::environment::is_finalized() {
        SimpleCommunicator::world().abort(status.into());
    }
}

impl Connection for Mpi {
    fn broadcast(&self, bytes: &mut [u8]) {
        let (world, _turn) = self.world();
        world.process_at_rank(0).broadcast_into(bytes);
    }

    fn leave(self: Box<Self>) {
        drop(ManuallyDrop::into_inner(self.universe));
    }
}

impl Communicator for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn sum(&self, values: &mut [f64]) {
        self.combine(values, |a, b| a + b);
    }

    fn max(&self, values: &mut [f64]) {
        self.combine(values, f64::max);
    }

    fn exchange(&self, parcels: &mut [Parcel]) {
        let (world, _turn) = self.world();
        scope(|scope| {
            let mut guards = Vec::with_capacity(2 * parcels.len());
            for Parcel { rank, sent, received } in parcels {
                let other = world.process_at_rank(*rank as i32);
                if !received.is_empty() {
                    let request = other.immediate_receive_into(scope, &mut received[..]);
                    guards.push(WaitGuard::from(request));
                }
                if !sent.is_empty() {
                    guards.push(WaitGuard::from(other.immediate_send(scope, &sent[..])));
                }
            }
            // Each waits where it is dropped.
        });
    }

    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]) {
        let (world, _turn) = self.world();
        let at_once = (AT_ONCE / self.size).max(1);
        let most = counts.iter().copied().max().unwrap_or(0);
        for start in (0..most).step_by(at_once) {
            let share = |count: usize| start.min(count)..(start + at_once).min(count);
            let lengths: Vec<i32> = counts.iter().map(|&n| share(n).len() as i32).collect();
            let mut firsts = vec![0; lengths.len()];
            for rank in 1..lengths.len() {
                firsts[rank] = firsts[rank - 1] + lengths[rank - 1];
            }
            let mut gathered = vec![0.0; lengths.iter().sum::<i32>() as usize];
            let mut places = PartitionMut::new(&mut gathered[..], &lengths[..], &firsts[..]);
            world.all_gather_varcount_into(&own[share(own.len())], &mut places);

            let (mut gathered, mut before) = (&gathered[..], 0);
            for &count in counts {
                let share = share(count);
                let (values, others) = gathered.split_at(share.len());
                all[before + share.start..before + share.end].copy_from_slice(values);
                (gathered, before) = (others, before + count);
            }
        }
    }

    /// A rank that calls MPI to wait keeps a processor busy.
    fn meet(&self) {
        let (world, _turn) = self.world();
        let mut barrier = world.immediate_barrier();
        while let Err(request) = barrier.test() {
            barrier = request;
            std::thread::sleep(LOOK);
        }
    }

    /// Ends all ranks by MPI, and does not return; the caller has reported the reason.
    fn fail(&self, _: &str) {
        abort(2);
    }

    /// Returns success: a rank that fails ends this one.
    fn check(&self) -> Result<(), BackendError> {
        Ok(())
    }
}
