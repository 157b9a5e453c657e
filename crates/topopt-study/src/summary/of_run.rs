//! `RunSummary`: the summary of a run under way, with its opening and closing lines.

use std::path::PathBuf;

use topopt_case::config::{self, Config};
use topopt_case::full_part::FullPart;
use topopt_case::model::Model;
use topopt_case::responses::posed::Posed;
use topopt_case::unit_names::UnitNames;
use topopt_design::{Ended, Stage, StopRule};
use topopt_mesh::HexMesh;

use super::{Preconditioner, Settings, Summary, rule_text};
use crate::asked::{Limited, ObjectiveFound};
use crate::computer::Solvable;
use crate::done::{CoarseStart, Done, Seconds};
use crate::memory::peak_mb;
use crate::resumption::Resumption;
use crate::starting_design::StartingDesign;

/// Summary of a run under way, with what it takes to describe the run to people.
pub struct RunSummary<'a> {
    /// Content of summary.json so far.
    pub record: Summary,
    /// Warnings from the end of the run, without grey material.
    pub(crate) ending: Vec<String>,
    /// The mesh as the user numbers it.
    pub mesh: &'a HexMesh,
    /// Objective and limits.
    pub posed: &'a Posed,
    /// Stages of the continuation.
    pub(super) stages: &'a [Stage],
    /// The case.
    pub(crate) config: &'a Config,
}

