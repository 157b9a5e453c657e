//! Why a command did not do what it was asked, and the exit status that belongs to it.

use std::io;
use std::path::{Path, PathBuf};

use topopt_case::config::Cycle;
use topopt_case::finding::{Finding, InputError};
use topopt_design::DesignError;
use topopt_fem::AveragingError;
use topopt_io::WriteError;
use topopt_linalg::{BackendError, PcgOutcome, StopReason};

use crate::ranks::children::EndedChild;
use crate::ranks::launched::Launched;
use crate::result_files::resume_command;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's input is wrong.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The results could not be printed.
    #[error("cannot write to standard output: {0}")]
    Print(#[from] io::Error),
    /// A file of the results could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file could not be written, or the device failed, while the design loop ran.
    #[error(transparent)]
    Run(#[from] DesignError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] BackendError),
    /// A solve did not converge.
    #[error(
        "iteration {iteration}, load case `{load_case}`: {} after {} iterations of conjugate \
         gradients, at relative residual {:.1e} where {tolerance:.1e} is required",
        reason(outcome.reason), outcome.iterations, outcome.relative_residual
    )]
    Solver {
        /// Iteration of the design.
        iteration: usize,
        /// Load case.
        load_case: String,
        /// How the solve ended.
        outcome: PcgOutcome,
        /// Relative residual required.
        tolerance: f64,
        /// A cycle of multigrid that may do better, if that is the preconditioner.
        other_cycle: Option<Cycle>,
    },
    /// The equation of the filter was not solved.
    #[error("iteration {iteration}: {}", AveragingError::NotSolved(*.outcome))]
    Filter {
        /// Iteration that needed it.
        iteration: usize,
        /// Iterations whose design is written.
        iterations: usize,
        /// How its solve ended.
        outcome: PcgOutcome,
    },
    /// The filter failed before the first iteration.
    #[error(transparent)]
    Averaging(#[from] AveragingError),
    /// No next design follows from a design.
    #[error("iteration {iteration}: the objective or its sensitivities are not finite, or vanish")]
    Sensitivities {
        /// Iteration of the design.
        iteration: usize,
    },
    /// The solve of an analysis or a verification did not converge.
    #[error(
        "load case `{load_case}`: {} after {} iterations of conjugate gradients, at relative \
         residual {:.1e} where {tolerance:.1e} is required",
        reason(outcome.reason), outcome.iterations, outcome.relative_residual
    )]
    Unsolved {
        /// Load case.
        load_case: String,
        /// How the solve ended.
        outcome: PcgOutcome,
        /// Relative residual required.
        tolerance: f64,
        /// Advice to the user.
        remedy: &'static str,
    },
    /// The built shape misses limits, as `topopt verify` has reported.
    #[error("{}", missed.join("\n"))]
    LimitsMissed {
        /// Limits missed, one sentence each.
        missed: Vec<String>,
    },
    /// The user asked to stop steps in time.
    #[error(
        "interrupted in step {step}; {} holds {}",
        directory.display(),
        checkpoint.map_or("no checkpoint".into(), |step| format!("the checkpoint of step {step}"))
    )]
    InterruptedStep {
        /// The step that is not done.
        step: usize,
        /// The last step with a checkpoint.
        checkpoint: Option<usize>,
        /// Folder of the results.
        directory: PathBuf,
    },
    /// The user asked to stop.
    #[error("interrupted {}", what_there_is(*iterations, directory.as_deref()))]
    Interrupted {
        /// Iterations whose design was evaluated.
        iterations: usize,
        /// Folder of the results, if the run got so far.
        directory: Option<PathBuf>,
    },
    /// The process of a rank ended, after reporting why if it could.
    #[error(transparent)]
    Rank(#[from] EndedChild),
    /// All ranks have ended for the same reason, which the first one reports.
    #[error("the first rank reports how the run has ended")]
    ReportedByFirst,
}

fn reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Converged => "the solver converged",
        StopReason::IterationLimit => "the solver did not converge",
        StopReason::Stagnated => "rounding stopped the solver",
        StopReason::Indefinite => "the matrix of the system is not positive definite",
        StopReason::NotFinite => "the solver found a number that is not finite",
        StopReason::Interrupted => "the solver was interrupted",
    }
}

fn what_there_is(iterations: usize, directory: Option<&Path>) -> String {
    match (iterations, directory.map(Path::display)) {
        (_, None) => "before the first iteration; nothing is written".into(),
        (0, Some(folder)) => format!("in the first iteration; {folder} holds no design"),
        (n, Some(folder)) => format!("after iteration {n}, whose design is in {folder}"),
    }
}

impl Failure {
    /// Returns the failure of a start that all processes refuse and rank 0 reports.
    pub fn of_start(launched: &Launched, finding: Finding) -> Self {
        match launched.rank {
            0 => InputError::from(finding).into(),
            _ => Failure::ReportedByFirst,
        }
    }

