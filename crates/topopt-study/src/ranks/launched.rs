//! `Launched`: the rank of this process, as its launcher sets it in the environment.

use std::ffi::OsString;
use std::path::PathBuf;

use topopt_case::finding::Finding;

/// One of several processes that a launcher has started to compute one run together.
#[derive(Debug, Clone, PartialEq)]
pub struct Launched {
    /// Number of this process, from 0.
    pub rank: usize,
    /// Number of processes, at least 2.
    pub size: usize,
    /// Number among those of this host, where that is known.
    pub local_rank: Option<usize>,
    /// Number of processes on this host, where it is known.
    pub local_size: Option<usize>,
    /// Program that has started the processes.
    pub launcher: Launcher,
    /// Unique name of this launch, for files that its processes share; none if the launcher gives
    /// none.
    pub job: Option<String>,
}

/// Program that starts processes, and how they find each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Launcher {
    /// `topopt run --ranks` itself; its processes meet in this folder.
    Topopt(PathBuf),
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpiexec` of MPICH and of those who follow it.
    Pmi,
    /// `srun`.
    Slurm,
}

/// The variables of a launcher.
struct Variables {
    size: &'static str,
    rank: &'static str,
    local_rank: &'static str,
    local_size: Option<&'static str>,
    /// Together they name the job.
    job: &'static [&'static str],
}

/// Environment variables that `topopt run --ranks` sets for its processes.
pub(super) const RANK: &str = "TOPOPT_RANK";
pub(super) const RANKS: &str = "TOPOPT_RANKS";
pub(super) const LOCAL_RANK: &str = "TOPOPT_LOCAL_RANK";
pub(super) const RENDEZVOUS: &str = "TOPOPT_RENDEZVOUS";

const TOPOPT: Variables = Variables {
    size: RANKS,
    rank: RANK,
    local_rank: LOCAL_RANK,
    local_size: Some(RANKS),
    job: &[],
};
const OPEN_MPI: Variables = Variables {
    size: "OMPI_COMM_WORLD_SIZE",
    rank: "OMPI_COMM_WORLD_RANK",
    local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
    local_size: Some("OMPI_COMM_WORLD_LOCAL_SIZE"),
    job: &["PMIX_NAMESPACE"],
};
const PMI: Variables = Variables {
    size: "PMI_SIZE",
    rank: "PMI_RANK",
    local_rank: "MPI_LOCALRANKID",
    local_size: Some("MPI_LOCALNRANKS"),
    job: &[],
};
/// `SLURM_NTASKS` is set in a batch script as well, which is one process.
const SLURM: Variables = Variables {
    size: "SLURM_STEP_NUM_TASKS",
    rank: "SLURM_PROCID",
    local_rank: "SLURM_LOCALID",
    local_size: None,
    job: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
};

impl Launched {
    /// Reads the rank of this process from environment variables, by `lookup`; none for a single
    /// process. Launchers may be nested: the innermost one counts.
    ///
    /// # Errors
    /// A finding with the name of a variable that makes no sense.
    pub fn find(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Option<Self>, Finding> {
        let launchers = [(&TOPOPT, None), (&OPEN_MPI, Some(Launcher::OpenMpi))];
        let launchers = launchers
            .into_iter()
            .chain([(&PMI, Some(Launcher::Pmi)), (&SLURM, Some(Launcher::Slurm))]);

        for (variables, launcher) in launchers {
            let Some(size) = number(&lookup, variables.size)? else { continue };
            let rank = needed(number(&lookup, variables.rank)?, variables.rank, variables.size)?;
            if rank >= size {
                return Err(out_of_range(variables.rank, rank, variables.size, size));
            }
            if size == 1 {
                return Ok(None);
            }

            let local_rank = number(&lookup, variables.local_rank)?;
            if let Some(local) = local_rank.filter(|local| *local >= size) {
                return Err(out_of_range(variables.local_rank, local, variables.size, size));
            }

            let local_size = variables.local_size.map(|name| number(&lookup, name)).transpose()?;
            let launcher = match launcher {
                Some(launcher) => launcher,
                None => {
                    Launcher::Topopt(needed(lookup(RENDEZVOUS), RENDEZVOUS, variables.size)?.into())
                }
            };

            let job = job(&lookup, variables.job);
            let local_size = local_size.flatten();
            return Ok(Some(Self { rank, size, local_rank, local_size, launcher, job }));
        }
        Ok(None)
    }

    /// The variable by which the launcher says how many ranks there are.
    pub fn size_variable(&self) -> &'static str {
        match self.launcher {
            Launcher::Topopt(_) => TOPOPT.size,
            Launcher::OpenMpi => OPEN_MPI.size,
            Launcher::Pmi => PMI.size,
            Launcher::Slurm => SLURM.size,
        }
    }
}

/// The number in a variable, where it is set.
fn number(
    lookup: &impl Fn(&str) -> Option<OsString>,
    name: &str,
) -> Result<Option<usize>, Finding> {
    let Some(text) = lookup(name) else { return Ok(None) };
    let is_size = ["SIZE", "TASKS", "RANKS"].iter().any(|end| name.ends_with(end));
    let value = text.to_str().and_then(|text| text.trim().parse().ok());
    match value.filter(|value| !(is_size && *value == 0)) {
        Some(value) => Ok(Some(value)),
        None => {
            let text = text.to_string_lossy();
            let what = if is_size { "no number of ranks" } else { "no number of a rank" };
            Err(nonsense(format!("the variable {name} is `{text}`, which is {what}"), name))
        }
    }
}

/// Joins the values of the variables `names`, in letters that a file name may have.
fn job(lookup: &impl Fn(&str) -> Option<OsString>, names: &[&str]) -> Option<String> {
    let values: Option<Vec<_>> = names.iter().map(|name| lookup(name)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    let plain = |value: &OsString| -> String {
        let text = value.to_string_lossy();
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    };
    Some(values.iter().map(plain).collect::<Vec<_>>().join("-"))
}

fn needed<T>(value: Option<T>, name: &str, size: &str) -> Result<T, Finding> {
    value.ok_or_else(|| nonsense(format!("the variable {size} is set, but not {name}"), size))
}

fn out_of_range(name: &str, value: usize, size_name: &str, size: usize) -> Finding {
    nonsense(format!("the variable {name} is {value}, but {size_name} only {size}"), name)
}

fn nonsense(message: String, name: &str) -> Finding {
    let remedy = format!("unset {name} where no launcher such as mpirun or srun has set it");
    Finding::new(message).remedy(remedy)
}

#[cfg(test)]
mod tests;
