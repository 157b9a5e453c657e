//! `topopt-lab assembly`: the matrix on a GPU by every strategy, held against rows of the CPU.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use topopt_case::config::PhysicsKind;
use topopt_case::physics::Physics;
use topopt_cuda::assembly::{Assembled, Assembly, AssemblyStrategy, Pattern, Routine};
use topopt_cuda::{Cuda, Device, DeviceVector, MeshOnDevice, Real};
use topopt_fem::{Diffusion, Problem, matrix_row};
use topopt_io::csv::CsvFile;
use topopt_linalg::{Backend, BackendError, Cost, Space};
use topopt_mesh::NodeToElements;
use topopt_study::failure::Failure;
use topopt_study::place::Place;

use crate::args::AssemblyArgs;
use crate::measured::{GIGA, MEGABYTE};
use crate::subject::{Subject, elasticity, physics};

/// Assemblies before those that count.
const WARM_UP: usize = 2;
/// Rows that are compared with the CPU, spread over the mesh.
const ROWS: usize = 500;

/// Columns of the CSV file.
const COLUMNS: [&str; 18] = [
    "subject",
    "device",
    "physics",
    "elements",
    "nodes",
    "strategy",
    "routine",
    "precision",
    "pattern_seconds",
    "lists_seconds",
    "seconds",
    "bytes_read",
    "bytes_written",
    "flops",
    "copy_bytes_per_second",
    "relative_error",
    "matrix_bytes",
    "lists_bytes",
];

pub(crate) fn assembly(args: &AssemblyArgs, out: &mut dyn Write) -> Result<(), Failure> {
    match physics(&args.source)? {
        PhysicsKind::Elasticity => {
            assembly_of(args, ("elasticity", elasticity(args.source.elements)?), out)
        }
        PhysicsKind::Heat => {
            assembly_of(args, ("heat", Diffusion::by(args.source.elements.into())), out)
        }
    }
}

fn assembly_of<K: Physics<N> + Assembled<N>, const N: usize>(
    args: &AssemblyArgs,
    (physics, kernel): (&str, K),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let csv = args.output.table(&COLUMNS)?;
    let place = args.output.place()?;
    let subject = Subject::read(&args.source, (&place, kernel))?;
    let mesh = subject.problem.mesh();
    let (nodes, elements) = (mesh.n_nodes(), mesh.n_elements());
    let (name, numbering) = (&subject.name, args.source.numbering);
    writeln!(
        out,
        "{name}, {physics}: {elements} elements, {nodes} nodes, {numbering:?} numbering; {}",
        place.name()
    )?;
    let expected = Expected::new(&subject.problem);
    writeln!(
        out,
        "plain reference on one processor: {:.1} us per row of blocks",
        1e6 * expected.seconds / expected.rows.len() as f64
    )?;
    let Place::Gpu(gpu) = &place else {
        writeln!(out, "strategies assemble on a GPU")?;
        return Ok(());
    };

    let device = gpu.device();
    let bandwidth = device.copy_bandwidth(1 << 30, 10)?;
    let start = Instant::now();
    let pattern = Pattern::new(&subject.problem, &expected.adjacency)?;
    let of_pattern = start.elapsed().as_secs_f64();
    writeln!(
        out,
        "copy bandwidth {:.0} GB/s (read and write); pattern of the matrix, on the host, {of_pattern:.2} s\n",
        bandwidth / GIGA
    )?;

    let on_device = MeshOnDevice::new(device, mesh)?;
    let problem = &subject.problem;
    let measure = Measure { device, on_device, problem, pattern, expected, args };
    let head = Head { name, physics, device: place.name(), bandwidth, of_pattern };
    measure.all(&mut Table { out, csv, head, elements, nodes })
}

/// Rows of the matrix by the CPU, and the coefficients.
struct Expected<const N: usize> {
    adjacency: NodeToElements,
    /// Coefficients, `[n_elements]` per term.
    coefficients: [Vec<f64>; 2],
    /// Nodes and their rows.
    rows: Vec<(usize, Vec<f64>)>,
    seconds: f64,
}

impl<const N: usize> Expected<N> {
    fn new<K: Assembled<N>>(problem: &Problem<K, N>) -> Self {
        let (n, nodes) = (problem.mesh().n_elements(), problem.mesh().n_nodes());
        let modulus = |e: usize| 10f64.powf(-6.0 * (e as f64 * 0.754_877_666_246_692_8).fract());
        let capacity = |e: usize| 0.5 + (e as f64 * 0.618_033_988_749_895).fract();
        let coefficients =
            [(0..n).map(modulus).collect::<Vec<_>>(), (0..n).map(capacity).collect()];
        let adjacency = NodeToElements::new(problem.mesh());

        let start = Instant::now();
        let terms = coefficients.each_ref().map(Vec::as_slice);
        let row = |node: usize| {
            let row = matrix_row(problem, &adjacency, &terms, node);
            (node, row.into_values().flatten().flatten().collect())
        };
        let rows = (0..nodes).step_by(nodes.div_ceil(ROWS)).map(row).collect();
        let seconds = start.elapsed().as_secs_f64();
        Self { adjacency, coefficients, rows, seconds }
    }

    /// The largest relative error of a row.
    fn error<R: Real>(
        &self,
        assembly: &Assembly<R>,
        pattern: &Pattern,
    ) -> Result<f64, BackendError> {
        let mut largest = 0.0f64;
        for (node, expected) in &self.rows {
            let offsets = &pattern.row_offsets()[*node..];
            let found = assembly.values(offsets[0] as usize..offsets[1] as usize)?;
            let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
            let difference = norm(&mut found.iter().zip(expected).map(|(a, b)| a - b));
            // Of a number that is not one, too.
            let error = difference / norm(&mut expected.iter().copied());
            largest = if error <= largest { largest } else { error };
        }
        Ok(largest)
    }
}

