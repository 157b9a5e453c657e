//! Progress of a run: a bar, plain lines, or JSON lines.
//!
//! Progress never ends a run: if writing it fails, it falls silent. The files of the results hold
//! all that it shows.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use topopt_design::{IterationReport, ObserverError};
use topopt_io::WriteError;
use topopt_linalg::PcgProgress;

use topopt_study::observer::{Evaluated, StudyObserver};
use topopt_study::summary::RunSummary;

use crate::iterations_left::IterationsLeft;

/// Output format of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Log {
    /// A progress bar on a terminal, else plain lines
    Auto,
    /// Plain lines
    Plain,
    /// One JSON object per line
    Json,
    /// Nothing
    Quiet,
}

/// Reports the iterations of a run.
pub(crate) struct Progress<'a> {
    manner: Manner,
    out: &'a mut (dyn Write + Send),
    /// Estimate of the iterations left; none before the run begins.
    left: Option<IterationsLeft>,
    /// Column name of the objective.
    objective: String,
    /// Iterations done before the start; 0 unless the run is resumed.
    before: usize,
    start: Instant,
    last_message: Instant,
}

enum Manner {
    Bar(ProgressBar),
    Plain,
    Json,
    Quiet,
}

/// Name of the objective of a case without `[objective]`.
const COMPLIANCE: &str = "compliance";

/// Time between updates of the bar during a solve.
const REFRESH: Duration = Duration::from_millis(100);

impl<'a> Progress<'a> {
    /// Reports lines to `out`, or with a terminal shows a bar on standard error.
    pub fn new(log: Log, max_iterations: usize, out: &'a mut (dyn Write + Send)) -> Self {
        let on_terminal = || io::stdout().is_terminal() && io::stderr().is_terminal();
        let manner = match log {
            Log::Auto if on_terminal() => Manner::Bar(bar(max_iterations)),
            Log::Auto | Log::Plain => Manner::Plain,
            Log::Json => Manner::Json,
            Log::Quiet => Manner::Quiet,
        };
        let now = Instant::now();
        let objective = COMPLIANCE.to_owned();
        Self { manner, out, left: None, objective, before: 0, start: now, last_message: now }
    }

    /// Reports the start or end of the run: `text` to people, `event` to programs.
    fn whole_run(&mut self, text: String, event: impl Fn() -> Value) {
        match &self.manner {
            Manner::Bar(bar) => bar.println(text),
            Manner::Plain => self.line(text),
            Manner::Json => self.line(event()),
            Manner::Quiet => {}
        }
    }

    fn line(&mut self, line: impl Display) {
        if writeln!(self.out, "{line}").and_then(|()| self.out.flush()).is_err() {
            self.manner = Manner::Quiet;
        }
    }

    /// Seconds left if every iteration still expected takes as long as those so far.
    fn seconds_left(&mut self, report: &IterationReport) -> f64 {
        let Some(left) = &mut self.left else { return 0.0 };
        left.add(report);
        let done = (report.iteration - self.before) as f64;
        self.start.elapsed().as_secs_f64() * left.estimate() / done
    }
}

