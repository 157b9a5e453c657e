//! Progress and statistics of a run, with what was done before it was resumed.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use topopt_case::responses::posed::Posed;
use topopt_design::IterationReport;

use crate::swing;

/// Progress and statistics of a run, with what was done before it was resumed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Done {
    /// The file with the design that it started from, if it was not the uniform one.
    pub started_from: Option<String>,
    /// The coarser mesh that it began on, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coarse: Option<CoarseStart>,
    /// Design iterations.
    pub iterations: usize,
    /// Weighted compliance of the last design (force times length).
    pub compliance: Option<f64>,
    /// Values of the objective and of the limited responses in the last design.
    #[serde(skip)]
    pub answer: Answer,
    /// Objective, compliance and grey level of the last designs, since the run was resumed.
    #[serde(skip)]
    pub(crate) last: Vec<[f64; 3]>,
    /// Share of the design elements' volume that the last design takes.
    pub volume_fraction: Option<f64>,
    /// Measure of non-discreteness of the last design, from 0 to 1 \[Sigmund2007\].
    pub grey_level: Option<f64>,
    /// Largest change of a design variable in the last update.
    pub change: Option<f64>,
    /// KKT residual of the last design.
    pub kkt_residual: Option<f64>,
    /// Iterations of conjugate gradients, summed over all solves.
    pub pcg_iterations: usize,
    /// Products with the stiffness matrix in double precision, summed over all solves.
    pub pcg_products: usize,
    /// Number of slow solves during which the preconditioner was made stronger.
    pub strengthened: usize,
    /// Number of solves that ended short of their tolerance, and were accepted.
    pub short_solves: usize,
    /// Wall time of the steps.
    pub seconds: Seconds,
}

/// Begin of a run on a coarser mesh of its part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CoarseStart {
    /// Number of designs that count, from the first on.
    pub designs: usize,
    /// Elements of the coarser mesh.
    pub elements: usize,
    /// Share of the design volume that the first design on the mesh of the case is to fill.
    pub volume_fraction: f64,
    /// Time that it took, most of it while the mesh of the case was prepared.
    pub seconds: f64,
}

impl CoarseStart {
    /// Says which designs are of the coarser mesh.
    pub fn said(&self) -> String {
        let Self { designs, elements, .. } = self;
        format!("designs 1 to {designs} are of {elements} elements of about twice the edge")
    }
}

/// The values of the responses that a case asks for, of the last design.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The objective; none before the first iteration.
    pub objective: Option<f64>,
    /// Responses with limits, the volume as a share.
    pub limited: Vec<f64>,
}

/// Wall time of the steps [Ratnakar2022, Fig. 3.16].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Seconds {
    /// From the start to the first iteration.
    pub preprocess: f64,
    /// Moduli, and the preconditioner's following them.
    pub setup: f64,
    /// Solves.
    pub pcg: f64,
    /// Compliance and sensitivities.
    pub sensitivity: f64,
    /// Filter.
    pub filter: f64,
    /// Update of the design.
    pub update: f64,
    /// Files.
    pub output: f64,
    /// All of the run.
    pub total: f64,
}

impl Seconds {
    /// Adds time spent on output.
    pub fn add_output(&mut self, time: Duration) {
        self.output += time.as_secs_f64();
    }
}

/// More seconds than any run takes: three centuries.
const TOO_MANY_SECONDS: f64 = 1e10;

impl Done {
    /// Whether a run that has come to `iteration` may have done this.
    pub(crate) fn is_plausible(&self, iteration: usize) -> bool {
        let numbers = [
            self.compliance,
            self.volume_fraction,
            self.grey_level,
            self.change,
            self.kkt_residual,
            self.answer.objective,
        ];
        let numbers = numbers.into_iter().flatten().chain(self.answer.limited.iter().copied());
        let Seconds { preprocess, setup, pcg, sensitivity, filter, update, output, total } =
            self.seconds;
        let seconds = [preprocess, setup, pcg, sensitivity, filter, update, output, total];
        self.iterations == iteration
            && numbers.into_iter().all(f64::is_finite)
            && seconds.iter().all(|s| (0.0..TOO_MANY_SECONDS).contains(s))
    }

    /// Takes an iteration of a run for `posed`, and the time that its output took.
    pub(crate) fn add(&mut self, posed: &Posed, report: &IterationReport, output: Duration) {
        self.iterations = report.iteration;
        self.last.push([report.objective, report.compliance, report.grey_level]);
        self.last.drain(..self.last.len().saturating_sub(swing::LENGTH));
        self.kkt_residual = Some(report.kkt_residual);
        self.change = Some(report.change);
        self.take(posed, report);
        self.seconds.setup += report.times.setup.as_secs_f64();
        self.seconds.pcg += report.times.pcg.as_secs_f64();
        self.seconds.sensitivity += report.times.sensitivity.as_secs_f64();
        self.seconds.filter += report.times.filter.as_secs_f64();
        self.seconds.update += report.times.update.as_secs_f64();
        self.seconds.add_output(output);
    }

    /// Takes the values of a design, and the iterations of its solves.
    pub(crate) fn take(&mut self, posed: &Posed, report: &IterationReport) {
        self.compliance = Some(report.compliance);
        self.answer.objective = Some(report.objective);
        self.answer.limited = posed.limited_values(report);
        self.volume_fraction = Some(report.volume_fraction);
        self.grey_level = Some(report.grey_level);
        self.pcg_iterations += report.pcg_iterations;
        self.pcg_products += report.pcg_products;
        self.strengthened += report.strengthened;
        self.short_solves += report.short_solves;
    }
}
