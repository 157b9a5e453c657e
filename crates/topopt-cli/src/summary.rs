//! What a run was and did: summary.json and the closing lines.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use topopt_io::{WriteError, atomic};
use topopt_simp::{Ended, IterationReport, StepTimes, StopRule};

use crate::config;

/// Everything worth keeping of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    pub topopt: &'static str,
    pub title: Option<&'a str>,
    pub case: String,
    /// `done`, `interrupted` or `solver_failed`.
    pub status: &'static str,
    /// The stop rule that was met.
    pub stopped_by: Option<&'static str>,
    pub nodes: usize,
    pub elements: usize,
    pub free_dofs: usize,
    pub solid_elements: usize,
    pub load_cases: Vec<&'a str>,
    pub element_width: f64,
    pub filter_radius: Option<f64>,
    pub neighbours: Option<Neighbours>,
    pub device: String,
    pub strategy: &'static str,
    pub preconditioner: &'static str,
    pub iterations: usize,
    pub compliance: Option<f64>,
    pub volume_fraction: Option<f64>,
    pub change: Option<f64>,
    pub pcg_iterations: usize,
    pub seconds: Seconds,
    /// Most memory the process ever held, where the system tells.
    pub peak_memory_mb: Option<f64>,
    pub settings: Settings<'a>,
    pub notes: &'a [String],
}

/// How the filter finds neighbours.
#[derive(Debug, Serialize)]
pub(crate) struct Neighbours {
    pub mean: f64,
    pub stored: bool,
}

/// Wall time of the steps [Ratnakar2022, Fig. 3.16].
#[derive(Debug, Default, Serialize)]
pub(crate) struct Seconds {
    pub preprocess: f64,
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
    pub penalty: f64,
    pub density_min: f64,
    pub filter: &'a config::Filter,
    pub optimizer: &'a config::Optimizer,
    pub solver: &'a config::Solver,
    pub output: &'a config::Output,
}

impl Seconds {
    /// Adds the steps of an iteration.
    pub fn add(&mut self, times: &StepTimes) {
        self.pcg += times.pcg.as_secs_f64();
        self.sensitivity += times.sensitivity.as_secs_f64();
        self.filter += times.filter.as_secs_f64();
        self.update += times.update.as_secs_f64();
    }

    /// Adds time spent on output.
    pub fn add_output(&mut self, time: Duration) {
        self.output += time.as_secs_f64();
    }
}

impl Summary<'_> {
    /// Takes the end of the run and its last iteration.
    pub fn close(&mut self, ended: &Ended, last: Option<&IterationReport>) {
        (self.status, self.stopped_by) = match ended {
            Ended::Rule(rule) => ("done", Some(rule_name(*rule))),
            Ended::Interrupted => ("interrupted", None),
            Ended::Solver { .. } => ("solver_failed", None),
        };
        self.compliance = last.map(|report| report.compliance);
        self.volume_fraction = last.map(|report| report.volume_fraction);
        self.change = last.map(|report| report.change);
        self.iterations = last.map_or(0, |report| report.iteration);
        self.peak_memory_mb = peak_memory_mb();
    }

    /// Writes summary.json.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, directory: &Path) -> Result<(), WriteError> {
        atomic::write(&directory.join("summary.json"), |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })
    }

    /// The closing lines for people.
    pub fn lines(&self, directory: &Path) -> String {
        let Seconds { preprocess, pcg, sensitivity, filter, update, output, total } = self.seconds;
        let mut lines = String::new();
        if let (Some(compliance), Some(volume)) = (self.compliance, self.volume_fraction) {
            lines += &format!(
                "{} iterations, {}: compliance {compliance:.6e}, volume {volume:.4}, {} PCG iterations\n",
                self.iterations,
                self.stopped_by.unwrap_or(self.status),
                self.pcg_iterations
            );
        }
        lines += &format!(
            "{total:.1} s: preprocess {preprocess:.1}, pcg {pcg:.1}, sensitivity {sensitivity:.1}, \
             filter {filter:.1}, update {update:.1}, output {output:.1}\n"
        );
        lines + &format!("results in {}", directory.display())
    }
}

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
