//! `topopt-lab operators`: one application of every operator.

use std::io::Write;

use topopt_case::config::PhysicsKind;
use topopt_fem::{Diffusion, ElementOperator, Strategy};
use topopt_linalg::{BackendError, Cost, Pointwise, Space};
use topopt_mesh::HexMesh;
use topopt_study::computer::Solvable;
use topopt_study::failure::Failure;
use topopt_study::place::Place;

use crate::args::OperatorsArgs;
use crate::measured::{GIGA, MEGABYTE, Measured, Stopwatch, each_operator};
use crate::processor;
use crate::subject::{Subject, elasticity, physics};

/// Applications before those that count.
const WARM_UP: usize = 3;

/// Columns of the CSV file.
const COLUMNS: [&str; 13] = [
    "subject",
    "device",
    "elements",
    "nodes",
    "strategy",
    "precision",
    "seconds",
    "bytes_read",
    "bytes_written",
    "flops",
    "copy_bytes_per_second",
    "relative_error",
    "stored_bytes",
];

pub(crate) fn operators(args: &OperatorsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    match physics(&args.source)? {
        PhysicsKind::Elasticity => operators_of(args, elasticity(args.source.elements)?, out),
        PhysicsKind::Heat => operators_of(args, Diffusion::by(args.source.elements.into()), out),
    }
}

fn operators_of<K: Solvable<N>, const N: usize>(
    args: &OperatorsArgs,
    kernel: K,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let csv = args.choice.output.table(&COLUMNS)?;
    let place = args.choice.output.place()?;
    let subject = Subject::read(&args.source, (&place, kernel))?;
    let mesh = subject.problem.mesh();
    let (nodes, elements) = (mesh.n_nodes(), mesh.n_elements());
    let numbering = args.source.numbering;
    writeln!(
        out,
        "{}: {elements} elements, {nodes} nodes, {numbering:?} numbering; {}",
        subject.name,
        place.name()
    )?;

    let bandwidth = match &place {
        Place::Cpu { .. } => processor::copy_bandwidth(),
        Place::Gpu(gpu) => gpu.device().copy_bandwidth(1 << 30, 10)?,
    };
    writeln!(out, "copy bandwidth {:.0} GB/s (read and write)", bandwidth / GIGA)?;

    let peak = match &place {
        Place::Cpu { .. } => Some(processor::peak_flops()),
        Place::Gpu(_) => None,
    };
    if let Some(peak) = peak {
        writeln!(out, "peak {:.0} GFLOP/s (multiply-adds, f64, all threads)", peak / GIGA)?;
    }

    let mut measure = Measure::new(&subject, args.repeats.into());
    each_operator(&place, &subject, &args.choice.strategies, &mut measure)?;
    let of_subject = (mesh, subject.problem.n_dofs());
    print(&measure.rows, of_subject, bandwidth, peak, out)?;

    let Some(mut csv) = csv else { return Ok(()) };
    for row in &measure.rows {
        csv.row(&[
            &subject.name,
            &place.name(),
            &elements,
            &nodes,
            &row.strategy,
            &row.precision,
            &row.seconds,
            &row.cost.bytes_read,
            &row.cost.bytes_written,
            &row.cost.flops,
            &bandwidth,
            &row.error,
            &row.memory,
        ])?;
    }
    Ok(())
}