impl<'a> RunSummary<'a> {
    /// The summary before the first iteration, with what is `doubtful`, device and strategy.
    pub fn new<K: Solvable<N>, const N: usize>(
        config: &'a Config,
        model: &'a Model<K, N>,
        doubtful: Vec<String>,
        (device, strategy): (String, &'static str),
    ) -> Self {
        let constraints = model.posed.constraints.iter();
        let cases = model.problem.load_cases().iter();
        let record = Summary {
            topopt: env!("CARGO_PKG_VERSION").into(),
            title: config.title.clone(),
            units: UnitNames::of(config),
            case: config.path().display().to_string(),
            status: "running".into(),
            stopped_by: None,
            nodes: model.mesh.n_nodes(),
            elements: model.mesh.n_elements(),
            free_dofs: model.n_free_dofs(),
            solid_elements: model.space.solid.len(),
            kept_elements: model.kept.elements.len(),
            void_elements: model.space.void.len(),
            materials: model.materials.clone(),
            load_cases: cases.map(|case| case.name.clone()).collect(),
            element_width: model.element_width,
            filter_radius: model.filter.radius(),
            neighbors: None,
            device,
            strategy: strategy.into(),
            preconditioner: Preconditioner::default(),
            objective: ObjectiveFound::of(&model.posed, None),
            constraints: constraints.map(|limit| Limited::of(limit, None, None)).collect(),
            done: Done::default(),
            volume_met: None,
            peak_memory_mb: None,
            islands: None,
            went_back_to: None,
            torn_by: None,
            settings: Settings::of(config),
            warnings: doubtful,
            notes: model.notes.clone(),
        };
        let (mesh, posed, stages) = (&model.mesh, &model.posed, &model.stages[..]);
        Self { record, ending: Vec::new(), mesh, posed, stages, config }
    }

    /// Takes over what the full part says of the limits.
    pub(crate) fn hold_against(&mut self, full_part: FullPart) {
        let FullPart { missed, warnings } = full_part;
        self.record.warnings.extend(warnings);
        let constraints = self.record.constraints.iter_mut().zip(missed);
        constraints.for_each(|(limited, value)| limited.full_part = value);
    }

    /// Takes over the progress up to the checkpoint that the run resumes from.
    pub fn resume(&mut self, resumption: &Resumption) {
        self.record.done = resumption.done.clone();
        self.record.notes.extend(resumption.notes.iter().cloned());
        self.record.notes.push(format!("resumed after iteration {}", self.record.done.iterations));
    }

    /// Takes note of the design that the run starts from.
    pub fn start_from(&mut self, design: &StartingDesign) {
        let path = design.path().display().to_string();
        self.record.notes.push(format!("started from the density in {path}, interpolated"));
        self.record.done.started_from = Some(path);
    }

    /// Takes note of the coarser mesh that the run begins on.
    pub fn begin_coarse(&mut self, start: &CoarseStart) {
        let CoarseStart { seconds, .. } = start;
        self.record.notes.push(format!("began coarse: {}, in {seconds:.1} s", start.said()));
        self.record.done.coarse = Some(start.clone());
    }

    /// Takes the end of the run, none if it failed.
    pub fn close(&mut self, ended: Option<&Ended>) {
        let record = &mut self.record;
        let (status, stopped_by) = match ended {
            Some(Ended::Rule(rule)) => ("done", Some(rule_name(*rule))),
            Some(Ended::Solver { .. }) if record.went_back_to.is_some() => ("done", None),
            Some(Ended::Interrupted) => ("interrupted", None),
            Some(Ended::Solver { .. } | Ended::Filter { .. }) => ("solver_failed", None),
            Some(Ended::Sensitivities { .. }) => ("not_finite", None),
            None => ("failed", None),
        };
        (record.status, record.stopped_by) = (status.into(), stopped_by.map(str::to_owned));

        record.peak_memory_mb = peak_mb();
        let volume = record.done.volume_fraction.zip(record.settings.volume_fraction);
        record.volume_met =
            volume.map(|(volume, target)| (volume - target).abs() <= VOLUME_TOLERANCE * target);

        let (posed, answer) = (self.posed, &record.done.answer);
        record.objective = ObjectiveFound::of(posed, answer.objective);
        let limits = record.constraints.iter_mut().zip(&posed.constraints).enumerate();
        for (i, (limited, posed)) in limits {
            *limited = Limited::of(posed, answer.limited.get(i).copied(), limited.full_part);
        }

        self.ending.extend(self.warnings_at_end());
        let grey = self.grey().filter(|_| self.record.done.grey_level > Some(GREY));
        self.record.warnings.extend(grey.into_iter().chain(self.ending.iter().cloned()));
    }

    /// Folder of the results.
    pub fn directory(&self) -> PathBuf {
        self.config.output_directory()
    }

    /// The opening lines for people.
    pub fn opening(&self) -> String {
        let record = &self.record;
        let mut lines = format!(
            "{}: {} elements, {} nodes, {} unknowns; {} with {} on {}",
            record.title.as_ref().unwrap_or(&record.case),
            record.elements,
            record.nodes,
            record.free_dofs,
            record.strategy,
            record.preconditioner.name,
            record.device
        );
        record.warnings.iter().for_each(|warning| lines += &format!("\nwarning: {warning}"));
        record.notes.iter().for_each(|note| lines += &format!("\nnote: {note}"));
        lines
    }

    /// The closing lines for people.
    pub fn closing(&self) -> String {
        let Summary { done, status, stopped_by, .. } = &self.record;
        let Seconds { preprocess, setup, pcg, sensitivity, filter, update, output, total } =
            done.seconds;

        let mut lines = String::new();
        if let (Some(compliance), Some(volume)) = (done.compliance, done.volume_fraction) {
            let own = self.own_objective();
            let name = self.record.settings.physics.in_words("compliance");
            let ended = stopped_by.as_deref().map(rule_text).map(str::to_owned);
            lines += &format!(
                "{} iteration{}, {}: {own}{name} {compliance:.6e}, volume {volume:.4}, {} PCG \
                 iterations\n",
                done.iterations,
                if done.iterations == 1 { "" } else { "s" },
                ended.unwrap_or_else(|| status.replace('_', " ")),
                done.pcg_iterations
            );
        }

        lines += &format!(
            "{total:.1} s: preprocess {preprocess:.1}, setup {setup:.1}, pcg {pcg:.1}, sensitivity \
             {sensitivity:.1}, filter {filter:.1}, update {update:.1}, output {output:.1}\n"
        );
        lines += &format!("results in {}", self.directory().display());

        let warnings = self.ending.iter().map(|warning| format!("warning: {warning}"));
        let islands = self.record.islands.iter().map(|islands| format!("note: {}", islands.said()));
        let last = self.grey().into_iter().chain(self.kept_limits()).chain(islands).chain(warnings);
        last.for_each(|line| lines += &format!("\n{line}"));
        lines
    }

    /// How grey the last design is.
    fn grey(&self) -> Option<String> {
        let responses = || {
            let limited = self.posed.constraints.iter().map(|constraint| &constraint.response);
            self.posed.objective.iter().chain(limited)
        };
        let seen = Seen {
            is_in_time: responses().any(|response| response.when.is_some()),
            has_weight: responses().any(|response| response.form.posed().is_mass()),
            style: self.record.settings.style,
        };
        self.record.done.grey_level.map(|grey| grey_text(grey, seen))
    }

    /// An objective that is neither the compliance nor the volume, to stand before these.
    fn own_objective(&self) -> String {
        let is_usual = self.posed.objective.iter().all(|response| response.is_usual());
        match self.record.objective.value.filter(|_| !is_usual) {
            Some(value) => {
                let name = self.record.settings.physics.in_words(&self.record.objective.response);
                format!("{name} {value:.6e}, ")
            }
            None => String::new(),
        }
    }

    /// Limits of `[[constraints]]` that are kept.
    fn kept_limits(&self) -> impl Iterator<Item = String> {
        let kept = self.asked_limits().filter_map(Limited::kept);
        kept.map(|text| self.record.settings.physics.in_words(&text))
    }

    pub(super) fn asked_limits(&self) -> impl Iterator<Item = &Limited> {
        let posed = self.posed.constraints.iter().zip(&self.record.constraints);
        posed.filter(|(posed, _)| posed.entry.is_some()).map(|(_, limited)| limited)
    }
}

/// Context in which a grey design is reported.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// Whether responses are of states in time, which are not verified.
    is_in_time: bool,
    /// Whether the mass is asked for.
    has_weight: bool,
    /// Style of the design, `smooth` or `crisp`.
    style: config::Style,
}

