//! How a run tells of itself: a bar, plain lines, or lines of JSON.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use topopt_linalg::PcgProgress;
use topopt_simp::IterationReport;

/// Which manner of telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Log {
    /// A progress bar on a terminal, else plain lines
    Auto,
    /// Plain lines
    Plain,
    /// One JSON object a line
    Json,
    /// Nothing
    Quiet,
}

/// Tells of the iterations of a run.
pub(crate) struct Progress<'a> {
    manner: Manner,
    out: &'a mut (dyn Write + Send),
    max_iterations: usize,
    start: Instant,
    last_message: Instant,
}

enum Manner {
    Bar(ProgressBar),
    Plain,
    Json,
    Quiet,
}

/// How often the bar tells of a solve under way.
const REFRESH: Duration = Duration::from_millis(100);

impl<'a> Progress<'a> {
    /// Lines go to `out`, a bar to the terminal behind standard error.
    pub fn new(log: Log, max_iterations: usize, out: &'a mut (dyn Write + Send)) -> Self {
        let manner = match log {
            Log::Auto if io::stderr().is_terminal() => Manner::Bar(bar(max_iterations)),
            Log::Auto | Log::Plain => Manner::Plain,
            Log::Json => Manner::Json,
            Log::Quiet => Manner::Quiet,
        };
        let now = Instant::now();
        Self { manner, out, max_iterations, start: now, last_message: now }
    }

    /// A line about the run as a whole.
    ///
    /// # Errors
    /// What writing gives.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        match &self.manner {
            Manner::Bar(bar) => bar.println(text),
            Manner::Plain => writeln!(self.out, "{text}")?,
            Manner::Json | Manner::Quiet => {}
        }
        Ok(())
    }

    /// A JSON event, where JSON is wanted.
    ///
    /// # Errors
    /// What writing gives.
    pub fn event(&mut self, event: &serde_json::Value) -> io::Result<()> {
        if let Manner::Json = self.manner { writeln!(self.out, "{event}") } else { Ok(()) }
    }

    /// A solve under way.
    pub fn solving(&mut self, iteration: usize, progress: PcgProgress) {
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

    /// An iteration done.
    ///
    /// # Errors
    /// What writing gives.
    pub fn iteration(&mut self, report: &IterationReport) -> io::Result<()> {
        let &IterationReport { iteration, compliance, volume_fraction, change, .. } = report;
        let left = self.time_left(iteration);
        match &self.manner {
            Manner::Bar(bar) => {
                bar.set_position(iteration as u64);
                bar.set_message(format!(
                    "compliance {compliance:.6e}  volume {volume_fraction:.4}  change {change:.4}  \
                     PCG {}  {} left",
                    report.pcg_iterations,
                    clock(left)
                ));
            }
            Manner::Plain => {
                if iteration == 1 {
                    writeln!(
                        self.out,
                        "iteration    compliance  volume  change    PCG  residual     left"
                    )?;
                }
                writeln!(
                    self.out,
                    "{iteration:>9}  {compliance:>12.6e}  {volume_fraction:>6.4}  {change:>6.4}  \
                     {:>5}  {:>8.1e}  {:>7}",
                    report.pcg_iterations,
                    report.pcg_residual,
                    clock(left)
                )?;
            }
            Manner::Json => self.event(&json!({
                "event": "iteration",
                "iteration": iteration,
                "compliance": compliance,
                "volume_fraction": volume_fraction,
                "change": change,
                "pcg_iterations": report.pcg_iterations,
                "pcg_residual": report.pcg_residual,
                "seconds": self.start.elapsed().as_secs_f64(),
                "seconds_left": left.as_secs_f64(),
            }))?,
            Manner::Quiet => {}
        }
        self.out.flush()
    }

    /// Takes the bar away.
    pub fn finish(&mut self) {
        if let Manner::Bar(bar) = &self.manner {
            bar.finish();
        }
    }

    /// Time left if every iteration allowed is done and takes as long as those so far.
    fn time_left(&self, done: usize) -> Duration {
        let left = self.max_iterations.saturating_sub(done) as f64;
        self.start.elapsed().mul_f64(left / done as f64)
    }
}

fn bar(max_iterations: usize) -> ProgressBar {
    let bar = ProgressBar::new(max_iterations as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}\n{prefix}") {
        bar.set_style(style);
    }
    bar
}

/// A duration as people write it: 45 s, 3:07 min, 2:05 h.
fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
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
        let text = |seconds| clock(Duration::from_secs(seconds));
        assert_eq!([text(45), text(187), text(7500)], ["45 s", "3:07 min", "2:05 h"]);
    }
}
