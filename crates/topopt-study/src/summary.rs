//! `Summary` of a run: summary.json and the closing lines.

use std::path::Path;

use serde::Serialize;
use topopt_case::config::{self, Config};
use topopt_case::full_part::FullPart;
use topopt_case::materials::MaterialShare;
use topopt_case::model::Model;
use topopt_case::responses::posed::Posed;
use topopt_case::unit_names::UnitNames;
use topopt_design::{Ended, StopRule};
use topopt_fem::ElementPreconditioner;
use topopt_io::WriteError;
use topopt_linalg::{Backend, CycleKind};
use topopt_mesh::numbers::shown;

use crate::asked::{Limited, ObjectiveFound};
use crate::computer::Neighbors;
use crate::computer::Solvable;
use crate::done::{Done, Seconds};
use crate::doubts::kept_sharpness;
use crate::islands::Islands;
use crate::result_files::{SUMMARY, write_json};
use crate::resumption::Resumption;
use crate::starting_design::StartingDesign;
use crate::swing;

/// Everything worth keeping of a run.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    /// Version of the program.
    pub topopt: &'static str,
    /// Title of the case.
    pub title: Option<&'a str>,
    /// Nothing where the case does not say.
    pub units: Option<UnitNames>,
    /// Path of the case file.
    pub case: String,
    /// `running`, then `done`, `interrupted`, `solver_failed`, `not_finite`, or `failed` where a file
    /// could not be written or the device failed.
    pub status: &'static str,
    /// The stop rule that was met.
    pub stopped_by: Option<&'static str>,
    /// Nodes of the mesh.
    pub nodes: usize,
    /// Elements of the mesh.
    pub elements: usize,
    /// Displacement components that are not held.
    pub free_dofs: usize,
    /// Elements that stay solid.
    pub solid_elements: usize,
    /// Elements that stay solid only because they lie at loads or supports.
    pub kept_elements: usize,
    /// Elements that stay void.
    pub void_elements: usize,
    /// Materials of the elements, `[material]` first.
    pub materials: &'a [MaterialShare],
    /// Names of the load cases.
    pub load_cases: Vec<&'a str>,
    /// Mean width of an element.
    pub element_width: f64,
    /// Radius of the filter at the begin.
    pub filter_radius: Option<f64>,
    /// How the filter finds neighbors.
    pub neighbors: Option<Neighbors>,
    /// Name of the compute target.
    pub device: String,
    /// How the stiffness is applied.
    pub strategy: &'static str,
    /// The preconditioner and its levels.
    pub preconditioner: Preconditioner,
    /// Objective, and its value in the last design.
    pub objective: ObjectiveFound,
    /// Limits, and what the last design has.
    pub constraints: Vec<Limited>,
    /// Work done so far, by all parts of a run that was resumed.
    #[serde(flatten)]
    pub done: Done,
    /// Whether the last design has the largest volume allowed, to a thousandth; none where the
    /// volume has no limit.
    pub volume_met: Option<bool>,
    /// Islands that the last design leaves out, where it had any.
    pub islands: Option<Islands>,
    /// Peak memory of the process, where the system reports it.
    pub peak_memory_mb: Option<f64>,
    /// The settings in force.
    pub settings: Settings<'a>,
    /// Warnings before the run and at its end: limits that are missed, grey material, stages that
    /// were cut off; a sentence each.
    pub warnings: Vec<String>,
    /// Notes on what was left out or changed, a sentence each.
    pub notes: Vec<String>,
    /// Warnings from the end of the run, without grey material.
    #[serde(skip)]
    pub(crate) ending: Vec<String>,
    #[serde(skip)]
    pub(crate) posed: &'a Posed,
    #[serde(skip)]
    config: &'a Config,
}

/// The preconditioner and its levels.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Preconditioner {
    /// Name as in the case file.
    pub name: &'static str,
    /// `V`, `W` or `K`, where there are levels.
    pub cycle: Option<&'static str>,
    /// Unknowns of every level, the finest first, where there are levels.
    pub levels: Vec<usize>,
    /// Entries of the matrices of all levels for each of the finest, where there are levels.
    pub operator_complexity: Option<f64>,
}

impl Preconditioner {
    /// Describes `preconditioner`.
    pub fn of<B: Backend>(preconditioner: &dyn ElementPreconditioner<B>) -> Self {
        let levels = preconditioner.levels();
        let entries: usize = levels.iter().map(|level| level.entries).sum();
        Self {
            name: preconditioner.name(),
            cycle: preconditioner.cycle().map(CycleKind::name),
            levels: levels.iter().map(|level| level.unknowns).collect(),
            operator_complexity: levels.first().map(|l| entries as f64 / l.entries as f64),
        }
    }
}

