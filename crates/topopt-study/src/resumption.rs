//! `Resumption`: whether a run may resume from a checkpoint, and its state there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;
use topopt_case::config::{self, Config};
use topopt_case::finding::{Finding, InputError};
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::responses::posed::Posed;
use topopt_design::{AdjointState, DesignState, Memory, StructureState};
use topopt_io::checkpoint::Checkpoint;

use crate::checkpoint::{
    ADJOINT, DESIGN, MEMORY, NEXT, NUMBERS, Record, TRIAL, VOID, VOID_OF_THICKER, WHOLE, settings,
};
use crate::done::Done;
use crate::fingerprint::fingerprint;
use crate::history::History;
use crate::result_files::checkpoints;
use crate::whole::Whole;

/// Keys that may change when a run is resumed: stop rules, output, and those that change no bit.
/// The mesh itself is compared, wherever its files are now, and so is each key that a style sets.
const MAY_CHANGE: [&str; 14] = [
    "title",
    "design.style",
    "mesh.file",
    "mesh.design_space",
    "material.yield_strength",
    "filter.neighbor_memory_mb",
    "optimizer.max_iterations",
    "optimizer.change_tolerance",
    "optimizer.compliance_tolerance",
    "optimizer.absolute_compliance_tolerance",
    "optimizer.kkt_tolerance",
    "solver.max_iterations",
    "solver.threads",
    "output",
];

/// Ends of keys of files that may lie elsewhere: the loads that come of them are compared.
const MAY_MOVE: &str = ".temperature.file";

/// The newest checkpoint that can be used.
pub(crate) struct Newest<R> {
    pub iteration: usize,
    pub record: R,
    pub arrays: Vec<(String, Vec<f64>)>,
    /// Checkpoints that were passed over, a sentence each.
    pub notes: Vec<String>,
}

/// State of an earlier run from which a run continues.
#[derive(Debug)]
pub struct Resumption {
    pub state: DesignState,
    pub done: Done,
    /// The last whole design of the run so far.
    pub(crate) whole: Option<Whole>,
    /// The table of the iterations so far.
    pub history: String,
    /// Checkpoints that were passed over, a sentence each.
    pub notes: Vec<String>,
    strategy: String,
    fingerprint: u32,
    by_color: bool,
}

/// Content of a checkpoint besides its arrays, for the command that writes it.
pub(crate) trait OfCommand: DeserializeOwned {
    /// The command.
    const COMMAND: &'static str;
}

impl OfCommand for Record {
    const COMMAND: &'static str = "run";
}

/// Keys of checkpoints that only one command writes, with the command.
const COMMANDS: [(&str, &str); 2] = [("history", "run"), ("table", "solve")];

impl<R: OfCommand> Newest<R> {
    /// Finds the newest usable checkpoint among the results in `directory`.
    ///
    /// # Errors
    /// A finding if there is none, or if it holds no such record.
    pub fn find(directory: &Path) -> Result<Self, Finding> {
        let (newest, skipped) = checkpoints(directory).newest();
        let notes: Vec<_> = skipped.iter().map(|e| format!("checkpoint {e}; skipped")).collect();

        let Some(checkpoint) = newest else {
            let there =
                if notes.is_empty() { "there is no checkpoint".into() } else { notes.join("; ") };
            let message =
                format!("no checkpoint to resume from in {}: {there}", directory.display());
            let remedy = "name the folder of the results with `--output DIR`, or run without \
                          --resume to start again";
            return Err(Finding::new(message).remedy(remedy));
        };

        let written = |(key, _): &&(&str, &str)| checkpoint.content.get(key).is_some();
        let other = COMMANDS.iter().find(written).filter(|(_, command)| *command != R::COMMAND);
        if let Some((_, command)) = other {
            let message = format!(
                "the checkpoint in {} is one of `topopt {command}`, and not of `topopt {}`",
                directory.display(),
                R::COMMAND
            );
            return Err(Finding::new(message).remedy(format!(
                "resume with `topopt {command}`, or name another folder with `--output DIR`"
            )));
        }

        let record = serde_json::from_value(checkpoint.content).map_err(|error| {
            Finding::new(format!(
                "the checkpoint in {} was written by another version: {error}",
                directory.display()
            ))
            .remedy("resume with the version that wrote it, or run without --resume")
        })?;
        let Checkpoint { iteration, arrays, .. } = checkpoint;
        Ok(Self { iteration, record, arrays, notes })
    }
}

/// Whether the run whose results are in `directory` began with an earlier design. A checkpoint that
/// cannot be used is found out when the run resumes.
pub fn began_with_design(directory: &Path) -> bool {
    let newest = Newest::<Record>::find(directory);
    newest.is_ok_and(|newest| newest.record.done.started_from.is_some())
}

