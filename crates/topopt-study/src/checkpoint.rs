//! Checkpoints of a run: when one is written, and whether a run may go on from one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crc32fast::Hasher;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use topopt_design::{DesignState, ObserverError, StructureState};
use topopt_io::checkpoint::Checkpoints;

use crate::config::{self, Config};
use crate::done::Done;
use crate::finding::{Finding, InputError};
use crate::history::History;
use crate::model::Model;
use crate::result_files::{HISTORY, checkpoints};

/// Keys that may change when a run goes on: stop rules, output, and what changes no bit. The mesh
/// itself is looked at, wherever its file is now.
const MAY_CHANGE: [&str; 10] = [
    "title",
    "mesh.file",
    "filter.neighbor_memory_mb",
    "optimizer.max_iterations",
    "optimizer.change_tolerance",
    "optimizer.compliance_tolerance",
    "optimizer.absolute_compliance_tolerance",
    "solver.max_iterations",
    "solver.threads",
    "output",
];

/// Name of the array of design variables.
const DESIGN: &str = "design";
/// Name of the array of the design variables of the next design.
const NEXT: &str = "next";
/// Name of the arrays of displacements, one per load case.
const DISPLACEMENT: &str = "displacement";
/// Name of the array of elements that the preconditioner takes for void.
const VOID: &str = "void";
/// Beginning of the names of what the optimizer remembers.
const MEMORY: &str = "optimizer.";
/// The share of the time that writing checkpoints may take where `output.checkpoint_every` is left
/// out.
const SHARE: f64 = 0.02;

/// What a checkpoint holds besides the iteration and the arrays, which go by their names and are in the
/// numbering of the problem. Those of earlier versions have neither [`NEXT`] nor [`MEMORY`].
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    topopt: String,
    strategy: String,
    config: Value,
    /// See [`fingerprint`].
    structure: u32,
    /// Whether the elements of the problem come by color.
    by_color: bool,
    previous_compliance: Option<f64>,
    /// See [`StructureState`].
    excess: usize,
    done: Done,
    /// The table of the iterations so far.
    history: String,
}

/// Writes the checkpoints of a run.
pub struct Checkpointer {
    files: Checkpoints,
    history: PathBuf,
    config: Value,
    structure: u32,
    by_color: bool,
    strategy: &'static str,
    every: Option<usize>,
    /// The last one, and how long it took.
    iteration: usize,
    written: Instant,
    cost: Duration,
}

/// Where a run goes on.
#[derive(Debug)]
pub struct Resumption {
    pub state: DesignState,
    pub done: Done,
    /// The table of the iterations so far.
    pub history: String,
    /// Checkpoints that were passed over, a sentence each.
    pub notes: Vec<String>,
    strategy: String,
    structure: u32,
    by_color: bool,
}

