//! `Place`: the compute target of a study, and the only code that chooses it.

use std::num::NonZeroUsize;
use std::path::Path;

use topopt_case::config::{self, Config};
use topopt_case::finding::{Finding, InputError};
use topopt_linalg::{BackendError, Cause, Communicator, RankFailure, Threads};
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;

use crate::computer::{Gpu, OnCpu, OnEachRank, Visitor};
use crate::failure::Failure;
use crate::ranks::{Process, Team};
use crate::thread_pool::thread_pool;

/// Fewest elements of a rank with a GPU.
const LEAST_ELEMENTS: usize = 8;

/// Compute target: the CPU or one GPU.
#[derive(Clone)]
pub enum Place {
    /// The CPU, with a note if `auto` found no GPU.
    Cpu {
        /// Reason for which no GPU is used, for people.
        note: Option<String>,
    },
    /// A GPU.
    Gpu(Gpu),
}

/// Ranks, threads and results folder of a computation.
pub struct Setting<'a> {
    /// The ranks.
    pub team: &'a Team,
    /// Requested number of threads per process; none for the default.
    pub threads: Option<usize>,
    /// The folder of the results.
    pub results: &'a Path,
}

const WARM_TETRAHEDRA: &str = "GPUs compute heat in hexahedra only, and the mesh is of tetrahedra";

impl Place {
    /// The place that is asked for. `Auto` is the first GPU, and the processor where none works.
    ///
    /// # Errors
    /// A finding if a GPU is asked for and there is none that works.
    pub fn find(asked: config::Device) -> Result<Self, Finding> {
        match asked {
            config::Device::Cpu => Ok(Place::Cpu { note: None }),
            config::Device::Auto => Ok(Gpu::open(0).map_or_else(
                |none| Place::Cpu { note: Some(format!("running on the CPU: {}", none.message)) },
                Place::Gpu,
            )),
            config::Device::Gpu(number) => Gpu::open(number).map(Place::Gpu),
        }
    }

    /// Returns the place for a case on `mesh`: the processor, with a note, where the device was left to
    /// us and a GPU does not compute these elements.
    ///
    /// # Errors
    /// A finding for a GPU that was asked for and does not.
    pub fn on_mesh(self, config: &Config, mesh: &HexMesh) -> Result<Self, Finding> {
        match self.instead(config, mesh) {
            None => Ok(self),
            Some(_) if matches!(config.solver.device, config::Device::Gpu(_)) => {
                let remedy = "leave `solver.device` and `--device` out, or set `mesh.cut = true`";
                Err(Finding::new(WARM_TETRAHEDRA).remedy(remedy))
            }
            Some(processor) => Ok(processor),
        }
    }

    /// Returns the processor where this is a GPU that does not compute a case on `mesh`.
    pub(crate) fn instead(&self, config: &Config, mesh: &HexMesh) -> Option<Self> {
        let is_warm = config.physics.kind == config::PhysicsKind::Heat;
        let is_refused = is_warm && mesh.shape() == Shape::Tetrahedron;
        (is_refused && matches!(self, Place::Gpu(_)))
            .then(|| Place::Cpu { note: Some(format!("running on the CPU: {WARM_TETRAHEDRA}")) })
    }

    /// The place that is asked for a team of several ranks: `Auto` is the processor, and a number
    /// of a GPU that of the first one on every host.
    ///
    /// # Errors
    /// A finding if a GPU is asked for and there is none that works.
    pub fn of_team(config: &Config, team: &Team) -> Result<Self, Finding> {
        match (config.solver.device, team) {
            (config::Device::Auto, _) => Self::find(config::Device::Cpu),
            (config::Device::Gpu(first), Team::Processes(process)) => {
                Self::find(config::Device::Gpu(process.gpu(first)?))
            }
            (asked, _) => Self::find(asked),
        }
    }

    /// Whether there is a GPU for each of so many ranks, from number `first` on; not where they
    /// have to share the only one.
    ///
    /// # Errors
    /// A finding if there are not enough.
    pub fn has_gpus(first: usize, ranks: NonZeroUsize) -> Result<bool, Finding> {
        match Gpu::count() {
            0 => Self::find(config::Device::Gpu(first)).map(|_| false),
            gpus if first.saturating_add(ranks.get()) <= gpus => Ok(true),
            1 if first == 0 => Ok(false),
            gpus => {
                let from = if first == 0 { String::new() } else { format!(" from GPU {first} on") };
                let message =
                    format!("{ranks} ranks take a GPU each{from}, and this machine has {gpus}");
                let remedy = "give a smaller `--ranks`, or compute on the processor with \
                              `--device cpu`";
                Err(Finding::new(message).remedy(remedy))
            }
        }
    }

    /// Does something where this place is. Nothing else asks which one it is to compute a study.
    ///
    /// # Errors
    /// What `visitor` returns, and a device that cannot be used.
    pub fn visit<V: Visitor>(&self, visitor: V) -> Result<V::Output, Failure> {
        match self {
            Place::Cpu { .. } => visitor.visit(&OnCpu),
            Place::Gpu(gpu) => gpu.visit(visitor),
        }
    }