impl Resumption {
    /// The newest checkpoint that can be used among the results of `config`.
    ///
    /// # Errors
    /// A finding if there is none, or if it is of a run with other settings.
    pub fn find(config: &Config) -> Result<Self, InputError> {
        let directory = config.output_directory();
        let Newest { iteration, mut record, mut arrays, notes } =
            Newest::<Record>::find(&directory)?;
        let remedy = "change it back, or run without --resume to start again; only stop rules, \
                      [output] and `solver.threads` may change";
        unchanged(&record.config, config, &MAY_CHANGE, remedy)?;

        let kept = arrays.iter().position(|(name, _)| name == WHOLE);
        let kept = kept.map(|at| arrays.remove(at).1);
        record.whole.iter_mut().zip(kept).for_each(|(whole, density)| whole.restore(density));
        let state = design_state(iteration, &record, arrays);
        let Record { done, answer, whole, history, strategy, model, by_color, .. } = record;
        let done = Done { answer, ..done };
        Ok(Self { state, done, whole, history, notes, strategy, fingerprint: model, by_color })
    }

    /// Whether the model is that of the checkpoint.
    ///
    /// # Errors
    /// A finding if it is not.
    pub fn check<K: Physics<N>, const N: usize>(
        &self,
        model: &Model<K, N>,
        directory: &Path,
    ) -> Result<(), Finding> {
        // First, since elements by color have other numbers: what follows would blame the mesh.
        if self.by_color != model.colors.is_some() {
            let [there, here] = match self.by_color {
                true => ["a GPU", "the processor"],
                false => ["the processor", "a GPU"],
            };
            let message = format!(
                "the run in {} began on {there} and would continue on {here}, where results differ \
                 in the last bits, which `solver.deterministic` forbids",
                directory.display()
            );
            let remedy = "resume where it began, or run without --resume to start again";
            return Err(Finding::new(message).remedy(remedy));
        }

        let whole = self.whole.as_ref();
        let n_elements = model.problem.mesh().n_elements();
        let fits = fits(&self.state, model) && whole.is_none_or(|whole| whole.fits(n_elements));
        // Projected variables go down to 0.
        let floor = if model.filter.is_projected() { 0.0 } else { model.space.density_min };
        let is_design = is_plausible(&self.state, floor) && whole.is_none_or(Whole::is_plausible);
        if fits && !(is_design && self.comes_from_a_run(&model.posed)) {
            let message = format!(
                "the checkpoint in {} holds numbers that no run produces",
                directory.display()
            );
            return Err(Finding::new(message).remedy("run without --resume to start again"));
        }

        if fits && self.fingerprint == fingerprint(model)? {
            return Ok(());
        }

        let message = format!(
            "the mesh, its sets or arrays, or temperatures of other files differ from those with which the \
             run in {} began",
            directory.display()
        );
        let remedy = "give the same files, or run without --resume to start again";
        Err(Finding::new(message).remedy(remedy))
    }

    /// Whether history and progress are those of a run up to the iteration of the checkpoint.
    fn comes_from_a_run(&self, posed: &Posed) -> bool {
        let iteration = self.state.iteration;
        History::parse(&self.history).is_ok_and(|history| history.is_of_run(posed, iteration))
            && self.done.is_plausible(iteration)
    }

    /// The strategy to resume with: for `auto` the one of the run so far.
    pub fn strategy(&self, asked: config::Strategy) -> config::Strategy {
        match asked {
            config::Strategy::Auto => config::Strategy::named(&self.strategy).unwrap_or(asked),
            asked => asked,
        }
    }
}

/// Whether the vectors of a state are as long as `structure` needs them.
fn fits<K: Physics<N>, const N: usize>(state: &DesignState, structure: &Model<K, N>) -> bool {
    let (problem, mesh) = (&structure.problem, structure.problem.mesh());
    let DesignState { design, next, memory, displacements, trial, adjoints, .. } = state;
    let adjoints = adjoints.iter().map(|adjoint| &adjoint.values);
    let variables = next.iter().chain(memory.vectors.iter().map(|(_, values)| values));
    let solves_both = structure.space.solves_both();
    let voids = std::iter::once(&state.structure).chain(&state.thicker).map(|of| &of.void);
    design.len() == structure.space.n_variables()
        && variables.into_iter().all(|x| x.len() == design.len())
        && voids.flatten().all(|&e| (e as usize) < mesh.n_elements())
        && state.thicker.is_some() == solves_both
        && displacements.len() == (1 + usize::from(solves_both)) * problem.load_cases().len()
        && [0, displacements.len()].contains(&trial.len())
        && displacements.iter().chain(trial).chain(adjoints).all(|u| u.len() == problem.n_dofs())
}