/// The settings in force, defaults and overrides included.
#[derive(Debug, Serialize)]
pub struct Settings<'a> {
    /// Physics that is solved.
    pub physics: config::PhysicsKind,
    /// The material.
    pub material: &'a config::Material,
    /// The largest volume asked for.
    pub volume_fraction: Option<f64>,
    /// Style of the design, `smooth` or `crisp`.
    pub style: config::Style,
    /// How the modulus follows the density.
    pub interpolation: config::Interpolation,
    /// Exponent or slope of the interpolation.
    pub penalty: f64,
    /// The density of void.
    pub density_min: f64,
    /// The filter.
    pub filter: &'a config::Filter,
    /// The projection.
    pub projection: Option<&'a config::Projection>,
    /// Settings that change in the course of the run.
    pub continuation: &'a [config::Continuation],
    /// The optimizer.
    pub optimizer: &'a config::Optimizer,
    /// The linear solver.
    pub solver: &'a config::Solver,
    /// The results.
    pub output: &'a config::Output,
}

impl<'a> Settings<'a> {
    fn of(config: &'a Config) -> Self {
        Self {
            physics: config.physics.kind,
            material: &config.material,
            volume_fraction: config.volume_bound(),
            style: config.design.style,
            interpolation: config.design.interpolation,
            penalty: config.design.penalty,
            density_min: config.design.density_min,
            filter: config.filter.get_ref(),
            projection: config.projection.as_ref(),
            continuation: &config.continuation,
            optimizer: &config.optimizer,
            solver: &config.solver,
            output: &config.output,
        }
    }
}

impl<'a> Summary<'a> {
    /// The summary before the first iteration, with what is `doubtful`, device and strategy.
    pub fn new<K: Solvable<N>, const N: usize>(
        config: &'a Config,
        model: &'a Model<K, N>,
        doubtful: Vec<String>,
        (device, strategy): (String, &'static str),
    ) -> Self {
        Self {
            topopt: env!("CARGO_PKG_VERSION"),
            title: config.title.as_deref(),
            units: UnitNames::of(config),
            case: config.path().display().to_string(),
            status: "running",
            stopped_by: None,
            nodes: model.mesh.n_nodes(),
            elements: model.mesh.n_elements(),
            free_dofs: model.n_free_dofs(),
            solid_elements: model.space.solid.len(),
            kept_elements: model.kept.elements.len(),
            void_elements: model.space.void.len(),
            materials: &model.materials,
            load_cases: model.problem.load_cases().iter().map(|c| c.name.as_str()).collect(),
            element_width: model.element_width,
            filter_radius: model.filter.radius(),
            neighbors: None,
            device,
            strategy,
            preconditioner: Preconditioner::default(),
            objective: ObjectiveFound::of(&model.posed, None),
            constraints: model
                .posed
                .constraints
                .iter()
                .map(|c| Limited::of(c, None, None))
                .collect(),
            done: Done::default(),
            volume_met: None,
            islands: None,
            peak_memory_mb: None,
            settings: Settings::of(config),
            warnings: doubtful,
            notes: model.notes.clone(),
            ending: Vec::new(),
            posed: &model.posed,
            config,
        }
    }

    /// Takes over what the full part says of the limits.
    pub(crate) fn hold_against(&mut self, full_part: FullPart) {
        let FullPart { missed, warnings } = full_part;
        self.warnings.extend(warnings);
        let constraints = self.constraints.iter_mut().zip(missed);
        constraints.for_each(|(limited, value)| limited.full_part = value);
    }

    /// Takes over the progress up to the checkpoint that the run resumes from.
    pub fn resume(&mut self, resumption: &Resumption) {
        self.done = resumption.done.clone();
        self.notes.extend(resumption.notes.iter().cloned());
        self.notes.push(format!("resumed after iteration {}", self.done.iterations));
    }

    /// Takes note of the design that the run starts from.
    pub fn start_from(&mut self, design: &StartingDesign) {
        let path = design.path().display().to_string();
        self.notes.push(format!("started from the density in {path}, interpolated"));
        self.done.started_from = Some(path);
    }

    /// Takes the end of the run, none if it failed.
    pub fn close(&mut self, ended: Option<&Ended>) {
        (self.status, self.stopped_by) = match ended {
            Some(Ended::Rule(rule)) => ("done", Some(rule_name(*rule))),
            Some(Ended::Interrupted) => ("interrupted", None),
            Some(Ended::Solver { .. } | Ended::Filter { .. }) => ("solver_failed", None),
            Some(Ended::Sensitivities { .. }) => ("not_finite", None),
            None => ("failed", None),
        };

        self.peak_memory_mb = peak_memory_mb();
        let target = self.settings.volume_fraction;
        self.volume_met = self
            .done
            .volume_fraction
            .zip(target)
            .map(|(volume, target)| (volume - target).abs() <= VOLUME_TOLERANCE * target);

        let (posed, answer) = (self.posed, &self.done.answer);
        self.objective = ObjectiveFound::of(posed, answer.objective);
        let value = |i: usize| answer.limited.get(i).copied();
        for (i, (limited, posed)) in self.constraints.iter_mut().zip(&posed.constraints).enumerate()
        {
            *limited = Limited::of(posed, value(i), limited.full_part);
        }

        self.ending.extend(self.warnings_at_end());
        let grey = self.grey().filter(|_| self.done.grey_level > Some(GREY));
        self.warnings.extend(grey.into_iter().chain(self.ending.iter().cloned()));
    }

    /// Writes summary.json.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), WriteError> {
        write_json(&directory.join(SUMMARY), self)
    }

