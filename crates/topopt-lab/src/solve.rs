//! `topopt-lab solve`: one cold solve with every operator.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::finding::InputError;
use topopt_fem::{ElementOperator, ElementPreconditioner, Jacobi};
use topopt_linalg::{BackendError, Pcg, PcgOptions, PcgOutcome, Pointwise, Space, System};
use topopt_study::failure::Failure;

use crate::args::{Numbering, SolveArgs};
use crate::measured::{MEGABYTE, Measured, Stopwatch, each_operator};
use crate::subject::Subject;

/// Columns of the CSV file.
const COLUMNS: [&str; 7] =
    ["subject", "device", "strategy", "iterations", "residual", "seconds", "stored_bytes"];

pub(crate) fn solve(args: &SolveArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let csv = args.choice.output.table(&COLUMNS)?;
    let place = args.choice.output.place()?;
    let config = Config::load(&args.case, &args.set)?;
    Case::check_elastic(&config).map_err(InputError::from)?;
    let subject: Subject = Subject::of_case(&config, &args.gmsh, Numbering::Import, &place)?;
    let dofs = subject.problem.n_dofs();
    writeln!(out, "{}: {dofs} components; {}", subject.name, place.name())?;

    let options = PcgOptions {
        tolerance: config.solver.tolerance,
        max_iterations: config.solver.max_iterations.unwrap_or(20_000),
    };
    let mut solves = Solves { subject: &subject, options, rows: Vec::new() };
    each_operator(&place, &subject, &args.choice.strategies, &mut solves)?;

    writeln!(out, "strategy      iterations  residual  seconds  ms/iteration  stored MB")?;
    for row in &solves.rows {
        let outcome = row.outcome;
        writeln!(
            out,
            "{:<12}  {:>10}  {:.2e}  {:>7.3}  {:>12.4}  {:>9.1}",
            row.strategy,
            outcome.iterations,
            outcome.relative_residual,
            row.seconds,
            1e3 * row.seconds / outcome.iterations.max(1) as f64,
            row.memory as f64 / MEGABYTE
        )?;
    }

    let Some(mut csv) = csv else { return Ok(()) };
    for row in &solves.rows {
        let outcome = row.outcome;
        csv.row(&[
            &subject.name,
            &place.name(),
            &row.strategy,
            &outcome.iterations,
            &outcome.relative_residual,
            &row.seconds,
            &row.memory,
        ])?;
    }
    Ok(())
}

/// One solve.
pub(crate) struct Row {
    pub strategy: &'static str,
    pub outcome: PcgOutcome,
    pub seconds: f64,
    pub memory: usize,
}

/// Solves the first load case of a subject at its uniform start density, from zero, with the
/// Jacobi preconditioner.
pub(crate) struct Solves<'a> {
    pub subject: &'a Subject,
    pub options: PcgOptions,
    pub rows: Vec<Row>,
}

impl Measured for Solves<'_> {
    fn measure<B: Pointwise>(
        &mut self,
        backend: &B,
        operator: &mut dyn ElementOperator<B>,
        precision: &'static str,
        memory: usize,
        _: &mut Stopwatch,
    ) -> Result<(), BackendError> {
        if precision != "f64" {
            return Ok(()); // conjugate gradients in single precision stall
        }

        let problem = &self.subject.problem;
        let modulus = self.subject.density.powf(self.subject.penalty);
        let n = problem.mesh().n_elements();
        let moduli = backend.upload(&vec![modulus; n], Space::elements(n))?;
        operator.set_coefficients(&[&moduli]);

        let mut jacobi = Jacobi::new(backend, problem.space())?;
        jacobi.update(backend, operator, &[&moduli])?;

        let f = backend.upload(&problem.load_cases()[0].forces, problem.space())?;
        let mut u = backend.zeros(problem.space())?;
        let mut pcg = Pcg::new(backend, problem.space())?;
        let system = System { backend, a: &*operator, m: &jacobi, f: &f };

        let start = Instant::now();
        let outcome =
            pcg.solve(&system, &mut u, self.options, &mut |_| ControlFlow::Continue(()))?;
        let seconds = start.elapsed().as_secs_f64();

        self.rows.push(Row { strategy: operator.strategy(), outcome, seconds, memory });
        Ok(())
    }
}
