//! Visit of all operators on the CPU or a GPU, to measure each.

use topopt_case::config;
use topopt_case::finding::InputError;
use topopt_cuda::{Cuda, Mf};
use topopt_fem::ElementOperator;
use topopt_io::csv::CsvFile;
use topopt_linalg::{BackendError, Pointwise};
use topopt_study::computer::{Computer, Solvable, Visitor, problem_on_device};
use topopt_study::failure::Failure;
use topopt_study::output_folder;
use topopt_study::place::Place;

use crate::args::Output;
use crate::subject::Subject;

/// Measurement of every operator.
pub(crate) trait Measured {
    /// Measures one operator, built with all moduli zero. `seconds` times work on its backend;
    /// `memory` is the size of the operator in bytes.
    fn measure<B: Pointwise>(
        &mut self,
        backend: &B,
        operator: &mut dyn ElementOperator<B>,
        precision: &'static str,
        memory: usize,
        seconds: &mut Stopwatch,
    ) -> Result<(), BackendError>;
}

/// Timer of work on a backend, in seconds.
pub(crate) type Stopwatch<'a> = dyn FnMut(&mut dyn FnMut()) -> Result<f64, BackendError> + 'a;

/// Builds the requested operators of `place` that fit into the memory, one at a time, and passes
/// each to `measured`; on a GPU `mf` in single precision comes last.
pub(crate) fn each_operator<K: Solvable<N>, const N: usize>(
    place: &Place,
    subject: &Subject<K, N>,
    wanted: &[config::Strategy],
    measured: &mut impl Measured,
) -> Result<(), Failure> {
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w.name() == name);
    place.visit(InDouble { subject, is_wanted: &is_wanted, measured: &mut *measured })?;
    if let (Place::Gpu(gpu), true) = (place, is_wanted("mf")) {
        let device = gpu.device();
        let (problem, colors) = (&subject.problem, subject.colors.as_deref());
        let there = problem_on_device(device, problem, colors)?;
        let mut operator = Mf::<f32, K, N>::new(&there, problem)?;
        let further = Mf::<f32, K, N>::further_bytes(problem);
        let memory = Mf::<f32, K, N>::bytes(problem.mesh().n_elements()) + further;
        let mut seconds = |work: &mut dyn FnMut()| device.seconds(work);
        let backend = Cuda::<f32>::new(device)?;
        measured.measure(&backend, &mut operator, "f32", memory, &mut seconds)?;
    }
    Ok(())
}

struct InDouble<'a, M, K, const N: usize> {
    subject: &'a Subject<K, N>,
    is_wanted: &'a dyn Fn(&str) -> bool,
    measured: &'a mut M,
}

impl<M: Measured, K: Solvable<N>, const N: usize> Visitor for InDouble<'_, M, K, N> {
    type Output = ();

    fn visit<C: Computer>(self, computer: &C) -> Result<(), Failure> {
        let Self { subject, is_wanted, measured } = self;
        let backend = computer.backend();
        let mut visitor = |operator: &mut dyn ElementOperator<C::Backend>, memory: usize| {
            let mut seconds = |work: &mut dyn FnMut()| computer.seconds(work);
            measured.measure(backend, operator, "f64", memory, &mut seconds)
        };
        let colors = subject.colors.as_deref();
        Ok(computer.each_operator(&subject.problem, colors, is_wanted, &mut visitor)?)
    }
}

impl Output {
    /// Finds the place to measure on.
    pub(crate) fn place(&self) -> Result<Place, InputError> {
        Ok(Place::find(self.device)?)
    }

    /// Creates the CSV file, if one is requested.
    pub(crate) fn table(&self, columns: &[&str]) -> Result<Option<CsvFile>, Failure> {
        let Some(path) = &self.csv else { return Ok(None) };
        output_folder::check_file(path, &["csv"], &[]).map_err(InputError::from)?;
        Ok(Some(CsvFile::create(path, columns)?))
    }
}

pub(crate) const GIGA: f64 = 1e9;
pub(crate) const MEGABYTE: f64 = 1048576.0;
