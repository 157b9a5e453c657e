//! Checkpoints from which time steps continue after an interruption.
//!
//! At a checkpoint every solve starts again from the state, interrupted or not: what the operator,
//! the preconditioner and the extrapolation remember of earlier steps needs not be kept, and a
//! solve that is resumed has the bits of one that was not interrupted.

use std::fs;

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use topopt_case::finding::{Finding, InputError};
use topopt_io::checkpoint::Checkpoints;

use super::steps::Steps;
use crate::checkpoint::settings;
use crate::failure::Failure;
use crate::fingerprint::fingerprint;
use crate::result_files::{TRANSIENT, checkpoints};
use crate::resumption::{Newest, OfCommand, unchanged};

/// Keys that may change when steps are resumed.
const MAY_CHANGE: [&str; 6] = [
    "title",
    "mesh.file",
    "mesh.design_space",
    "output.directory",
    "solver.max_iterations",
    "solver.threads",
];
/// Names of the arrays.
const STATE: &str = "state";
const ACCOUNT: &str = "account";

/// Progress of the time steps.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    /// Steps that are done.
    pub step: usize,
    /// Temperatures, as the problem numbers the nodes.
    pub state: Vec<f64>,
    pub account: Account,
}

/// Cost of the solves, and errors of the heat balance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Account {
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// The largest relative one.
    pub residual: f64,
    /// Wall time of the preconditioner and of conjugate gradients.
    pub seconds: f64,
    /// Largest heat per time that moved in a step, and the largest that is missing.
    pub largest: f64,
    pub worst: f64,
}

/// Content of a checkpoint besides its arrays.
#[derive(Serialize, Deserialize)]
struct Record {
    config: Value,
    /// See [`fingerprint`], with the densities; those of earlier versions have another sum, and are refused.
    model: u32,
    device: String,
    iterations: usize,
    /// The table of the steps so far.
    table: String,
}

impl OfCommand for Record {
    const COMMAND: &'static str = "solve";
}

/// Steps that are resumed from a checkpoint, with their table so far.
pub(super) struct Resumed {
    pub reached: Reached,
    /// The table of the steps so far.
    pub table: String,
    /// Checkpoints that were passed over, a sentence each.
    pub notes: Vec<String>,
}

/// The checkpoints of a solve.
pub(super) struct Restart {
    files: Checkpoints,
    config: Value,
    model: u32,
    device: String,
}

impl Restart {
    pub fn of(steps: &Steps) -> Result<Self, Finding> {
        let (part, conditions) = (steps.part, steps.conditions);
        let mut model = Hasher::new_with_initial(fingerprint(part.model)?);
        part.filling.density.iter().for_each(|density| model.update(&density.to_le_bytes()));
        Ok(Self {
            files: checkpoints(&part.config.output_directory()),
            config: settings(part.config)?,
            model: model.finalize(),
            device: conditions.place.name(),
        })
    }

    /// The newest checkpoint of these `steps`.
    ///
    /// # Errors
    /// A finding if there is none, or if it is of another case, design or device.
    pub fn find(&self, steps: &Steps) -> Result<Resumed, Finding> {
        let config = steps.part.config;
        let directory = config.output_directory();
        let Newest { iteration, record, arrays, notes } = Newest::<Record>::find(&directory)?;
        let again = "or solve without --resume to start again";
        let remedy = format!(
            "change it back, {again}; only `solver.max_iterations` and `solver.threads` may change"
        );
        unchanged(&record.config, config, &MAY_CHANGE, &remedy)?;

        let directory = directory.display();
        if record.device != self.device {
            let [there, here] = [&record.device, &self.device];
            let message =
                format!("the solve in {directory} began on {there} and would continue on {here}");
            return Err(Finding::new(message).remedy(format!("resume where it began, {again}")));
        }
        if record.model != self.model {
            let message = format!(
                "the mesh, its sets, its arrays or the design differ from those with which the solve in {directory} began"
            );
            return Err(Finding::new(message).remedy(format!("give the same ones, {again}")));
        }

        let reached = reached(iteration, &record, arrays);
        let fits = |reached: &Reached| {
            let is_finite = reached.state.iter().all(|value| value.is_finite());
            is_finite && reached.state.len() == steps.n_nodes() && reached.step < steps.n_steps()
        };
        let Some(reached) = reached.filter(fits) else {
            let message =
                format!("the checkpoint in {directory} holds numbers that no solve produces");
            return Err(Finding::new(message).remedy("solve without --resume to start again"));
        };
        Ok(Resumed { reached, table: record.table, notes })
    }

    /// Writes a checkpoint.
    ///
    /// # Errors
    /// A file that cannot be read or written; earlier checkpoints are as they were.
    pub fn write(&self, steps: &Steps, reached: &Reached) -> Result<(), Failure> {
        let path = steps.part.config.output_directory().join(TRANSIENT);
        let table = fs::read_to_string(&path).map_err(|cause| {
            InputError::from(Finding::new(format!("cannot read {}: {cause}", path.display())))
        })?;
        let Account { iterations, residual, seconds, largest, worst } = reached.account;
        let (config, device) = (self.config.clone(), self.device.clone());
        let record = Record { config, model: self.model, device, iterations, table };
        let account = [residual, seconds, largest, worst];
        let arrays = [(STATE, reached.state.as_slice()), (ACCOUNT, &account)];
        Ok(self.files.write(reached.step, &record, &arrays)?)
    }
}

/// Parses the arrays of a checkpoint; none if they are not those of one.
fn reached(step: usize, record: &Record, arrays: Vec<(String, Vec<f64>)>) -> Option<Reached> {
    let [(state, values), (account, numbers)] = <[_; 2]>::try_from(arrays).ok()?;
    let [residual, seconds, largest, worst] = <[f64; 4]>::try_from(numbers).ok()?;
    let iterations = record.iterations;
    (state == STATE && account == ACCOUNT).then_some(Reached {
        step,
        state: values,
        account: Account { iterations, residual, seconds, largest, worst },
    })
}
