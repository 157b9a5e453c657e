//! `Team`: the ranks of a run, as threads of this process or as several processes.

pub mod children;
pub mod launched;
mod rendezvous;

use std::num::NonZeroUsize;
use std::path::Path;

use topopt_case::config;
use topopt_case::finding::{Finding, InputError};
use topopt_linalg::Communicator;

use crate::computer::{Gpu, Group, GroupName};
use crate::failure::Failure;
use launched::{Launched, Launcher};
use rendezvous::{PATIENCE, Rendezvous};

/// Ranks that compute one run.
pub enum Team {
    /// So many ranks, each a thread of this process.
    Threads(NonZeroUsize),
    /// Ranks that are processes, this one included.
    Processes(Process),
}

/// One of several processes that compute a run together.
pub struct Process {
    launched: Launched,
    connection: Option<Box<dyn Connection>>,
}

/// Connection of the processes that a launcher has started.
pub trait Connection: Communicator {
    /// Broadcasts the bytes of rank 0 to all ranks.
    fn broadcast(&self, bytes: &mut [u8]);

    /// Ends the connection, when all ranks have come so far.
    fn leave(self: Box<Self>);
}

/// The most ranks of one process. They are threads with a part each, which wait for each other at
/// every product: with more of them than processors a run only takes longer, 128 elements 0.05 s on
/// one rank, 6 s on 100 and half a minute on 400.
const MOST_RANKS: usize = 256;

impl Team {
    /// So many ranks of this process.
    ///
    /// # Errors
    /// A finding if they are more than a process has use for.
    pub fn of_threads(ranks: NonZeroUsize) -> Result<Self, Finding> {
        if ranks.get() <= MOST_RANKS {
            return Ok(Self::Threads(ranks));
        }
        let message = format!("`--ranks {ranks}`: a process has at most {MOST_RANKS} ranks");
        Err(Finding::new(message).remedy(
            "give as many as there are processors; more computers take part as processes that mpirun or \
             srun starts",
        ))
    }

    /// Processes that a launcher has started, with what connects this one with the others, if anything does.
    pub fn of_processes(launched: &Launched, connection: Option<Box<dyn Connection>>) -> Self {
        Self::Processes(Process { launched: launched.clone(), connection })
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        match self {
            Team::Threads(n) => n.get(),
            Team::Processes(process) => process.size(),
        }
    }

    /// Whether the ranks can reach each other on such a device.
    ///
    /// # Errors
    /// A finding if they cannot.
    pub fn check(&self, device: config::Device) -> Result<(), Finding> {
        match (self, device) {
            (Team::Processes(process), config::Device::Cpu | config::Device::Auto) => {
                process.communicator().map(drop)
            }
            _ => Ok(()),
        }
    }

    /// The threads of this process where so many are asked for: processes share those of their host.
    pub fn threads(&self, asked: Option<usize>) -> Option<usize> {
        let Team::Processes(Process { launched, .. }) = self else { return asked };
        let here = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        asked.or_else(|| launched.local_size.map(|size| (here / size).max(1)))
    }

    /// Closes the connection with the other ranks if they have `ended` too. Otherwise it stays
    /// open: this process has yet to report its failure, and to end the others.
    ///
    /// # Errors
    /// Those of `ended`.
    pub fn leave(self, ended: Result<(), Failure>) -> Result<(), Failure> {
        if let Team::Processes(Process { connection: Some(connection), .. }) = self
            && ended.as_ref().err().is_none_or(Failure::is_of_all_ranks)
        {
            connection.leave();
        }
        ended
    }
}

impl Process {
    /// Number of this process.
    pub fn rank(&self) -> usize {
        self.launched.rank
    }

    /// Number of processes.
    pub fn size(&self) -> usize {
        self.launched.size
    }

    /// Number of processes on this host; 1 if unknown.
    pub fn of_host(&self) -> usize {
        self.launched.local_size.unwrap_or(1)
    }

    /// How the processes reach each other from their hosts.
    ///
    /// # Errors
    /// A finding without MPI.
    pub fn communicator(&self) -> Result<&dyn Communicator, Finding> {
        let connection = self.connection.as_deref().ok_or_else(|| self.without_mpi())?;
        Ok(connection)
    }

    fn without_mpi(&self) -> Finding {
        let Launched { size, .. } = self.launched;
        let finding = Finding::new(format!(
            "{} says that this is one of {size} processes, which need MPI to compute together",
            self.launched.size_variable()
        ));
        finding.remedy(
            "build the program with `--features mpi`, or start it once, with `--ranks N` for ranks in \
             one process",
        )
    }

    /// The GPU of this process, where those of its host begin with number `first`.
    ///
    /// # Errors
    /// A finding if the launcher does not say which process of its host this is.
    pub fn gpu(&self, first: usize) -> Result<usize, Finding> {
        // SLURM may show each process its own GPU alone.
        let is_alone = Gpu::count() == 1;
        if self.launched.launcher == Launcher::Slurm && is_alone {
            return Ok(0);
        }
        let local = self.launched.local_rank.ok_or_else(|| {
            let message = "the launcher does not say which processes share a host, and so not which \
                           GPU is whose";
            Finding::new(message).remedy("start with mpirun of Open MPI, or with srun")
        });
        Ok(first + local?)
    }

    /// Joins all processes in a group by NCCL, and waits for them. `results` is the folder of the
    /// results, beside which they leave a file where nothing else connects them.
    ///
    /// # Errors
    /// [`Failure`] if there is no NCCL, or the first process is not heard of.
    pub(crate) fn joined(&self, gpu: &Gpu, results: &Path) -> Result<Group, Failure> {
        let name = self.group(gpu, results)?;
        let group = gpu.join(&name, self.rank(), self.size());

        // All have read the file of the name.
        if self.rank() == 0
            && let Ok(meeting) = self.rendezvous(results)
        {
            meeting.remove();
        }
        Ok(group?)
    }

    /// The name of the group.
    fn group(&self, gpu: &Gpu, results: &Path) -> Result<GroupName, Failure> {
        if let Some(connection) = &self.connection {
            let mut id = if self.rank() == 0 { gpu.name_group()? } else { [0; 128] };
            connection.broadcast(&mut id);
            return Ok(id);
        }
        let meeting = self.rendezvous(results).map_err(InputError::from)?;
        if self.rank() == 0 {
            let id = gpu.name_group()?;
            meeting.leave(&id)?;
            return Ok(id);
        }
        Ok(meeting.find(PATIENCE).map_err(InputError::from)?)
    }

    fn rendezvous(&self, results: &Path) -> Result<Rendezvous, Finding> {
        match (&self.launched.launcher, &self.launched.job) {
            (Launcher::Topopt(folder), _) => Ok(Rendezvous::in_folder(folder)),
            (_, Some(job)) => Ok(Rendezvous::of_job(results, job)),
            (_, None) => Err(self.without_mpi()),
        }
    }
}