    /// The opening lines for people.
    pub fn opening(&self) -> String {
        let mut lines = format!(
            "{}: {} elements, {} nodes, {} unknowns; {} with {} on {}",
            self.title.unwrap_or(&self.case),
            self.elements,
            self.nodes,
            self.free_dofs,
            self.strategy,
            self.preconditioner.name,
            self.device
        );
        self.warnings.iter().for_each(|warning| lines += &format!("\nwarning: {warning}"));
        self.notes.iter().for_each(|note| lines += &format!("\nnote: {note}"));
        lines
    }

    /// The closing lines for people.
    pub fn closing(&self, directory: &Path) -> String {
        let Seconds { preprocess, setup, pcg, sensitivity, filter, update, output, total } =
            self.done.seconds;

        let mut lines = String::new();
        if let (Some(compliance), Some(volume)) = (self.done.compliance, self.done.volume_fraction)
        {
            let own = self.own_objective();
            let name = self.settings.physics.in_words("compliance");
            lines += &format!(
                "{} iteration{}, {}: {own}{name} {compliance:.6e}, volume {volume:.4}, {} PCG \
                 iterations\n",
                self.done.iterations,
                if self.done.iterations == 1 { "" } else { "s" },
                self.stopped_by
                    .map_or(self.status.replace('_', " "), |rule| rule_text(rule).into()),
                self.done.pcg_iterations
            );
        }

        lines += &format!(
            "{total:.1} s: preprocess {preprocess:.1}, setup {setup:.1}, pcg {pcg:.1}, sensitivity \
             {sensitivity:.1}, filter {filter:.1}, update {update:.1}, output {output:.1}\n"
        );
        lines += &format!("results in {}", directory.display());

        let warnings = self.ending.iter().map(|warning| format!("warning: {warning}"));
        let islands = self.islands.iter().map(|islands| format!("note: {}", islands.said()));
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
            style: self.settings.style,
        };
        self.done.grey_level.map(|grey| grey_text(grey, seen))
    }

    /// An objective that is neither the compliance nor the volume, to stand before these.
    fn own_objective(&self) -> String {
        let is_usual = self.posed.objective.iter().all(|response| response.is_usual());
        match self.objective.value.filter(|_| !is_usual) {
            Some(value) => {
                let name = self.settings.physics.in_words(&self.objective.response);
                format!("{name} {value:.6e}, ")
            }
            None => String::new(),
        }
    }

    /// Limits of `[[constraints]]` that are kept.
    fn kept_limits(&self) -> impl Iterator<Item = String> {
        let kept = self.asked_limits().filter_map(Limited::kept);
        kept.map(|text| self.settings.physics.in_words(&text))
    }

    fn asked_limits(&self) -> impl Iterator<Item = &Limited> {
        let posed = self.posed.constraints.iter().zip(&self.constraints);
        posed.filter(|(posed, _)| posed.entry.is_some()).map(|(_, limited)| limited)
    }

    /// Returns warnings about the last design, except for grey material.
    fn warnings_at_end(&self) -> Vec<String> {
        let missed = self.asked_limits().filter_map(Limited::missed);
        let missed = missed.map(|text| self.settings.physics.in_words(&text));
        let ended = self.volume_warning().into_iter().chain(self.cut_stages());
        let mut all: Vec<String> = ended.chain(missed).chain(self.swing()).collect();
        if all.is_empty() {
            all.extend(self.unfinished());
        }
        all.extend(self.short_solves());
        all
    }

    fn volume_warning(&self) -> Option<String> {
        let volume = self.done.volume_fraction.filter(|_| self.volume_met == Some(false))?;
        // What other limits leave is reported with them, and only criteria use up all of a volume.
        let target = self.settings.volume_fraction.filter(|_| self.constraints.len() == 1)?;
        if volume < target && self.settings.optimizer.method != config::Method::Oc {
            return None;
        }

        let is_at_rest = self.done.change.is_some_and(|change| change < AT_REST);
        let why = match volume > target {
            _ if !is_at_rest => {
                "the run ended on the way there; raise `optimizer.max_iterations` and go on with \
                 `--resume`"
            }
            true => "with these passive elements and this filter no design has less",
            false => {
                let surplus = self.settings.physics.data().surplus;
                &format!(
                    "with these passive elements and this filter no design has more, or more \
                     material {surplus}"
                )
            }
        };

        Some(format!("the volume is {volume:.4}, but {target} was requested: {why}"))
    }

    /// Stages that the run did not come to, though nobody stopped it.
    fn cut_stages(&self) -> Option<String> {
        let iterations = self.done.iterations;
        let late = self.settings.continuation.iter().find(|stage| stage.from > iterations)?;
        (self.status == "done").then(|| {
            format!(
                "the run ended before its stage of iteration {}{}; raise `optimizer.max_iterations` \
                 and go on with `--resume`",
                late.from,
                kept_sharpness(self.config, iterations).unwrap_or_default()
            )
        })
    }

    /// Solves that were accepted short of their tolerance.
    fn short_solves(&self) -> Option<String> {
        let solves = match self.done.short_solves {
            0 => return None,
            1 => "1 solve".to_owned(),
            n => format!("{n} solves"),
        };
        Some(format!(
            "{solves} ended short of the tolerance after {} iterations of conjugate gradients: members \
             hang together by hinges or thin edges; a larger filter radius or \
             `design.volume_fraction` joins them",
            self.config.solver.max_iterations()
        ))
    }

    /// A run that the iterations ended, not its tolerances, while much still changed.
    fn unfinished(&self) -> Option<String> {
        let optimizer = self.settings.optimizer;
        let tolerances = [optimizer.change_tolerance, optimizer.compliance_tolerance];
        let &[.., [before, ..], [last, ..]] = &self.done.last[..] else { return None };
        let change = (last - before).abs() / last.abs();
        let has_ended = self.stopped_by == Some(rule_name(StopRule::MaxIterations));
        (has_ended && tolerances != [0.0; 2] && change > UNFINISHED).then(|| {
            format!(
                "the iterations ended while the {} still changed by {:.1} % from one to the next; \
                 raise `optimizer.max_iterations` and go on with `--resume`",
                self.settings.physics.in_words(&self.objective.response),
                100.0 * change
            )
        })
    }

    /// Designs that swing between two.
    fn swing(&self) -> Option<String> {
        let values = |k: usize| -> Vec<f64> { self.done.last.iter().map(|v| v[k]).collect() };
        let names = [self.objective.response.as_str(), "compliance", "grey level"];
        let found = |(k, name): (usize, &str)| Some((name.to_owned(), swing::between(&values(k))?));
        let (name, [before, last]) = names.into_iter().enumerate().find_map(found)?;
        let remedy = match self.settings.optimizer.method {
            config::Method::Oc | config::Method::OcAnderson => {
                "set `optimizer.method` to \"mma\", or halve `optimizer.move_limit`"
            }
            _ => "halve `optimizer.move_limit`, or set `optimizer.method` to \"gcmma\"",
        };
        Some(format!(
            "designs swing to and fro between two: the {} is {} and {} in turn, and neither is an \
             optimum; {remedy}",
            self.settings.physics.in_words(&name),
            shown(before),
            shown(last)
        ))
    }
}

