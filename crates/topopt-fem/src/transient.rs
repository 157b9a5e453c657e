//! Steps in time by the theta scheme: $c \dot u - \nabla \cdot (k \nabla u) + h (u - u_a) = f$.

mod adjoint;
mod step_loads;
mod timeline;

use rayon::prelude::*;
use topopt_linalg::{
    Backend, BackendError, LinearOperator, Monitor, Pcg, PcgOptions, PcgOutcome, Preconditioner,
    Space, StopReason, System,
};
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;

use crate::diffusion::shape_integrals;
use crate::tetrahedra::mass_shares;
pub use adjoint::AdjointSteps;
pub use step_loads::StepLoads;
pub use timeline::{OverTime, Timeline, Varying, factor_at};

/// The capacities of elements, `[n_elements]`, lumped at the nodes, `[n_nodes]`, as the second term
/// of [`crate::Diffusion`] has it: the integral of c N_a, or [`mass_shares`] of tetrahedra.
pub fn lumped_capacity(mesh: &HexMesh, capacities: &[f64]) -> Vec<f64> {
    match mesh.shape() {
        Shape::Tetrahedron => {
            lumped(mesh, capacities, |e| mass_shares(&mesh.tetrahedron_coordinates(e)))
        }
        _ => lumped(mesh, capacities, |e| shape_integrals(&mesh.element_coordinates(e))),
    }
}

/// Sums of the `shares` that the nodes of elements have in their capacities.
fn lumped<const E: usize>(
    mesh: &HexMesh,
    capacities: &[f64],
    shares: impl Fn(usize) -> [f64; E] + Sync,
) -> Vec<f64> {
    let share = |(e, capacity): (usize, &f64)| match *capacity {
        0.0 => [0.0; E],
        capacity => shares(e).map(|share| capacity * share),
    };
    let shares: Vec<[f64; E]> = capacities.par_iter().enumerate().map(share).collect();
    let mut lumped = vec![0.0; mesh.n_nodes()];
    for (nodes, shares) in mesh.elements().zip(shares) {
        nodes.iter().zip(shares).for_each(|(&node, share)| lumped[node as usize] += share);
    }
    lumped
}

/// Time steps of C du/dt + K u = f with a capacity C, lumped or not.
///
/// A step solves
/// $(C / (\theta \Delta t) + K) w = C / (\theta \Delta t) u_0 + (1 - \theta) f_0 + \theta f_1$
/// for the state w at $t_0 + \theta \Delta t$ and gives $u_1 = u_0 + (w - u_0) / \theta$: of second
/// order with $\theta = 1/2$ \[CrankNicolson1947\], of first order without oscillations with 1. The
/// heat that is stored is the heat that comes in, to the tolerance of the solve.
pub struct ThetaScheme<B: Backend> {
    theta: f64,
    /// C.
    capacity: B::Vector,
    /// 1 at free nodes, 0 at held ones.
    is_free: B::Vector,
    /// u at the end of the last step, held values included.
    state: B::Vector,
    /// w - u_D of the last step and the one before, whose line the next solve starts from.
    middle: B::Vector,
    before: B::Vector,
    n_steps: usize,
    /// u_D, the held values at t_0 + theta dt, and 0 at free nodes.
    held: B::Vector,
    right: B::Vector,
    scratch: B::Vector,
}

/// Linear solver of the steps in time.
pub struct StepSolver<'s, 'm, B: Backend> {
    /// Backend of the vectors.
    pub backend: &'s B,
    /// Conjugate gradients with their work vectors.
    pub pcg: &'s mut Pcg<B>,
    /// K + C / (theta dt), with rows of the identity at held nodes and with the springs.
    pub operator: &'s dyn LinearOperator<B>,
    /// C without held nodes, where it is no diagonal matrix.
    pub storage: Option<&'s dyn LinearOperator<B>>,
    /// Preconditioner that follows `operator`.
    pub preconditioner: &'s dyn Preconditioner<B>,
    /// When a solve ends.
    pub options: PcgOptions,
    /// Relative residual that is enough where rounding stops a solve.
    pub rounded: f64,
    /// Callback at each stop test, which may interrupt the solve.
    pub monitor: &'s mut Monitor<'m>,
}

/// Loads and held values of a step.
#[derive(Clone, Copy)]
pub struct StepData<'s, B: Backend> {
    /// (1 - theta) f_0 + theta f_1, `[n_nodes]`.
    pub source: &'s B::Vector,
    /// Held values, if any is not 0.
    pub held: Option<Held<'s, B>>,
    /// Length of the step.
    pub dt: f64,
}

/// The values of held nodes in a step, 0 at free nodes, `[n_nodes]` each.
#[derive(Clone, Copy)]
pub struct Held<'s, B: Backend> {
    /// Values at the middle t_0 + theta dt.
    pub middle: &'s B::Vector,
    /// Values at the end of the step.
    pub end: &'s B::Vector,
    /// K without held nodes and without springs.
    pub free: &'s dyn LinearOperator<B>,
}

impl<B: Backend> StepSolver<'_, '_, B> {
    /// Solves for `x`, from what it holds.
    fn solve(&mut self, f: &B::Vector, x: &mut B::Vector) -> Result<PcgOutcome, BackendError> {
        let Self { backend, pcg, operator, preconditioner, options, rounded, monitor, .. } = self;
        let system = System { backend: *backend, a: *operator, m: *preconditioner, f };
        Ok(pcg.solve(&system, x, *options, *monitor)?.or_rounded(*rounded))
    }
}

