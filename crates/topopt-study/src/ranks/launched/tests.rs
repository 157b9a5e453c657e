use std::collections::BTreeMap;

use super::*;

/// Parses an environment of these `NAME=value` pairs.
fn found(variables: &str) -> Result<Option<Launched>, Finding> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap();
        (name.to_owned(), OsString::from(value))
    };
    let variables: BTreeMap<_, _> = variables.split_whitespace().map(pair).collect();
    Launched::find(|name| variables.get(name).cloned())
}

#[test]
fn a_process_without_a_launcher_or_alone_with_it_is_none_of_several() {
    for variables in [
        "",
        "HOME=/root SLURM_JOB_ID=7 SLURM_NTASKS=8 SLURM_PROCID=0 SLURM_LOCALID=0",
        "SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0",
        "OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0",
        "PMI_SIZE=1 PMI_RANK=0",
    ] {
        assert_eq!(found(variables), Ok(None), "{variables}");
    }
}

#[test]
fn every_launcher_says_which_process_it_is() {
    let ranks = |rank, size, local_rank, local_size| (rank, size, local_rank, local_size);
    for (variables, expected, launcher, job) in [
        (
            "OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_LOCAL_RANK=1 \
             OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_NAMESPACE=931987457",
            ranks(5, 8, Some(1), Some(4)),
            Launcher::OpenMpi,
            Some("931987457"),
        ),
        (
            "PMI_SIZE=3 PMI_RANK=2 MPI_LOCALRANKID=2 MPI_LOCALNRANKS=3",
            ranks(2, 3, Some(2), Some(3)),
            Launcher::Pmi,
            None,
        ),
        ("PMI_SIZE=3 PMI_RANK=2", ranks(2, 3, None, None), Launcher::Pmi, None),
        (
            "SLURM_STEP_NUM_TASKS=16 SLURM_PROCID=9 SLURM_LOCALID=1 SLURM_JOB_ID=77 SLURM_STEP_ID=0",
            ranks(9, 16, Some(1), None),
            Launcher::Slurm,
            Some("77-0"),
        ),
        (
            "TOPOPT_RANKS=2 TOPOPT_RANK=1 TOPOPT_LOCAL_RANK=1 TOPOPT_RENDEZVOUS=/tmp/x",
            ranks(1, 2, Some(1), Some(2)),
            Launcher::Topopt("/tmp/x".into()),
            None,
        ),
    ] {
        let found = found(variables).unwrap().unwrap();
        let Launched { rank, size, local_rank, local_size, .. } = found;
        assert_eq!(ranks(rank, size, local_rank, local_size), expected, "{variables}");
        assert_eq!((found.launcher, found.job.as_deref()), (launcher, job), "{variables}");
    }
}

/// `mpirun` starts its own processes by `srun`, and `topopt` its own below both.
#[test]
fn the_innermost_launcher_counts() {
    let slurm = "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1";
    let open_mpi = "OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_RANK=6";
    let topopt = "TOPOPT_RANKS=4 TOPOPT_RANK=3 TOPOPT_RENDEZVOUS=/tmp/x";
    let rank = |variables: &[&str]| found(&variables.join(" ")).unwrap().unwrap().rank;
    assert_eq!(rank(&[slurm]), 1);
    assert_eq!(rank(&[slurm, open_mpi]), 6);
    assert_eq!(rank(&[slurm, open_mpi, topopt]), 3);
    assert_eq!(found(&format!("{slurm} OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0")), Ok(None));
}

#[test]
fn nonsense_is_refused_by_the_name_of_the_variable() {
    for (variables, message) in [
        (
            "OMPI_COMM_WORLD_SIZE=many OMPI_COMM_WORLD_RANK=0",
            "the variable OMPI_COMM_WORLD_SIZE is `many`, which is no number of ranks",
        ),
        ("PMI_SIZE=0 PMI_RANK=0", "the variable PMI_SIZE is `0`, which is no number of ranks"),
        ("PMI_SIZE=2", "the variable PMI_SIZE is set, but not PMI_RANK"),
        ("PMI_SIZE=2 PMI_RANK=2", "the variable PMI_RANK is 2, but PMI_SIZE only 2"),
        ("PMI_SIZE=2 PMI_RANK=-1", "the variable PMI_RANK is `-1`, which is no number of a rank"),
        (
            "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 SLURM_LOCALID=4",
            "the variable SLURM_LOCALID is 4, but SLURM_STEP_NUM_TASKS only 4",
        ),
        (
            "TOPOPT_RANKS=2 TOPOPT_RANK=0",
            "the variable TOPOPT_RANKS is set, but not TOPOPT_RENDEZVOUS",
        ),
    ] {
        let finding = found(variables).unwrap_err();
        assert_eq!(finding.message, message);
        assert!(finding.remedy.unwrap().starts_with("unset "), "{variables}");
    }
}
