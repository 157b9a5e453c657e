//! What a run was and did: summary.json and the closing lines.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use topopt_design::{Ended, IterationReport, StopRule};
use topopt_fem::ElementPreconditioner;
use topopt_io::WriteError;
use topopt_linalg::{Backend, CycleKind};

use crate::checkpoint::Resumption;
use crate::config::{self, Config};
use crate::doubts;
use crate::results::write_json;
use crate::run_directory::SUMMARY;
use crate::starting_design::StartingDesign;
use crate::structure::Structure;

/// Everything worth keeping of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    pub topopt: &'static str,
    pub title: Option<&'a str>,
    /// Nothing where the case does not say.
    pub units: Option<UnitNames>,
    pub case: String,
    /// `running`, then `done`, `interrupted`, `solver_failed`, `not_finite`, or `failed` where a file could not
    /// be written or the device failed.
    pub status: &'static str,
    /// The stop rule that was met.
    pub stopped_by: Option<&'static str>,
    pub nodes: usize,
    pub elements: usize,
    pub free_dofs: usize,
    pub solid_elements: usize,
    pub void_elements: usize,
    pub load_cases: Vec<&'a str>,
    pub element_width: f64,
    pub filter_radius: Option<f64>,
    pub neighbors: Option<Neighbors>,
    pub device: String,
    pub strategy: &'static str,
    pub preconditioner: Preconditioner,
    #[serde(flatten)]
    pub done: Done,
    /// Whether the last design has the volume that was asked for, to a thousandth.
    pub volume_met: Option<bool>,
    /// Most memory the process ever held, where the system tells.
    pub peak_memory_mb: Option<f64>,
    pub settings: Settings<'a>,
    pub notes: Vec<String>,
}

/// What was done so far, by all parts of a run that was resumed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The file with the design that it started from, if it was not the uniform one.
    pub started_from: Option<String>,
    pub iterations: usize,
    pub compliance: Option<f64>,
    pub volume_fraction: Option<f64>,
    /// Measure of non-discreteness of the last design, from 0 to 1 \[Sigmund2007\].
    pub grey_level: Option<f64>,
    pub change: Option<f64>,
    pub pcg_iterations: usize,
    /// How often the preconditioner was made stronger in the course of a slow solve.
    pub strengthened: usize,
    pub seconds: Seconds,
}

/// The preconditioner and its levels.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Preconditioner {
    pub name: &'static str,
    /// `V`, `W` or `K`, where there are levels.
    pub cycle: Option<&'static str>,
    /// Unknowns of every level, the finest first, where there are levels.
    pub levels: Vec<usize>,
    /// Entries of the matrices of all levels for each of the finest, where there are levels.
    pub operator_complexity: Option<f64>,
}

impl Preconditioner {
    /// What there is to say of `preconditioner`.
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

/// The units of the results.
#[derive(Debug, Serialize)]
pub(crate) struct UnitNames {
    pub length: &'static str,
    pub force: &'static str,
    pub stress: String,
    pub compliance: String,
}

impl UnitNames {
    fn of(units: config::Units) -> Self {
        let (length, force) = (units.length.name(), units.force.name());
        Self { length, force, stress: units.stress(), compliance: units.energy() }
    }
}

/// How the filter finds neighbors.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Neighbors {
    pub mean: f64,
    pub stored: bool,
}

/// Wall time of the steps [Ratnakar2022, Fig. 3.16].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seconds {
    pub preprocess: f64,
    /// Moduli, and the preconditioner's following them.
    pub setup: f64,
    pub pcg: f64,
    pub sensitivity: f64,
    pub filter: f64,
    pub update: f64,
    pub output: f64,
    pub total: f64,
}

/// The settings in force, defaults and overrides included.
#[derive(Debug, Serialize)]
pub(crate) struct Settings<'a> {
    pub material: &'a config::Material,
    pub volume_fraction: f64,
    pub interpolation: config::Interpolation,
    pub penalty: f64,
    pub density_min: f64,
    pub filter: &'a config::Filter,
    pub projection: Option<&'a config::Projection>,
    pub continuation: &'a [config::Continuation],
    pub optimizer: &'a config::Optimizer,
    pub solver: &'a config::Solver,
    pub output: &'a config::Output,
}