impl Checkpointer {
    /// For a run with results in `directory`, which has come to `iteration`.
    ///
    /// # Errors
    /// A finding if the settings cannot be written.
    pub fn new(
        config: &Config,
        structure: &Model,
        strategy: &'static str,
        iteration: usize,
    ) -> Result<Self, Finding> {
        let directory = config.output_directory();
        Ok(Self {
            files: checkpoints(&directory),
            history: directory.join(HISTORY),
            config: settings(config)?,
            structure: fingerprint(structure),
            by_color: structure.colors.is_some(),
            strategy,
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
    pub fn write(&mut self, state: &DesignState, done: &Done) -> Result<(), ObserverError> {
        let start = Instant::now();
        let history = fs::read_to_string(&self.history)
            .map_err(|cause| format!("cannot read {}: {cause}", self.history.display()))?;
        let record = Record {
            topopt: env!("CARGO_PKG_VERSION").into(),
            strategy: self.strategy.into(),
            config: self.config.clone(),
            structure: self.structure,
            by_color: self.by_color,
            previous_compliance: state.previous_objective,
            excess: state.structure.excess,
            done: done.clone(),
            history,
        };
        let mut arrays = vec![(DESIGN, state.design.as_slice())];
        arrays.extend(state.next.iter().map(|next| (NEXT, next.as_slice())));
        arrays.extend(state.displacements.iter().map(|u| (DISPLACEMENT, u.as_slice())));
        let memory = state.memory.iter().map(|(name, x)| (format!("{MEMORY}{name}"), x));
        let memory: Vec<_> = memory.collect();
        arrays.extend(memory.iter().map(|(name, x)| (name.as_str(), x.as_slice())));
        let void: Vec<f64> = state.structure.void.iter().map(|&e| e.into()).collect();
        arrays.push((VOID, &void));
        self.files.write(state.iteration, &record, &arrays)?;
        (self.iteration, self.written, self.cost) =
            (state.iteration, Instant::now(), start.elapsed());
        Ok(())
    }
}

impl Resumption {
    /// The newest checkpoint that can be used among the results of `config`.
    ///
    /// # Errors
    /// A finding if there is none, or if it is of a run with other settings.
    pub fn find(config: &Config) -> Result<Self, InputError> {
        let directory = config.output_directory();
        let (newest, skipped) = checkpoints(&directory).newest();
        let notes: Vec<_> = skipped.iter().map(|e| format!("checkpoint {e}; skipped")).collect();
        let Some(checkpoint) = newest else {
            let there =
                if notes.is_empty() { "there is no checkpoint".into() } else { notes.join("; ") };
            let message =
                format!("no checkpoint to resume from in {}: {there}", directory.display());
            let remedy = "name the folder of the results with `--output DIR`, or run without \
                          --resume to start again";
            return Err(Finding::new(message).remedy(remedy).into());
        };
        let record: Record = serde_json::from_value(checkpoint.content).map_err(|error| {
            Finding::new(format!(
                "the checkpoint in {} was written by another version: {error}",
                directory.display()
            ))
            .remedy("resume with the version that wrote it, or run without --resume")
        })?;
        unchanged(&record, config, &directory)?;
        let state = design_state(checkpoint.iteration, &record, checkpoint.arrays);
        let Record { done, history, strategy, structure, by_color, .. } = record;
        Ok(Self { state, done, history, notes, strategy, structure, by_color })
    }

    /// Whether the structure is that of the checkpoint.
    ///
    /// # Errors
    /// A finding if it is not.
    pub fn check(&self, structure: &Model, directory: &Path) -> Result<(), Finding> {
        if self.by_color != structure.colors.is_some() {
            let [there, here] = match self.by_color {
                true => ["a GPU", "the processor"],
                false => ["the processor", "a GPU"],
            };
            let message = format!(
                "the run in {} began on {there} and would continue on {here}, where results differ in the last bits, which \
                 `solver.deterministic` forbids",
                directory.display()
            );
            let remedy = "resume where it began, or run without --resume to start again";
            return Err(Finding::new(message).remedy(remedy));
        }
        let fits = fits(&self.state, structure);
        let is_design = is_plausible(&self.state, structure.space.density_min);
        if fits && !(is_design && self.is_told_by_a_run()) {
            let message = format!(
                "the checkpoint in {} holds numbers that no run comes to",
                directory.display()
            );
            return Err(Finding::new(message).remedy("run without --resume to start again"));
        }
        if fits && self.structure == fingerprint(structure) {
            return Ok(());
        }
        let message = format!(
            "the mesh or its sets differ from those with which the run in {} began",
            directory.display()
        );
        Err(Finding::new(message).remedy("run without --resume to start again"))
    }

    /// Whether the history, and what is said to be done, are those of a run that came so far.
    fn is_told_by_a_run(&self) -> bool {
        let iteration = self.state.iteration;
        History::parse(&self.history).is_ok_and(|history| history.is_of_run(iteration))
            && self.done.is_plausible(iteration)
    }

    /// The strategy to go on with: the same, where the choice was left to the program.
    pub fn strategy(&self, asked: config::Strategy) -> config::Strategy {
        match asked {
            config::Strategy::Auto => config::Strategy::named(&self.strategy).unwrap_or(asked),
            asked => asked,
        }
    }
}

/// Whether the vectors of a state are as long as `structure` needs them.
fn fits(state: &DesignState, structure: &Model) -> bool {
    let (problem, mesh) = (&structure.problem, structure.problem.mesh());
    let DesignState { design, next, memory, displacements, structure: made_for, .. } = state;
    let variables = next.iter().chain(memory.iter().map(|(_, values)| values));
    design.len() == mesh.n_elements()
        && variables.into_iter().all(|x| x.len() == design.len())
        && made_for.void.iter().all(|&e| (e as usize) < mesh.n_elements())
        && displacements.len() == problem.load_cases().len()
        && displacements.iter().all(|u| u.len() == problem.n_dofs())
}

/// Whether a run can have come to the numbers of a state.
fn is_plausible(state: &DesignState, density_min: f64) -> bool {
    let densities = density_min * (1.0 - 1e-9)..=1.0;
    let DesignState { design, next, memory, displacements, .. } = state;
    let mut others = displacements.iter().chain(memory.iter().map(|(_, values)| values)).flatten();
    design.iter().chain(next.iter().flatten()).all(|x| densities.contains(x))
        && others.all(|value| value.is_finite())
}

/// The state that the arrays of a checkpoint hold.
fn design_state(iteration: usize, record: &Record, arrays: Vec<(String, Vec<f64>)>) -> DesignState {
    let mut state = DesignState {
        iteration,
        previous_objective: record.previous_compliance,
        design: Vec::new(),
        next: None,
        memory: Vec::new(),
        displacements: Vec::new(),
        structure: StructureState { void: Vec::new(), excess: record.excess },
    };
    for (name, values) in arrays {
        match name.as_str() {
            DESIGN => state.design = values,
            NEXT => state.next = Some(values),
            VOID => state.structure.void = values.iter().map(|&e| e as u32).collect(),
            _ => match name.strip_prefix(MEMORY) {
                Some(name) => state.memory.push((name.into(), values)),
                None => state.displacements.push(values),
            },
        }
    }
    state
}

/// Refuses settings that differ from those of the checkpoint where they may not.
fn unchanged(record: &Record, config: &Config, directory: &Path) -> Result<(), Finding> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    leaves("", &record.config, &mut old);
    leaves("", &settings(config)?, &mut new);
    let text = |value: Option<&Value>| value.map_or("nothing".into(), Value::to_string);
    let may_change = |key: &str| {
        MAY_CHANGE
            .iter()
            .any(|m| key.strip_prefix(m).is_some_and(|r| r.is_empty() || r.starts_with('.')))
    };
    let keys: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
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
        directory.display(),
        changed.join("\n")
    );
    Err(Finding::new(message).remedy(
        "change it back, or run without --resume to start again; only stop rules, [output] and \
         `solver.threads` may change",
    ))
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

fn settings(config: &Config) -> Result<Value, Finding> {
    serde_json::to_value(config)
        .map_err(|error| Finding::new(format!("cannot write the settings: {error}")))
}

/// A checksum of mesh, supports, loads and passive elements.
fn fingerprint(structure: &Model) -> u32 {
    let Model { mesh, problem, space, .. } = structure;
    let mut sum = Hasher::new();
    add(&mut sum, mesh.hexes(), |hex| hex.map(u32::to_le_bytes));
    add(&mut sum, &space.solid, |n| [n.to_le_bytes()]);
    sum.update(&u32::MAX.to_le_bytes());
    add(&mut sum, &space.void, |n| [n.to_le_bytes()]);
    add(&mut sum, mesh.coordinates(), |x| x.map(f64::to_le_bytes));
    problem.load_cases().iter().for_each(|case| add(&mut sum, &case.forces, |f| [f.to_le_bytes()]));
    let supports = problem.supports();
    let nodes: Vec<u32> = (0..supports.n_nodes() as u32).collect();
    let is_held = |node: u32, i: usize| u8::from(supports.is_fixed(node as usize, i));
    add(&mut sum, &nodes, |&node| [[0, 1, 2].map(|i| is_held(node, i))]);
    sum.finalize()
}

/// Adds the bytes of all `values`, which several threads sum up in pieces.
fn add<T: Sync, const N: usize, const M: usize>(
    sum: &mut Hasher,
    values: &[T],
    bytes: impl Fn(&T) -> [[u8; N]; M] + Sync,
) {
    let of_piece = |values: &[T]| {
        let mut sum = Hasher::new();
        sum.update(values.iter().map(&bytes).collect::<Vec<_>>().as_flattened().as_flattened());
        sum
    };
    let pieces: Vec<Hasher> = values.par_chunks(1 << 16).map(of_piece).collect();
    pieces.iter().for_each(|piece| sum.combine(piece));
}
