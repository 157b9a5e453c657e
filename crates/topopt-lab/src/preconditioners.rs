//! `topopt-lab preconditioners`: cold solves of a design with every preconditioner.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

use topopt_case::case::Case;
use topopt_case::config::{Config, Preconditioner, Strategy};
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_design::{CHANGED, StructureState};
use topopt_fem::{ElementOperator, ElementPreconditioner, WithSprings};
use topopt_io::vtk::vtu;
use topopt_linalg::{Backend, BackendError, Pcg, PcgOptions, PcgOutcome, Space, System};
use topopt_study::computer::{Computer, Visitor};
use topopt_study::failure::Failure;
use topopt_study::output_folder;
use topopt_study::place::Place;
use topopt_study::summary;

use crate::args::PreconditionersArgs;
use crate::matrix;

/// Relative residuals of the solves.
const TOLERANCES: [f64; 2] = [1e-5, 1e-8];
const MAX_ITERATIONS: usize = 50_000;
const ALL: [Preconditioner; 3] =
    [Preconditioner::Multigrid, Preconditioner::BlockJacobi, Preconditioner::Jacobi];

pub(crate) fn preconditioners(
    args: &PreconditionersArgs,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Some(file) = &args.matrix {
        output_folder::check_file(file, &["mtx"], &[]).map_err(InputError::from)?;
    }
    let place = Place::find(args.device).map_err(InputError::from)?;
    let config = Config::load(&args.case, &args.set)?;
    let case = Case::build_until(&config, &(&args.gmsh).into(), &Interrupt::new())?;
    let model = Model::build(&config, case, place.needs_colors(&config))?;
    let moduli = moduli(args, &config, &model)?;

    let problem = &model.problem;
    if let Some(path) = &args.matrix {
        matrix::write(path, problem, &moduli)?;
    }

    writeln!(out, "{} components; {}", problem.n_dofs(), place.name())?;
    writeln!(
        out,
        "preconditioner   setup s  1e-5: iterations   seconds  1e-8: iterations   seconds"
    )?;

    let chosen = if args.preconditioners.is_empty() { &ALL[..] } else { &args.preconditioners };
    for &preconditioner in chosen {
        let mut config = config.clone();
        config.solver.preconditioner = preconditioner;
        let solves = Solves { config: &config, model: &model, moduli: &moduli };
        let row = place.visit(solves)?;
        row.print(out)?;
    }
    Ok(())
}

/// Moduli of the requested design, in the problem's numbering.
fn moduli(
    args: &PreconditionersArgs,
    config: &Config,
    model: &Model,
) -> Result<Vec<f64>, InputError> {
    let density = match &args.design {
        None => model.space.uniform(),
        Some(path) => {
            let (_, mut arrays) = vtu::read_with_cell_data(path, &["density"])
                .map_err(|error| Finding::new(error.to_string()))?;
            let density = arrays.swap_remove(0);
            if density.len() != model.mesh.n_elements() {
                let (found, wanted) = (density.len(), model.mesh.n_elements());
                let message =
                    format!("{} has {found} elements, the case has {wanted}", path.display());
                let remedy = "give the design.vtu of a run of this case at this size";
                return Err(Finding::new(message).remedy(remedy).into());
            }
            model.renumbering.elements_from_original(&density)
        }
    };
    let modulus = |(solid, density): (f64, &f64)| solid * density.powf(config.design.penalty);
    Ok(model.solid_moduli().into_iter().zip(&density).map(modulus).collect())
}

/// Solves of the first load case with one preconditioner.
struct Row {
    preconditioner: summary::Preconditioner,
    setup: f64,
    solves: Vec<(PcgOutcome, f64)>,
}

/// Solves with one preconditioner, to be measured on any computer.
struct Solves<'a> {
    config: &'a Config,
    model: &'a Model,
    moduli: &'a [f64],
}

impl Visitor for Solves<'_> {
    type Output = Row;

    fn visit<C: Computer>(self, computer: &C) -> Result<Row, Failure> {
        let Self { config, model, moduli } = self;
        let (strategy, contrast) = (Strategy::Mf, model.contrast);
        let solver = computer.solver(config, model.subject(), strategy, contrast)?;
        let (backend, mut m) = (computer.backend(), solver.preconditioner);
        let mut operator = WithSprings::new(backend, &model.problem, solver.operator)?;
        Ok(measure(backend, &mut operator, m.as_mut(), model, moduli)?)
    }
}

fn measure<B: Backend>(
    backend: &B,
    operator: &mut dyn ElementOperator<B>,
    m: &mut dyn ElementPreconditioner<B>,
    model: &Model,
    moduli: &[f64],
) -> Result<Row, BackendError> {
    let problem = &model.problem;

    // Aggregates around void elements, as a run makes them after slow solves.
    if let Some(void) = StructureState::default().changed(moduli, CHANGED) {
        m.restructure(backend, &void)?;
    }

    let moduli = backend.upload(moduli, Space::elements(moduli.len()))?;
    let f = backend.upload(&problem.load_cases()[0].forces, problem.space())?;
    let mut u = backend.zeros(problem.space())?;
    let mut pcg = Pcg::new(backend, problem.space())?;
    operator.set_coefficients(&[&moduli]);

    // The first update loads what later ones find loaded.
    m.update(backend, operator, &[&moduli])?;
    backend.value(&backend.dot(&f, &f))?;

    let mut setup = 0.0;
    let mut solves = Vec::new();
    for tolerance in TOLERANCES {
        backend.fill(0.0, &mut u);
        let start = Instant::now();
        m.update(backend, operator, &[&moduli])?; // again, as it may have grown stronger
        backend.value(&backend.dot(&f, &f))?; // waits for the device
        setup = start.elapsed().as_secs_f64();

        let options = PcgOptions { tolerance, max_iterations: MAX_ITERATIONS };
        let start = Instant::now();
        let system = System { backend, a: &*operator, m: &*m, f: &f };
        let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(()))?;
        solves.push((outcome, start.elapsed().as_secs_f64()));
    }
    Ok(Row { preconditioner: summary::Preconditioner::of(m), setup, solves })
}

impl Row {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        write!(out, "{:<14}  {:>8.4}", self.preconditioner.name, self.setup)?;
        for (outcome, seconds) in &self.solves {
            write!(out, "  {:>16}  {seconds:>8.4}", outcome.iterations)?;
        }
        writeln!(out)?;
        match (&self.preconditioner.cycle, self.preconditioner.operator_complexity) {
            (Some(cycle), Some(complexity)) => writeln!(
                out,
                "                {cycle}-cycle, levels {:?}, operator complexity {complexity:.3}",
                self.preconditioner.levels
            ),
            _ => Ok(()),
        }
    }
}
