//! The linear system of a part, whose operator and preconditioner a caller applies to vectors of
//! its own.

use std::sync::mpsc::{Receiver, Sender};

use topopt_analysis::Linear;
use topopt_case::config::Config;
use topopt_case::interrupt::Interrupt;
use topopt_linalg::{Backend, BackendError, Space};

use crate::analysis::{Analyzed, Ready, Request, conditions};
use crate::computer::{Computer, Visitor};
use crate::failure::Failure;
use crate::solved::Conditions;
use crate::thread_pool::thread_pool;

/// Work on a vector, `[n_nodes][n]` in the user's numbering.
pub enum Call {
    /// Applies K, with springs; held components are 0.
    Operator(Vec<f64>),
    /// Applies the preconditioner.
    Preconditioner(Vec<f64>),
}

/// A call with the place of its answer.
pub type Calls = Receiver<(Call, Sender<Vec<f64>>)>;

/// Right-hand sides and solves of a system.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Unknowns per node.
    pub unknowns: usize,
    /// Right-hand side of each load case with its name, `[n_nodes][n]`, 0 at held components.
    pub loads: Vec<(String, Vec<f64>)>,
}

/// Builds the system of the part of `config`, or of the design of the `request`, reports it to
/// `opened`, and answers `calls` until their sender is gone.
pub(crate) fn serve<K: Analyzed<N>, const N: usize>(
    config: &Config,
    request: &Request,
    interrupt: &Interrupt,
    (opened, calls): (Sender<Opened>, Calls),
) -> Result<(), Failure> {
    thread_pool(config.solver.threads)?.install(|| {
        let ready = &Ready::<K, N>::of(config, request, interrupt)?;
        let conditions = conditions(config, &ready.place, interrupt);
        conditions.place.visit(Serve { ready, conditions, opened, calls })
    })
}

/// The system on any computer.
struct Serve<'a, K, const N: usize> {
    ready: &'a Ready<K, N>,
    conditions: Conditions<'a>,
    opened: Sender<Opened>,
    calls: Calls,
}

impl<K: Analyzed<N>, const N: usize> Visitor for Serve<'_, K, N> {
    type Output = ();

    fn visit<C: Computer>(self, computer: &C) -> Result<(), Failure> {
        let Self { ready: Ready { model, filling, .. }, conditions, opened, calls } = self;
        let (backend, numbers) = (computer.backend(), &model.renumbering);
        let solver = conditions.solver(model, filling, computer)?;
        let elements = Space::elements(filling.density.len());
        let density = backend.upload(&filling.density, elements)?;
        let moduli = backend.upload(&filling.moduli(model), elements)?;
        let solver = solver.of_equation(&conditions.config.solver.for_analysis());
        let mut linear = Linear::new(backend, &model.problem, solver)?;
        linear.assemble(&density, &moduli)?;
        linear.update_preconditioner(&moduli)?;

        let of_user = |vector: &_| -> Result<Vec<f64>, BackendError> {
            let values = backend.download(vector)?;
            Ok(numbers.nodes_to_original(values.as_chunks::<N>().0).into_flattened())
        };
        let load = |(k, name): (usize, &str)| {
            Ok::<_, BackendError>((name.into(), of_user(linear.loads().forces(k))?))
        };
        let loads = linear.loads().names().enumerate().map(load).collect::<Result<_, _>>()?;
        let _ = opened.send(Opened { unknowns: N, loads }); // to a caller that may be gone

        let nodes = linear.nodes();
        let mut out = backend.zeros(nodes)?;
        for (call, answer) in calls {
            let (Call::Operator(values) | Call::Preconditioner(values)) = &call;
            let values = numbers.nodes_from_original(values.as_chunks::<N>().0).into_flattened();
            let vector = backend.upload(&values, nodes)?;
            match call {
                Call::Operator(_) => linear.operator().apply(&vector, &mut out),
                Call::Preconditioner(_) => {
                    linear.preconditioner().apply(backend, &vector, &mut out);
                }
            }
            let _ = answer.send(of_user(&out)?);
        }
        Ok(())
    }
}
