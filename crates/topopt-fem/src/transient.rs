//! Steps in time by the theta scheme: c du/dt - div(k grad u) + h (u - u_a) = f.

use rayon::prelude::*;
use topopt_linalg::{
    Backend, BackendError, Monitor, Pcg, PcgOptions, PcgOutcome, Preconditioner, Space, StopReason,
    System,
};
use topopt_mesh::HexMesh;

use crate::ElementOperator;
use crate::diffusion::shape_integrals;

/// The capacities of elements, `[n_elements]`, lumped at the nodes, `[n_nodes]`: the integral of
/// c N_a, as the second term of [`crate::Diffusion`] has it.
pub fn lumped_capacity(mesh: &HexMesh, capacities: &[f64]) -> Vec<f64> {
    let share = |(e, capacity): (usize, &f64)| match *capacity {
        0.0 => [0.0; 8],
        capacity => shape_integrals(&mesh.element_coordinates(e)).map(|share| capacity * share),
    };
    let shares: Vec<[f64; 8]> = capacities.par_iter().enumerate().map(share).collect();
    let mut lumped = vec![0.0; mesh.n_nodes()];
    for (hex, shares) in mesh.hexes().iter().zip(shares) {
        hex.iter().zip(shares).for_each(|(&node, share)| lumped[node as usize] += share);
    }
    lumped
}

/// Time steps of C du/dt + K u = f with a lumped capacity C.
///
/// A step of length dt solves (C / (theta dt) + K) w = C u_0 / (theta dt) + (1 - theta) f_0 + theta
/// f_1 for the state w at the time t_0 + theta dt, and goes on to u_1 = u_0 + (w - u_0) / theta. That
/// is C (u_1 - u_0) / dt + K (theta u_1 + (1 - theta) u_0) = (1 - theta) f_0 + theta f_1: of second
/// order with theta = 1/2 \[CrankNicolson1947\], of first order and without oscillations with 1. The
/// heat that is stored is the heat that comes in, to the tolerance of the solve.
pub struct ThetaScheme<'a, B: Backend> {
    backend: &'a B,
    /// K + C / (theta dt), with rows of the identity at held nodes and with the springs.
    operator: Box<dyn ElementOperator<B> + 'a>,
    /// K without held nodes and without springs.
    free: Box<dyn ElementOperator<B> + 'a>,
    theta: f64,
    pcg: Pcg<B>,
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

/// Loads and held values of a step, `[n_nodes]` each.
#[derive(Debug, Clone, Copy)]
pub struct StepData<'s> {
    /// (1 - theta) f_0 + theta f_1.
    pub source: &'s [f64],
    /// The values of held nodes at the middle t_0 + theta dt and at the end, 0 at free nodes.
    pub held: [&'s [f64]; 2],
    /// Length of the step.
    pub dt: f64,
}

impl<'a, B: Backend> ThetaScheme<'a, B> {
    /// Vectors with one entry per node that it holds besides its operators.
    pub const NODAL_VECTORS: usize = 12;

    /// From the state `start`, `[n_nodes]`, on, with theta from 0.5 to 1.
    ///
    /// `operator` is of the problem, with its springs, and `free` of the same mesh with no node
    /// held and no springs; `free` has the conductivities and no capacity. `is_free` is 1 at nodes
    /// that are not held, and 0 at the others; `capacity` is [`lumped_capacity`].
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &'a B,
        [operator, free]: [Box<dyn ElementOperator<B> + 'a>; 2],
        theta: f64,
        [capacity, is_free, start]: [&[f64]; 3],
    ) -> Result<Self, BackendError> {
        let nodes = operator.space();
        let upload = |values: &[f64]| backend.upload(values, nodes);
        let zeros = || backend.zeros(nodes);
        Ok(Self {
            backend,
            operator,
            free,
            theta,
            pcg: Pcg::new(backend, nodes)?,
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

    /// The operator, whose coefficients are the conductivities and c / (theta dt) by elements.
    pub fn operator(&mut self) -> &mut (dyn ElementOperator<B> + 'a) {
        self.operator.as_mut()
    }

    /// The space of the states.
    pub fn space(&self) -> Space {
        self.operator.space()
    }

    /// The state at the end of the last step, `[n_nodes]`.
    pub fn state(&self) -> &B::Vector {
        &self.state
    }

    /// A step. `operator` has the coefficients for its length, and `preconditioner` follows it.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails. Where the solve does not converge, the state stays.
    pub fn step(
        &mut self,
        data: &StepData,
        preconditioner: &dyn Preconditioner<B>,
        options: PcgOptions,
        monitor: &mut Monitor,
    ) -> Result<PcgOutcome, BackendError> {
        let (backend, nodes) = (self.backend, self.operator.space());
        let [middle, end] = data.held;
        let is_held = middle.iter().any(|value| *value != 0.0);

        // f + C u_0 / (theta dt) - (K + C / (theta dt)) u_D at free nodes.
        self.right = backend.upload(data.source, nodes)?;
        backend.multiply(&self.capacity, &self.state, &mut self.scratch);
        backend.axpby(1.0 / (self.theta * data.dt), &self.scratch, 1.0, &mut self.right);
        self.held = backend.upload(middle, nodes)?;
        if is_held {
            self.free.apply(&self.held, &mut self.scratch);
            backend.axpby(-1.0, &self.scratch, 1.0, &mut self.right);
        }
        backend.copy(&self.right, &mut self.scratch);
        backend.multiply(&self.is_free, &self.scratch, &mut self.right);

        self.extrapolate();
        let system =
            System { backend, a: self.operator.as_ref(), m: preconditioner, f: &self.right };
        let outcome = self.pcg.solve(&system, &mut self.middle, options, monitor)?;
        if outcome.reason != StopReason::Converged {
            return Ok(outcome);
        }

        // u_1 = u_0 + (w - u_0) / theta at free nodes, and what is held at held ones.
        self.n_steps += 1;
        let theta = self.theta;
        backend.axpby(1.0 / theta, &self.middle, 1.0 - 1.0 / theta, &mut self.state);
        backend.copy(&self.state, &mut self.scratch);
        backend.multiply(&self.is_free, &self.scratch, &mut self.state);
        let end = backend.upload(end, nodes)?;
        backend.axpby(1.0, &end, 1.0, &mut self.state);
        Ok(outcome)
    }

    /// K w at the middle of the last step, `[n_nodes]`, without springs: at held nodes, with what is
    /// stored there and the loads, the heat that comes in.
    pub fn middle_flows(&mut self, out: &mut B::Vector) {
        self.backend.copy(&self.middle, &mut self.scratch);
        self.backend.axpby(1.0, &self.held, 1.0, &mut self.scratch);
        self.free.apply(&self.scratch, out);
    }

    /// w at the middle of the last step, held values included.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn middle(&self) -> Result<Vec<f64>, BackendError> {
        let mut middle = self.backend.download(&self.middle)?;
        let held = self.backend.download(&self.held)?;
        middle.iter_mut().zip(held).for_each(|(w, held)| *w += held);
        Ok(middle)
    }

    /// Starts the next solve on the line through the last two; from the state where there is no
    /// line.
    fn extrapolate(&mut self) {
        let backend = self.backend;
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