/// Inputs of the measurements on one device.
struct Measure<'a, K, const N: usize> {
    device: &'a Arc<Device>,
    on_device: Arc<MeshOnDevice>,
    problem: &'a Problem<K, N>,
    pattern: Pattern,
    expected: Expected<N>,
    args: &'a AssemblyArgs,
}

impl<K: Assembled<N>, const N: usize> Measure<'_, K, N> {
    fn all(&self, table: &mut Table) -> Result<(), Failure> {
        table.begin()?;
        for strategy in AssemblyStrategy::ALL {
            if self.args.strategies.is_empty() || self.args.strategies.contains(&strategy) {
                self.strategy::<f64>(strategy, table)?;
                self.strategy::<f32>(strategy, table)?;
            }
        }
        Ok(())
    }

    /// A strategy from every routine; what does not fit into the memory is said, and left out.
    fn strategy<R: Real>(
        &self,
        strategy: AssemblyStrategy,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let built = Assembly::<R>::new(
            &self.on_device,
            self.problem,
            &self.expected.adjacency,
            &self.pattern,
            strategy,
        );
        let mut assembly = match built {
            Ok(assembly) => assembly,
            Err(error) => return table.left_out(strategy, R::NAME, &error),
        };
        self.device.synchronize()?;
        let of_lists = start.elapsed().as_secs_f64();

        let backend = Cuda::<R>::new(self.device)?;
        let elements = Space::elements(self.problem.mesh().n_elements());
        let [k, c] = &self.expected.coefficients;
        let [k, c] = [backend.upload(k, elements)?, backend.upload(c, elements)?];
        for routine in Routine::ALL.into_iter().filter(|&routine| strategy.takes(routine)) {
            if routine == Routine::Stored
                && let Err(error) = assembly.store()
            {
                table.left_out(strategy, R::NAME, &error)?;
                continue;
            }
            let row = self.row(&mut assembly, routine, [&k, &c], of_lists)?;
            table.row(&row)?;
        }
        Ok(())
    }

    fn row<R: Real>(
        &self,
        assembly: &mut Assembly<R>,
        routine: Routine,
        coefficients: [&DeviceVector<R>; 2],
        of_lists: f64,
    ) -> Result<Row, BackendError> {
        let repeats = self.args.repeats.into();
        let seconds = self.device.median_seconds(WARM_UP, repeats, || {
            assembly.assemble(routine, coefficients);
        })?;

        // Without arithmetic there is nothing to compare.
        let error = match routine {
            Routine::Empty => None,
            _ => Some(self.expected.error(assembly, &self.pattern)?),
        };

        Ok(Row {
            strategy: assembly.strategy().name(),
            routine: routine.name(),
            precision: R::NAME,
            of_lists,
            seconds,
            cost: assembly.cost(routine),
            error,
            matrix: assembly.bytes(),
            lists: assembly.strategy_bytes(),
        })
    }
}

/// Measurements of one strategy and routine.
struct Row {
    strategy: &'static str,
    routine: &'static str,
    precision: &'static str,
    of_lists: f64,
    seconds: f64,
    cost: Cost,
    error: Option<f64>,
    matrix: usize,
    lists: usize,
}

/// Values that all rows have in common.
struct Head<'a> {
    name: &'a str,
    physics: &'a str,
    device: String,
    bandwidth: f64,
    of_pattern: f64,
}

/// A Markdown table that grows as it is measured, and a CSV file.
struct Table<'a> {
    out: &'a mut dyn Write,
    csv: Option<CsvFile>,
    head: Head<'a>,
    elements: usize,
    nodes: usize,
}

impl Table<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        writeln!(
            self.out,
            "| strategy | routine | real | ms | Melem/s | modeled MB | GB/s | of copy | GFLOP/s | error \
             | lists s | lists MB | matrix MB |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
        )?;
        Ok(())
    }

    fn row(&mut self, row: &Row) -> Result<(), Failure> {
        let Row { strategy, routine, precision, seconds, cost, .. } = row;
        let bytes = cost.bytes_read + cost.bytes_written;
        let rate = bytes / seconds;
        let error = row.error.map_or_else(|| "-".into(), |error| format!("{error:.1e}"));

        writeln!(
            self.out,
            "| {strategy} | {routine} | {precision} | {:.3} | {:.0} | {:.1} | {:.0} | {:.1}% | {:.0} | {error} \
             | {:.2} | {:.1} | {:.1} |",
            1e3 * seconds,
            1e-6 * self.elements as f64 / seconds,
            bytes / MEGABYTE,
            rate / GIGA,
            100.0 * rate / self.head.bandwidth,
            cost.flops / seconds / GIGA,
            row.of_lists,
            row.lists as f64 / MEGABYTE,
            row.matrix as f64 / MEGABYTE,
        )?;

        let (Some(csv), head) = (&mut self.csv, &self.head) else { return Ok(()) };
        let error = row.error.map_or_else(String::new, |error| error.to_string());
        Ok(csv.row(&[
            &head.name,
            &head.device,
            &head.physics,
            &self.elements,
            &self.nodes,
            strategy,
            routine,
            precision,
            &head.of_pattern,
            &row.of_lists,
            seconds,
            &cost.bytes_read,
            &cost.bytes_written,
            &cost.flops,
            &head.bandwidth,
            &error,
            &row.matrix,
            &row.lists,
        ])?)
    }

    fn left_out(
        &mut self,
        strategy: AssemblyStrategy,
        precision: &str,
        error: &BackendError,
    ) -> Result<(), Failure> {
        writeln!(self.out, "| {} | - | {precision} | {error} |", strategy.name())?;
        Ok(())
    }
}