impl StudyObserver for Progress<'_> {
    fn start(&mut self, run: &RunSummary) {
        let summary = &run.record;
        self.start = Instant::now();
        self.before = summary.done.iterations;
        let settings = &summary.settings;
        self.objective = match summary.objective.response.as_str() {
            COMPLIANCE => settings.physics.in_words(COMPLIANCE),
            _ => "objective".into(),
        };
        self.left = Some(IterationsLeft::new(&settings.optimizer, &settings.continuation));
        self.whole_run(run.opening(), || {
            json!({
                "event": "start",
                "elements": summary.elements,
                "nodes": summary.nodes,
                "unknowns": summary.free_dofs,
                "strategy": summary.strategy,
                "preconditioner": summary.preconditioner.name,
                "device": summary.device,
                "warnings": summary.warnings,
                "notes": summary.notes,
            })
        });
    }

    fn solving(&mut self, iteration: usize, progress: PcgProgress) {
        if let Manner::Bar(bar) = &self.manner
            && self.last_message.elapsed() > REFRESH
        {
            let PcgProgress { iterations, relative_residual } = progress;
            bar.set_prefix(format!(
                "design {iteration}, PCG {iterations}, residual {relative_residual:.1e}"
            ));
            self.last_message = Instant::now();
        }
    }

    fn evaluated(&mut self, design: &Evaluated) -> Result<ControlFlow<()>, ObserverError> {
        let report = design.report;
        let left = self.seconds_left(report);
        match &self.manner {
            Manner::Bar(bar) => {
                bar.set_position(report.iteration as u64);
                bar.set_message(bar_message(&self.objective, report, left));
            }
            Manner::Plain => {
                if report.iteration == self.before + 1 {
                    self.line(columns(&self.objective));
                }
                self.line(row(&self.objective, report, left));
            }
            Manner::Json => self.line(event(report, self.start.elapsed().as_secs_f64(), left)),
            Manner::Quiet => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn end(&mut self, run: &RunSummary) -> Result<(), WriteError> {
        let summary = &run.record;
        if let Manner::Bar(bar) = &self.manner {
            bar.finish_and_clear();
        }
        self.whole_run(run.closing(), || {
            json!({
                "event": "end",
                "status": summary.status,
                "stopped_by": summary.stopped_by,
                "iterations": summary.done.iterations,
                "compliance": summary.done.compliance,
                "volume_met": summary.volume_met,
                "grey_level": summary.done.grey_level,
                "warnings": summary.warnings,
                "directory": run.directory().display().to_string(),
            })
        });
        Ok(())
    }
}

/// Width of the column of the objective, in characters.
const NUMBER: usize = 12;

fn columns(objective: &str) -> String {
    format!("iteration  {objective:>NUMBER$}  volume  change    PCG  residual       left")
}

/// The line of an iteration, below the header of [`columns`].
fn row(name: &str, report: &IterationReport, left: f64) -> String {
    let width = name.len().max(NUMBER);
    let &IterationReport { iteration, objective, volume_fraction, change, .. } = report;
    let (pcg, residual) = (report.pcg_iterations, report.pcg_residual);
    format!(
        "{iteration:>9}  {objective:>width$.6e}  {volume_fraction:>6.4}  {change:>6.4}  {pcg:>5}  \
         {residual:>8.1e}  {:>9}",
        clock(left)
    )
}

fn event(report: &IterationReport, seconds: f64, left: f64) -> Value {
    json!({
        "event": "iteration",
        "iteration": report.iteration,
        "stage": report.stage,
        "objective": report.objective,
        "constraints": report.constraints,
        "compliance": report.compliance,
        "volume_fraction": report.volume_fraction,
        "grey_level": report.grey_level,
        "change": report.change,
        "kkt_residual": report.kkt_residual,
        "pcg_iterations": report.pcg_iterations,
        "pcg_residual": report.pcg_residual,
        "seconds": seconds,
        "seconds_left": left,
    })
}

fn bar_message(name: &str, report: &IterationReport, left: f64) -> String {
    let &IterationReport { objective, volume_fraction, change, .. } = report;
    format!(
        "{name} {objective:.6e}  volume {volume_fraction:.4}  change {change:.4}  PCG {}  \
         {} left",
        report.pcg_iterations,
        clock(left)
    )
}

fn bar(max_iterations: usize) -> ProgressBar {
    let bar = ProgressBar::new(max_iterations as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}\n{prefix}") {
        bar.set_style(style);
    }
    bar
}

/// Seconds as people write them: 45 s, 3:07 min, 2:05 h.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        _ => format!("{}:{:02} h", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        assert_eq!([45.2, 187.0, 7500.0].map(clock), ["45 s", "3:07 min", "2:05 h"]);
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut gone = Gone;
        let mut progress = Progress::new(Log::Plain, 3, &mut gone);
        progress.line("one");
        assert!(matches!(progress.manner, Manner::Quiet));
    }
}
