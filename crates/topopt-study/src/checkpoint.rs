//! Checkpoints of a run: what they hold, and when one is written.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_design::{DesignState, Memory, ObserverError, StructureState};
use topopt_io::checkpoint::Checkpoints;

use crate::done::{Answer, Done};
use crate::result_files::{HISTORY, checkpoints};
use crate::whole::Whole;

/// Name of the array of design variables.
pub(crate) const DESIGN: &str = "design";
/// Name of the array of the design variables of the next design.
pub(crate) const NEXT: &str = "next";
/// Name of the arrays of displacements, one per load case.
const DISPLACEMENT: &str = "displacement";
/// Name of the arrays of displacements of a trial, one per load case.
pub(crate) const TRIAL: &str = "trial";
/// Beginning of the names of adjoint states, before the numbers of response and load case.
pub(crate) const ADJOINT: &str = "adjoint.";
/// Name of the array of elements that the preconditioner takes for void.
pub(crate) const VOID: &str = "void";
/// Name of the array of elements that the preconditioner of the thicker design takes for void.
pub(crate) const VOID_OF_THICKER: &str = "void_of_thicker";
/// Name of the array of the density of the design that is kept.
pub(crate) const WHOLE: &str = "whole";
/// Beginning of the names of what the optimizer remembers.
pub(crate) const MEMORY: &str = "optimizer.";
/// Beginning of the names of the numbers that it remembers.
pub(crate) const NUMBERS: &str = "optimizer_numbers.";
/// The share of the time that writing checkpoints may take where `output.checkpoint_every` is left
/// out.
const SHARE: f64 = 0.02;

/// Contents of a checkpoint besides the iteration and the arrays; these have names and are in the
/// numbering of the problem.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub topopt: String,
    pub strategy: String,
    pub config: Value,
    /// See [`fingerprint`]; those of earlier versions have another sum, and are refused.
    ///
    /// [`fingerprint`]: crate::fingerprint::fingerprint
    pub model: u32,
    /// Whether the elements of the problem come by color.
    pub by_color: bool,
    /// The objective before.
    pub previous_compliance: Option<f64>,
    pub kkt_residual: f64,
    /// Relative residual of the solves; none in checkpoints of earlier versions.
    pub tolerance: Option<f64>,
    /// See [`topopt_design::StructureState`].
    pub excess: usize,
    /// Excess of the thicker design, where that is solved as well.
    #[serde(default)]
    pub thicker: Option<usize>,
    pub done: Done,
    pub answer: Answer,
    /// Record of the last whole design.
    pub whole: Option<Whole>,
    /// The table of the iterations so far.
    pub history: String,
}

/// Writes the checkpoints of a run.
pub struct Checkpointer {
    files: Checkpoints,
    history: PathBuf,
    config: Value,
    model: u32,
    by_color: bool,
    strategy: String,
    every: Option<usize>,
    /// The last one, and how long it took.
    iteration: usize,
    written: Instant,
    cost: Duration,
}

impl Checkpointer {
    /// For a run with results in `directory`, which has come to `iteration`.
    ///
    /// # Errors
    /// A finding if the settings cannot be written.
    pub fn new<K: Physics<N>, const N: usize>(
        config: &Config,
        model: &Model<K, N>,
        (fingerprint, strategy, iteration): (u32, &str, usize),
    ) -> Result<Self, Finding> {
        let directory = config.output_directory();
        Ok(Self {
            files: checkpoints(&directory),
            history: directory.join(HISTORY),
            config: settings(config)?,
            model: fingerprint,
            by_color: model.colors.is_some(),
            strategy: strategy.into(),
            every: config.output.checkpoint_every,
            iteration,
            written: Instant::now(),
            cost: Duration::ZERO,
        })
    }

    /// Whether one is due after `iteration`.
    pub fn is_due(&self, iteration: usize) -> bool {
        match self.every {
            None => SHARE * self.written.elapsed().as_secs_f64() >= self.cost.as_secs_f64(),
            Some(0) => false,
            Some(every) => iteration.is_multiple_of(every),
        }
    }

    /// Whether one is written when the run ends, as far as it is not written yet.
    pub fn is_due_at_end(&self, iteration: usize, interrupted: bool) -> bool {
        iteration > self.iteration && (interrupted || self.every != Some(0))
    }

    /// Writes one.
    ///
    /// # Errors
    /// A file that cannot be written; earlier checkpoints are as they were.
    pub fn write(
        &mut self,
        state: &DesignState,
        done: &Done,
        whole: Option<&Whole>,
    ) -> Result<(), ObserverError> {
        let start = Instant::now();
        let history = fs::read_to_string(&self.history)
            .map_err(|cause| format!("cannot read {}: {cause}", self.history.display()))?;

        let record = Record {
            topopt: env!("CARGO_PKG_VERSION").into(),
            strategy: self.strategy.clone(),
            config: self.config.clone(),
            model: self.model,
            by_color: self.by_color,
            previous_compliance: state.previous_objective,
            kkt_residual: state.kkt_residual,
            tolerance: state.tolerance,
            excess: state.structure.excess,
            thicker: state.thicker.as_ref().map(|thicker| thicker.excess),
            answer: done.answer.clone(),
            done: done.clone(),
            whole: whole.cloned(),
            history,
        };

        let mut arrays = vec![(DESIGN, state.design.as_slice())];
        arrays.extend(state.next.iter().map(|next| (NEXT, next.as_slice())));
        arrays.extend(state.displacements.iter().map(|u| (DISPLACEMENT, u.as_slice())));
        arrays.extend(state.trial.iter().map(|u| (TRIAL, u.as_slice())));

        let name = |[response, case]: [usize; 2]| format!("{ADJOINT}{response}.{case}");
        let adjoints: Vec<_> = state.adjoints.iter().map(|a| (name(a.of), &a.values)).collect();
        arrays.extend(adjoints.iter().map(|(name, values)| (name.as_str(), values.as_slice())));

        let kept = whole.and_then(Whole::kept);
        arrays.extend(kept.map(|kept| (WHOLE, kept.density.as_slice())));

        let Memory { vectors, numbers } = &state.memory;
        let vectors = vectors.iter().map(|(name, x)| (format!("{MEMORY}{name}"), x));
        let numbers = numbers.iter().map(|(name, x)| (format!("{NUMBERS}{name}"), x));
        let memory: Vec<_> = vectors.chain(numbers).collect();
        arrays.extend(memory.iter().map(|(name, x)| (name.as_str(), x.as_slice())));

        let numbers = |structure: &StructureState| -> Vec<f64> {
            structure.void.iter().map(|&e| e.into()).collect()
        };
        let (void, of_thicker) = (numbers(&state.structure), state.thicker.as_ref().map(numbers));
        arrays.push((VOID, &void));
        arrays.extend(of_thicker.iter().map(|void| (VOID_OF_THICKER, void.as_slice())));
        self.files.write(state.iteration, &record, &arrays)?;

        // The time of writing decides when the next one is due.
        (self.iteration, self.written, self.cost) =
            (state.iteration, Instant::now(), start.elapsed());
        Ok(())
    }
}

pub(crate) fn settings(config: &Config) -> Result<Value, Finding> {
    serde_json::to_value(config)
        .map_err(|error| Finding::new(format!("cannot write the settings: {error}")))
}
