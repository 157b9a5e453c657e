//! What an iterative solve is asked for, and how it ends.

use std::ops::ControlFlow;

use crate::{Backend, BackendError};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgOptions {
    /// Relative residual ||f - A u|| / ||f|| to reach.
    pub tolerance: f64,
    /// Most iterations of one solve.
    pub max_iterations: usize,
}

/// Why a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The residual is below the tolerance.
    Converged,
    /// The iterations ran out.
    IterationLimit,
    /// Rounding keeps the residual above the tolerance: more iterations would not help.
    Stagnated,
    /// A direction d with d^T A d <= 0: the operator is not positive definite.
    Indefinite,
    /// A number that is NaN or infinite.
    NotFinite,
    /// The caller asked to stop.
    Interrupted,
}

/// Result of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgOutcome {
    /// Iterations done, one application of A each, perhaps in less precision.
    pub iterations: usize,
    /// Applications of A in the precision of the backend.
    pub products: usize,
    /// Relative residual reached: computed again from u if converged or stagnated, else the
    /// recursive one.
    pub relative_residual: f64,
    /// Why it ended.
    pub reason: StopReason,
    /// Number of times that the preconditioner became stronger.
    pub strengthened: usize,
}

impl PcgOutcome {
    /// Counts a solve that rounding stopped at a relative residual of at most `enough` as
    /// converged.
    pub fn or_rounded(self, enough: f64) -> Self {
        let is_enough = self.reason == StopReason::Stagnated && self.relative_residual <= enough;
        let reason = if is_enough { StopReason::Converged } else { self.reason };
        Self { reason, ..self }
    }
}

/// Progress of a solve, reported at every stop test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcgProgress {
    /// Iterations done.
    pub iterations: usize,
    /// Relative residual (recursive).
    pub relative_residual: f64,
}

/// Called at every stop test of a solve; a break ends it with [`StopReason::Interrupted`].
pub type Monitor<'a> = dyn FnMut(PcgProgress) -> ControlFlow<()> + 'a;

/// Conjugate gradients in less precision than that of `B`, for the steps of a solve between true
/// residuals.
pub trait LowerPrecision<B: Backend>: Send + Sync {
    /// Writes e, with which A e is near `r`, and says how the steps ended.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    fn correct(
        &self,
        r: &B::Vector,
        e: &mut B::Vector,
        task: Correction,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError>;
}

/// Task of a correction in a solve A u = f.
#[derive(Debug)]
pub struct Correction<'a> {
    /// ||f||, which residuals are relative to.
    pub norm_f: f64,
    /// When the solve stops.
    pub options: PcgOptions,
    /// How far it has come, with the true residual.
    pub at: PcgProgress,
    /// Part of the residual that it leaves.
    pub left: f64,
    /// The first direction is conjugate to the last one of the correction before.
    pub keeps_direction: bool,
    /// Relative residuals from which the pace is judged, after few and after many iterations.
    pub since: &'a mut [f64; 2],
}