    /// Does `work` on all ranks of a team.
    ///
    /// # Errors
    /// Ranks that cannot compute here; the failure of the first thread that fails by itself.
    pub(crate) fn on_ranks(
        &self,
        setting: &Setting,
        work: &impl OnEachRank,
    ) -> Result<(), Failure> {
        match setting.team {
            Team::Threads(n) => self.on_threads(*n, setting.threads, work),
            Team::Processes(process) => {
                let pool = thread_pool(setting.team.threads(setting.threads))?;
                let ended = pool.install(|| self.on_process(process, setting.results, work));
                ended.map_err(|failure| match failure.is_of_all_ranks() && process.rank() > 0 {
                    true => Failure::ReportedByFirst,
                    false => failure,
                })
            }
        }
    }

    /// Whether so many elements are enough for a team: each rank needs one, and on a GPU more,
    /// since a part without a node has no vectors there.
    ///
    /// # Errors
    /// A finding if they are not.
    pub fn check_parts(&self, team: &Team, elements: usize) -> Result<(), Finding> {
        let ranks = team.size();
        let (least, on) = match self {
            Place::Gpu(_) => (LEAST_ELEMENTS, " on GPUs"),
            Place::Cpu { .. } => (1, ""),
        };
        if ranks == 1 || elements / ranks >= least {
            return Ok(());
        }
        let message = format!("{ranks} ranks are too many{on} for {elements} elements");
        let remedy = format!("give at most {} ranks", (elements / least).max(1));
        Err(Finding::new(message).remedy(remedy))
    }

    /// Does `work` on ranks that are threads, which share those that are asked for, or a GPU.
    fn on_threads(
        &self,
        ranks: NonZeroUsize,
        asked: Option<usize>,
        work: &impl OnEachRank,
    ) -> Result<(), Failure> {
        let threads = asked.unwrap_or_else(rayon::current_num_threads);
        let (share, sharing) = ((threads / ranks).max(1), ranks.get());
        let done = Threads::run(sharing, |rank| {
            let others: &dyn Communicator = rank;
            thread_pool(Some(share))?.install(|| match self {
                Place::Cpu { .. } => work.on_rank(OnCpu, others, sharing),
                Place::Gpu(gpu) => gpu.on_thread(work, others, sharing),
            })
        });

        match done {
            Ok(_) => Ok(()),
            Err(RankFailure { cause: Cause::Error(failure), .. }) => Err(failure),
            Err(RankFailure { rank, cause: Cause::Panic(panic) }) => {
                Err(ended(format!("rank {rank}: {panic}")))
            }
        }
    }

    /// Does `work` as one of several processes.
    fn on_process(
        &self,
        process: &Process,
        results: &Path,
        work: &impl OnEachRank,
    ) -> Result<(), Failure> {
        match self {
            Place::Cpu { .. } => {
                let ranks = process.communicator().map_err(InputError::from)?;
                work.on_rank(OnCpu, ranks, process.of_host())
            }
            Place::Gpu(gpu) => {
                // The first rank has a case to read meanwhile, the others only wait for that.
                let group = rayon::in_place_scope(|scope| {
                    if process.rank() == 0 {
                        scope.spawn(|_| work.prepare());
                    }
                    process.joined(gpu, results)
                });
                gpu.on_process(work, group?)
            }
        }
    }

    /// Whether the elements of a case have to come by color, so that results are the same bits
    /// always.
    pub fn needs_colors(&self, config: &Config) -> bool {
        matches!(self, Place::Gpu(_)) && config.solver.deterministic
    }

    /// Why it is this place, if that was left to us and is worth saying.
    pub fn note(&self) -> Option<&str> {
        match self {
            Place::Cpu { note } => note.as_deref(),
            Place::Gpu(_) => None,
        }
    }

    /// Returns the notes for a team, which also warn if several ranks share one GPU.
    pub fn notes_of(&self, solver: &config::Solver, team: &Team) -> Vec<String> {
        let shared = match (self, team) {
            (Place::Gpu(_), Team::Threads(n)) if n.get() > 1 => {
                Some(format!("{n} ranks share one GPU, and take longer than one would"))
            }
            _ => self.note().map(str::to_owned),
        };
        shared.into_iter().chain(self.note_on_precision(solver)).collect()
    }

    /// Says that steps in single precision are asked for where there are none.
    pub fn note_on_precision(&self, solver: &config::Solver) -> Option<String> {
        let is_unused =
            solver.precision == config::Precision::Mixed && matches!(self, Place::Cpu { .. });
        is_unused.then(|| {
            "`solver.precision = \"mixed\"` is for a GPU: the CPU computes in double precision"
                .into()
        })
    }

    /// Name of the device, for people.
    pub fn name(&self) -> String {
        match self {
            Place::Cpu { .. } => "cpu".into(),
            Place::Gpu(gpu) => format!("gpu ({})", gpu.name()),
        }
    }
}

/// Ranks that ended without an error of theirs.
fn ended(message: String) -> Failure {
    let [device, operation] = ["ranks", "the work of a rank"].map(String::from);
    BackendError { device, operation, message }.into()
}