/// Whether a run whose variables go down to `floor` can have come to the numbers of a state.
fn is_plausible(state: &DesignState, floor: f64) -> bool {
    let variables = floor * (1.0 - 1e-9)..=1.0;
    let DesignState { design, next, memory, displacements, trial, adjoints, kkt_residual, .. } =
        state;
    let adjoints = adjoints.iter().map(|adjoint| &adjoint.values);
    let memory = memory.vectors.iter().chain(&memory.numbers).map(|(_, values)| values);
    let mut others = displacements.iter().chain(trial).chain(adjoints).chain(memory).flatten();
    design.iter().chain(next.iter().flatten()).all(|x| variables.contains(x))
        && others.all(|value| value.is_finite())
        && kkt_residual.is_finite()
        && state.tolerance.is_none_or(|tolerance| tolerance > 0.0)
}

/// The state that the arrays of a checkpoint hold.
fn design_state(iteration: usize, record: &Record, arrays: Vec<(String, Vec<f64>)>) -> DesignState {
    let mut state = DesignState {
        iteration,
        previous_objective: record.previous_compliance,
        kkt_residual: record.kkt_residual,
        tolerance: record.tolerance,
        design: Vec::new(),
        next: None,
        memory: Memory::default(),
        displacements: Vec::new(),
        trial: Vec::new(),
        adjoints: Vec::new(),
        structure: StructureState { void: Vec::new(), excess: record.excess },
        thicker: record.thicker.map(|excess| StructureState { void: Vec::new(), excess }),
    };

    for (name, values) in arrays {
        match name.as_str() {
            DESIGN => state.design = values,
            NEXT => state.next = Some(values),
            VOID => state.structure.void = elements(&values),
            VOID_OF_THICKER => {
                if let Some(thicker) = &mut state.thicker {
                    thicker.void = elements(&values);
                }
            }
            TRIAL => state.trial.push(values),
            _ => {
                let memory = [MEMORY, NUMBERS].map(|prefix| name.strip_prefix(prefix));
                match (memory, adjoint_of(&name)) {
                    ([Some(name), _], _) => state.memory.vectors.push((name.into(), values)),
                    ([_, Some(name)], _) => state.memory.numbers.push((name.into(), values)),
                    (_, Some(of)) => state.adjoints.push(AdjointState { of, values }),
                    _ => state.displacements.push(values),
                }
            }
        }
    }
    state
}

/// Numbers of elements in an array of a checkpoint.
fn elements(values: &[f64]) -> Vec<u32> {
    values.iter().map(|&e| e as u32).collect()
}

/// Numbers of response and load case in the name of the array of an adjoint state.
fn adjoint_of(name: &str) -> Option<[usize; 2]> {
    let (response, case) = name.strip_prefix(ADJOINT)?.split_once('.')?;
    Some([response.parse().ok()?, case.parse().ok()?])
}

/// Refuses settings that differ from those of a checkpoint where they may not.
///
/// # Errors
/// A finding with all that differs, and the `remedy`.
pub(crate) fn unchanged(
    settings_before: &Value,
    config: &Config,
    may_change: &[&str],
    remedy: &str,
) -> Result<(), Finding> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    leaves("", settings_before, &mut old);
    leaves("", &settings(config)?, &mut new);

    let text = |value: Option<&Value>| value.map_or("nothing".into(), Value::to_string);
    let below = |key: &str, prefix: &str| {
        key.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let may_change =
        |key: &str| may_change.iter().any(|may| below(key, may)) || key.ends_with(MAY_MOVE);

    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let changed: Vec<_> = keys
        .into_iter()
        .filter(|key| !may_change(key) && old.get(*key) != new.get(*key))
        .map(|key| format!("{key}: {} -> {}", text(old.get(key)), text(new.get(key))))
        .collect();

    if changed.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the case has changed since the run in {} began:\n{}",
        config.output_directory().display(),
        changed.join("\n")
    );
    Err(Finding::new(message).remedy(remedy))
}

/// The values of `value` by their keys, as in `--set`; those left out are not there.
fn leaves(key: &str, value: &Value, out: &mut BTreeMap<String, Value>) {
    let below = |name: &str| match (key, config::present(name)) {
        ("", name) => name.to_owned(),
        (key, name) => format!("{key}.{name}"),
    };
    match value {
        Value::Object(entries) => entries.iter().for_each(|(name, v)| leaves(&below(name), v, out)),
        Value::Array(entries) if entries.iter().any(Value::is_object) => {
            entries.iter().enumerate().for_each(|(i, v)| leaves(&below(&i.to_string()), v, out));
        }
        Value::Null => {}
        value => {
            out.insert(key.into(), value.clone());
        }
    }
}