/// How grey a design is, from 0 to 1, and what that means.
fn grey_text(grey: f64, seen: Seen) -> String {
    let text = format!("grey level {:.1} %", 100.0 * grey);
    if grey <= GREY {
        return text;
    }
    let meaning = if seen.has_weight {
        "grey material has all of its weight and little of its stiffness, so the built part will have \
         another mass and stiffness"
    } else {
        "the built part will perform differently"
    };
    let proof = (!seen.is_in_time).then_some("run `topopt verify` to see by how much");
    let remedy = match seen.style {
        config::Style::Smooth => Some("use `design.style = \"crisp\"`"),
        config::Style::Crisp => None,
    };
    let advice: Vec<&str> = proof.into_iter().chain(remedy).collect();
    let advice =
        if advice.is_empty() { String::new() } else { format!(": {}", advice.join(", or ")) };
    format!("{text}: {meaning}{advice}")
}

/// Grey level from which on a built part is another than the optimized design: the verified
/// compliance was 0.99 of the optimized one at 1 %, 0.93 at 9 and 11 %, 0.76 at 28 %.
const GREY: f64 = 0.1;

/// Largest share by which a volume may differ from the one asked for.
const VOLUME_TOLERANCE: f64 = 1e-3;

pub(super) fn rule_name(rule: StopRule) -> &'static str {
    match rule {
        StopRule::MaxIterations => "max_iterations",
        StopRule::Change => "change_tolerance",
        StopRule::RelativeObjective => "compliance_tolerance",
        StopRule::AbsoluteObjective => "absolute_compliance_tolerance",
        StopRule::KktResidual => "kkt_tolerance",
    }
}