/// Change of the objective, as a share of it, from which on a run is not finished.
const UNFINISHED: f64 = 0.01;

/// Change of a design from which on it counts as at rest.
const AT_REST: f64 = 0.01;

/// Context in which a grey design is reported.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Whether responses are of states in time, which are not verified.
    pub is_in_time: bool,
    /// Whether the mass is asked for.
    pub has_weight: bool,
    /// Style of the design, `smooth` or `crisp`.
    pub style: config::Style,
}

/// How grey a design is, from 0 to 1, and what that means.
pub fn grey_text(grey: f64, seen: Seen) -> String {
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

fn rule_name(rule: StopRule) -> &'static str {
    match rule {
        StopRule::MaxIterations => "max_iterations",
        StopRule::Change => "change_tolerance",
        StopRule::RelativeObjective => "compliance_tolerance",
        StopRule::AbsoluteObjective => "absolute_compliance_tolerance",
        StopRule::KktResidual => "kkt_tolerance",
    }
}

/// Words for the stop rule that summary.json calls so.
pub fn rule_text(rule: &str) -> &str {
    match rule {
        "max_iterations" => "iteration limit reached",
        "change_tolerance" => "change tolerance reached",
        "compliance_tolerance" => "objective tolerance reached",
        "absolute_compliance_tolerance" => "absolute objective tolerance reached",
        "kkt_tolerance" => "KKT tolerance reached",
        other => other,
    }
}

/// The high-water mark of the resident set, on Linux.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