impl<B: Backend> ThetaScheme<B> {
    /// From the state `start`, `[n_nodes]`, on, with theta from 0.5 to 1. `is_free` is 1 at nodes
    /// that are not held, and 0 at the others; `capacity` is [`lumped_capacity`].
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        nodes: Space,
        theta: f64,
        [capacity, is_free, start]: [&[f64]; 3],
    ) -> Result<Self, BackendError> {
        let upload = |values: &[f64]| backend.upload(values, nodes);
        let zeros = || backend.zeros(nodes);
        Ok(Self {
            theta,
            capacity: upload(capacity)?,
            is_free: upload(is_free)?,
            state: upload(start)?,
            middle: zeros()?,
            before: zeros()?,
            n_steps: 0,
            held: zeros()?,
            right: zeros()?,
            scratch: zeros()?,
        })
    }

    /// The state at the end of the last step, `[n_nodes]`.
    pub fn state(&self) -> &B::Vector {
        &self.state
    }

    /// C, `[n_nodes]`.
    pub fn capacity(&self) -> &B::Vector {
        &self.capacity
    }

    /// C, to be changed before a start.
    pub fn capacity_mut(&mut self) -> &mut B::Vector {
        &mut self.capacity
    }

    /// Restarts from `state`, `[n_nodes]`, forgetting all earlier steps.
    pub fn start_from(&mut self, backend: &B, state: &B::Vector) {
        backend.copy(state, &mut self.state);
        self.n_steps = 0;
    }

    /// A step. The operator of `solver` has the coefficients for its length.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails. Where the solve does not converge, the state stays.
    pub fn step(
        &mut self,
        solver: &mut StepSolver<B>,
        data: &StepData<B>,
    ) -> Result<PcgOutcome, BackendError> {
        let backend = solver.backend;

        // f + C u_0 / (theta dt) - (K + C / (theta dt)) u_D at free nodes.
        backend.copy(data.source, &mut self.right);
        let rate = 1.0 / (self.theta * data.dt);
        store(solver, &self.capacity, &self.state, &mut self.scratch);
        backend.axpby(rate, &self.scratch, 1.0, &mut self.right);
        match &data.held {
            Some(held) => {
                backend.copy(held.middle, &mut self.held);
                held.free.apply(held.middle, &mut self.scratch);
                backend.axpby(-1.0, &self.scratch, 1.0, &mut self.right);
                if let Some(storage) = solver.storage {
                    storage.apply(held.middle, &mut self.scratch);
                    backend.axpby(-rate, &self.scratch, 1.0, &mut self.right);
                }
            }
            None => backend.fill(0.0, &mut self.held),
        }
        backend.copy(&self.right, &mut self.scratch);
        backend.multiply(&self.is_free, &self.scratch, &mut self.right);

        self.extrapolate(backend);
        let outcome = solver.solve(&self.right, &mut self.middle)?;
        if outcome.reason != StopReason::Converged {
            return Ok(outcome);
        }

        // u_1 = u_0 + (w - u_0) / theta at free nodes, and what is held at held ones.
        self.n_steps += 1;
        let theta = self.theta;
        backend.axpby(1.0 / theta, &self.middle, 1.0 - 1.0 / theta, &mut self.state);
        backend.copy(&self.state, &mut self.scratch);
        backend.multiply(&self.is_free, &self.scratch, &mut self.state);
        if let Some(held) = &data.held {
            backend.axpby(1.0, held.end, 1.0, &mut self.state);
        }
        Ok(outcome)
    }

    /// K w at the middle of the last step, `[n_nodes]`, where `free` is K without held nodes and
    /// without springs: at held nodes, with what is stored there and the loads, the heat that comes in.
    pub fn middle_flows(&mut self, backend: &B, free: &dyn LinearOperator<B>, out: &mut B::Vector) {
        backend.copy(&self.middle, &mut self.scratch);
        backend.axpby(1.0, &self.held, 1.0, &mut self.scratch);
        free.apply(&self.scratch, out);
    }

    /// w at the middle of the last step, held values included.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn middle(&self, backend: &B) -> Result<Vec<f64>, BackendError> {
        let mut middle = backend.download(&self.middle)?;
        let held = backend.download(&self.held)?;
        middle.iter_mut().zip(held).for_each(|(w, held)| *w += held);
        Ok(middle)
    }

    /// Starts the next solve on the line through the last two; from the state where there is no
    /// line.
    fn extrapolate(&mut self, backend: &B) {
        match self.n_steps {
            0 => {
                backend.multiply(&self.is_free, &self.state, &mut self.middle);
                backend.copy(&self.middle, &mut self.before);
            }
            1 => backend.copy(&self.middle, &mut self.before),
            _ => {
                backend.copy(&self.middle, &mut self.scratch);
                backend.axpby(-1.0, &self.before, 2.0, &mut self.middle);
                backend.copy(&self.scratch, &mut self.before);
            }
        }
    }
}

/// out = C u, with C of `solver` where it is no diagonal matrix, else `capacity`.
fn store<B: Backend>(
    solver: &StepSolver<B>,
    capacity: &B::Vector,
    u: &B::Vector,
    out: &mut B::Vector,
) {
    match solver.storage {
        Some(storage) => storage.apply(u, out),
        None => solver.backend.multiply(capacity, u, out),
    }
}