/// Prints the table; `bandwidth` in bytes per second, `peak` in operations per second.
fn print(
    rows: &[Row],
    (mesh, n_dofs): (&HexMesh, usize),
    bandwidth: f64,
    peak: Option<f64>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(
        out,
        "strategy      real      ms  GDOF/s  Gelem/s  modeled MB    GB/s  of copy  GFLOP/s  {}  \
         error  stored MB",
        if peak.is_some() { "of peak  " } else { "" }
    )?;
    let of_peak = |row: &Row| match peak {
        Some(peak) => format!("{:>6.1}%  ", 100.0 * row.cost.flops / row.seconds / peak),
        None => String::new(),
    };

    for row in rows {
        let bytes = row.cost.bytes_read + row.cost.bytes_written;
        writeln!(
            out,
            "{:<12}  {}  {:>7.3}  {:>6.2}  {:>7.3}  {:>11.1}  {:>6.0}  {:>6.1}%  {:>7.0}  {}{:.1e}  {:>9.1}",
            row.strategy,
            row.precision,
            1e3 * row.seconds,
            n_dofs as f64 / row.seconds / GIGA,
            mesh.n_elements() as f64 / row.seconds / GIGA,
            bytes / MEGABYTE,
            bytes / row.seconds / GIGA,
            100.0 * bytes / row.seconds / bandwidth,
            row.cost.flops / row.seconds / GIGA,
            of_peak(row),
            row.error,
            row.memory as f64 / MEGABYTE,
        )?;
    }
    Ok(())
}

/// Measurements of one operator.
struct Row {
    strategy: &'static str,
    precision: &'static str,
    seconds: f64,
    cost: Cost,
    error: f64,
    memory: usize,
}

/// Applies each operator to the same vector, and compares with `mf` on the processor, which the
/// tests hold to the plain reference.
struct Measure {
    x: Vec<f64>,
    /// One of each term.
    n_terms: usize,
    moduli: Vec<f64>,
    expected: Vec<f64>,
    repeats: usize,
    rows: Vec<Row>,
}

impl Measure {
    fn new<K: Solvable<N>, const N: usize>(subject: &Subject<K, N>, repeats: usize) -> Self {
        let problem = &subject.problem;
        let wave = |i: usize| (i as f64 * 0.618_033_988_749_895).fract() - 0.5;
        let mut x: Vec<f64> = (0..problem.n_dofs()).map(wave).collect();
        problem.constraints().clear(&mut x);
        let modulus = |e: usize| 10f64.powf(-6.0 * (e as f64 * 0.754_877_666_246_692_8).fract());
        let moduli: Vec<f64> = (0..problem.mesh().n_elements()).map(modulus).collect();
        let mut expected = vec![0.0; x.len()];
        let mut operator = Strategy::Mf.build(problem);
        let others = vec![0.0; moduli.len()];
        operator.set_coefficients(&terms(&moduli, &others, K::TERMS));
        operator.apply(&x, &mut expected);
        Self { x, n_terms: K::TERMS, moduli, expected, repeats, rows: Vec::new() }
    }
}

/// Coefficients of `n` terms: those of the first, and of the `others`, as in a steady state.
fn terms<'v, V>(first: &'v V, others: &'v V, n: usize) -> Vec<&'v V> {
    (0..n).map(|term| if term == 0 { first } else { others }).collect()
}

impl Measured for Measure {
    fn measure<B: Pointwise>(
        &mut self,
        backend: &B,
        operator: &mut dyn ElementOperator<B>,
        precision: &'static str,
        memory: usize,
        seconds: &mut Stopwatch,
    ) -> Result<(), BackendError> {
        let space = Space::elements(self.moduli.len());
        let (moduli, others) = (backend.upload(&self.moduli, space)?, backend.zeros(space)?);
        operator.set_coefficients(&terms(&moduli, &others, self.n_terms));

        let x = backend.upload(&self.x, operator.space())?;
        let mut y = backend.zeros(operator.space())?;

        let mut times = Vec::new();
        for _ in 0..WARM_UP + self.repeats {
            times.push(seconds(&mut || operator.apply(&x, &mut y))?);
        }
        times.drain(..WARM_UP);
        times.sort_by(f64::total_cmp);

        let found = backend.download(&y)?;
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
        let difference = norm(&mut found.iter().zip(&self.expected).map(|(a, b)| a - b));

        self.rows.push(Row {
            strategy: operator.strategy(),
            precision,
            seconds: times[times.len() / 2],
            cost: operator.cost(),
            error: difference / norm(&mut self.expected.iter().copied()),
            memory,
        });
        Ok(())
    }
}
