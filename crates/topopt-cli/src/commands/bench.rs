//! `topopt bench`: operators, solves, and the tables of the thesis, measured.

mod matrix;
mod operators;
mod preconditioners;
mod processor;
mod solve;
mod subject;
mod thesis;

use std::io::Write;

use topopt_cuda::{Cuda, Mf, Strategy as GpuStrategy};
use topopt_fem::{ElementOperator, Strategy as CpuStrategy};
use topopt_linalg::{BackendError, Cpu, Pointwise};

use crate::args::BenchCommand;
use crate::config;
use crate::failure::Failure;
use crate::output_folder;
use crate::place::{self, Place};
use crate::report::InputError;
use subject::Subject;

/// Measures and prints a table, and a CSV file where one is asked for.
pub(super) fn bench(command: &BenchCommand, out: &mut impl Write) -> Result<(), Failure> {
    let (file, extension) = match command {
        BenchCommand::Operators(args) => (&args.choice.csv, "csv"),
        BenchCommand::Solve(args) => (&args.choice.csv, "csv"),
        BenchCommand::Thesis(args) => (&args.choice.csv, "csv"),
        BenchCommand::Preconditioners(args) => (&args.matrix, "mtx"),
    };
    if let Some(file) = file {
        output_folder::check_file(file, &[extension], &[]).map_err(InputError::from)?;
    }
    match command {
        BenchCommand::Operators(args) => operators::operators(args, out),
        BenchCommand::Solve(args) => solve::solve(args, out),
        BenchCommand::Preconditioners(args) => preconditioners::preconditioners(args, out),
        BenchCommand::Thesis(args) => thesis::thesis(args, out),
    }
}

/// Something to do with every operator of a place.
trait Visitor {
    /// Takes one operator, built and with all moduli zero. `seconds` times work on its backend;
    /// `memory` is what the operator stores, in bytes.
    fn visit<B: Pointwise>(
        &mut self,
        backend: &B,
        operator: &mut dyn ElementOperator<B>,
        precision: &'static str,
        memory: usize,
        seconds: &mut Stopwatch,
    ) -> Result<(), BackendError>;
}

/// Seconds that work takes on a backend.
type Stopwatch<'a> = dyn FnMut(&mut dyn FnMut()) -> Result<f64, BackendError> + 'a;

/// Builds the operators of `place` one after the other, those that are asked for and fit into the
/// memory, and shows each to `visitor`.
fn each_operator(
    place: &Place,
    subject: &Subject,
    wanted: &[config::Strategy],
    visitor: &mut impl Visitor,
) -> Result<(), Failure> {
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w.name() == name);
    let problem = &subject.problem;
    let (nodes, elements) = (problem.mesh().n_nodes(), problem.mesh().n_elements());
    let device = match place {
        Place::Cpu { .. } => {
            let mut seconds = |work: &mut dyn FnMut()| {
                let start = std::time::Instant::now();
                work();
                Ok(start.elapsed().as_secs_f64())
            };
            for strategy in CpuStrategy::ALL.into_iter().filter(|s| is_wanted(s.name())) {
                let memory = strategy.bytes(problem);
                let mut operator = strategy.build(problem);
                visitor.visit(&Cpu, operator.as_mut(), "f64", memory, &mut seconds)?;
            }
            return Ok(());
        }
        Place::Gpu(device) => device,
    };
    let mut seconds = |work: &mut dyn FnMut()| device.seconds(work);
    let mesh = place::gpu_mesh(device, problem, subject.colors.as_deref())?;
    let backend = Cuda::<f64>::new(device)?;
    for strategy in GpuStrategy::ALL.into_iter().filter(|s| is_wanted(s.name())) {
        let bytes = place::gpu_bytes(strategy, config::Preconditioner::Jacobi, 1.0, problem);
        if bytes > device.memory()?.0 || !strategy.takes(problem.mesh()) {
            continue;
        }
        let memory = strategy.bytes(nodes, elements);
        let mut operator = strategy.build(&mesh, problem)?;
        visitor.visit(&backend, operator.as_mut(), "f64", memory, &mut seconds)?;
    }
    if is_wanted("mf") {
        let backend = Cuda::<f32>::new(device)?;
        let mut operator = Mf::<f32>::new(&mesh)?;
        let memory = Mf::<f32>::bytes(elements);
        visitor.visit(&backend, &mut operator, "f32", memory, &mut seconds)?;
    }
    Ok(())
}

/// The place that is asked for.
fn place(asked: config::Device) -> Result<Place, InputError> {
    Ok(Place::find(asked)?)
}

const GIGA: f64 = 1e9;
const MEGABYTE: f64 = 1048576.0;