    /// Exit status of the program: 0 where the reader of a pipe has just gone away, or another rank
    /// has one.
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Print(cause) if cause.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Input(_) | Failure::Print(_) | Failure::Write(_) => 1,
            Failure::Run(DesignError::Observer(_) | DesignError::Unsuitable(_)) => 1,
            Failure::Run(DesignError::Backend(_) | DesignError::Filter(_)) => 2,
            Failure::Device(_) | Failure::Averaging(_) | Failure::Filter { .. } => 2,
            Failure::Solver { .. } | Failure::Unsolved { .. } => 2,
            Failure::Sensitivities { .. } => 2,
            Failure::LimitsMissed { .. } => 3,
            Failure::Interrupted { .. } | Failure::InterruptedStep { .. } => 130,
            Failure::Rank(ended) => ended.status.unwrap_or(2),
            Failure::ReportedByFirst => 0,
        }
    }

    /// Whether all ranks have come to this end together, by what they share.
    pub fn is_of_all_ranks(&self) -> bool {
        matches!(
            self,
            Failure::Solver { .. }
                | Failure::Filter { .. }
                | Failure::Sensitivities { .. }
                | Failure::Interrupted { .. }
                | Failure::ReportedByFirst
        )
    }

    /// Whether it may be another rank that has failed, and this one that misses it.
    pub fn may_follow(&self) -> bool {
        matches!(self, Failure::Device(_) | Failure::Run(DesignError::Backend(_)))
    }

    /// Returns the findings for the user; none where the reader is gone or another rank reports.
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            Failure::Input(error) => error.findings().to_vec(),
            Failure::Print(_) if self.exit_status() == 0 => Vec::new(),
            Failure::ReportedByFirst | Failure::Rank(EndedChild { status: Some(_), .. }) => {
                Vec::new()
            }
            _ => {
                let finding = Finding::new(self.to_string());
                vec![match self.remedy() {
                    Some(remedy) => finding.remedy(remedy),
                    None => finding,
                }]
            }
        }
    }

    /// Returns the remedy, where one is known, and the design that the run has left.
    fn remedy(&self) -> Option<String> {
        Some(match self {
            Failure::Solver { iteration, outcome, other_cycle, .. } => {
                format!("{}; {}", solver_remedy(outcome, *other_cycle), written(iteration - 1))
            }
            Failure::Filter { iterations, .. } => format!(
                "choose another radius of the filter, or `weights = \"cone\"`, and look at the \
                 quality of the mesh; {}",
                written(*iterations)
            ),
            Failure::Sensitivities { iteration } => format!(
                "check the units of the loads and of the material, the penalty and the radius of \
                 the filter; {}",
                written(*iteration)
            ),
            Failure::Unsolved { remedy, .. } => (*remedy).into(),
            Failure::LimitsMissed { .. } => {
                "run with a tighter limit, by what the built shape is off; first a grey design with \
                 `design.style = \"crisp\"`, and one with thin members or loose pieces with a larger \
                 filter radius or on a finer mesh"
                    .into()
            }
            Failure::Interrupted { iterations: 1.., directory: Some(directory) } => {
                format!("resume with: {}", resume_command(directory))
            }
            Failure::InterruptedStep { checkpoint: Some(_), .. } => {
                "resume with the same command and `--resume`".into()
            }
            Failure::InterruptedStep { .. } => {
                "with `output.checkpoint_every` there is something to resume from".into()
            }
            Failure::Rank(_) => {
                "perhaps its memory has run out; `--resume` continues from the last checkpoint"
                    .into()
            }
            Failure::Run(DesignError::Observer(_)) => {
                "free some space, or choose another folder with `--output DIR`; the files written \
                 before are whole, and --resume continues from the last checkpoint"
                    .into()
            }
            _ => return None,
        })
    }
}

/// The design that a run leaves after so many iterations.
fn written(iterations: usize) -> String {
    match iterations {
        0 => "no design is written".into(),
        n => format!("the design of iteration {n} is written"),
    }
}

fn solver_remedy(outcome: &PcgOutcome, other_cycle: Option<Cycle>) -> &'static str {
    match outcome.reason {
        StopReason::IterationLimit if outcome.relative_residual > 1.0 => {
            "the residual has grown: some part is hardly held, for example where two solids meet in an \
             edge or a node (`topopt check` looks for such hinges), or where too little material joins \
             what stays solid: give a larger `design.volume_fraction`"
        }
        StopReason::IterationLimit if other_cycle == Some(Cycle::K) => {
            "set `solver.cycle` to \"K\", the strongest, or raise `solver.max_iterations`"
        }
        StopReason::IterationLimit if other_cycle.is_some() => {
            "raise `solver.max_iterations`, or loosen `solver.tolerance`, or raise \
             `design.density_min`; or try `solver.cycle` \"V\", which suits designs of scattered \
             stiff islands better, or a larger `design.volume_fraction`, which joins them"
        }
        StopReason::IterationLimit => {
            "raise `solver.max_iterations`, or loosen `solver.tolerance`, or raise \
             `design.density_min`"
        }
        StopReason::Stagnated => "loosen `solver.tolerance`: it is beyond double precision here",
        _ => UNSOUND,
    }
}

/// Remedies where the solve of an analysis or a verification does not converge.
#[derive(Debug, Clone, Copy)]
pub struct Remedies {
    /// Remedy for a solve whose iterations ran out.
    pub limited: &'static str,
    /// Remedy for a solve that rounding stopped.
    pub rounded: &'static str,
}

impl Remedies {
    /// The remedy for a solve that ended for this `reason`.
    pub fn of(self, reason: StopReason) -> &'static str {
        match reason {
            StopReason::IterationLimit => self.limited,
            StopReason::Stagnated => self.rounded,
            _ => UNSOUND,
        }
    }
}

/// Remedy where the numbers of a system make no sense.
const UNSOUND: &str = "check the units of the loads and of the material, and the mesh";
