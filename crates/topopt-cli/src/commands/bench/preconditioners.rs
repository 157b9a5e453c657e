//! `topopt bench preconditioners`: cold solves of a design with every preconditioner.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

use topopt_cuda::{Cuda, Mf};
use topopt_design::StructureState;
use topopt_fem::{ElementOperator, ElementPreconditioner, Strategy, WithSprings};
use topopt_io::vtk::vtu;
use topopt_linalg::{Backend, BackendError, Cpu, Pcg, PcgOptions, PcgOutcome, Space, System};

use super::{matrix, place};
use crate::args::PreconditionersArgs;
use crate::case::Case;
use crate::config::{Config, Preconditioner, Solver};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::place::{Place, cpu_preconditioner, gpu_mesh, gpu_preconditioner, prepared};
use crate::report::{Finding, InputError};
use crate::structure::Structure;
use crate::summary;

/// Relative residuals that are solved to.
const TOLERANCES: [f64; 2] = [1e-5, 1e-8];
const MAX_ITERATIONS: usize = 50_000;
const ALL: [Preconditioner; 3] =
    [Preconditioner::Multigrid, Preconditioner::BlockJacobi, Preconditioner::Jacobi];

pub(super) fn preconditioners(
    args: &PreconditionersArgs,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let place = place(args.device)?;
    let config = Config::load(&args.case, &args.set)?;
    let case = Case::build_until(&config, &args.gmsh, &Interrupt::new())?;
    let structure = Structure::build(&config, case, &place)?;
    let moduli = moduli(args, &config, &structure)?;
    let problem = &structure.problem;
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
        let solver = Solver { preconditioner, ..config.solver.clone() };
        let row = match &place {
            Place::Cpu { .. } => {
                let operator = Strategy::Mf.build(problem);
                let mut operator = WithSprings::new(&Cpu, problem, operator)?;
                let mut m = cpu_preconditioner(&solver, problem)?;
                measure(&Cpu, &mut operator, m.as_mut(), &structure, &moduli)?
            }
            Place::Gpu(device) => {
                let backend = Cuda::<f64>::new(device)?;
                let mesh = gpu_mesh(device, problem, structure.colors.as_deref())?;
                let operator = Box::new(Mf::<f64>::new(&mesh)?);
                let mut operator = WithSprings::new(&backend, problem, operator)?;
                let (contrast, host) = (config.contrast(), prepared(&solver, problem));
                let mut m = gpu_preconditioner(&backend, &solver, &mesh, problem, contrast, host)?;
                measure(&backend, &mut operator, m.as_mut(), &structure, &moduli)?
            }
        };
        row.print(out)?;
    }
    Ok(())
}

/// Moduli of the design asked for, in the problem's numbering.
fn moduli(
    args: &PreconditionersArgs,
    config: &Config,
    structure: &Structure,
) -> Result<Vec<f64>, InputError> {
    let density = match &args.design {
        None => structure.space.uniform(),
        Some(path) => {
            let (_, mut arrays) = vtu::read_with_cell_data(path, &["density"])
                .map_err(|error| Finding::new(error.to_string()))?;
            let density = arrays.swap_remove(0);
            if density.len() != structure.mesh.n_elements() {
                let (found, wanted) = (density.len(), structure.mesh.n_elements());
                let message =
                    format!("{} has {found} elements, the case has {wanted}", path.display());
                let remedy = "give the design.vtu of a run of this case at this size";
                return Err(Finding::new(message).remedy(remedy).into());
            }
            structure.renumbering.elements_from_original(&density)
        }
    };
    let modulus =
        |density: &f64| config.material.youngs_modulus * density.powf(config.design.penalty);
    Ok(density.iter().map(modulus).collect())
}

/// Solves of the first load case with one preconditioner.
struct Row {
    preconditioner: summary::Preconditioner,
    setup: f64,
    solves: Vec<(PcgOutcome, f64)>,
}

fn measure<B: Backend>(
    backend: &B,
    operator: &mut dyn ElementOperator<B>,
    m: &mut dyn ElementPreconditioner<B>,
    structure: &Structure,
    moduli: &[f64],
) -> Result<Row, BackendError> {
    let problem = &structure.problem;
    // As a run whose solves had been slow would have it.
    if let Some(void) = StructureState::default().changed(moduli) {
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
        m.update(backend, operator, &[&moduli])?; // anew, as it may have grown stronger
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
    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        write!(out, "{:<14}  {:>8.4}", self.preconditioner.name, self.setup)?;
        for (outcome, seconds) in &self.solves {
            write!(out, "  {:>16}  {seconds:>8.4}", outcome.iterations)?;
        }
        writeln!(out)?;
        match (self.preconditioner.cycle, self.preconditioner.operator_complexity) {
            (Some(cycle), Some(complexity)) => writeln!(
                out,
                "                {cycle}-cycle, levels {:?}, operator complexity {complexity:.3}",
                self.preconditioner.levels
            ),
            _ => Ok(()),
        }
    }
}
