//! Tests of ranks that have a GPU and a process each, as in a run: NCCL can stand still where
//! several of its ranks are threads of one process.

use std::process::{Command, Stdio};
use std::sync::Arc;

use topopt_cuda::{Device, Nccl, NcclId, Probe, probe};

/// Rank, number of ranks and the name of their group, for the test in the process of a rank.
const RANK: &str = "TOPOPT_TEST_RANK";

/// Does `work` of the test called `test` on every GPU of this machine, four at most, in a process
/// for each: this one starts the test once more for every rank. `work` gets the GPU, and what joins
/// the others.
pub fn on_each_gpu(test: &str, work: impl FnOnce(&Arc<Device>, &dyn Fn() -> Nccl)) {
    if let Ok(text) = std::env::var(RANK) {
        let mut words = text.split(' ');
        let [rank, size] = [(); 2].map(|()| words.next().unwrap().parse().unwrap());
        let id: Vec<u8> = words.map(|byte| byte.parse().unwrap()).collect();
        let (id, device) = (NcclId::try_from(id).unwrap(), Device::open(rank).unwrap());
        return work(&device, &|| Nccl::join(&device, rank, size, &id).unwrap());
    }
    let size = match probe() {
        Probe::Found { devices, .. } if devices > 1 => devices.min(4),
        _ => return println!("skipped: fewer than two CUDA devices"),
    };
    let id = match Nccl::id() {
        Ok(id) => id.map(|byte| byte.to_string()).join(" "),
        Err(error) => return println!("skipped: {error}"),
    };
    let start = |rank: usize| {
        let mut rank_of_test = Command::new(std::env::current_exe().unwrap());
        rank_of_test.args([test, "--exact", "--nocapture"]);
        rank_of_test.env(RANK, format!("{rank} {size} {id}"));
        rank_of_test.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let ranks: Vec<_> = (0..size).map(start).collect();
    for (rank, process) in ranks.into_iter().enumerate() {
        let ended = process.wait_with_output().unwrap();
        let [out, err] = [&ended.stdout, &ended.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(ended.status.success(), "rank {rank} of {size}:\n{out}\n{err}");
        assert!(out.contains("1 passed"), "no test is called {test}:\n{out}");
    }
}