impl<'a> Settings<'a> {
    fn of(config: &'a Config) -> Self {
        Self {
            material: &config.material,
            volume_fraction: *config.design.volume_fraction.get_ref(),
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

impl Seconds {
    /// Adds time spent on output.
    pub fn add_output(&mut self, time: Duration) {
        self.output += time.as_secs_f64();
    }
}

impl Done {
    /// Takes an iteration, and the time that its output took.
    pub fn add(&mut self, report: &IterationReport, output: Duration) {
        self.iterations = report.iteration;
        self.compliance = Some(report.compliance);
        self.volume_fraction = Some(report.volume_fraction);
        self.grey_level = Some(report.grey_level);
        self.change = Some(report.change);
        self.pcg_iterations += report.pcg_iterations;
        self.strengthened += report.strengthened;
        self.seconds.setup += report.times.setup.as_secs_f64();
        self.seconds.pcg += report.times.pcg.as_secs_f64();
        self.seconds.sensitivity += report.times.sensitivity.as_secs_f64();
        self.seconds.filter += report.times.filter.as_secs_f64();
        self.seconds.update += report.times.update.as_secs_f64();
        self.seconds.add_output(output);
    }
}

impl<'a> Summary<'a> {
    /// The summary before the first iteration.
    pub fn new(
        config: &'a Config,
        structure: &'a Structure,
        device: String,
        strategy: &'static str,
    ) -> Self {
        Self {
            topopt: env!("CARGO_PKG_VERSION"),
            title: config.title.as_deref(),
            units: config.units.map(UnitNames::of),
            case: config.path().display().to_string(),
            status: "running",
            stopped_by: None,
            nodes: structure.mesh.n_nodes(),
            elements: structure.mesh.n_elements(),
            free_dofs: structure.n_free_dofs(),
            solid_elements: structure.space.solid.len(),
            void_elements: structure.space.void.len(),
            load_cases: structure.problem.load_cases().iter().map(|c| c.name.as_str()).collect(),
            element_width: structure.element_width,
            filter_radius: structure.filter_radius,
            neighbors: None,
            device,
            strategy,
            preconditioner: Preconditioner::default(),
            done: Done::default(),
            volume_met: None,
            peak_memory_mb: None,
            settings: Settings::of(config),
            notes: [structure.notes.clone(), doubts::of(config, structure)].concat(),
        }
    }

    /// Takes over what was done before the checkpoint that the run goes on from.
    pub fn resume(&mut self, resumption: &Resumption) {
        self.done = resumption.done.clone();
        self.notes.extend(resumption.notes.iter().cloned());
        self.notes.push(format!("goes on after iteration {}", self.done.iterations));
    }

    /// Takes note of the design that the run starts from.
    pub fn start_from(&mut self, design: &StartingDesign) {
        let path = design.path().display().to_string();
        self.notes.push(format!("starts from the density in {path}, interpolated"));
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
        self.volume_met = self.done.volume_fraction.map(|volume| {
            let target = self.settings.volume_fraction;
            (volume - target).abs() <= VOLUME_TOLERANCE * target
        });
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
            lines += &format!(
                "{} iteration{}, {}: compliance {compliance:.6e}, volume {volume:.4}, \
                 {} PCG iterations\n",
                self.done.iterations,
                if self.done.iterations == 1 { "" } else { "s" },
                self.stopped_by
                    .map_or(self.status.replace('_', " "), |rule| format!("stopped by {rule}")),
                self.done.pcg_iterations
            );
        }
        lines += &format!(
            "{total:.1} s: preprocess {preprocess:.1}, setup {setup:.1}, pcg {pcg:.1}, sensitivity {sensitivity:.1}, \
             filter {filter:.1}, update {update:.1}, output {output:.1}\n"
        );
        lines += &format!("results in {}", directory.display());
        if let (Some(false), Some(volume)) = (self.volume_met, self.done.volume_fraction) {
            let target = self.settings.volume_fraction;
            let why = match volume > target {
                true => "passive elements, filter or move limit let no design have less",
                false => {
                    "passive elements, filter or move limit let no design have more, or more material \
                     would only add weight"
                }
            };
            lines += &format!(
                "\nwarning: the volume is {volume:.4} where {target} was asked for: {why}"
            );
        }
        lines
    }
}

/// Largest share by which a volume may differ from the one asked for.
const VOLUME_TOLERANCE: f64 = 1e-3;

fn rule_name(rule: StopRule) -> &'static str {
    match rule {
        StopRule::MaxIterations => "max_iterations",
        StopRule::Change => "change_tolerance",
        StopRule::RelativeCompliance => "compliance_tolerance",
        StopRule::AbsoluteCompliance => "absolute_compliance_tolerance",
    }
}

/// The high-water mark of the resident set, on Linux.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
